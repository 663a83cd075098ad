from dataclasses import dataclass, replace

import pytest
from evaluate import evaluate
from noting_planner import WhenSettled

from strategies.iceberg.commands import Command
from strategies.iceberg.procedures import ExpireSnapshots, RewriteDataFiles, RewriteManifests
from strategies.plan import Capability, Compact, Plan, PlanError, Reason
from strategies.planner import Answer, Planner, PlannerTraits, traits_of
from strategies.state import DataFile, TableState
from strategies.strategy import Rule, Strategy, Verdict
from strategies.triggers import AfterCommits, Every


@dataclass(frozen=True)
class Fixed:
    """Plans what it is given."""

    plan: Plan | None

    def decide(self, state):
        return self.plan


COMPACT = Fixed(Plan((Compact(),), Reason.OTHER))
NOTHING = Fixed(None)


def state(at_ms, commits=0):
    return TableState(at_ms, 100, commits_total_count=commits)


def verdicts(decisions):
    return [(decision.rule_index, decision.verdict) for decision in decisions]


def test_decide_takes_the_first_plan_and_looks_no_further():
    strategy = Strategy("s", tuple(Rule(Every(60_000), planner) for planner in (NOTHING, COMPACT, COMPACT)))
    decisions, _ = evaluate(strategy, state(60_000), strategy.fresh_memories())
    assert verdicts(decisions) == [(0, Verdict.NOTHING_TO_DO), (1, Verdict.PLANNED)]
    assert decisions[1].plan is COMPACT.plan
    assert decisions[0].plan is None


def test_decide_keeps_due_what_a_plan_before_it_hid():
    strategy = Strategy("s", (Rule(Every(120_000), COMPACT), Rule(Every(120_000), COMPACT)))
    memories = strategy.fresh_memories()
    first, memories = evaluate(strategy, state(120_000), memories)
    second, memories = evaluate(strategy, state(180_000), memories)
    third, _ = evaluate(strategy, state(200_000), memories)
    assert verdicts(first) == [(0, Verdict.PLANNED)]
    assert verdicts(second) == [(0, Verdict.NOT_DUE), (1, Verdict.PLANNED)]
    assert verdicts(third) == [(0, Verdict.NOT_DUE), (1, Verdict.NOT_DUE)]


def test_decide_remembers_looks_and_firings():
    strategy = Strategy("s", (Rule(Every(60_000), NOTHING), Rule(AfterCommits(5), COMPACT)))
    _, (every, after) = evaluate(strategy, state(60_000, commits=3), strategy.fresh_memories())
    assert (every.evaluated_at_ms, every.commits_at_fire_count) == (60_000, 3)
    assert (after.evaluated_at_ms, after.commits_at_fire_count) == (60_000, 0)


def test_decide_checks_the_plan():
    strategy = Strategy("s", (Rule(AfterCommits(1), Fixed(Plan((), Reason.OTHER))),))
    with pytest.raises(PlanError, match="at least one action"):
        evaluate(strategy, state(60_000, commits=1), strategy.fresh_memories())


def test_decide_wants_a_memory_for_each_rule():
    strategy = Strategy("s", (Rule(AfterCommits(1), COMPACT),))
    with pytest.raises(ValueError, match="shorter"):
        evaluate(strategy, state(60_000), ())


def test_figures_are_those_the_planner_has():
    class Scoring:
        def decide(self, state):
            return Answer(None, figures={"score": 71, "at": state.observed_at_ms})

    strategy = Strategy("s", (Rule(Every(60_000), Scoring()), Rule(Every(60_000), NOTHING)))
    decisions, _ = evaluate(strategy, state(60_000), strategy.fresh_memories())
    assert [decision.figures for decision in decisions] == [{"score": 71, "at": 60_000}, {}]
    assert {decision.verdict for decision in decisions} == {Verdict.NOTHING_TO_DO}


