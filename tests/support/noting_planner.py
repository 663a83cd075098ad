"""Planners that remember something, to test notes with."""

from dataclasses import dataclass

from strategies.plan import Compact, Plan, Reason
from strategies.state import TableState


@dataclass(frozen=True, slots=True)
class WhenSettled:
    """Compacts a table that has stopped changing: as many data files as at the evaluation before.

    After a plan it starts over: two equal numbers again.
    """

    def decide(self, state: TableState) -> Plan | None:
        if state.note != len(state.data_files):
            return None
        return Plan((Compact(),), Reason.SMALL_FILES)

    def note(self, state: TableState, plan: Plan | None) -> int | None:
        return len(state.data_files) if plan is None else None


@dataclass(frozen=True, slots=True)
class EverySecond:
    """Plans at every second evaluation."""

    def decide(self, state: TableState) -> Plan | None:
        return Plan((Compact(),), Reason.SCHEDULED) if state.note == "waited" else None

    def note(self, state: TableState, plan: Plan | None) -> str | None:
        return "waited" if plan is None else None
