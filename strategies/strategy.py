"""A strategy: a label and ordered rules, each a trigger and a planner."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from strategies.plan import Plan
from strategies.planner import Planner, consult, traits_of
from strategies.state import TableState
from strategies.triggers import RuleMemory, Trigger, trigger_traits


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
    waits until what it plans is done, or with a delay until it is scheduled. `executor` names what executes
    its plans; None is the engine's own.
    """

    trigger: Trigger
    planner: Planner
    delay_ms: int | None = None
    is_inline: bool = False
    is_concurrent: bool = False
    executor: str | None = None

    def delay_or(self, default_ms: int) -> int:
        """Its delay in milliseconds; without one none if it is inline, else that of the scenario."""
        if self.delay_ms is not None:
            return self.delay_ms
        return 0 if self.is_inline else default_ms


@dataclass(frozen=True, slots=True)
class Decision:
    """One rule's answer at one evaluation; `plan` is set exactly when the verdict is PLANNED.

    `figures` are the planner's (`strategies.planner.Answer`), none if the rule was not due.
    """

    rule_index: int
    verdict: Verdict
    plan: Plan | None = None
    figures: Mapping[str, float] = field(default_factory=dict)


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
        declared = (trigger_traits(rule.trigger).needs | traits_of(rule.planner).needs for rule in self.rules)
        return frozenset[str]().union(*declared)


def _answer(index: int, rule: Rule, state: TableState, memory: RuleMemory) -> tuple[Decision, RuleMemory]:
    """What one rule answers, and what it remembers from now on."""
    fired = rule.trigger.due(state, memory)
    after = _remember(memory, state, fired=fired)
    if not fired:
        return Decision(index, Verdict.NOT_DUE), after
    answer = consult(rule.planner, state, memory.note)
    verdict = Verdict.NOTHING_TO_DO if answer.plan is None else Verdict.PLANNED
    return Decision(index, verdict, answer.plan, answer.figures), replace(after, note=answer.note)


def _remember(memory: RuleMemory, state: TableState, *, fired: bool) -> RuleMemory:
    evaluated = replace(memory, evaluated_at_ms=state.observed_at_ms)
    if not fired:
        return evaluated
    return replace(
        evaluated, fired_at_ms=state.observed_at_ms, commits_at_fire_count=state.commits_total_count
    )
