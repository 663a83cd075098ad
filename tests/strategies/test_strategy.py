import asyncio
import signal
import sys
from dataclasses import dataclass, replace
from typing import ClassVar

import pytest
from noting_planner import WhenSettled

from strategies.iceberg.commands import Command
from strategies.iceberg.procedures import ExpireSnapshots, RewriteDataFiles, RewriteManifests
from strategies.never import Never
from strategies.plan import Capability, Compact, Plan, PlanError, Reason, TriggerError
from strategies.state import DataFile, TableState
from strategies.strategy import (
    PlannerTraits,
    Rule,
    Strategy,
    Verdict,
    consult,
    figures_of,
    known_options_of,
    traits_of,
)
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
    strategy = Strategy(
        "s", (Rule(Every(60_000), NOTHING), Rule(Every(60_000), COMPACT), Rule(Every(60_000), COMPACT))
    )
    decisions, _ = strategy.decide(state(60_000), strategy.fresh_memories(0, 0))
    assert verdicts(decisions) == [(0, Verdict.NOTHING_TO_DO), (1, Verdict.PLANNED)]
    assert decisions[1].plan is COMPACT.plan
    assert decisions[0].plan is None


def test_decide_keeps_due_what_a_plan_before_it_hid():
    strategy = Strategy("s", (Rule(Every(120_000), COMPACT), Rule(Every(120_000), COMPACT)))
    memories = strategy.fresh_memories(0, 0)
    first, memories = strategy.decide(state(120_000), memories)
    second, memories = strategy.decide(state(180_000), memories)
    third, _ = strategy.decide(state(200_000), memories)
    assert verdicts(first) == [(0, Verdict.PLANNED)]
    assert verdicts(second) == [(0, Verdict.NOT_DUE), (1, Verdict.PLANNED)]
    assert verdicts(third) == [(0, Verdict.NOT_DUE), (1, Verdict.NOT_DUE)]


def test_decide_remembers_looks_and_firings():
    strategy = Strategy("s", (Rule(Every(60_000), NOTHING), Rule(AfterCommits(5), COMPACT)))
    _, (every, after) = strategy.decide(state(60_000, commits=3), strategy.fresh_memories(0, 0))
    assert (every.evaluated_at_ms, every.fired_at_ms, every.commits_at_fire_count) == (60_000, 60_000, 3)
    assert (after.evaluated_at_ms, after.fired_at_ms, after.commits_at_fire_count) == (60_000, None, 0)


def test_fresh_memories_of_a_takeover_forget_the_time_before():
    strategy = Strategy("s", (Rule(Every(60_000), COMPACT), Rule(AfterCommits(2), COMPACT)))
    decisions, _ = strategy.decide(state(615_000, commits=11), strategy.fresh_memories(610_000, 10))
    assert verdicts(decisions) == [(0, Verdict.NOT_DUE), (1, Verdict.NOT_DUE)]


def test_decide_checks_the_plan():
    strategy = Strategy("s", (Rule(AfterCommits(1), Fixed(Plan((), Reason.OTHER))),))
    with pytest.raises(PlanError, match="at least one action"):
        strategy.decide(state(60_000, commits=1), strategy.fresh_memories(0, 0))


def test_decide_wants_a_memory_for_each_rule():
    strategy = Strategy("s", (Rule(AfterCommits(1), COMPACT),))
    with pytest.raises(ValueError, match="shorter"):
        strategy.decide(state(60_000), ())


def test_figures_are_those_the_planner_has():
    class Scoring(Fixed):
        def figures(self, state):
            return {"score": 71, "at": state.observed_at_ms}

    assert figures_of(Scoring(None), state(60_000)) == {"score": 71.0, "at": 60_000.0}
    assert figures_of(NOTHING, state(60_000)) == {}


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_figure_that_is_no_number_is_the_planners_defect(value):
    class Broken(Fixed):
        def figures(self, state):
            return {"good": 1.0, "score": value}

    with pytest.raises(PlanError, match=f"score={value} must be a finite number"):
        figures_of(Broken(None), state(60_000))


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (None, "figures returned None; it must return a mapping of names to numbers"),
        ([1], r"figures returned \[1\]"),
        ({1: 2.0}, "the name of figure 1 must be a string"),
        ({"a": "x"}, "figure a='x' must be a finite number"),
        ({"a": 10**400}, "must be a finite number"),
        ({"a": -1e308}, r"figure a=-1e\+308 must be at most 1e\+100 in size"),
    ],
)
def test_figures_are_numbers_by_name(answer, text):
    class Broken(Fixed):
        def figures(self, state):
            return answer

    with pytest.raises(PlanError, match=text):
        figures_of(Broken(None), state(60_000))


class Leaving(Fixed):
    """Ends the process wherever it is asked."""

    def decide(self, state):
        raise SystemExit(7)

    figures = decide

    def due(self, state, memory):
        raise SystemExit


