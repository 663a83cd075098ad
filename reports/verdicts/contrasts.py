"""Strategies compared with a baseline, or new results with old ones, metric by metric.

A page of many comparisons has false ones among them: at 5 % each, one in twenty. So two metrics, the cost and
the mean query latency, are confirmatory: their verdicts are corrected for their number (Holm) and hold
jointly with an error of 5 %. All others are exploratory: each verdict stands for itself, and shows where to
look closer. Intervals are always 95 % intervals of one comparison.

Pages with at least one false verdict, in % of 2,000, with four strategies compared with a baseline that
equals them, n repetitions, 5 % of noise (1 sd of the log), rho between the metrics of a run: of three leading
timings, each verdict for itself, and of the two confirmatory ones, corrected:

                       each for itself    corrected
    n = 3, rho = 0                37.5          3.5
    n = 3, rho = 0.5              35.4          3.5
    n = 5, rho = 0                36.5          3.8
    n = 5, rho = 0.5              33.7          4.0

Reproduced by `make noise`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from bench.results.metrics import LATENCY, METRIC_BY_NAME, METRICS, Metric
from bench.text import counted
from reports.data.group import RunGroup
from reports.verdicts.compare import Comparison, corrected
from reports.verdicts.judge import compare_strategies, compare_with_old
from reports.verdicts.sittings import ASSUMES_NONE, SittingEffects
from reports.verdicts.unmodelled import without_verdict

_AFTER_COST = (
    LATENCY, "query_p95_s", "write_amplification", "read_amplification", "space_amplification", "files_end",
)  # fmt: skip
_WHERE_COMMITS_WAIT = ("commit_returned_p95_s", "deletes_age_mean_s")

Role = Literal["confirmatory", "exploratory"]


@dataclass(frozen=True, slots=True)
class Contrast:
    """One metric of a strategy and of its counterpart: the baseline, or the same strategy in old results.

    The figures are means over the runs that have the metric; `runs` and `other_runs` count them. `unmodelled`
    and `other_unmodelled` are the reasons for which a simulated figure gets no verdict in any comparison.
    """

    strategy: str
    other: str
    metric: Metric
    figure: float | None
    other_figure: float | None
    runs: int
    other_runs: int
    comparison: Comparison
    role: Role = "exploratory"
    unmodelled: str | None = None
    other_unmodelled: str | None = None

    @property
    def judged(self) -> Literal["better", "worse", ""]:
        """The verdict in the direction in which the metric is better; "" if there is none."""
        if not self.comparison.is_decided or self.metric.better == "neither":
            return ""
        is_better = (self.comparison.verdict == "more") == (self.metric.better == "higher")
        return "better" if is_better else "worse"

    def to_json(self) -> dict[str, Any]:
        """The comparison for programs; keys are never renamed."""
        comparison = self.comparison
        return {
            "strategy": self.strategy, "against": self.other, "metric": self.metric.name,
            "unit": self.metric.unit, "figure": self.figure, "against_figure": self.other_figure,
            "ratio": comparison.ratio, "low": comparison.low, "high": comparison.high, "n": comparison.n,
            "runs": self.runs, "against_runs": self.other_runs,
            "method": comparison.method, "role": self.role, "p": comparison.p,
            "adjusted_p": comparison.adjusted_p, "tolerance": comparison.tolerance,
            "verdict": comparison.verdict, "judged": self.judged, "reason": comparison.reason,
        }  # fmt: skip

    @property
    def sample(self) -> str:
        """Which runs count, such as "3 runs against 2"."""
        return f"{counted(self.runs, 'run')} against {self.other_runs}"


def confirmatory_metrics(group: RunGroup) -> tuple[str, str]:
    return (group.cost_metric, LATENCY)


def leading_metrics(group: RunGroup) -> tuple[str, ...]:
    """The metrics that are compared by default: the cost first, then what it achieves.

    If some commits compact by themselves, also how long their callers wait, and how old delete files get
    under the strategies that make nobody wait.
    """
    waits = any(row.commits_wait for row in group.rows)
    return (group.cost_metric, *_AFTER_COST, *(_WHERE_COMMITS_WAIT if waits else ()))


def with_baselines(
    group: RunGroup,
    baselines: Mapping[str, str],
    metrics: Iterable[str],
    sittings: SittingEffects = ASSUMES_NONE,
) -> list[Contrast]:
    """Each strategy compared with its own baseline; verdicts are corrected for all of these contrasts."""
    names, made = tuple(metrics), []
    for strategy, baseline in baselines.items():
        for metric in names:
            comparison = compare_strategies(group, metric, strategy, baseline, sittings.of(metric))
            made.append(_contrast(group, group, strategy, baseline, metric, comparison))
    return confirmed(made)


def old_and_new(
    old: RunGroup,
    new: RunGroup,
    strategies: Sequence[str],
    metrics: Iterable[str],
    sittings: SittingEffects,
) -> list[Contrast]:
    """Each of `strategies` in the new results compared with itself in the old ones.

    The verdicts are corrected for all of these contrasts.
    """
    names, made = tuple(metrics), []
    for strategy in strategies:
        for metric in names:
            comparison = compare_with_old(new, old, metric, strategy, sittings.of(metric))
            made.append(_contrast(new, old, strategy, strategy, metric, comparison))
    return confirmed(made)


def confirmed(contrasts: Sequence[Contrast]) -> list[Contrast]:
    """The contrasts of a page, with the verdicts of the confirmatory ones corrected for all of them."""
    comparisons = iter(corrected([c.comparison for c in contrasts if c.role == "confirmatory"]))
    return [
        replace(contrast, comparison=next(comparisons)) if contrast.role == "confirmatory" else contrast
        for contrast in contrasts
    ]


def metrics_with_figures(*groups: RunGroup) -> tuple[str, ...]:
    """All metrics that have a value in some run of `groups`, in the registry's order."""
    by_strategy = (by_run for group in groups for by_run in group.figures.values())
    runs = [figures for by_run in by_strategy for figures in by_run.values()]
    return tuple(m.name for m in METRICS if any(figures[m.name] is not None for figures in runs))


def _contrast(
    group: RunGroup, other: RunGroup, strategy: str, against: str, metric: str, comparison: Comparison
) -> Contrast:
    return Contrast(
        strategy, against, METRIC_BY_NAME[metric],
        group.row(strategy).values[metric], other.row(against).values[metric],
        len(group.runs_with(metric, strategy)), len(other.runs_with(metric, against)), comparison,
        "confirmatory" if metric in confirmatory_metrics(group) else "exploratory",
        without_verdict(group, strategy).get(metric), without_verdict(other, against).get(metric),
    )  # fmt: skip
