"""A strategy: a label and ordered rules, each a trigger and a planner."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any, Protocol

from strategies.plan import Plan, check_plan
from strategies.state import TableState
from strategies.triggers import RuleMemory, Trigger, needs_of


class Planner(Protocol):
    """Decides what to do to a table, from its state alone.

    Implement it as a frozen dataclass whose fields are the options. `decide` is all it must have; what
    else it may declare, as attributes of the same names, is listed in `PlannerTraits`.

    A planner keeps nothing in itself. If a decision depends on what it saw before, it declares
    `note(state, plan)`, whose result it finds as `state.note` when its rule fires again. The rules:

    - `note` is called each time the rule's trigger fires, after `decide`, with the same state and with the
      plan that resulted (None for nothing to do). While the trigger does not fire, or a rule before it
      plans, the planner is not asked and the note stays as it is.
    - Its result replaces the note; None clears it. It must be hashable, such as a frozen dataclass of
      strings, numbers and tuples, and must not hold the state or a collection of it, which change with the
      table.
    - `note` is pure, as `decide` is: both depend on the state alone, `state.note` included.
    - The note is None at first. It belongs to one rule, and a strategy that takes over in a switch starts
      without. `compactbench plan` has no past either, so a planner must make sense of a state without a note.
    - Whether the engine carried a plan out is in `state.compactions` later, not in the call to `note`.
    """

    def decide(self, state: TableState) -> Plan | None:
        """A plan, or None for nothing to do. No Spark, clock, randomness or files in here."""


@dataclass(frozen=True, slots=True)
class PlannerTraits:
    """What a planner may declare beyond `decide`, and what holds where it does not.

    `compactbench plan` refuses a planner for a table as scenarios do.

    `needs` are the capabilities its plans need (members of `Capability`, names of native commands): a
    scenario is refused before it starts where the engine lacks one. Without them the engine vetoes each
    plan it cannot run.

    `columns` are the columns of the table that its plans name: a scenario whose table lacks one is refused.

    `max_format_version` is the highest version of the table's format that it supports: a scenario whose
    table has a higher one is refused. None supports all.

    Without `reads_state` its `decide` does not look at the table: it only calls a command of the format,
    which does so itself. No reading of the table's state is then booked to it.

    `figures(state)` is what it makes of the table, by name, such as a score. It keeps to the rules of
    `decide` and is recorded with each evaluation at which the rule's trigger fired, whether it planned or
    not. Its state has no note.

    `note(state, plan)` is what it remembers until its rule fires again; see `Planner` for the rules.
    """

    needs: frozenset[str] = frozenset()
    columns: tuple[str, ...] = ()
    max_format_version: int | None = None
    reads_state: bool = True
    figures: Callable[[TableState], Mapping[str, float]] | None = None
    note: Callable[[TableState, Plan | None], object | None] | None = None


def traits_of(planner: Planner) -> PlannerTraits:
    """What a planner declares; the one place that looks its optional attributes up."""
    declared: dict[str, Any] = {
        field.name: getattr(planner, field.name, field.default) for field in fields(PlannerTraits)
    }
    return PlannerTraits(**declared)


def known_options_of(plugin: type) -> Mapping[str, str]:
    """The keys that a plug-in's field `options` may hold, each with its default in words.

    A class declares them as `known_options`, for `compactbench list` and the manifest; most take no such
    keys.
    """
    return getattr(plugin, "known_options", {})


def figures_of(planner: Planner, state: TableState) -> Mapping[str, float]:
    """What a planner's `figures` say of a table; nothing where it has no such method."""
    report = traits_of(planner).figures
    return report(state) if report else {}


def plan_of(planner: Planner, state: TableState) -> Plan | None:
    """A planner's plan for a state. Raises PlanError on a bad plan."""
    plan = planner.decide(state)
    if plan is not None:
        check_plan(state, plan)
    return plan


def consult(planner: Planner, state: TableState, note: object | None) -> tuple[Plan | None, object | None]:
    """A planner's plan for a state, and what it notes; `note` is what it noted before.

    Raises PlanError on a bad plan.
    """
    take_note = traits_of(planner).note
    if take_note is None:
        return plan_of(planner, state), None
    informed = replace(state, note=note)
    plan = plan_of(planner, informed)
    return plan, take_note(informed, plan)


