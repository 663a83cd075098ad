"""One metric of the runs of a strategy as a sample, with the sitting in which each run was made."""

from dataclasses import dataclass

from bench.results.folders import RunResult
from reports.data.group import RunGroup
from reports.verdicts.pairs import longest_repetitions, pairs, sittings


@dataclass(frozen=True, slots=True)
class Sample:
    """One metric of runs that have a value, and the sitting each run was made in."""

    values: tuple[float, ...]
    sittings: tuple[str, ...]


def sample(group: RunGroup, metric: str, strategy: str) -> Sample:
    """One metric of the runs of a strategy that have a value."""
    return _sample(group, metric, group.runs_with(metric, strategy))


def samples(group: RunGroup, metric: str, a: str, b: str) -> tuple[Sample, Sample, bool]:
    """One metric of two strategies, and whether their runs are paired.

    Every run with a value is in its sample. Paired samples are in the same order of repetitions.
    """
    a_runs, b_runs = group.runs_with(metric, a), group.runs_with(metric, b)
    paired = pairs(a_runs, b_runs, longest_repetitions(group.runs)) if a_runs else None
    if paired:
        a_runs, b_runs = (tuple(side) for side in zip(*paired, strict=True))
    return _sample(group, metric, a_runs), _sample(group, metric, b_runs), bool(paired)


def _sample(group: RunGroup, metric: str, runs: tuple[RunResult, ...]) -> Sample:
    by_folder = sittings(group.runs)
    return Sample(group.values(metric, runs), tuple(by_folder[run.folder] for run in runs))
