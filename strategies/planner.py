"""Planners: what to do to a table, decided from its state alone."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import ClassVar

from strategies.plan import Action, Plan, check_plan
from strategies.state import TableState


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannerTraits:
    """What a planner declares before it has seen a table. A scenario or table that does not fit is refused.

    `needs` are the capabilities that its plans require: members of `Capability` and names of native commands.
    The engine vetoes each plan that needs what it cannot do and that was not declared. `columns` are the
    columns that its plans name. `max_format_version` is the highest version of the table's format that it
    supports; None supports all. A planner without `reads_state` does not look at the table, because it only
    calls a command of the format, so that no reading of the table's state is charged to it. Without
    `may_plan` it never plans anything. One that `decides_when` weighs what a compaction costs against what
    waiting costs; moments to compact cannot be chosen for it.
    """

    needs: frozenset[str] = frozenset()
    columns: tuple[str, ...] = ()
    max_format_version: int | None = None
    reads_state: bool = True
    may_plan: bool = True
    decides_when: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """A plan, or None for nothing to do, with a note and figures.

    The planner finds `note` as `state.note` when its rule fires again. A note must be a value, such as a
    frozen dataclass of strings, numbers and tuples; it must not hold the state or a collection of it, which
    change with the table. `figures` are numbers that the planner computes from the table, such as a score.
    They are recorded with the evaluation, whether it planned or not.
    """

    plan: Plan | None
    note: Hashable = None
    figures: Mapping[str, float] = field(default_factory=dict)


class Planner(ABC):
    """Decides what to do to a table. Implement it as a frozen dataclass whose fields are the options.

    A planner has no state of its own: what it has to remember goes into the note of its `Answer`. The note
    belongs to one rule and changes only when that rule's trigger fires. It is None at first and in
    `compactbench plan`. Whether a plan was executed is in `state.compactions`.

    A class that has `decide` and nothing else need not inherit from this one.
    """

    __slots__ = ()

    # The keys that a field `options` may hold, each with a description of its default.
    known_options: ClassVar[Mapping[str, str]] = MappingProxyType({})

    @abstractmethod
    def decide(self, state: TableState) -> Plan | Answer | None:
        """A plan, or None for nothing to do. No Spark, clock, randomness or files in here."""

    def traits(self) -> PlannerTraits:
        return PlannerTraits()


def traits_of(planner: object) -> PlannerTraits:
    """The defaults if the class does not inherit from `Planner`."""
    return planner.traits() if isinstance(planner, Planner) else PlannerTraits()


def known_options_of(cls: type) -> Mapping[str, str]:
    """The keys that a plug-in's field `options` may hold, each with a description of its default."""
    return cls.known_options if issubclass(cls, Planner) else {}


def consult(planner: Planner, state: TableState, note: Hashable = None) -> Answer:
    """A planner's answer, given its earlier `note`. Raises PlanError on a bad plan."""
    decided = planner.decide(state if note is None else replace(state, note=note))
    answer = decided if isinstance(decided, Answer) else Answer(decided)
    if answer.plan is not None:
        check_plan(state, answer.plan)
    return answer


def fixed_actions(planner: Planner) -> tuple[Action, ...]:
    """What a planner plans for any table; nothing if it looks at the table or at the time."""
    if traits_of(planner).reads_state:
        return ()
    plan = consult(planner, TableState(observed_at_ms=0, target_file_size_bytes=1)).plan
    return () if plan is None else plan.actions
