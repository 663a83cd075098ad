"""Planners: what to do to a table, decided from its state alone."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import ClassVar

from strategies.plan import Plan, check_plan
from strategies.state import TableState


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannerTraits:
    """What a planner declares before it has seen a table. A scenario or table that does not fit is refused.

    `needs` are the capabilities that its plans require: members of `Capability` and names of native commands.
    If they are not declared, the engine vetoes each plan that it cannot run. `columns` are the columns that
    its plans name. `max_format_version` is the highest version of the table's format that it supports; None
    supports all.

    Without `reads_state` its `decide` does not look at the table: it only calls a command of the format,
    which does so itself. No reading of the table's state is then charged to it.
    """

    needs: frozenset[str] = frozenset()
    columns: tuple[str, ...] = ()
    max_format_version: int | None = None
    reads_state: bool = True


@dataclass(frozen=True, slots=True)
class Answer:
    """A plan, or None for nothing to do, with what else the planner has to give.

    The planner finds `note` as `state.note` when its rule fires again. A note must be a value, such as a
    frozen dataclass of strings, numbers and tuples; it must not hold the state or a collection of it, which
    change with the table.

    `figures` are numbers by name that the planner makes of the table, such as a score. They are recorded with
    the evaluation, whether it planned or not.
    """

    plan: Plan | None
    note: Hashable = None
    figures: Mapping[str, float] = field(default_factory=dict)


class Planner(ABC):
    """Decides what to do to a table. Implement it as a frozen dataclass whose fields are the options.

    A planner keeps nothing in itself. What it has to remember it notes in its `Answer`. The note belongs to
    one rule and changes only when that rule's trigger fires. It is None at first, after a switch of
    strategies and in `compactbench plan`, so a planner must make sense of a state without one. Whether the
    engine carried a plan out is in `state.compactions`.

    A class that has `decide` and nothing else need not inherit from this one.
    """

    __slots__ = ()

    # The keys that a field `options` may hold, each with its default in words.
    known_options: ClassVar[Mapping[str, str]] = MappingProxyType({})

    @abstractmethod
    def decide(self, state: TableState) -> Plan | Answer | None:
        """A plan, or None for nothing to do. No Spark, clock, randomness or files in here."""

    def traits(self) -> PlannerTraits:
        """What its plans need, under the options of this instance."""
        return PlannerTraits()


def traits_of(planner: object) -> PlannerTraits:
    """What a planner declares: nothing if its class does not inherit from `Planner`."""
    return planner.traits() if isinstance(planner, Planner) else PlannerTraits()


def known_options_of(cls: type) -> Mapping[str, str]:
    """The keys that a plug-in's field `options` may hold, each with its default in words."""
    return cls.known_options if issubclass(cls, Planner) else {}


def consult(planner: Planner, state: TableState, note: Hashable = None) -> Answer:
    """A planner's answer; `note` is what it noted before. Raises PlanError on a bad plan."""
    decided = planner.decide(state if note is None else replace(state, note=note))
    answer = decided if isinstance(decided, Answer) else Answer(decided)
    if answer.plan is not None:
        check_plan(state, answer.plan)
    return answer
