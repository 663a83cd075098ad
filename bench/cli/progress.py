"""The progress of a suite, on stderr: bars on a terminal, one line per event elsewhere."""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Column
from rich.text import Text

from bench.cli.output import ERR, printable
from bench.results.folders import RunResult
from bench.runs.live_figures import LiveFigures, start_steps
from bench.runs.suite.cases import PlannedRun
from bench.text import counted, human_duration

BAR_WIDTH = 24
REFRESHES_PER_S = 4
_LOOKING = "looking in the cache"


@contextmanager
def doing(text: str, *, quiet: bool = False) -> Iterator[None]:
    """Show what the block does, without a bar."""
    if quiet:
        yield
    elif ERR.is_terminal:
        with ERR.status(text):
            yield
    else:
        _say(ERR, text)
        yield


@dataclass(slots=True)
class _Running:
    """A change log or run in progress; `status` replaces its figures."""

    task: TaskID
    began_s: float
    status: str = ""
    figures: LiveFigures = field(default_factory=LiveFigures)

    @property
    def text(self) -> str:
        return self.status or self.figures.text()


class SuiteProgress(Progress):
    """A `bench.runs.suite.watcher.Watcher` that shows the progress of a suite; if `quiet`, only failures.

    On a terminal: a bar for the suite, and one for the current change log or each run in progress, with its
    latest figures. Elsewhere: a line whenever something starts or ends.
    """

    def __init__(
        self,
        planned: Sequence[PlannedRun],
        console: Console,
        *,
        quiet: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._running: dict[str, _Running] = {}  # by title; rich draws the bars once while it sets them up
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
        self._ended_steps = 0
        self._all = self.add_task("all", total=sum(map(_steps, planned)), count=self._runs_text())
        self._began_s = clock()

    def get_renderables(self) -> Iterable[RenderableType]:
        """The bars, and the status or figures of what is in progress below them."""
        yield from super().get_renderables()
        for title, running in self._running.items():
            if running.text:
                text = running.text if len(self._running) == 1 else f"{title}: {running.text}"
                yield Text(text, style="dim", no_wrap=True, overflow="ellipsis")

    def log_started(self, scenario: str) -> None:
        self._start(_log_title(scenario), None).status = _LOOKING
        self._say_elsewhere(f"{_log_title(scenario)}: {_LOOKING}")

    def log_progressed(self, scenario: str, done: int, total: int) -> None:
        title = _log_title(scenario)
        if self._running[title].status == _LOOKING:
            self._say_elsewhere(f"{title}: starting Spark to write {counted(total, 'commit')}")
        self._running[title].status = "writing" if done else "starting Spark"
        self._advance(title, done, total)

    def log_ended(self, scenario: str, commits_count: int) -> None:
        title, end = _log_title(scenario), "found in the cache"
        if title in self._running:
            running = self._stop(title)
            if running.status != _LOOKING:
                end = f"written in {self._took(running)}"
        self._say(f"{title}: {counted(commits_count, 'commit')}, {end}")

    def dropping(self, run: str, left: Sequence[str]) -> None:
        self._say(f"dropping what {run}, which did not finish, has left: {', '.join(left)}")

    def warned(self, text: str) -> None:
        self._say(f"warning: {text}")

    def run_started(self, run: PlannedRun) -> None:
        self._start(_title(run), run.scenario.commits_count).figures = LiveFigures(run.mode)
        left_s = self.tasks[0].time_remaining
        left = f", about {human_duration(left_s)} left" if left_s else ""
        phase = ": starting Spark and warming up" if run.mode == "real" else ""
        number = self._ended_count + len(self._running)
        self._say_elsewhere(f"{_title(run)} (run {number} of {self._runs_count}{left}){phase}")

    def run_progressed(self, run: PlannedRun, figures: LiveFigures) -> None:
        running = self._running[_title(run)]
        running.figures = figures
        commits = run.scenario.commits_count
        steps = sum(other.figures.steps for other in self._running.values())
        self.update(self._all, completed=self._ended_steps + steps)
        self._advance(_title(run), figures.commits_count, commits)
        if figures.commits_count >= commits:
            running.status = "checking the content"

    def run_ended(self, run: PlannedRun, result: RunResult) -> None:
        running = self._stop(_title(run))
        took, figures = self._took(running), running.figures.text()
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

    def _start(self, title: str, commits_count: int | None) -> _Running:
        task = self.add_task(title, total=commits_count, count="")
        running = self._running[title] = _Running(task, self._clock())
        self._advance(title, 0, commits_count)
        return running

    def _advance(self, title: str, done: int, commits_count: int | None) -> None:
        if commits_count is not None:
            count = f"{done:,}/{commits_count:,} commits"
            self.update(self._running[title].task, completed=done, total=commits_count, count=count)

    def _stop(self, title: str) -> _Running:
        running = self._running.pop(title)
        self.remove_task(running.task)
        return running

    def _took(self, running: _Running) -> str:
        return human_duration(self._clock() - running.began_s)

    def _runs_text(self) -> str:
        return f"{self._ended_count:,}/{self._runs_count:,} runs"

    def _say(self, text: str) -> None:
        if not self._is_quiet:
            _say(self.console, text)

    def _say_elsewhere(self, text: str) -> None:
        """Print what a terminal shows in its bars or status."""
        if not self.console.is_terminal:
            self._say(text)


def _say(console: Console, text: str) -> None:
    console.print(printable(text), markup=False, highlight=False, soft_wrap=True)


def _log_title(scenario: str) -> str:
    return f"change log of {scenario}"


def _steps(run: PlannedRun) -> int:
    return start_steps(run.mode) + run.scenario.commits_count


def _title(run: PlannedRun) -> str:
    return f"{run.scenario.name} {run.spec.label} #{run.repetition}"
