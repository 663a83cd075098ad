"""How far fitted coefficients are off from runs that they were not fitted to."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

from bench.calibration.fit import Fitted, fit_operations
from bench.calibration.measured import MeasuredStep
from bench.engines.simulated.beyond_fit import is_far_beyond
from bench.engines.simulated.costs import ModelError
from bench.engines.simulated.steps import Operation
from bench.results.values import Cost
from strategies.grouping import by_key

_COMMITS = (Operation.COMMIT, Operation.UPSERT, Operation.MERGE)
_COMPACTIONS = (
    Operation.REWRITE, Operation.CLUSTER, Operation.SORT, Operation.CONVERT, Operation.SINGLE_NODE,
    Operation.NOOP,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Figure:
    """What a user reads of a run: the sum or the mean of a part of the cost of some of its steps.

    Settled queries count alike, also where readers ask at a changing rate: the model of one is judged.
    """

    name: str
    operations: Collection[Operation]
    part: Callable[[Cost], float]
    total: Callable[[Sequence[float]], float]

    def counts(self, step: MeasuredStep) -> bool:
        is_query = step.planning_s is not None
        return step.step.operation in self.operations and (step.is_settled or not is_query)


def _figures(steps: Iterable[MeasuredStep]) -> tuple[_Figure, ...]:
    """The mean query is by the sessions that simulations with these steps have the latencies of."""
    measured = {step.step.operation for step in steps}
    by_new = Operation.QUERY
    usual = Operation.LONG_LIVED_QUERY if Operation.LONG_LIVED_QUERY in measured else by_new
    return (
        _Figure("compaction_cpu_s", _COMPACTIONS, lambda cost: cost.cpu_s, sum),
        _Figure("commit_cpu_s", _COMMITS, lambda cost: cost.cpu_s, sum),
        _Figure("query_mean_s", (usual,), lambda cost: cost.wall_s, fmean),
        _Figure("query_new_session_mean_s", (by_new,), lambda cost: cost.wall_s, fmean),
        _Figure("compaction_s", _COMPACTIONS, lambda cost: cost.wall_s, sum),
        _Figure("commit_mean_s", _COMMITS, lambda cost: cost.wall_s, fmean),
        _Figure("query_cpu_s", (usual,), lambda cost: cost.cpu_s, fmean),
        _Figure("maintenance_cpu_s", (Operation.MAINTENANCE,), lambda cost: cost.cpu_s, sum),
    )


# The CPU of all steps of a kind, by the operation's name.
_OF_OPERATIONS = tuple(
    _Figure(one.value, (one,), lambda cost: cost.cpu_s, sum)
    for one in (*_COMMITS, *_COMPACTIONS, Operation.MAINTENANCE)
)


def left_out_errors(
    steps: Sequence[MeasuredStep], table_format: str, beside: Sequence[MeasuredStep] = ()
) -> dict[str, ModelError]:
    """The errors of each figure of all strategies, each by coefficients fitted to all other streams.

    Coefficients are fitted to the steps `beside` too, whose own errors do not count.
    A strategy of a scenario counts once, with the mean of its runs. It is left out if the other streams do
    not tell what its steps cost (`predicts`).
    """
    return _errors(steps, table_format, beside, _figures([*_own(steps, table_format), *beside]))


def operation_errors(
    steps: Sequence[MeasuredStep], table_format: str, beside: Sequence[MeasuredStep] = ()
) -> dict[str, ModelError]:
    """The errors of the CPU of all steps of a kind in a run, by operation, found in the same way."""
    return _errors(steps, table_format, beside, _OF_OPERATIONS)


def _own(steps: Iterable[MeasuredStep], table_format: str) -> list[MeasuredStep]:
    return [step for step in steps if step.format == table_format and not step.is_initial]


def _errors(
    steps: Sequence[MeasuredStep],
    table_format: str,
    beside: Sequence[MeasuredStep],
    figures: Sequence[_Figure],
) -> dict[str, ModelError]:
    own = _own(steps, table_format)
    ratios: dict[str, dict[str, list[float]]] = defaultdict(dict)
    unpredicted: dict[str, int] = defaultdict(int)
    for stream in dict.fromkeys(step.stream for step in own):
        others = [step for step in own if step.stream != stream]
        fitted = fit_operations([*others, *beside], table_format)
        left_out = (step for step in own if step.stream == stream)
        for of_strategy in by_key(left_out, lambda step: step.strategy).values():
            for figure in figures:
                counted = [step for step in of_strategy if figure.counts(step) and _has_cost(fitted, step)]
                if not counted:
                    continue
                is_predicted = all(predicts(fitted, step) for step in counted)
                if is_predicted and (ratio := _ratio(counted, fitted, figure)) > 0:
                    ratios[figure.name].setdefault(stream, []).append(ratio)
                else:
                    unpredicted[figure.name] += 1
    if not ratios:  # nothing is left to predict any of it from
        return {}
    return {
        figure.name: _model_error(
            ratios[figure.name],
            unpredicted[figure.name],
            repeat_log_sd([*filter(figure.counts, own)], figure),
        )
        for figure in figures
        if figure.name in ratios or figure.name in unpredicted
    }


def _model_error(
    of_streams: Mapping[str, Sequence[float]], unpredicted: int, noise: float | None
) -> ModelError:
    """The error of a figure, from the modelled over the measured one of the strategies of each stream."""
    every = [ratio for ratios in of_streams.values() for ratio in ratios]
    logs = [[math.log(ratio) for ratio in ratios] for ratios in of_streams.values()]
    pairs = [[one - other for one, other in combinations(own, 2)] for own in logs if len(own) > 1]
    return ModelError(
        mean_absolute=round(fmean(abs(ratio - 1) for ratio in every), 3) if every else None,
        log_sd=_rms(logs),
        ratio_log_sd=_rms(pairs),
        strategies=len(every),
        streams=len(logs),
        ratio_streams=len(pairs),
        unpredicted=unpredicted,
        repeat_log_sd=noise,
    )


def _has_cost(fitted: Mapping[Operation, Fitted], step: MeasuredStep) -> bool:
    """False for a compaction that found nothing to do where too few of them are known to fit their cost."""
    return step.step.operation is not Operation.NOOP or Operation.NOOP in fitted


def predicts(fitted: Mapping[Operation, Fitted], step: MeasuredStep) -> bool:
    """Whether reports would give a verdict on such a step's time: its amounts are near the fitted ones.

    A compaction that finds nothing to do is cheap, and never keeps reports from one.
    """
    if step.step.operation is Operation.NOOP:
        return True
    known = fitted.get(step.step.operation)
    return known is not None and not is_far_beyond(known.cost, step.step)


def _rms(of_streams: Iterable[Sequence[float]]) -> float | None:
    """The root of the mean square of values, in which each stream weighs the same; None without any."""
    squares = [fmean(value**2 for value in values) for values in of_streams]
    return round(math.sqrt(fmean(squares)), 3) if squares else None


def repeat_log_sd(steps: Iterable[MeasuredStep], figure: _Figure) -> float | None:
    """The standard deviation of the logs of measured runs around the mean of their strategy and sitting.

    Runs with another number of steps than most are left out, such as one of which some steps are not known.
    """
    squares, freedom = 0.0, 0
    for own in by_key(steps, lambda step: (step.stream, step.strategy, step.sitting)).values():
        runs = by_key(own, lambda step: step.run_id).values()
        usual = Counter(map(len, runs)).most_common(1)[0][0]
        totals = [figure.total([figure.part(step.cost) for step in run]) for run in runs if len(run) == usual]
        logs = [math.log(total) for total in totals]
        squares += sum((one - fmean(logs)) ** 2 for one in logs)
        freedom += len(logs) - 1
    return round(math.sqrt(squares / freedom), 3) if freedom else None


def _ratio(steps: Sequence[MeasuredStep], fitted: Mapping[Operation, Fitted], figure: _Figure) -> float:
    """The modelled figure over the measured one, both means over the runs."""
    runs = by_key(steps, lambda step: step.run_id).values()
    measured = fmean(figure.total([figure.part(step.cost) for step in run]) for run in runs)
    modelled = fmean(
        figure.total(
            [
                figure.part(fitted[step.step.operation].cost.cost(step.step, step.cores, step.jvm_cpu_s))
                for step in run
            ]
        )
        for run in runs
    )
    return modelled / measured
