"""The latest figures of a run in progress, and the file in which a worker shares them with the suite."""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from bench.results.records import (
    FAILED_STATUSES,
    LOST_STATUSES,
    BaseRecord,
    CompactionRecord,
    Mode,
    ObserveRecord,
    PhaseRecord,
    QueryRecord,
    RunRecord,
    WarmUpRecord,
)
from bench.text import counted, human_duration

PROGRESS = "progress.json"  # in the work folder of a simulated run
POLL_S = 0.2  # how often the files of a run in progress are read
_START_STEPS = 15  # of starting and warming up an engine, in commits of a small scenario


def start_steps(mode: Mode) -> int:
    """The steps of a run before its first commit."""
    return _START_STEPS if mode == "real" else 0


@dataclass(slots=True)
class LiveFigures:
    mode: Mode = "simulated"
    is_warm: bool = False
    commits_count: int = 0  # ticks: one without rows to commit counts as well
    phase: str = ""  # in place of figures, before the first commit
    files: int | None = None
    query_s: float | None = None
    statuses: Counter[str] = field(default_factory=Counter)  # of the compactions
    cpu_s: float = 0.0  # of the compactions

    @property
    def steps(self) -> int:
        """The steps that are done: those before the first commit, and one for each tick."""
        return self.commits_count + (start_steps(self.mode) if self.is_warm else 0)

    def add(self, kind: type[BaseRecord], fields: Mapping[str, Any]) -> None:
        """Count a record, given by its fields."""
        if kind is ObserveRecord:
            self.phase = ""
            self.files = fields["table"].data_files_count
            if fields["after"] == "commit":
                self.is_warm = True  # with a real clock no record says so before
                self.commits_count += 1
        elif kind is QueryRecord:
            if fields["primary"]:
                self.query_s = fields["cost"].wall_s
        elif kind is CompactionRecord:
            self.statuses[fields.get("status", "ok")] += 1
            self.cpu_s += fields["cost"].cpu_s
        elif kind is PhaseRecord:
            self.is_warm = fields["name"] == "warm_up"
            self.phase = "creating the table" if self.is_warm else "warming up"
        elif kind is WarmUpRecord:  # of a role, after the table has been created
            self.phase = "warming up"

    def text(self) -> str:
        if self.phase or self.files is None:
            return self.phase or ("starting Spark" if self.mode == "real" else "")
        query = "" if self.query_s is None else f", last query {human_duration(self.query_s)}"
        noops, failures = self.statuses["noop"], sum(self.statuses[status] for status in FAILED_STATUSES)
        failed = f", {failures} of them FAILED" if failures else ""
        lost_count = sum(self.statuses[status] for status in LOST_STATUSES)
        lost = f", {lost_count} of them lost" if lost_count else ""
        noop = f", {noops:,} that had nothing to do" if noops else ""
        cpu = f" ({human_duration(self.cpu_s)} CPU)" if self.statuses else ""
        compactions = counted(self.statuses.total() - noops, "compaction")
        return f"{counted(self.files, 'file')}{query}, {compactions}{failed}{lost}{noop}{cpu}"


class LiveProgress:
    """Counts the records of a simulated run, and tells its figures a few times a second."""

    def __init__(self, tell: Callable[[LiveFigures], None]) -> None:
        self._tell, self._figures, self._next_s = tell, LiveFigures(), 0.0

    def add(self, kind: type[BaseRecord], record: Mapping[str, Any]) -> None:
        self._figures.add(kind, record)
        is_due = kind is ObserveRecord and time.monotonic() > self._next_s
        if is_due or kind is RunRecord:  # the last one: nobody asks again
            self._tell(self._figures)
            self._next_s = time.monotonic() + POLL_S


_FIGURES = TypeAdapter(LiveFigures)


def write_progress(path: Path, figures: LiveFigures) -> None:
    """Share the figures with the suite; no reader sees a part of them."""
    part = path.with_suffix(".part")
    part.write_bytes(_FIGURES.dump_json(figures))
    part.replace(path)


def read_progress(path: Path) -> LiveFigures | None:
    """None before the first figures are written."""
    return _FIGURES.validate_json(path.read_bytes()) if path.exists() else None
