import pytest
from fake_engine import CompactAll
from noting_planner import WhenSettled

from bench.replay.active_strategy import ActiveStrategy
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
    made = ([decision.verdict for decision in active.decide(state)] for state in states)
    return [(active.label, decided) for decided in made]


def test_a_strategy_remembers_when_its_rules_were_evaluated():
    asked = verdicts(ActiveStrategy("every", STRATEGIES), at(60_000), at(90_000), at(120_000))
    assert asked == [("every", [Verdict.PLANNED]), ("every", [Verdict.NOT_DUE]), ("every", [Verdict.PLANNED])]


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
    list(active.decide(at(300_000)))
    assert active.label == "both"


@pytest.mark.parametrize(("at_ms", "expected"), [(299, "every"), (300, "counted")])
def test_a_switch_counts_from_its_very_millisecond_on(at_ms, expected):
    active = ActiveStrategy("every", STRATEGIES, ((300, "counted"),))
    list(active.decide(at(at_ms)))
    assert active.label == expected


def test_a_decision_has_the_rule_that_made_it():
    decisions = list(ActiveStrategy("both", STRATEGIES).decide(at(60_000)))
    assert [d.rule for d in decisions] == list(BOTH.rules)
    assert [d.verdict for d in decisions] == [Verdict.NOTHING_TO_DO, Verdict.PLANNED]


def test_a_bad_plan_is_an_error():
    class Empty:
        def decide(self, state):
            return Plan((), Reason.OTHER)

    active = ActiveStrategy("bad", {"bad": Strategy("bad", (Rule(Every(60_000), Empty()),))})
    with pytest.raises(PlanError, match="at least one action"):
        list(active.decide(at(60_000)))