@pytest.mark.parametrize("method", ["decide", "due"])
def test_an_error_of_a_rule_names_the_rule_and_the_strategy(method):
    def fail(*_):
        raise ZeroDivisionError

    failing = type("Failing", (Fixed,), {"due": lambda *_: True, method: fail})(None)
    strategy = Strategy("s", (Rule(Every(90_000), NOTHING), Rule(failing, failing)))
    with pytest.raises(ZeroDivisionError) as caught:
        evaluate(strategy, state(60_000), strategy.fresh_memories())
    assert caught.value.__notes__ == ["rule 2 of strategy s"]


def test_needs_is_the_union_of_the_planners():
    planners = (RewriteDataFiles(), RewriteManifests(), ExpireSnapshots(), COMPACT)
    needs = Strategy("s", tuple(Rule(Every(60_000), planner) for planner in planners)).needs()
    assert needs == {Command.REWRITE_DATA_FILES, Command.REWRITE_MANIFESTS, Command.EXPIRE_SNAPSHOTS}


def evaluations(rules, *counts):
    """Whether the last rule planned, and the notes of all, with so many files at each moment."""
    strategy = Strategy("s", rules)
    memories, planned, notes = strategy.fresh_memories(), [], []
    for at_ms, count in counts:
        files = tuple(DataFile(f"f{n}", 1, 1) for n in range(count))
        decisions, memories = evaluate(strategy, replace(state(at_ms), data_files=files), memories)
        planned.append(decisions[-1].verdict is Verdict.PLANNED)
        notes.append([memory.note for memory in memories])
    return planned, notes


def test_a_planner_finds_what_it_noted_when_its_rule_fired_before():
    counts = [(60_000 * n, count) for n, count in enumerate([3, 4, 4, 4, 4], 1)]
    planned, _ = evaluations((Rule(Every(60_000), WhenSettled()),), *counts)
    # The plan of the third cleared the note, so it takes the fourth and the fifth for the next.
    assert planned == [False, False, True, False, True]


def test_a_note_outlasts_evaluations_at_which_the_trigger_does_not_fire():
    rules = (Rule(Every(60_000), WhenSettled()),)
    planned, _ = evaluations(rules, (60_000, 3), (90_000, 9), (120_000, 3))
    assert planned == [False, False, True]


def test_a_note_outlasts_plans_of_the_rules_before():
    rules = (Rule(Every(120_000), COMPACT), Rule(Every(60_000), WhenSettled()))
    _, notes = evaluations(rules, (60_000, 3), (120_000, 9))
    assert notes == [[None, 3], [None, 3]]


def test_each_rule_has_a_note_of_its_own():
    rules = (Rule(Every(60_000), WhenSettled()), Rule(Every(180_000), WhenSettled()))
    _, notes = evaluations(rules, (60_000, 3), (120_000, 4), (180_000, 5), (240_000, 6))
    assert notes[2:] == [[5, 5], [6, 5]]


class Declaring(Planner):
    def decide(self, state):
        return None

    def traits(self):
        return PlannerTraits(needs=frozenset({"compact"}), columns=("user_id",), max_format_version=2)


def test_a_planner_needs_nothing_but_decide():
    assert traits_of(NOTHING) == PlannerTraits()


def test_traits_are_what_the_planner_declares():
    assert traits_of(Declaring()).columns == ("user_id",)
    assert Strategy("s", (Rule(Every(60_000), Declaring()),)).needs() == {"compact"}


def test_traits_may_follow_from_the_options():
    planner = RewriteDataFiles("sort", "user_id DESC", where="user_id > 1")
    assert traits_of(planner).columns == ("user_id",)
    assert not traits_of(planner).reads_state  # its command does
    assert traits_of(planner).needs == {Command.REWRITE_DATA_FILES, Capability.ROW_FILTER}


def test_trigger_and_planner_see_the_executor_of_their_rule():
    seen = []

    @dataclass(frozen=True)
    class Spy:
        def due(self, state, memory):
            seen.append(state.executor)
            return True

        def decide(self, state):
            seen.append(state.executor)

    rules = [Rule(Spy(), Spy(), executor=name) for name in (None, "spark", "another")]
    strategy = Strategy("s", tuple(rules))
    evaluate(strategy, state(60_000), strategy.fresh_memories())
    assert seen == ["spark"] * 4 + ["another"] * 2
