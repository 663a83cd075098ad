"""The latest figures of a run in progress."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from bench.results.arithmetic import sum_of_known
from bench.results.records import (
    FAILED_STATUSES,
    BaseRecord,
    CompactionRecord,
    Mode,
    ObserveRecord,
    PhaseRecord,
    QueryRecord,
)
from bench.text import counted, human_duration

_START_STEPS = 15  # of starting and warming up an engine, in commits of a small scenario


def start_steps(mode: Mode) -> int:
    """The steps of a run before its first commit."""
    return _START_STEPS if mode == "real" else 0


class LiveFigures:
    """`steps` counts the steps that are done: those before the first commit, and one for each tick."""

    def __init__(self, mode: Mode = "simulated") -> None:
        self.steps = 0
        self._phase = (
            "starting Spark" if mode == "real" else ""
        )  # in place of figures, before the first commit
        self._start_steps = start_steps(mode)
        self._files: int | None = None
        self._query_s: float | None = None
        self._statuses = Counter[str]()  # of the compactions
        self._cpu_s: float | None = 0.0  # None once the CPU of a compaction is unknown

    def add(self, kind: type[BaseRecord], fields: Mapping[str, Any]) -> None:
        """Count a record, given by its fields."""
        if kind is ObserveRecord:
            self._phase = ""
            self._files = fields["table"].data_files_count
            if fields["after"] == "commit":  # once per tick, even without rows to commit
                self._start()  # a warm JVM is not warmed up
                self.steps += 1
        elif kind is QueryRecord:
            if fields["primary"]:
                self._query_s = fields["cost"].wall_s
        elif kind is CompactionRecord:
            self._statuses[fields.get("status", "ok")] += 1
            self._cpu_s = sum_of_known((self._cpu_s, fields["cost"].own_cpu_s))
        elif kind is PhaseRecord:
            is_warm = fields["name"] == "warm_up"
            self._phase = "creating the table" if is_warm else "warming up"
            if is_warm:
                self._start()

    def _start(self) -> None:
        """Count the steps before the first commit, at the first call."""
        self.steps, self._start_steps = self.steps + self._start_steps, 0

    def text(self) -> str:
        if self._phase or self._files is None:
            return self._phase
        query = "" if self._query_s is None else f", last query {human_duration(self._query_s)}"
        noops, failures = self._statuses["noop"], sum(self._statuses[status] for status in FAILED_STATUSES)
        failed = f", {failures} of them FAILED" if failures else ""
        noop = f", {noops:,} that had nothing to do" if noops else ""
        cpu_s = self._cpu_s if self._statuses else None
        cpu = "" if cpu_s is None else f" ({human_duration(cpu_s)} CPU)"
        compactions = counted(self._statuses.total() - noops, "compaction")
        return f"{counted(self._files, 'file')}{query}, {compactions}{failed}{noop}{cpu}"
