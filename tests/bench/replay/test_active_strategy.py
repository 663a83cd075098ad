import pytest
from fake_engine import CompactAll
from noting_planner import WhenSettled

from bench.replay.active_strategy import ActiveStrategy
from strategies.never import Never
from strategies.plan import Plan, PlanError, Reason
from strategies.state import MIB, DataFile, TableState
from strategies.strategy import Rule, Strategy, Verdict
from strategies.triggers import Every

EVERY = Strategy("every", (Rule(Every(60_000), CompactAll()),))
BOTH = Strategy("both", (Rule(Every(60_000), Never()), Rule(Every(60_000), CompactAll())))
SETTLED = Strategy("settled", (Rule(Every(60_000), WhenSettled()),))


def at(at_ms):
    return TableState(at_ms, 8 * MIB, data_files=(DataFile("a", 1, 1),))


def verdicts(active, *states):
    return [[decision.verdict for decision in active.decide(state)] for state in states]


def test_a_strategy_remembers_when_its_rules_were_evaluated():
    asked = verdicts(ActiveStrategy(EVERY), at(60_000), at(90_000), at(120_000))
    assert asked == [[Verdict.PLANNED], [Verdict.NOT_DUE], [Verdict.PLANNED]]


def test_a_strategy_remembers_what_planners_noted():
    asked = verdicts(ActiveStrategy(SETTLED), at(60_000), at(120_000), at(180_000))
    assert asked == [[Verdict.NOTHING_TO_DO], [Verdict.PLANNED], [Verdict.NOTHING_TO_DO]]


def test_a_decision_has_the_rule_that_made_it():
    decisions = list(ActiveStrategy(BOTH).decide(at(60_000)))
    assert [d.rule for d in decisions] == list(BOTH.rules)
    assert [d.verdict for d in decisions] == [Verdict.NOTHING_TO_DO, Verdict.PLANNED]


def test_a_bad_plan_is_an_error():
    class Empty:
        def decide(self, state):
            return Plan((), Reason.OTHER)

    active = ActiveStrategy(Strategy("bad", (Rule(Every(60_000), Empty()),)))
    with pytest.raises(PlanError, match="at least one action"):
        list(active.decide(at(60_000)))
