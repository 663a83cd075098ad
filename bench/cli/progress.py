"""The progress of a suite, on stderr: lines that change on a terminal, one line per event elsewhere."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.text import Text

from bench.cli.output import without_secrets
from bench.cli.progress_line import Activity, fitted
from bench.results.folders import RunResult
from bench.results.records import (
    FAILED_STATUSES,
    CompactionRecord,
    ObserveRecord,
    PhaseRecord,
    QueryRecord,
)
from bench.runs.cases import PlannedRun
from bench.text import counted, human_duration

# Before its first commit a run starts an engine and warms up, which takes about as long as this many commits
# of a small scenario. It is only a weight for the bar.
START_STEPS = 15
REFRESHES_PER_S = 4
ESTIMATE_FROM_SHARE = 0.02  # of the work: what is left cannot be estimated before


@contextmanager
def doing(text: str, console: Console) -> Iterator[None]:
    """Say what is being done before there is any progress to show."""
    if console.is_terminal:
        with console.status(text):
            yield
    else:
        _say(console, text)
        yield


class SuiteProgress:
    """Shows the progress of a suite (see `bench.runs.suite.Watcher`). If `quiet`, only failures."""

    def __init__(
        self,
        planned: Sequence[PlannedRun],
        console: Console,
        *,
        quiet: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._console, self._is_quiet, self._clock = console, quiet, clock
        self._all_steps = sum(map(_steps, planned))
        self._runs_count, self._ended_count = len(planned), 0
        self._ended_steps, self._run_steps = 0, 0
        self._run: PlannedRun | None = None
        self._figures = LiveFigures("")
        self._log: _LogProgress | None = None
        self._preparation = ""  # what the suite does before a run that is neither a change log nor a run
        self._began_s = self._run_began_s = clock()
        self._live = Live(self, console=console, refresh_per_second=REFRESHES_PER_S, transient=True)

    def __enter__(self) -> Self:
        if self._console.is_terminal and not self._is_quiet:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        full, empty = ("#", ".") if options.ascii_only else ("━", "─")
        for activity in self.activities():
            line = fitted(activity, options.max_width)
            yield Text.assemble(
                line.before,
                (full * line.filled, "green" if activity.share >= 1 else "cyan"),
                (empty * (line.bar_width - line.filled), "dim"),
                line.after,
                no_wrap=True,
                end="\n",
            )

    def activities(self) -> Iterator[Activity]:
        """What is in progress: the suite, and the change log or the run."""
        share = (self._ended_steps + self._run_steps) / self._all_steps if self._all_steps else 1.0
        yield Activity(
            "all", "all", self._ended_count, self._runs_count, "runs", share,
            _time_text(self._clock() - self._began_s, share), self._preparation,
        )  # fmt: skip
        if self._log:
            yield self._log.activity(self._clock())
        elif self._run:
            commits, start = self._run.source.scenario.commits_count, _start_steps(self._run)
            done = max(0, self._run_steps - start)
            status = self._figures.text() if done < commits else "checking the content"
            short_title = f"{self._run.spec.label} #{self._run.repetition}"
            yield Activity(
                _title(self._run), short_title, done, commits, "commits",
                done / commits if commits else 1.0, human_duration(round(self._clock() - self._run_began_s)),
                status,
            )  # fmt: skip

    def log_started(self, scenario: str) -> None:
        """The change log of a scenario is looked for, and written unless it is in the cache."""
        self._log = _LogProgress(scenario, self._clock())
        self._say_elsewhere(f"change log of {scenario}: looking in the cache")

    def log_progressed(self, scenario: str, done: int, total: int) -> None:
        """The change log is being written, which is not included in any figure."""
        if self._log is None:
            self.log_started(scenario)
        if self._log is not None:
            if not self._log.total:
                self._say_elsewhere(
                    f"change log of {scenario}: starting Spark to write {counted(total, 'commit')}"
                )
            self._log.done, self._log.total = done, total

    def log_ended(self, scenario: str, commits_count: int) -> None:
        """The change log is complete, whether it was written now or before."""
        log, self._log = self._log, None
        if log is not None and log.total:
            took = human_duration(round(self._clock() - log.began_s))
            self._say(f"change log of {scenario}: {counted(commits_count, 'commit')} written in {took}")
        else:
            self._say(f"change log of {scenario}: {counted(commits_count, 'commit')}, found in the cache")

    def dropping(self, run: str, left: Sequence[str]) -> None:
        """What a run has left in a shared catalog or a staging folder is dropped."""
        self._say(f"dropping what {run}, which did not finish, has left: {', '.join(left)}")

    def warned(self, text: str) -> None:
        """Something went wrong that stops nothing."""
        self._say(f"warning: {text}")

    def training_started(self) -> None:
        """Java's classes are being archived: once per Java and set of jars, in no figure."""
        self._preparation = "archiving Java's classes for faster starts, about a minute, once"
        self._say_elsewhere(self._preparation)

    def run_started(self, run: PlannedRun) -> None:
        """A run starts."""
        self._run, self._run_steps, self._run_began_s = run, 0, self._clock()
        self._preparation = ""
        self._figures = LiveFigures("starting Spark" if run.mode == "real" else "", _start_steps(run))
        phase = ": starting Spark and warming up" if run.mode == "real" else ""
        self._say_elsewhere(f"{_title(run)} (run {self._ended_count + 1} of {self._runs_count}){phase}")

    def run_progressed(self, run: PlannedRun, record: Any) -> None:
        """A record was written."""
        self._run_steps += self._figures.add(record)

    def run_ended(self, run: PlannedRun, result: RunResult) -> None:
        """A run finished or failed; either way its steps are done."""
        self._ended_count += 1
        self._ended_steps += _steps(run)
        self._run, self._run_steps = None, 0
        took, figures = human_duration(self._clock() - self._run_began_s), self._figures.text()
        if run.mode == "simulated":
            took, figures = f"simulated in {took}", f"modelled: {figures}"
        end = result.end
        if end is not None and end.status == "failed":
            _say(
                self._console, f"{_title(run)}: {took}; FAILED: {end.error}; see {result.folder / 'log.txt'}"
            )
        else:
            self._say(f"{_title(run)}: {took}; {figures}")
        if self._ended_count == self._runs_count:
            total = human_duration(round(self._clock() - self._began_s))
            self._say(f"all: {self._ended_count:,}/{self._runs_count:,} runs in {total}")

    def _say(self, text: str) -> None:
        if not self._is_quiet:
            _say(self._console, text)

    def _say_elsewhere(self, text: str) -> None:
        """Print what a terminal shows in its changing lines."""
        if not self._console.is_terminal:
            self._say(text)


