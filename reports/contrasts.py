"""Strategies compared with a baseline, or new results with old ones, metric by metric."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from bench.results.rows import METRIC_BY_NAME, METRICS, Metric
from reports.compare import Comparison, compare, compare_unpaired
from reports.load import RunGroup

_AFTER_COST = (
    "query_mean_s", "query_p95_s", "write_amplification", "read_amplification", "space_amplification",
    "files_end",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Contrast:
    """One metric of a strategy and of its counterpart: the baseline, or the same strategy in old results.

    The figures are means over the runs that have one; `runs` and `other_runs` count these.
    """

    strategy: str
    other: str
    metric: Metric
    figure: float | None
    other_figure: float | None
    runs: int
    other_runs: int
    is_paired: bool
    comparison: Comparison

    @property
    def judged(self) -> Literal["better", "worse", ""]:
        """The verdict by the direction in which the metric is better; "" where there is none."""
        if self.comparison.verdict not in ("more", "less") or self.metric.better == "neither":
            return ""
        return (
            "better" if (self.comparison.verdict == "more") == (self.metric.better == "higher") else "worse"
        )


def leading_metrics(group: RunGroup) -> tuple[str, ...]:
    """The metrics that are compared by default: the cost first, then what it achieves."""
    return (group.cost_metric, *_AFTER_COST)


def with_baseline(
    group: RunGroup, baseline: str, strategies: Sequence[str], metrics: Iterable[str]
) -> list[Contrast]:
    """Each of `strategies` compared with `baseline`.

    Runs are paired by suite and repetition; strategies that share no pair are compared unpaired.
    """
    return [
        _contrast(group, group, strategy, baseline, METRIC_BY_NAME[metric])
        for strategy in strategies
        for metric in metrics
    ]


def old_and_new(
    old: RunGroup, new: RunGroup, strategies: Sequence[str], metrics: Iterable[str]
) -> list[Contrast]:
    """Each of `strategies` in the new results compared with itself in the old ones, unpaired."""
    return [
        _contrast(new, old, strategy, strategy, METRIC_BY_NAME[metric])
        for strategy in strategies
        for metric in metrics
    ]


def metrics_with_figures(*groups: RunGroup) -> tuple[str, ...]:
    """All metrics that have a value in some run of `groups`, in the registry's order."""
    by_strategy = (by_run for group in groups for by_run in group.figures.values())
    runs = [figures for by_run in by_strategy for figures in by_run.values()]
    return tuple(m.name for m in METRICS if any(figures[m.name] is not None for figures in runs))


def _contrast(group: RunGroup, other: RunGroup, strategy: str, against: str, metric: Metric) -> Contrast:
    values, other_values = _values(group, strategy, metric), _values(other, against, metric)
    exact = metric.exact or group.is_simulated
    is_paired = group is other and bool(group.figures[strategy].keys() & group.figures[against].keys())
    if is_paired:
        comparison = compare(*group.paired(metric.name, strategy, against), exact=exact)
    else:
        comparison = compare_unpaired(values, other_values, exact=exact)
    return Contrast(
        strategy, against, metric,
        group.row(strategy).values[metric.name], other.row(against).values[metric.name],
        len(values), len(other_values), is_paired, comparison,
    )  # fmt: skip


def _values(group: RunGroup, strategy: str, metric: Metric) -> list[float]:
    values = (figures[metric.name] for figures in group.figures[strategy].values())
    return [value for value in values if value is not None]
