"""How far a simulation is off from the real runs of the same scenario.

The error of a figure is the simulated one over the mean of the real runs, minus 1. Beside it stands what a
single real run is off from the mean of the others. A user chooses between strategies, so three more figures
count: the error of the ratio of two of them, whether the simulation ranks two strategies as the runs do where
these tell them apart (Kendall's tau over such pairs), and by how much the strategy that the simulation would
choose costs more than the cheapest one, at several rates of queries.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

from bench.results.figures import figures
from bench.results.folders import RunResult
from bench.results.latency import over_time
from bench.results.rows import run_figures
from reports.data.group import RunGroup
from reports.verdicts.judge import compare_strategies

# What is compared. A simulated query is one of a new session, so real queries of new sessions count.
METRICS = (
    "compaction_cpu_s", "commit_cpu_s", "query_new_session_mean_s", "compaction_added_bytes",
    "commit_added_bytes", "files_end", "delete_files_end",
)  # fmt: skip
RANKED = ("compaction_cpu_s", "query_new_session_mean_s")
QUERIES_PER_H = (1, 10, 100, 1000)


@dataclass(frozen=True, slots=True)
class ErrorOfFigure:
    """One metric of one strategy. `repeat` is the mean error of a real run against the mean of the others."""

    scenario: str
    format: str
    strategy: str
    metric: str
    real: float
    simulated: float
    n: int
    repeat: float | None

    @property
    def error(self) -> float:
        return self.simulated / self.real - 1


@dataclass(frozen=True, slots=True)
class ErrorOfRatio:
    """The ratio of two strategies. `is_decided` if the real runs tell them apart."""

    scenario: str
    format: str
    metric: str
    strategies: tuple[str, str]
    real: float
    simulated: float
    is_decided: bool

    @property
    def error(self) -> float:
        """By which factor the simulated ratio is off, minus 1."""
        return math.exp(abs(math.log(self.simulated / self.real))) - 1

    @property
    def agrees(self) -> bool:
        return (self.real > 1) == (self.simulated > 1)


@dataclass(frozen=True, slots=True)
class Regret:
    """What the strategy costs that the simulation would choose, over the cheapest one, minus 1."""

    scenario: str
    format: str
    queries_per_h: int
    chosen: str
    best: str
    regret: float


@dataclass(frozen=True, slots=True)
class ModelErrors:
    """All errors of one or more scenarios."""

    figures: tuple[ErrorOfFigure, ...]
    ratios: tuple[ErrorOfRatio, ...]
    regrets: tuple[Regret, ...]


def model_errors(groups: Iterable[RunGroup], simulated: Mapping[tuple[str, str], RunResult]) -> ModelErrors:
    """How far simulated runs, by scenario and strategy, are off from groups of real ones."""
    figure_errors: list[ErrorOfFigure] = []
    ratio_errors: list[ErrorOfRatio] = []
    regrets: list[Regret] = []
    for group in groups:
        names = ((label, (group.manifest.scenario, label)) for label in group.strategies)
        own = {label: simulated[name] for label, name in names if name in simulated}
        of_group = _figure_errors(group, own)
        figure_errors += of_group
        ratio_errors += _ratio_errors(group, of_group)
        regrets += _regrets(group, own)
    return ModelErrors(tuple(figure_errors), tuple(ratio_errors), tuple(regrets))


def _figure_errors(group: RunGroup, simulated: Mapping[str, RunResult]) -> list[ErrorOfFigure]:
    """Of all strategies that were simulated, the metrics that both have and that are not 0."""
    made = []
    for strategy, run in simulated.items():
        modelled = run_figures(run)
        for metric in METRICS:
            values, value = group.values(metric, group.runs_with(metric, strategy)), modelled[metric]
            if values and value is not None and fmean(values) > 0:
                row = group.row(strategy)
                made.append(
                    ErrorOfFigure(
                        row.scenario, row.format, strategy, metric, fmean(values), value, len(values),
                        _repeat_error(values),
                    )
                )  # fmt: skip
    return made


def _repeat_error(values: Sequence[float]) -> float | None:
    if len(values) < 2:
        return None
    total, count = sum(values), len(values)
    return fmean(abs(value * (count - 1) / (total - value) - 1) for value in values if total > value)


def _ratio_errors(group: RunGroup, errors: Iterable[ErrorOfFigure]) -> list[ErrorOfRatio]:
    """Of all pairs of strategies that somebody chooses between."""
    by_metric: dict[str, dict[str, ErrorOfFigure]] = {metric: {} for metric in RANKED}
    for error in errors:
        if error.metric in by_metric and error.simulated > 0:
            by_metric[error.metric][error.strategy] = error
    made = []
    for metric, by_strategy in by_metric.items():
        for labels in _choices(group):
            for one, other in combinations([label for label in labels if label in by_strategy], 2):
                first, second = by_strategy[one], by_strategy[other]
                comparison = compare_strategies(group, metric, one, other)
                made.append(
                    ErrorOfRatio(
                        first.scenario, first.format, metric, (one, other),
                        comparison.ratio or first.real / second.real,
                        first.simulated / second.simulated,
                        comparison.verdict in ("more", "less"),
                    )
                )  # fmt: skip
    return made


def _regrets(group: RunGroup, simulated: Mapping[str, RunResult]) -> list[Regret]:
    """For each choice and rate of queries; the cost is the CPU of commits, policy and queries.

    The real runs say which strategy is cheapest, by their means.
    """
    made = []
    for choice in _choices(group):
        labels = [label for label in choice if label in simulated]
        real = {
            label: [run for run in group.usable_runs if run.manifest.strategy == label] for label in labels
        }
        for rate in QUERIES_PER_H:
            costs = {label: _mean_cost(real[label], rate) for label in labels}
            modelled = {label: _mean_cost([simulated[label]], rate) for label in labels}
            known = [label for label in labels if costs[label] and modelled[label]]
            if len(known) > 1:
                best = min(known, key=lambda label: costs[label] or 0)
                chosen = min(known, key=lambda label: modelled[label] or 0)
                row = group.row(best)
                regret = (costs[chosen] or 0) / (costs[best] or 1) - 1
                made.append(Regret(row.scenario, row.format, rate, chosen, best, regret))
    return made


def _choices(group: RunGroup) -> list[list[str]]:
    """The strategies that somebody chooses between: they are of one part and one variant.

    Variants may differ in what a simulation does not have, like the page cache.
    """
    choices: dict[tuple[int, str | None], list[str]] = {}
    for number, part in enumerate(group.parts):
        for label, run in part.first_runs.items():
            choices.setdefault((number, run.manifest.variant_label), []).append(label)
    return [*choices.values()]


def _mean_cost(runs: Iterable[RunResult], queries_per_h: int) -> float | None:
    costs = [_cost_s(run, queries_per_h) for run in runs]
    known = [cost for cost in costs if cost is not None]
    return fmean(known) if known and len(known) == len(costs) else None


def _cost_s(run: RunResult, queries_per_h: int) -> float | None:
    """CPU seconds of commits, policy and queries by new sessions over the whole scenario."""
    total_cpu_s = run_figures(run)["total_cpu_s"]
    query_cpu_s = over_time(run, figures(run, None).by_new).cpu_s
    if total_cpu_s is None or query_cpu_s is None:
        return None
    return total_cpu_s + queries_per_h * run.manifest.duration_ms / 3_600_000 * query_cpu_s


@dataclass(frozen=True, slots=True)
class Summary:
    """Errors of one metric and format over all strategies; `repeat` is the mean error of a repetition."""

    format: str
    metric: str
    n: int
    mean_absolute: float
    mean_signed: float
    repeat: float | None


@dataclass(frozen=True, slots=True)
class RankSummary:
    """Ratios of one metric and format: the mean error, and Kendall's tau over the pairs that are decided."""

    format: str
    metric: str
    pairs: int
    mean_error: float
    decided: int
    tau: float | None


def summaries(errors: Sequence[ErrorOfFigure]) -> list[Summary]:
    made = []
    for format_name in dict.fromkeys(error.format for error in errors):
        for metric in METRICS:
            own = [error for error in errors if (error.format, error.metric) == (format_name, metric)]
            if own:
                repeats = [error.repeat for error in own if error.repeat is not None]
                made.append(
                    Summary(
                        format_name, metric, len(own), fmean(abs(error.error) for error in own),
                        fmean(error.error for error in own), fmean(repeats) if repeats else None,
                    )
                )  # fmt: skip
    return made


def rank_summaries(errors: Sequence[ErrorOfRatio]) -> list[RankSummary]:
    made = []
    for format_name in dict.fromkeys(error.format for error in errors):
        for metric in RANKED:
            own = [error for error in errors if (error.format, error.metric) == (format_name, metric)]
            decided = [error for error in own if error.is_decided]
            if own:
                agreeing = sum(error.agrees for error in decided)
                tau = (2 * agreeing - len(decided)) / len(decided) if decided else None
                made.append(
                    RankSummary(
                        format_name, metric, len(own), fmean(error.error for error in own), len(decided), tau
                    )
                )
    return made
