"""A strategy: a label and ordered rules, each a trigger and a planner."""

import math
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol

from strategies.plan import Capability, Plan, PlanError, check_plan
from strategies.state import TableState
from strategies.triggers import RuleMemory, Trigger


class Planner(Protocol):
    """Decides what to do to a table, from its state alone.

    Implement it as a frozen dataclass whose fields are the options. A class attribute
    `needs: ClassVar[frozenset[Capability]]` lets a scenario be refused before it starts on an
    engine that cannot do what the planner plans; without it the engine vetoes at run time.

    A method `figures(state) -> Mapping[str, float]` is optional too: what the planner makes of the
    table, by name, such as a score. It keeps to the rules of `decide` and is recorded with each look
    at which the rule's trigger fired, whether it then planned or not.

    So is a property `columns`, a tuple: the columns of the table that its plans name. A scenario whose
    table lacks one is refused before it starts. And so is a class attribute `max_format_version`, an int:
    a scenario whose table has a higher one is refused.
    """

    def decide(self, state: TableState) -> Plan | None:
        """A plan, or None for nothing to do. No Spark, clock, randomness or files in here."""


def figures_of(planner: Planner, state: TableState) -> dict[str, float]:
    """What a planner's `figures` say of a table; nothing where it has no such method.

    Raises PlanError on a figure that is no finite number.
    """
    report = getattr(planner, "figures", None)
    told = {name: float(value) for name, value in report(state).items()} if report else {}
    for name, value in told.items():
        if not math.isfinite(value):
            raise PlanError(f"figure {name}={value} must be a finite number; leave out what does not apply")
    return told


class Verdict(StrEnum):
    """What became of one look at a rule."""

    NOT_DUE = "not_due"  # the trigger did not fire
    NOTHING_TO_DO = "nothing_to_do"  # it fired, the planner returned None
    PLANNED = "planned"


@dataclass(frozen=True, slots=True)
class Rule:
    """When to look, and what to do then."""

    trigger: Trigger
    planner: Planner


@dataclass(frozen=True, slots=True)
class Decision:
    """One rule's answer at one look; `plan` is set exactly when the verdict is PLANNED."""

    rule_index: int
    verdict: Verdict
    plan: Plan | None = None


@dataclass(frozen=True, slots=True)
class Strategy:
    """A label and rules in order of precedence: at one look the first plan wins."""

    label: str
    rules: tuple[Rule, ...]

    def decide(
        self, state: TableState, memories: tuple[RuleMemory, ...]
    ) -> tuple[tuple[Decision, ...], tuple[RuleMemory, ...]]:
        """The answers of the rules looked at, and what each rule remembers from now on.

        `memories` has one entry per rule. Rules behind the one that planned are not looked at, so
        that what they wait for is still due at the next look. Raises PlanError on a bad plan.
        """
        decisions: list[Decision] = []
        after = list(memories)
        for index, (rule, memory) in enumerate(zip(self.rules, memories, strict=True)):
            fired = rule.trigger.due(state, memory)
            after[index] = _remember(memory, state, fired=fired)
            if not fired:
                decisions.append(Decision(index, Verdict.NOT_DUE))
                continue
            plan = rule.planner.decide(state)
            if plan is None:
                decisions.append(Decision(index, Verdict.NOTHING_TO_DO))
                continue
            check_plan(state, plan)
            decisions.append(Decision(index, Verdict.PLANNED, plan))
            break
        return tuple(decisions), tuple(after)

    def fresh_memories(self, at_ms: int, commits_total_count: int) -> tuple[RuleMemory, ...]:
        """Memories of a strategy that takes over at `at_ms` after so many commits."""
        return (RuleMemory(at_ms, None, commits_total_count),) * len(self.rules)

    def needs(self) -> frozenset[Capability]:
        """The capabilities its planners declare."""
        return frozenset[Capability]().union(
            *(getattr(rule.planner, "needs", frozenset[Capability]()) for rule in self.rules)
        )


def _remember(memory: RuleMemory, state: TableState, *, fired: bool) -> RuleMemory:
    looked = replace(memory, evaluated_at_ms=state.observed_at_ms)
    if not fired:
        return looked
    return replace(looked, fired_at_ms=state.observed_at_ms, commits_at_fire_count=state.commits_total_count)