class Endless(Fixed):
    """Never answers, and handles the first interruption."""

    def decide(self, state):
        for _ in range(2):
            try:
                while True:
                    sum(range(1000))
            except BaseException as error:
                interruption = error
        raise interruption


def test_a_planner_that_never_answers_is_stopped(monkeypatch):
    monkeypatch.setattr("strategies.guard.CALL_LIMIT_S", 0.05)
    monkeypatch.setattr("strategies.guard._AGAIN_S", 0.05)
    before = signal.getsignal(signal.SIGALRM)
    strategy = Strategy("s", (Rule(Every(60_000), Endless(None)),))
    with pytest.raises(PlanError, match=r"the planner took longer than 0\.05 s") as caught:
        strategy.decide(state(60_000), strategy.fresh_memories(0, 0))
    assert caught.value.__notes__ == ["rule 1 of strategy s"]
    assert (signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)) == (before, (0.0, 0.0))


def test_a_planner_or_trigger_that_exits_ends_the_run_alone():
    with pytest.raises(PlanError, match=r"the planner called sys.exit\(7\)"):
        consult(Leaving(None), state(60_000), None)
    with pytest.raises(PlanError, match=r"the planner called sys.exit\(7\)"):
        figures_of(Leaving(None), state(60_000))
    strategy = Strategy("s", (Rule(Leaving(None), NOTHING),))
    with pytest.raises(TriggerError, match=r"the trigger called sys.exit\(\)"):
        strategy.decide(state(60_000), strategy.fresh_memories(0, 0))


def test_what_is_no_exception_is_told_as_the_planners():
    class Cancelled:
        def decide(self, state):
            raise asyncio.CancelledError

    with pytest.raises(PlanError, match="the planner raised CancelledError"):
        consult(Cancelled(), state(60_000), None)


class UnspeakableError(ValueError):
    def __str__(self):
        raise RuntimeError("of its own")


class LeavingError(ValueError):
    def __str__(self):
        raise SystemExit(7)


@pytest.mark.parametrize("error", [UnspeakableError, LeavingError])
def test_an_error_without_a_text_is_told_by_its_name(error):
    def fail(*_):
        raise error

    planner = type("Failing", (), {"decide": fail, "figures": fail})()
    told = f"the planner raised {error.__name__}, whose text cannot be read"
    with pytest.raises(PlanError, match=told):
        consult(planner, state(60_000), None)
    with pytest.raises(PlanError, match=told):
        figures_of(planner, state(60_000))
    with pytest.raises(ValueError, match=f"its `needs` raises ValueError: {told}"):
        traits_of(type("Failing", (Fixed,), {"needs": property(fail)})(None))


def test_an_interrupt_in_a_planner_interrupts():
    class Interrupted:
        def decide(self, state):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        consult(Interrupted(), state(60_000), None)


@pytest.mark.parametrize("answer", ["yes", None, 1])
def test_a_trigger_answers_true_or_false(answer):
    class Vague:
        def due(self, state, memory):
            return answer

    strategy = Strategy("s", (Rule(Vague(), NOTHING),))
    with pytest.raises(TriggerError, match=f"due returned {answer!r}; it must return True or False"):
        strategy.decide(state(60_000), strategy.fresh_memories(0, 0))


def test_never_never_plans():
    strategy = Strategy("never", (Rule(AfterCommits(1), Never()),))
    decisions, _ = strategy.decide(state(60_000, commits=1), strategy.fresh_memories(0, 0))
    assert verdicts(decisions) == [(0, Verdict.NOTHING_TO_DO)]


def test_needs_is_the_union_of_the_planners():
    rules = tuple(
        Rule(Every(60_000), p) for p in (RewriteDataFiles(), RewriteManifests(), ExpireSnapshots(), COMPACT)
    )
    assert Strategy("s", rules).needs() == {
        Command.REWRITE_DATA_FILES,
        Command.REWRITE_MANIFESTS,
        Command.EXPIRE_SNAPSHOTS,
    }


def files(count):
    return tuple(DataFile(f"f{n}", 1, 1) for n in range(count))


def planned(strategy, *states):
    """Which states were planned on, one after the other."""
    memories, found = strategy.fresh_memories(0, 0), []
    for each in states:
        decisions, memories = strategy.decide(each, memories)
        found.append(decisions[-1].verdict is Verdict.PLANNED)
    return found


def test_a_planner_finds_what_it_noted_when_its_rule_fired_before():
    strategy = Strategy("s", (Rule(Every(60_000), WhenSettled()),))
    counts = [3, 4, 4, 4, 4]
    states = [replace(state(60_000 * n), data_files=files(count)) for n, count in enumerate(counts, 1)]
    # The plan of the third cleared the note, so it takes the fourth and the fifth for the next.
    assert planned(strategy, *states) == [False, False, True, False, True]


