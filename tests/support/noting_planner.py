"""Planners that remember something, to test notes with."""

from dataclasses import dataclass

from strategies.plan import Compact, Plan, Reason
from strategies.planner import Answer
from strategies.state import TableState


@dataclass(frozen=True, slots=True)
class WhenSettled:
    """Compacts a table that has stopped changing: as many data files as at the evaluation before.

    After a plan it starts over: two equal numbers again.
    """

    def decide(self, state: TableState) -> Answer:
        files_count = len(state.data_files)
        if state.note != files_count:
            return Answer(None, files_count)
        return Answer(Plan((Compact(),), Reason.SMALL_FILES))


@dataclass(frozen=True, slots=True)
class EverySecond:
    """Plans at every second evaluation."""

    def decide(self, state: TableState) -> Answer:
        if state.note == "waited":
            return Answer(Plan((Compact(),), Reason.SCHEDULED))
        return Answer(None, "waited")