class _LogProgress:
    """The change log in progress: before Spark starts, `total` is 0."""

    def __init__(self, scenario: str, began_s: float) -> None:
        self.scenario, self.began_s = scenario, began_s
        self.done = self.total = 0

    def activity(self, now_s: float) -> Activity:
        """What to show of it."""
        step = ("" if self.done else "starting Spark") if self.total else "looking in the cache"
        share = self.done / self.total if self.total else 0.0
        return Activity(
            f"change log of {self.scenario}", "change log", self.done, self.total, "commits", share,
            human_duration(round(now_s - self.began_s)), step,
        )  # fmt: skip


class LiveFigures:
    """The latest figures of a run in progress; `phase` is what it does before its first commit."""

    def __init__(self, phase: str = "", start_steps: int = 0) -> None:
        self._phase, self._start_steps = phase, start_steps
        self._files: int | None = None
        self._query_s: float | None = None
        self._compactions_count, self._noop_count = 0, 0
        self._failed_count = 0
        self._compaction_cpu_s: float | None = 0.0  # None once one is not known

    def add(self, record: Any) -> int:
        """Take a record into account; returns how many steps of the run it completes."""
        match record:
            case PhaseRecord(name="start_engine"):
                self._phase = "warming up"
            case PhaseRecord(name="warm_up"):
                self._phase = "creating the table"
                return self._started()
            case ObserveRecord():
                self._phase = ""
                self._files = record.data_files_count
                if record.after == "commit":  # once in each tick, whether or not it has rows to commit
                    return 1 + self._started()  # a warm JVM is not warmed up
            case QueryRecord(primary=True):
                self._query_s = record.wall_s
            case CompactionRecord():
                self._compactions_count += record.status != "noop"
                self._noop_count += record.status == "noop"
                self._failed_count += record.status in FAILED_STATUSES
                if self._compaction_cpu_s is not None and record.own_cpu_s is not None:
                    self._compaction_cpu_s += record.own_cpu_s
                else:
                    self._compaction_cpu_s = None
        return 0

    def _started(self) -> int:
        """The steps before the first commit, once."""
        steps, self._start_steps = self._start_steps, 0
        return steps

    def text(self) -> str:
        """The figures in one line."""
        if self._phase or self._files is None:
            return self._phase
        query = "" if self._query_s is None else f", last query {human_duration(self._query_s)}"
        cpu_s = self._compaction_cpu_s if self._compactions_count or self._noop_count else None
        cpu = "" if cpu_s is None else f" ({human_duration(cpu_s)} CPU)"
        failed = f", {self._failed_count} of them FAILED" if self._failed_count else ""
        noop = f", {self._noop_count:,} that had nothing to do" if self._noop_count else ""
        files = counted(self._files, "file")
        return f"{files}{query}, {counted(self._compactions_count, 'compaction')}{failed}{noop}{cpu}"


def _say(console: Console, text: str) -> None:
    console.print(without_secrets(text), markup=False, highlight=False, soft_wrap=True)


def _time_text(elapsed_s: float, share: float) -> str:
    """How long it has taken and, once that can be estimated, how long the rest will take."""
    elapsed = human_duration(round(elapsed_s))
    if not ESTIMATE_FROM_SHARE <= share < 1:
        return elapsed
    return f"{elapsed}, about {human_duration(round(elapsed_s * (1 - share) / share))} left"


def _start_steps(run: PlannedRun) -> int:
    return START_STEPS if run.mode == "real" else 0


def _steps(run: PlannedRun) -> int:
    return _start_steps(run) + run.source.scenario.commits_count


def _title(run: PlannedRun) -> str:
    return f"{run.source.scenario.name} {run.spec.label} #{run.repetition}"