def test_a_note_outlasts_evaluations_at_which_the_trigger_does_not_fire():
    strategy = Strategy("s", (Rule(Every(60_000), WhenSettled()),))
    states = [replace(state(at), data_files=files(count)) for at, count in ((60_000, 3), (90_000, 9))]
    assert planned(strategy, *states, replace(state(120_000), data_files=files(3))) == [False, False, True]


def test_a_note_outlasts_plans_of_the_rules_before():
    strategy = Strategy("s", (Rule(Every(120_000), COMPACT), Rule(Every(60_000), WhenSettled())))
    memories = strategy.fresh_memories(0, 0)
    notes = []
    for at, count in ((60_000, 3), (120_000, 9)):
        _, memories = strategy.decide(replace(state(at), data_files=files(count)), memories)
        notes.append([memory.note for memory in memories])
    assert notes == [[None, 3], [None, 3]]


def test_each_rule_has_a_note_of_its_own():
    rules = (Rule(Every(60_000), WhenSettled()), Rule(Every(180_000), WhenSettled()))
    strategy = Strategy("s", rules)
    memories = strategy.fresh_memories(0, 0)
    for at, count in ((60_000, 3), (120_000, 4), (180_000, 5)):
        _, memories = strategy.decide(replace(state(at), data_files=files(count)), memories)
    assert [memory.note for memory in memories] == [5, 5]
    _, memories = strategy.decide(replace(state(240_000), data_files=files(6)), memories)
    assert [memory.note for memory in memories] == [6, 5]


def test_a_planner_that_notes_nothing_sees_no_note():
    class Sees:
        def decide(self, state):
            assert state.note is None

    assert consult(Sees(), state(60_000), "another's") == (None, None)


def test_a_note_that_exits_when_it_is_hashed_ends_the_run_alone():
    class Keeps(Fixed):
        def note(self, state, plan):
            return type("Leaves", (), {"__hash__": lambda self: sys.exit(7)})()

    with pytest.raises(PlanError, match=r"the planner called sys.exit\(7\)"):
        consult(Keeps(None), state(60_000), None)


def test_a_note_that_could_change_is_the_planners_defect():
    class Keeps(Fixed):
        def note(self, state, plan):
            return ["paths"]

    strategy = Strategy("s", (Rule(Every(60_000), Keeps(None)),))
    with pytest.raises(
        PlanError, match=r"note of type list must be hashable: .*; return a tuple or a frozen"
    ):
        strategy.decide(state(60_000), strategy.fresh_memories(0, 0))


class Declaring(Fixed):
    needs: ClassVar[set[str]] = {"compact"}
    columns: ClassVar[list[str]] = ["user_id"]
    max_format_version: ClassVar[int] = 2


def test_a_planner_needs_nothing_but_decide():
    assert traits_of(NOTHING) == PlannerTraits()


def test_traits_are_what_the_planner_declares():
    assert traits_of(Declaring(None)) == PlannerTraits(frozenset({"compact"}), ("user_id",), 2)
    assert Strategy("s", (Rule(Every(60_000), Declaring(None)),)).needs() == {"compact"}


def test_traits_may_follow_from_the_options():
    planner = RewriteDataFiles("sort", "user_id DESC", where="user_id > 1")
    assert traits_of(planner).columns == ("user_id",)
    assert not traits_of(planner).reads_state  # its command does
    assert traits_of(planner).needs == {Command.REWRITE_DATA_FILES, Capability.ROW_FILTER}


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("needs", "compact", "needs='compact' must be a collection of names"),
        ("columns", (1,), r"columns=\(1,\) must be a collection of names"),
        ("max_format_version", "2", "max_format_version='2' must be a whole number"),
        ("max_format_version", True, "max_format_version=True must be a whole number"),
        ("reads_state", "no", "reads_state='no' must be True or False"),
        ("figures", {}, r"figures=\{\} must be a method"),
        ("note", "later", "note='later' must be a method"),
    ],
)
def test_an_attribute_of_a_trait_s_name_that_is_none_is_refused(name, value, text):
    planner = type("Odd", (Fixed,), {name: value})(None)
    with pytest.raises(ValueError, match=text):
        traits_of(planner)


def test_a_property_that_fails_is_told_by_its_name():
    def fail(planner):
        raise RuntimeError("no figures yet")

    planner = type("Failing", (Fixed,), {"needs": property(fail)})(None)
    with pytest.raises(ValueError, match=r"^its `needs` raises RuntimeError: no figures yet$"):
        traits_of(planner)


def test_known_options_are_of_the_class():
    assert known_options_of(RewriteDataFiles)["min-input-files"] == "5"
    assert known_options_of(Fixed) == {}


@pytest.mark.parametrize("known", [{"min": 5}, {1: "five"}, {"min"}, ["min"], "min", None])
def test_known_options_that_are_no_mapping_of_strings_are_refused(known):
    with pytest.raises(ValueError, match=r"known_options=.* must be a mapping of option names to their"):
        known_options_of(type("Odd", (Fixed,), {"known_options": known}))
