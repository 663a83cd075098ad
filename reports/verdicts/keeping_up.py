"""Which strategies keep up with the stream: whether their steps take less time than the stream lasts.

With a real clock, by which steps overlap, a strategy keeps up if its last commits are not late.

A step is serial except for its tasks, which share the cores. With c cores it takes serial + tasks / c, as in
Amdahl (1967). Tasks of fewer files than cores count as more serial than they are, so needs are upper bounds.
"""

import math
from dataclasses import dataclass
from statistics import fmean

from bench.results.folders import RunResult
from bench.results.records import MaintenanceRecord
from bench.results.table_content import stream_commits_of, stream_compactions_of
from bench.results.tables import together
from reports.data.group import RunGroup
from reports.verdicts.unmodelled import unmodelled

_LAST = 0.1  # of the commits


@dataclass(frozen=True, slots=True)
class Lag:
    """How late the last commits of a strategy were on average, and whether by less than a commit interval."""

    strategy: str
    late_s: float
    keeps_up: bool


def all_keep_up(group: RunGroup) -> bool:
    """Whether no strategy whose times are known falls behind the stream."""
    return not falling_behind(group)


def falling_behind(group: RunGroup) -> tuple[str, ...]:
    """The strategies that do, of those whose times are known."""
    every = lags(group) if group.manifest.is_at_once else loads(group)
    return tuple(one.strategy for one in every if not one.keeps_up)


def not_judged(group: RunGroup) -> list[str]:
    """The strategies whose modelled times get no verdict."""
    return [row.strategy for row in group.choices if unmodelled(group, row.strategy) is not None]


def lags(group: RunGroup) -> list[Lag]:
    """Of each strategy that a policy is chosen from, in runs with a real clock."""
    made = []
    for row in group.choices:
        late_s = [
            float(waited[-max(1, round(_LAST * len(waited))) :].mean())
            for run in group.usable_runs_of(row.strategy)
            if len(waited := stream_commits_of(run).column("waited_s"))
        ]
        if late_s and unmodelled(group, row.strategy) is None:
            interval_s = group.manifest.commit_interval_ms / 1000 / group.manifest.speed
            made.append(Lag(row.strategy, fmean(late_s), fmean(late_s) < interval_s))
    return made


@dataclass(frozen=True, slots=True)
class Load:
    """The commits, compactions and maintenance of a strategy, one after the other.

    `share` is their wall time over that of the stream, with the cores of the run; the strategy keeps up if it
    is below 1. `needed_cores` would do; infinite if no number would, None if the cores of the run are not
    known.
    """

    strategy: str
    share: float
    needed_cores: float | None

    @property
    def keeps_up(self) -> bool:
        return self.share < 1


def loads(group: RunGroup) -> list[Load]:
    """Of each strategy that a policy is chosen from; those whose times are not known are left out."""
    made = []
    for row in group.choices:
        times = [_times(run) for run in group.usable_runs_of(row.strategy)]
        if times and unmodelled(group, row.strategy) is None:
            wall, tasks = (fmean(part) for part in zip(*times, strict=True))
            if math.isfinite(wall + tasks):
                made.append(Load(row.strategy, wall, _needed_cores(wall, tasks, group.manifest.cores)))
    return made


def _times(run: RunResult) -> tuple[float, float]:
    """The wall time of steps and the CPU time of their tasks, both over the duration of the stream."""
    steps = (stream_commits_of(run), stream_compactions_of(run), run.of(MaintenanceRecord))
    duration_s = run.manifest.duration_ms / 1000
    wall_s, tasks_s = (float(together(part, *steps).sum()) for part in ("wall_s", "executor_cpu_s"))
    return wall_s / duration_s, tasks_s / duration_s


def _needed_cores(wall: float, tasks: float, cores: int | None) -> float | None:
    if cores is None:
        return None
    serial = wall - tasks / cores
    return math.floor(tasks / (1 - serial)) + 1 if serial < 1 else math.inf
