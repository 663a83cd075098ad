"""One metric of the runs of a strategy as a sample, with what is known of the machine during each run."""

from dataclasses import dataclass

from bench.results.rows import FIXED_WORK
from bench.results.sittings import sittings
from reports.data.group import RunGroup


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
