"""One metric of the runs of a strategy as a sample, with what is known of the machine during each run."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from bench.results.folders import RunResult
from bench.results.rows import FIXED_WORK
from reports.data.group import RunGroup

BREAK_S = 7_200.0  # after which machine conditions may differ; how fast they change is not known


@dataclass(frozen=True, slots=True)
class Sample:
    """One metric of runs that have a value, and the sitting each run was made in.

    `works_s` is the time of the fixed work during each run, None where it was not measured.
    """

    values: tuple[float, ...]
    sittings: tuple[str, ...]
    works_s: tuple[float | None, ...]


def samples(group: RunGroup, metric: str) -> dict[str, Sample]:
    """One metric of each strategy, of its runs that have a value."""
    by_folder, by_strategy = sittings(group.runs), dict[str, Sample]()
    for strategy in group.strategies:
        runs, figures = group.runs_with(metric, strategy), group.figures[strategy]
        by_strategy[strategy] = Sample(
            group.values(metric, runs),
            tuple(by_folder[run.folder] for run in runs),
            tuple(figures[run.folder][FIXED_WORK] for run in runs),
        )
    return by_strategy


def sittings(runs: Iterable[RunResult]) -> dict[Path, str]:
    """The sitting of each run, by its folder: runs of a results folder with no long break between them.

    A suite that is resumed at once continues the sitting, although it is another suite.
    """
    by_folder: dict[Path, list[RunResult]] = {}
    for run in sorted(runs, key=started_s):
        by_folder.setdefault(run.folder.parent, []).append(run)
    by_run: dict[Path, str] = {}
    for ordered in by_folder.values():
        name, busy_until = "", -math.inf
        for run in ordered:
            if started_s(run) - busy_until > BREAK_S:
                name = str(run.folder)
            busy_until = max(busy_until, ended_s(run))
            by_run[run.folder] = name
    return by_run


def started_s(run: RunResult) -> float:
    """When a run began, in seconds since 1970 UTC."""
    return datetime.fromisoformat(run.manifest.started_utc).timestamp()


def ended_s(run: RunResult) -> float:
    """When its last record was written, or when it began if there is none."""
    written = run.records.last.written_utc if run.records else run.manifest.started_utc
    return datetime.fromisoformat(written).timestamp()
