"""Strategies against a baseline, or new results against old ones, metric by metric."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from bench.results.rows import METRIC_BY_NAME, METRICS, Metric
from reports.compare import Comparison, compare, compare_unpaired
from reports.load import Section

_AFTER_COST = (
    "query_mean_s", "query_p95_s", "write_amplification", "read_amplification", "space_amplification",
    "files_end",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Contrast:
    """One metric of a strategy against that of its counterpart: the baseline, or itself in old results.

    The figures are means over the runs that have one, `runs` and `other_runs` count these.
    """

    strategy: str
    other: str
    metric: Metric
    figure: float | None
    other_figure: float | None
    runs: int
    other_runs: int
    is_paired: bool
    found: Comparison

    @property
    def judged(self) -> Literal["better", "worse", ""]:
        """The verdict by the direction in which the metric is better; "" where there is none."""
        if self.found.verdict not in ("more", "less") or self.metric.better == "neither":
            return ""
        return "better" if (self.found.verdict == "more") == (self.metric.better == "higher") else "worse"


def leading_metrics(section: Section) -> tuple[str, ...]:
    """What a comparison is about unless asked otherwise: the cost first, then what it buys."""
    return (section.cost_metric, *_AFTER_COST)


def with_baseline(
    section: Section, baseline: str, strategies: Sequence[str], metrics: Iterable[str]
) -> list[Contrast]:
    """Each of `strategies` against `baseline`.

    Runs are paired by suite and repetition; where the two share none, their groups are compared.
    """
    return [
        _contrast(section, section, strategy, baseline, METRIC_BY_NAME[metric])
        for strategy in strategies
        for metric in metrics
    ]


def old_and_new(
    old: Section, new: Section, strategies: Sequence[str], metrics: Iterable[str]
) -> list[Contrast]:
    """Each of `strategies` in the new results against itself in the old ones, unpaired."""
    return [
        _contrast(new, old, strategy, strategy, METRIC_BY_NAME[metric])
        for strategy in strategies
        for metric in metrics
    ]


def metrics_with_figures(*sections: Section) -> tuple[str, ...]:
    """All metrics that some run of `sections` has a figure of, in the registry's order."""
    runs = [
        figures for section in sections for found in section.figures.values() for figures in found.values()
    ]
    return tuple(m.name for m in METRICS if any(figures[m.name] is not None for figures in runs))


def _contrast(section: Section, other: Section, strategy: str, against: str, metric: Metric) -> Contrast:
    values, other_values = _values(section, strategy, metric), _values(other, against, metric)
    exact = metric.exact or section.is_simulated
    is_paired = section is other and bool(section.figures[strategy].keys() & section.figures[against].keys())
    if is_paired:
        found = compare(*section.paired(metric.name, strategy, against), exact=exact)
    else:
        found = compare_unpaired(values, other_values, exact=exact)
    return Contrast(
        strategy, against, metric,
        section.row(strategy).values[metric.name], other.row(against).values[metric.name],
        len(values), len(other_values), is_paired, found,
    )  # fmt: skip


def _values(section: Section, strategy: str, metric: Metric) -> list[float]:
    found = (figures[metric.name] for figures in section.figures[strategy].values())
    return [value for value in found if value is not None]
