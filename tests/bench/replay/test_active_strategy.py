import time
from dataclasses import dataclass

import pytest
from fake_engine import CompactAll
from noting_planner import WhenSettled

from bench.replay.active_strategy import ActiveStrategy
from bench.replay.clock import ModelledClock, SystemClock
from strategies.never import Never
from strategies.plan import Plan, PlanError, Reason
from strategies.state import MIB, DataFile, TableState
from strategies.strategy import Rule, Strategy, Verdict
from strategies.triggers import AfterCommits, Every

EVERY = Strategy("every", (Rule(Every(60_000), CompactAll()),))
COUNTED = Strategy("counted", (Rule(AfterCommits(2), CompactAll()),))
BOTH = Strategy("both", (Rule(Every(60_000), Never()), Rule(Every(60_000), CompactAll())))
SETTLED = Strategy("settled", (Rule(Every(60_000), WhenSettled()),))
STRATEGIES = {s.label: s for s in (EVERY, COUNTED, BOTH, SETTLED)}


def at(at_ms, commits=0):
    return TableState(at_ms, 8 * MIB, data_files=(DataFile("a", 1, 1),), commits_total_count=commits)


def verdicts(active, *states):
    asked = (active.decide(state, ModelledClock()) for state in states)
    return [(label, [e.decision.verdict for e in made]) for label, made in asked]


def test_a_strategy_remembers_when_its_rules_were_evaluated():
    asked = verdicts(ActiveStrategy("every", STRATEGIES), at(60_000), at(90_000), at(120_000))
    assert asked == [
        ("every", [Verdict.PLANNED]),
        ("every", [Verdict.NOT_DUE]),
        ("every", [Verdict.PLANNED]),
    ]


def test_a_switch_takes_over_at_its_time_and_starts_afresh():
    active = ActiveStrategy("every", STRATEGIES, ((120_000, "counted"),))
    asked = verdicts(active, at(60_000, 1), at(120_000, 2), at(180_000, 3), at(240_000, 4))
    # Two commits since 120 s, when the table had seen two, are there at the fourth.
    assert asked == [
        ("every", [Verdict.PLANNED]),
        ("counted", [Verdict.NOT_DUE]),
        ("counted", [Verdict.NOT_DUE]),
        ("counted", [Verdict.PLANNED]),
    ]


def test_a_switch_forgets_what_planners_noted():
    # The same strategy takes over from itself at 90 s: what was seen at 60 s, only the one before has seen.
    waits, plans = ("settled", [Verdict.NOTHING_TO_DO]), ("settled", [Verdict.PLANNED])
    states = at(60_000), at(120_000), at(180_000)
    assert verdicts(ActiveStrategy("settled", STRATEGIES), *states) == [waits, plans, waits]
    active = ActiveStrategy("settled", STRATEGIES, ((90_000, "settled"),))
    assert verdicts(active, *states) == [waits, waits, plans]


def test_switches_that_a_late_evaluation_finds_behind_it_leave_the_last_in_force():
    active = ActiveStrategy("every", STRATEGIES, ((60_000, "counted"), (120_000, "both"), (600_000, "every")))
    label, _ = active.decide(at(300_000), ModelledClock())
    assert label == "both"


@pytest.mark.parametrize(("at_ms", "expected"), [(299, "every"), (300, "counted")])
def test_a_switch_counts_from_its_very_millisecond_on(at_ms, expected):
    label, _ = ActiveStrategy("every", STRATEGIES, ((300, "counted"),)).decide(at(at_ms), ModelledClock())
    assert label == expected


def test_rule_is_the_one_a_decision_came_from():
    active = ActiveStrategy("both", STRATEGIES)
    _, evaluations = active.decide(at(60_000), ModelledClock())
    decisions = [evaluation.decision for evaluation in evaluations]
    assert [active.rule(d) for d in decisions] == list(BOTH.rules)
    assert [d.verdict for d in decisions] == [Verdict.NOTHING_TO_DO, Verdict.PLANNED]


def test_a_bad_plan_is_an_error():
    class Empty:
        def decide(self, state):
            return Plan((), Reason.OTHER)

    active = ActiveStrategy("bad", {"bad": Strategy("bad", (Rule(Every(60_000), Empty()),))})
    with pytest.raises(PlanError, match="at least one action"):
        active.decide(at(60_000), ModelledClock())


def test_each_rule_is_timed_by_itself():
    @dataclass(frozen=True)
    class Slow:
        wait_s: float

        def decide(self, state):
            ended_s = time.process_time() + self.wait_s
            while time.process_time() < ended_s:
                pass

    rules = (Rule(Every(60_000), Slow(0.05)), Rule(Every(60_000), Slow(0.0)))
    _, (slow, quick) = ActiveStrategy("two", {"two": Strategy("two", rules)}).decide(
        at(60_000), SystemClock()
    )
    assert slow.cost.wall_s >= slow.cost.cpu_s >= 0.05 > quick.cost.cpu_s
