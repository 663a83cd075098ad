"""The progress of a suite, on stderr: bars on a terminal, one line per run elsewhere."""

import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from bench.results.folders import RunResult
from bench.results.records import (
    FAILED_STATUSES,
    CommitRecord,
    CompactionRecord,
    ObserveRecord,
    PhaseRecord,
    QueryRecord,
)
from bench.runs.suite import PlannedRun
from bench.text import counted, human_duration

# Before its first commit a run starts an engine and warms up, which takes about as long as this many commits
# of a small scenario. It is only a weight for the bar.
START_STEPS = 15
SPEED_WINDOW_S = 600.0


class SuiteProgress:
    """Shows the progress of a suite (see `bench.runs.suite.Watcher`)."""

    def __init__(self, planned: Sequence[PlannedRun], console: Console) -> None:
        self._console = console
        self._runs_count = len(planned)
        self._ended_count = 0
        self._started_s = 0.0
        self._figures = LiveFigures()
        self._bars = Progress(
            TextColumn("{task.description}"), BarColumn(bar_width=24), MofNCompleteColumn(),
            TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(),
            TextColumn("{task.fields[figures]}", markup=False),
            console=console, speed_estimate_period=SPEED_WINDOW_S, disable=not console.is_terminal,
        )  # fmt: skip
        steps = sum(_steps(run) for run in planned)
        self._all = self._bars.add_task("all runs", total=steps, figures="")
        self._one: TaskID | None = None
        self._log: TaskID | None = None

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def log_progressed(self, scenario: str, done: int, total: int) -> None:
        """A change log is being written: once per stream, and not part of any figure."""
        if self._log is None:
            self._log = self._bars.add_task(f"change log of {escape(scenario)}", total=total, figures="")
            self._print(f"writing the change log of {scenario}, {counted(total, 'commit')}")
        self._bars.update(self._log, completed=done, visible=done < total)
        if done >= total:
            self._log = None

    def training_started(self) -> None:
        """Java's classes are being archived: once per Java and set of jars, and not part of any figure."""
        self._bars.console.print("archiving Java's classes for faster starts, about a minute, once")

    def run_started(self, run: PlannedRun) -> None:
        """A run starts."""
        self._started_s, self._figures = time.monotonic(), LiveFigures()
        self._one = self._bars.add_task(escape(_title(run)), total=_steps(run), figures="starting")
        self._print(f"{_title(run)} ({self._ended_count + 1} of {self._runs_count})")

    def run_progressed(self, run: PlannedRun, record: Any) -> None:
        """A record was written."""
        steps = self._figures.add(record)
        if self._one is not None:
            self._bars.update(self._one, advance=steps, figures=self._figures.text())
        self._bars.update(self._all, advance=steps)

    def run_ended(self, run: PlannedRun, result: RunResult) -> None:
        """A run finished or failed."""
        self._ended_count += 1
        if self._one is not None:
            self._bars.remove_task(self._one)
        duration, figures = human_duration(time.monotonic() - self._started_s), self._figures.text()
        if run.mode == "simulated":
            duration, figures = f"simulated in {duration}", f"modelled: {figures}"
        end = result.end
        if end is not None and end.status == "failed":
            summary = f"FAILED: {end.error}; see {result.folder / 'log.txt'}"
        else:
            summary = figures
        self._bars.console.print(
            f"{_title(run)}: {duration}; {summary}", markup=False, highlight=False, soft_wrap=True
        )

    def _print(self, text: str) -> None:
        if not self._console.is_terminal:
            self._console.print(text, markup=False, highlight=False, soft_wrap=True)


class LiveFigures:
    """The latest figures of a run in progress."""

    def __init__(self) -> None:
        self._phase = ""
        self._files: int | None = None
        self._query_s: float | None = None
        self._compactions_count = 0
        self._failed_count = 0
        self._compaction_cpu_s = 0.0

    def add(self, record: Any) -> int:
        """Take a record into account; returns how many steps of the run's bar it completes."""
        match record:
            case PhaseRecord(name="start_engine"):
                self._phase = "warming up"
            case PhaseRecord(name="warm_up"):
                self._phase = ""
                return START_STEPS
            case CommitRecord(is_initial=False):
                return 1
            case ObserveRecord():
                self._files = record.data_files_count
            case QueryRecord(primary=True):
                self._query_s = record.wall_s
            case CompactionRecord():
                self._compactions_count += 1
                self._failed_count += record.status in FAILED_STATUSES
                self._compaction_cpu_s += record.cpu_s
        return 0

    def text(self) -> str:
        """The figures in one line."""
        if self._phase or self._files is None:
            return self._phase
        query = "" if self._query_s is None else f", last query {human_duration(self._query_s)}"
        cpu = f" ({human_duration(self._compaction_cpu_s)} CPU)" if self._compactions_count else ""
        failed = f", {self._failed_count} of them FAILED" if self._failed_count else ""
        files = counted(self._files, "file")
        return f"{files}{query}, {counted(self._compactions_count, 'compaction')}{failed}{cpu}"


def _steps(run: PlannedRun) -> int:
    return (START_STEPS if run.mode == "real" else 0) + run.source.scenario.commits_count


def _title(run: PlannedRun) -> str:
    return f"{run.source.scenario.name} {run.spec.label} #{run.repetition}"
