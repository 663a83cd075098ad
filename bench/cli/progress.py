"""The progress of a suite, on stderr: bars on a terminal, one line per event elsewhere."""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Column
from rich.text import Text

from bench.cli.output import printable
from bench.results.arithmetic import sum_of_known
from bench.results.folders import RunResult
from bench.results.records import FAILED_STATUSES, CompactionRecord, ObserveRecord, PhaseRecord, QueryRecord
from bench.runs.suite.cases import PlannedRun
from bench.text import counted, human_duration

START_STEPS = 15  # the weight of starting and warming up an engine in the bar, in commits of a small scenario
BAR_WIDTH = 24
REFRESHES_PER_S = 4
_LOOKING = "looking in the cache"


@contextmanager
def doing(text: str, console: Console) -> Iterator[None]:
    """Show what the block does, without a bar."""
    if console.is_terminal:
        with console.status(text):
            yield
    else:
        _say(console, text)
        yield


class SuiteProgress(Progress):
    """A `bench.runs.suite.watcher.Watcher` that shows the progress of a suite; if `quiet`, only failures.

    On a terminal: a bar for the suite, one for the current change log or run, and its latest figures.
    Elsewhere: a line whenever something starts or ends.
    """

    def __init__(
        self,
        planned: Sequence[PlannedRun],
        console: Console,
        *,
        quiet: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._status, self._figures = "", LiveFigures()  # rich draws the bars once while it sets them up
        super().__init__(
            TextColumn("{task.description}", markup=False, table_column=Column(ratio=1, no_wrap=True)),
            TextColumn("{task.fields[count]}", table_column=Column(no_wrap=True)),
            BarColumn(BAR_WIDTH),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=console, transient=True, disable=quiet or not console.is_terminal, get_time=clock,
            refresh_per_second=REFRESHES_PER_S, speed_estimate_period=math.inf,
        )  # fmt: skip
        self._is_quiet, self._clock = quiet, clock
        self._runs_count, self._ended_count = len(planned), 0
        self._ended_steps = self._run_steps = 0
        self._all = self.add_task("all", total=sum(map(_steps, planned)), count=self._runs_text())
        self._current: TaskID | None = None  # the change log or the run
        self._began_s = self._current_began_s = clock()

    def get_renderables(self) -> Iterable[RenderableType]:
        """The bars, and the status below them."""
        yield from super().get_renderables()
        if status := self._status or self._figures.text():
            yield Text(status, style="dim", no_wrap=True, overflow="ellipsis")

    def log_started(self, scenario: str) -> None:
        self._start(f"change log of {scenario}", None)
        self._status = _LOOKING
        self._say_elsewhere(f"change log of {scenario}: {_LOOKING}")

    def log_progressed(self, scenario: str, done: int, total: int) -> None:
        if self._current is None:
            self.log_started(scenario)
        if self._status == _LOOKING:
            self._say_elsewhere(
                f"change log of {scenario}: starting Spark to write {counted(total, 'commit')}"
            )
        self._status = "writing" if done else "starting Spark"
        self._advance(done, total)

    def log_ended(self, scenario: str, commits_count: int) -> None:
        was_found = self._current is None or self._status == _LOOKING
        end = "found in the cache" if was_found else f"written in {self._took()}"
        self._stop()
        self._say(f"change log of {scenario}: {counted(commits_count, 'commit')}, {end}")

    def dropping(self, run: str, left: Sequence[str]) -> None:
        self._say(f"dropping what {run}, which did not finish, has left: {', '.join(left)}")

    def warned(self, text: str) -> None:
        self._say(f"warning: {text}")

    def run_started(self, run: PlannedRun) -> None:
        self._start(_title(run), run.scenario.commits_count)
        self._figures = LiveFigures("starting Spark" if run.mode == "real" else "", _start_steps(run))
        left_s = self.tasks[0].time_remaining
        left = f", about {human_duration(left_s)} left" if left_s else ""
        phase = ": starting Spark and warming up" if run.mode == "real" else ""
        self._say_elsewhere(f"{_title(run)} (run {self._ended_count + 1} of {self._runs_count}{left}){phase}")

    def run_progressed(self, run: PlannedRun, record: Any) -> None:
        self._run_steps += self._figures.add(record)
        commits, done = run.scenario.commits_count, self._run_steps - _start_steps(run)
        self.update(self._all, completed=self._ended_steps + self._run_steps)
        self._advance(max(0, done), commits)
        if done >= commits:
            self._status = "checking the content"

    def run_ended(self, run: PlannedRun, result: RunResult) -> None:
        took, figures = self._took(), self._figures.text()
        self._stop()
        self._ended_count += 1
        self._ended_steps += _steps(run)
        self.update(self._all, completed=self._ended_steps, count=self._runs_text())
        if run.mode == "simulated":
            took, figures = f"simulated in {took}", f"modelled: {figures}"
        end = result.end
        if end is not None and end.status == "failed":
            _say(self.console, f"{_title(run)}: {took}; FAILED: {end.error}; see {result.folder / 'log.txt'}")
        else:
            self._say(f"{_title(run)}: {took}; {figures}")
        if self._ended_count == self._runs_count:
            self._say(f"all: {self._runs_text()} in {human_duration(self._clock() - self._began_s)}")

    def _start(self, title: str, commits_count: int | None) -> None:
        self._stop()
        self._current_began_s = self._clock()
        self._current = self.add_task(title, total=commits_count, count="")
        self._advance(0, commits_count)

    def _advance(self, done: int, commits_count: int | None) -> None:
        if self._current is not None and commits_count is not None:
            count = f"{done:,}/{commits_count:,} commits"
            self.update(self._current, completed=done, total=commits_count, count=count)

    def _stop(self) -> None:
        self._status, self._run_steps, self._figures = "", 0, LiveFigures()
        if self._current is not None:
            self.remove_task(self._current)
        self._current = None

    def _took(self) -> str:
        return human_duration(self._clock() - self._current_began_s)

    def _runs_text(self) -> str:
        return f"{self._ended_count:,}/{self._runs_count:,} runs"

    def _say(self, text: str) -> None:
        if not self._is_quiet:
            _say(self.console, text)

    def _say_elsewhere(self, text: str) -> None:
        """Print what a terminal shows in its bars or status."""
        if not self.console.is_terminal:
            self._say(text)


class LiveFigures:
    """The latest figures of a run; `phase` replaces them before its first commit."""

    def __init__(self, phase: str = "", start_steps: int = 0) -> None:
        self._phase, self._start_steps = phase, start_steps
        self._files: int | None = None
        self._query_s: float | None = None
        self._statuses = Counter[str]()  # of the compactions
        self._cpu_s: float | None = 0.0  # None once the CPU of a compaction is unknown

    def add(self, record: Any) -> int:
        """Returns how many steps of the run the record completes."""
        match record:
            case PhaseRecord(name="start_engine"):
                self._phase = "warming up"
            case PhaseRecord(name="warm_up"):
                self._phase = "creating the table"
                return self._started()
            case ObserveRecord():
                self._phase = ""
                self._files = record.table.data_files_count
                if record.after == "commit":  # once per tick, even without rows to commit
                    return 1 + self._started()  # a warm JVM is not warmed up
            case QueryRecord(primary=True):
                self._query_s = record.cost.wall_s
            case CompactionRecord():
                self._statuses[record.status] += 1
                self._cpu_s = sum_of_known((self._cpu_s, record.cost.own_cpu_s))
        return 0

    def _started(self) -> int:
        """The steps before the first commit at the first call, then 0."""
        steps, self._start_steps = self._start_steps, 0
        return steps

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


def _say(console: Console, text: str) -> None:
    console.print(printable(text), markup=False, highlight=False, soft_wrap=True)


def _start_steps(run: PlannedRun) -> int:
    return START_STEPS if run.mode == "real" else 0


def _steps(run: PlannedRun) -> int:
    return _start_steps(run) + run.scenario.commits_count


def _title(run: PlannedRun) -> str:
    return f"{run.scenario.name} {run.spec.label} #{run.repetition}"