class Verdict(StrEnum):
    """What became of one evaluation of a rule."""

    NOT_DUE = "not_due"  # the trigger did not fire
    NOTHING_TO_DO = "nothing_to_do"  # it fired, the planner returned None
    PLANNED = "planned"


@dataclass(frozen=True, slots=True)
class Rule:
    """When to evaluate the table, and what to do then.

    What it plans is committed `delay_ms` later; see `delay_or` for None. If it `is_concurrent`, it is
    executed meanwhile, beside the stream. A rule that `is_inline` is evaluated within each commit, which
    waits until what it plans is done, or with a delay until it is scheduled.
    """

    trigger: Trigger
    planner: Planner
    delay_ms: int | None = None
    is_inline: bool = False
    is_concurrent: bool = False

    def delay_or(self, default_ms: int) -> int:
        """Its delay in milliseconds; without one none if it is inline, else that of the scenario."""
        if self.delay_ms is not None:
            return self.delay_ms
        return 0 if self.is_inline else default_ms


@dataclass(frozen=True, slots=True)
class Decision:
    """One rule's answer at one evaluation; `plan` is set exactly when the verdict is PLANNED."""

    rule_index: int
    verdict: Verdict
    plan: Plan | None = None


@dataclass(frozen=True, slots=True)
class Strategy:
    """A label and rules in order of precedence: in each tick the first plan wins.

    Inline rules are apart: of them, too, the first plan wins, before the others are evaluated.
    """

    label: str
    rules: tuple[Rule, ...]

    def decide(
        self, state: TableState, memories: tuple[RuleMemory, ...], *, is_inline: bool = False
    ) -> tuple[tuple[Decision, ...], tuple[RuleMemory, ...]]:
        """The answers of the rules evaluated, and what each rule remembers from now on.

        Either those of the inline rules or those of the others.

        `memories` has one entry per rule. Rules behind the one that planned are not evaluated, so
        that what they wait for is still due at the next evaluation. Raises PlanError on a bad plan.
        """
        answers, after = tuple(self.evaluate(state, memories, is_inline=is_inline)), list(memories)
        for decision, memory in answers:
            after[decision.rule_index] = memory
        return tuple(decision for decision, _ in answers), tuple(after)

    def evaluate(
        self, state: TableState, memories: tuple[RuleMemory, ...], *, is_inline: bool = False
    ) -> Iterator[tuple[Decision, RuleMemory]]:
        """The answers of `decide` one by one, each with what its rule remembers from now on.

        A rule is evaluated when its answer is asked for, so that a caller can time each of them. An error
        has a note that says of which rule it is.
        """
        for index, (rule, memory) in enumerate(zip(self.rules, memories, strict=True)):
            if rule.is_inline is not is_inline:
                continue
            try:
                decision, after = _answer(index, rule, state, memory)
            except Exception as error:
                error.add_note(f"rule {index + 1} of strategy {self.label}")
                raise
            yield decision, after
            if decision.plan is not None:
                return

    def fresh_memories(self, at_ms: int, commits_total_count: int) -> tuple[RuleMemory, ...]:
        """Memories of a strategy that takes over at `at_ms` after so many commits."""
        return (RuleMemory(at_ms, None, commits_total_count),) * len(self.rules)

    def needs(self) -> frozenset[str]:
        """The capabilities its triggers and planners declare."""
        declared = (needs_of(rule.trigger) | traits_of(rule.planner).needs for rule in self.rules)
        return frozenset[str]().union(*declared)


def _answer(index: int, rule: Rule, state: TableState, memory: RuleMemory) -> tuple[Decision, RuleMemory]:
    """What one rule answers, and what it remembers from now on."""
    fired = rule.trigger.due(state, memory)
    after = _remember(memory, state, fired=fired)
    if not fired:
        return Decision(index, Verdict.NOT_DUE), after
    plan, note = consult(rule.planner, state, memory.note)
    verdict = Verdict.NOTHING_TO_DO if plan is None else Verdict.PLANNED
    return Decision(index, verdict, plan), replace(after, note=note)


def _remember(memory: RuleMemory, state: TableState, *, fired: bool) -> RuleMemory:
    evaluated = replace(memory, evaluated_at_ms=state.observed_at_ms)
    if not fired:
        return evaluated
    return replace(
        evaluated, fired_at_ms=state.observed_at_ms, commits_at_fire_count=state.commits_total_count
    )
