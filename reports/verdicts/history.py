"""Figures over time: when a scenario ran, the oldest time first, and what changed in between."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from itertools import groupby
from typing import Any

from bench.results.folders import RunResult
from bench.results.metrics import METRICS
from bench.results.pooling import Difference, Strictness, differences
from bench.results.sittings import sittings, started_s
from reports.data.group import RunGroup, run_groups

_COMMIT_CHARACTERS = 8


@dataclass(frozen=True, slots=True)
class RunMean:
    """The mean of runs, the lowest and the highest of them, and their number."""

    mean: float
    low: float
    high: float
    runs: int


@dataclass(frozen=True, eq=False)
class HistoryPoint:
    """Runs of one sitting with the same versions and options, and how they differ from those before."""

    group: RunGroup
    changes: tuple[Difference, ...]

    @cached_property
    def started_utc(self) -> str:
        return min(self.group.runs, key=started_s).manifest.started_utc

    @property
    def moment(self) -> str:
        return f"{datetime.fromisoformat(self.started_utc).astimezone(UTC):%Y-%m-%d %H:%M} UTC"

    @property
    def is_comparable(self) -> bool:
        """Whether its figures compare with those of the point before."""
        return all(change.checked.between is not Strictness.NEVER for change in self.changes)

    @property
    def change_words(self) -> tuple[str, ...]:
        """What changed, in a word or two each: "spark 3.5.9", "machine", "options"."""
        return tuple(dict.fromkeys(map(_words, self.changes)))

    def value(self, metric: str, strategy: str) -> RunMean | None:
        row = self.group.row(strategy) if strategy in self.group.strategies else None
        mean = None if row is None else row.values[metric]
        if row is None or mean is None:
            return None
        known = [value for value in row.run_values[metric] if value is not None]
        ends = known or [mean]  # no run has a figure that is computed from means
        return RunMean(mean, min(ends), max(ends), len(known) or row.runs)


@dataclass(frozen=True, eq=False)
class History:
    """All points of one scenario, workload and mode, simulated or real."""

    points: tuple[HistoryPoint, ...]

    @property
    def latest(self) -> RunGroup:
        return self.points[-1].group

    @property
    def strategies(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(label for point in self.points for label in point.group.strategies))

    @property
    def comparable(self) -> tuple[HistoryPoint, ...]:
        """The last stretch of points whose figures may be compared."""
        gaps = [place for place, point in enumerate(self.points) if not point.is_comparable]
        return self.points[gaps[-1] if gaps else 0 :]

    def has(self, metric: str) -> bool:
        return any(point.value(metric, label) for point in self.points for label in self.strategies)

    @property
    def lines(self) -> Iterator[dict[str, Any]]:
        """Every known figure: a line per point, strategy and metric."""
        for point in self.points:
            for row in point.group.rows:
                place = {name: getattr(row, name) for name in ("scenario", "workload", "format", "mode")}
                for metric in METRICS:
                    value = point.value(metric.name, row.strategy)
                    if value is not None:
                        yield {
                            **place, "started_utc": point.started_utc, "strategy": row.strategy,
                            "runs": value.runs, "metric": metric.name, "unit": metric.unit,
                            "mean": value.mean, "min": value.low, "max": value.high,
                        }  # fmt: skip


def histories(runs: Iterable[RunResult]) -> tuple[History, ...]:
    """The history of each scenario, workload and mode, in the order of their names."""
    in_time = sorted(runs, key=lambda run: (run.manifest.group_key, started_s(run)))
    by_key = groupby(in_time, key=lambda run: run.manifest.group_key)
    return tuple(History(tuple(_points([*own]))) for _, own in by_key)


def _points(runs: Sequence[RunResult]) -> Iterator[HistoryPoint]:
    """Suites of one sitting are one point if nothing differs, as when a suite was resumed."""
    by_suite: dict[tuple[object, str], list[RunResult]] = {}
    for run in runs:
        by_suite.setdefault((run.folder.parent, run.manifest.suite_id), []).append(run)
    names, made = sittings(runs), list[list[RunResult]]()
    for suite in by_suite.values():
        is_same = bool(made) and names[made[-1][0].folder] == names[suite[0].folder]
        if is_same and not differences((*made[-1], *suite)):
            made[-1] += suite
        else:
            made.append(suite)
    before: RunGroup | None = None
    for own in made:
        (group,) = run_groups(own)
        yield HistoryPoint(group, () if before is None else _changes(before, group))
        before = group


def _changes(before: RunGroup, after: RunGroup) -> tuple[Difference, ...]:
    """How the first runs of strategies differ, as far as a run of each side does."""
    firsts = [
        {run.manifest.strategy: run for run in reversed(group.runs)}.values() for group in (before, after)
    ]
    new = {run.folder for run in after.runs}
    return tuple(
        difference
        for difference in differences([run for side in firsts for run in side])
        if difference.runs[0].folder not in new and difference.runs[1].folder in new
    )


def _words(change: Difference) -> str:
    part, value = change.field.partition(".")[2], change.values[1]
    if change.checked.field == "versions":
        return f"{part} {value}" if value is not None else f"without {part}"
    if change.field == "git.commit":
        return f"compactbench {str(value)[:_COMMIT_CHARACTERS]}"
    return change.checked.words
