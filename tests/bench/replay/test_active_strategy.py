import pytest
from fake_engine import CompactAll

from bench.replay.active_strategy import ActiveStrategy
from strategies.never import Never
from strategies.plan import Plan, PlanError, Reason
from strategies.state import MIB, DataFile, TableState
from strategies.strategy import Rule, Strategy, Verdict
from strategies.triggers import AfterCommits, Every

EVERY = Strategy("every", (Rule(Every(60_000), CompactAll()),))
COUNTED = Strategy("counted", (Rule(AfterCommits(2), CompactAll()),))
BOTH = Strategy("both", (Rule(Every(60_000), Never()), Rule(Every(60_000), CompactAll())))
STRATEGIES = {s.label: s for s in (EVERY, COUNTED, BOTH)}


def at(at_ms, commits=0):
    return TableState(at_ms, 8 * MIB, data_files=(DataFile("a", 1, 1),), commits_total_count=commits)


def verdicts(policy, *states):
    return [(label, [d.verdict for d in made]) for label, made in map(policy.decide, states)]


def test_a_policy_remembers_when_its_rules_looked():
    asked = verdicts(ActiveStrategy("every", STRATEGIES), at(60.0), at(90.0), at(120.0))
    assert asked == [
        ("every", [Verdict.PLANNED]),
        ("every", [Verdict.NOT_DUE]),
        ("every", [Verdict.PLANNED]),
    ]


def test_a_switch_takes_over_at_its_time_and_starts_afresh():
    policy = ActiveStrategy("every", STRATEGIES, ((120.0, "counted"),))
    asked = verdicts(policy, at(60.0, 1), at(120.0, 2), at(180.0, 3), at(240.0, 4))
    # Two commits since 120 s, when the table had seen two, are there at the fourth.
    assert asked == [
        ("every", [Verdict.PLANNED]),
        ("counted", [Verdict.NOT_DUE]),
        ("counted", [Verdict.NOT_DUE]),
        ("counted", [Verdict.PLANNED]),
    ]


def test_switches_that_a_late_look_finds_behind_it_leave_the_last_in_force():
    policy = ActiveStrategy("every", STRATEGIES, ((60.0, "counted"), (120.0, "both"), (600.0, "every")))
    label, _ = policy.decide(at(300.0))
    assert label == "both"


def test_a_switch_a_rounding_error_ahead_counts():
    policy = ActiveStrategy("every", STRATEGIES, ((0.1 + 0.2, "counted"),))
    label, _ = policy.decide(at(0.3))
    assert label == "counted"


def test_rule_is_the_one_a_decision_came_from():
    policy = ActiveStrategy("both", STRATEGIES)
    _, decisions = policy.decide(at(60.0))
    assert [policy.rule(d) for d in decisions] == list(BOTH.rules)
    assert [d.verdict for d in decisions] == [Verdict.NOTHING_TO_DO, Verdict.PLANNED]


def test_a_bad_plan_is_an_error():
    class Empty:
        def decide(self, state):
            return Plan((), Reason.OTHER)

    policy = ActiveStrategy("bad", {"bad": Strategy("bad", (Rule(Every(60_000), Empty()),))})
    with pytest.raises(PlanError, match="at least one action"):
        policy.decide(at(60.0))
