"""How far a simulation is off from the real runs of the same scenario.

The error of a figure is the simulated one over the mean of the real runs, minus 1. A user chooses between
strategies, so three more figures count: by which factor the ratio of two of them is off, whether the
simulation ranks two strategies as the runs do where these tell them apart (Kendall's tau over such pairs),
and what the choice of the simulation would cost, at several rates of queries.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

from bench.results.arithmetic import all_known, mean
from bench.results.folders import RunResult
from bench.results.metrics import LATENCY
from bench.results.rows import run_figures
from bench.results.sessions import has_long_lived
from bench.results.values import Session
from reports.data.group import RunGroup
from reports.verdicts.confidence import TWO_SIDED
from reports.verdicts.judge import compare_strategies
from reports.verdicts.query_load import QUERIES_PER_H, cpu_with_queries_s
from reports.verdicts.unmodelled import figure_error

METRICS = (
    "compaction_cpu_s", "commit_cpu_s", "query_mean_s", "query_new_session_mean_s", "compaction_added_bytes",
    "commit_added_bytes", "files_end", "delete_files_end",
)  # fmt: skip
RANKED = ("compaction_cpu_s", "query_mean_s", "query_new_session_mean_s")


@dataclass(frozen=True, slots=True)
class ErrorOfFigure:
    """One metric of one strategy, with the number of its real runs.

    `stream` identifies the rows that these wrote.
    `repeat` is the mean error of a real run against the mean of the others; None if there is only one.
    `log_sd` is by how much the model is off, as its coefficients say (`unmodelled.figure_error`).
    """

    scenario: str
    stream: str
    format: str
    strategy: str
    metric: str
    real: float
    simulated: float
    repetitions: int
    repeat: float | None
    log_sd: float | None

    @property
    def error(self) -> float:
        return self.simulated / self.real - 1

    @property
    def is_covered(self) -> bool | None:
        """Whether the real figure is in the prediction interval of 95 %; None without one."""
        if self.log_sd is None or self.simulated <= 0:
            return None
        return abs(math.log(self.simulated / self.real)) <= TWO_SIDED * self.log_sd


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
    def factor(self) -> float:
        """By which factor the simulated ratio is off, at least 1."""
        return math.exp(abs(math.log(self.simulated / self.real)))

    @property
    def agreement(self) -> int:
        """1 if both ratios are on the same side of 1, -1 if they are not, 0 if the simulated one is 1."""
        if self.simulated == 1:
            return 0
        return 1 if (self.real > 1) == (self.simulated > 1) else -1


@dataclass(frozen=True, slots=True)
class Regret:
    """What a choice of the simulation costs in the real runs, over the cheapest strategy, minus 1.

    `at_random` is the mean over all `strategies_count` strategies of the choice. `repetitions` is the smaller
    number of real runs of the two.
    """

    scenario: str
    format: str
    queries_per_h: int
    strategies_count: int
    chosen: str
    best: str
    regret: float
    at_random: float
    repetitions: int


@dataclass(frozen=True, slots=True)
class ModelErrors:
    """All errors of one or more scenarios."""

    figures: tuple[ErrorOfFigure, ...]
    ratios: tuple[ErrorOfRatio, ...]
    regrets: tuple[Regret, ...]


def model_errors(modelled: Iterable[tuple[RunGroup, Mapping[str, RunResult]]]) -> ModelErrors:
    """How far simulated runs, by strategy, are off from groups of real ones."""
    of_figures: list[ErrorOfFigure] = []
    of_ratios: list[ErrorOfRatio] = []
    regrets: list[Regret] = []
    for group, simulated in modelled:
        own = _figure_errors(group, simulated)
        of_figures += own
        of_ratios += _ratio_errors(group, own)
        regrets += _regrets(group, simulated)
    return ModelErrors(tuple(of_figures), tuple(of_ratios), tuple(regrets))


def _figure_errors(group: RunGroup, simulated: Mapping[str, RunResult]) -> list[ErrorOfFigure]:
    """Of all strategies that were simulated, the metrics that both have and that are not 0.

    `query_mean_s` counts if it is by long-lived sessions in both.
    """
    made = []
    for strategy, run in simulated.items():
        modelled = run_figures(run)
        stream = group.usable_runs_of(strategy)[0].manifest.change_log_hash
        has_usual = has_long_lived(run) and all(map(has_long_lived, group.usable_runs_of(strategy)))
        for metric in METRICS:
            if metric == LATENCY and not has_usual:
                continue
            values, value = group.values(metric, group.runs_with(metric, strategy)), modelled[metric]
            if values and value is not None and fmean(values) > 0:
                row = group.row(strategy)
                made.append(
                    ErrorOfFigure(
                        row.scenario, stream, row.format, strategy, metric, fmean(values), value, len(values),
                        _repeat_error(values), figure_error(run.manifest, metric),
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
                        comparison.is_decided,
                    )
                )  # fmt: skip
    return made


def _regrets(group: RunGroup, simulated: Mapping[str, RunResult]) -> list[Regret]:
    """For each choice and rate of queries; the cost is the CPU of commits, policy and queries.

    The real runs say which strategy is cheapest, by their means. Of strategies with equal simulated costs,
    the one that is really dearest counts as chosen.
    """
    made = []
    for choice in _choices(group):
        labels = [label for label in choice if label in simulated]
        real = {label: group.usable_runs_of(label) for label in labels}
        every = (run for label in labels for run in (*real[label], simulated[label]))
        session: Session | None = None if all(map(has_long_lived, every)) else "new"
        for rate in QUERIES_PER_H:
            costs = {label: _mean_cost(real[label], rate, session) for label in labels}
            modelled = {label: _mean_cost([simulated[label]], rate, session) for label in labels}
            known = {
                label: (cost, modelled_cost)
                for label in labels
                if (cost := costs[label]) and (modelled_cost := modelled[label])
            }
            if len(known) > 1:
                best = min(known, key=lambda label: known[label][0])
                chosen = min(known, key=lambda label: (known[label][1], -known[label][0]))
                least, row = known[best][0], group.row(best)
                made.append(
                    Regret(
                        row.scenario, row.format, rate, len(known), chosen, best,
                        known[chosen][0] / least - 1,
                        fmean(cost for cost, _ in known.values()) / least - 1,
                        min(len(real[chosen]), len(real[best])),
                    )
                )  # fmt: skip
    return made


def _choices(group: RunGroup) -> list[list[str]]:
    """The strategies that somebody chooses between: they are of one part and one variant.

    Variants may differ in what nobody chooses for a policy, like the speed of the storage.
    """
    choices: dict[tuple[int, str | None], list[str]] = {}
    for number, part in enumerate(group.parts):
        for label, run in part.first_runs.items():
            choices.setdefault((number, run.manifest.variant_label), []).append(label)
    return [*choices.values()]


def _mean_cost(runs: Iterable[RunResult], queries_per_h: int, session: Session | None) -> float | None:
    return mean(all_known(cpu_with_queries_s(run, queries_per_h, session) for run in runs) or ())


@dataclass(frozen=True, slots=True)
class FigureSummary:
    """Errors of one metric and format over all strategies, of `streams_count` streams.

    `repeat` is the mean error of a repetition, over the strategies with several; `repeated_count` is their
    number. Of `intervals_count` prediction intervals, `covered_count` contain the real figure.
    """

    format: str
    metric: str
    strategies_count: int
    streams_count: int
    mean_absolute: float
    mean_signed: float
    repeated_count: int
    repeat: float | None
    intervals_count: int
    covered_count: int


@dataclass(frozen=True, slots=True)
class RatioSummary:
    """Ratios of one metric and format: by which factor they are off (geometric mean), and their ranks.

    `decided_count` pairs are told apart by the real runs; the simulation ranks `alike_count` of them alike.
    Tau is those less the pairs ranked otherwise, over all told apart.
    """

    format: str
    metric: str
    pairs_count: int
    mean_factor: float
    decided_count: int
    alike_count: int
    tau: float | None


def figure_summaries(errors: Sequence[ErrorOfFigure]) -> list[FigureSummary]:
    made = []
    for format_name in dict.fromkeys(error.format for error in errors):
        for metric in METRICS:
            own = [error for error in errors if (error.format, error.metric) == (format_name, metric)]
            if own:
                repeats = [error.repeat for error in own if error.repeat is not None]
                covered = [error.is_covered for error in own if error.is_covered is not None]
                made.append(
                    FigureSummary(
                        format_name, metric, len(own), len({error.stream for error in own}),
                        fmean(abs(error.error) for error in own), fmean(error.error for error in own),
                        len(repeats), fmean(repeats) if repeats else None,
                        len(covered), covered.count(True),
                    )
                )  # fmt: skip
    return made


def ratio_summaries(errors: Sequence[ErrorOfRatio]) -> list[RatioSummary]:
    made = []
    for format_name in dict.fromkeys(error.format for error in errors):
        for metric in RANKED:
            own = [error for error in errors if (error.format, error.metric) == (format_name, metric)]
            agreements = [error.agreement for error in own if error.is_decided]
            if own:
                made.append(
                    RatioSummary(
                        format_name, metric, len(own),
                        math.exp(fmean(math.log(error.factor) for error in own)),
                        len(agreements), agreements.count(1), fmean(agreements) if agreements else None,
                    )
                )  # fmt: skip
    return made
