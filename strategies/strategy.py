"""A strategy: a label and ordered rules, each a trigger and a planner."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from strategies.plan import Plan
from strategies.planner import Planner, consult, traits_of
from strategies.state import TableState
from strategies.triggers import RuleMemory, Trigger, trigger_traits


class Verdict(StrEnum):
    """The result of one evaluation of a rule."""

    NOT_DUE = "not_due"  # the trigger did not fire
    NOTHING_TO_DO = "nothing_to_do"  # it fired, the planner returned None
    PLANNED = "planned"


@dataclass(frozen=True, slots=True)
class Rule:
    """When to evaluate the table, and what to do then.

    Plans are committed `delay_ms` after they are made. A rule that `is_inline` is evaluated within each
    commit, which waits until the plan is done, or with a delay until it is scheduled. `executor` names what
    executes the plans; None is the engine itself.
    """

    trigger: Trigger
    planner: Planner
    delay_ms: int | None = None
    is_inline: bool = False
    executor: str | None = None

    def delay_or(self, default_ms: int) -> int:
        """The rule's own delay if it has one, otherwise 0 for an inline rule and the default for others."""
        if self.delay_ms is not None:
            return self.delay_ms
        return 0 if self.is_inline else default_ms


@dataclass(frozen=True, slots=True)
class Decision:
    """One rule's answer at one evaluation; `plan` is set exactly when the verdict is PLANNED.

    `figures` are the planner's (`strategies.planner.Answer`), empty if the rule was not due.
    """

    rule: Rule
    rule_index: int
    verdict: Verdict
    plan: Plan | None = None
    figures: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Strategy:
    """A label and rules in order of precedence: in each tick the first plan wins.

    Inline rules are evaluated before the others, and the first plan among them wins too.
    """

    label: str
    rules: tuple[Rule, ...]

    def evaluate(
        self, state: TableState, memories: tuple[RuleMemory, ...], *, is_inline: bool = False
    ) -> Iterator[tuple[Decision, RuleMemory]]:
        """Each decision with the rule's new memory, either of the inline rules or of the others.

        `memories` has one entry per rule. A rule is evaluated when the iterator reaches it, so that a caller
        can time each. Rules after the one that planned are not evaluated, and stay due. Raises PlanError on a
        bad plan; an error has a note that names the rule.
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

    def fresh_memories(self) -> tuple[RuleMemory, ...]:
        """Before the first evaluation."""
        return (RuleMemory(),) * len(self.rules)

    def needs(self) -> frozenset[str]:
        """The capabilities its triggers and planners declare."""
        declared = (trigger_traits(rule.trigger).needs | traits_of(rule.planner).needs for rule in self.rules)
        return frozenset[str]().union(*declared)


def for_executor(state: TableState, executor: str | None) -> TableState:
    """The state as a rule with this executor sees it; None is the engine itself."""
    return state if executor in (None, state.executor) else replace(state, executor=executor)


def _answer(index: int, rule: Rule, state: TableState, memory: RuleMemory) -> tuple[Decision, RuleMemory]:
    state, at_ms = for_executor(state, rule.executor), state.observed_at_ms
    if not rule.trigger.due(state, memory):
        return Decision(rule, index, Verdict.NOT_DUE), replace(memory, evaluated_at_ms=at_ms)
    answer = consult(rule.planner, state, memory.note)
    verdict = Verdict.NOTHING_TO_DO if answer.plan is None else Verdict.PLANNED
    after = RuleMemory(at_ms, state.commits_total_count, answer.note)
    return Decision(rule, index, verdict, answer.plan, answer.figures), after
