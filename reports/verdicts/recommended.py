"""Which strategy to run: the best of one figure among those that keep limits, and how sure that is."""

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bench.results.arithmetic import known_mean, mean_of_known
from bench.results.figures import primary_queries_of
from bench.results.folders import RunResult
from bench.results.latency import latencies_s, settled_of
from bench.results.metrics import LATENCY, METRIC_BY_NAME, MIN_RUNS
from bench.results.query_rate import query_weights
from bench.results.rows import Row
from reports.data.group import RunGroup
from reports.verdicts.compare import Comparison
from reports.verdicts.confidence import TWO_SIDED, reach
from reports.verdicts.judge import compare_strategies
from reports.verdicts.keeping_up import falling_behind
from reports.verdicts.limit import Limit
from reports.verdicts.unmodelled import figure_error, unmodelled

_END = 0.25  # of the stream
RISING = 1.2  # times the mean query, from which on the last quarter of the stream tells more
FEW_COMPACTIONS = 3  # whose cost and effect depend on where the stream ends


@dataclass(frozen=True, slots=True)
class Kept:
    """A limit that a strategy keeps with `value`.

    `factor`: the figure is expected within this factor, up or down; None if that is not known. `at_end` is
    the mean of the last queries, if the limit is on the mean of all and they break it.
    """

    limit: Limit
    value: float
    factor: float | None
    at_end: float | None

    @property
    def is_sure(self) -> bool:
        if self.factor is None or self.at_end is not None:
            return False
        worst = self.value * self.factor if self.limit.is_upper else self.value / self.factor
        return self.limit.is_kept_with(worst)


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The strategy with the best objective of those `keeping` all limits, best first; None if none does.

    `same` have the very same figure as it, and `alike` are those that noise, or the errors of the model, do
    not tell from it, each compared with it. `beyond` is the one with the next better objective that breaks a
    limit, with the first such limit. `safe` is the best that keeps the limits for sure, if `best` does not.
    `unjudged` strategies have seconds that do not compare, with the reason. `few` compactions are so few that
    the figures of `best` depend on where the stream ends; None if it has more. Without a best, `nearest` is
    the strategy that breaks its limits the least, with the limit that it breaks the most. `rising_s` is the
    mean query of `best` in the last quarter of the stream, if that is well above its mean. Strategies that
    fall `behind` the stream are left out.
    """

    objective: str
    best: Row | None
    unjudged: tuple[tuple[str, str], ...]
    kept: tuple[Kept, ...] = ()
    keeping: tuple[Row, ...] = ()
    same: tuple[str, ...] = ()
    alike: tuple[tuple[str, Comparison], ...] = ()
    beyond: tuple[Row, Limit] | None = None
    safe: Row | None = None
    few: int | None = None
    nearest: tuple[Row, Limit] | None = None
    rising_s: float | None = None
    behind: tuple[str, ...] = ()


def recommend(group: RunGroup, objective: str, limits: Sequence[Limit]) -> Recommendation:
    """Strategies without the objective are left out."""
    timings = [m for m in (objective, *(limit.metric for limit in limits)) if _is_timing(m)]
    behind = falling_behind(group)
    rows = [r for r in group.choices if r.values[objective] is not None and r.strategy not in behind]
    reasons = {row.strategy: unmodelled(group, row.strategy, *timings) if timings else None for row in rows}
    unjudged = tuple((label, why) for label, why in reasons.items() if why)
    judged = sorted((row for row in rows if not reasons[row.strategy]), key=lambda row: _rank(row, objective))
    broken = {row.strategy: _broken(row, limits) for row in judged}
    keeping = [row for row in judged if broken[row.strategy] is None]
    if not keeping:
        return Recommendation(objective, None, unjudged, nearest=_nearest(judged, limits), behind=behind)
    best, *others = keeping
    same = tuple(row.strategy for row in others if row.values[objective] == best.values[objective])
    compared = (
        (row.strategy, compare_strategies(group, objective, row.strategy, best.strategy))
        for row in others
        if row.strategy not in same
    )
    better = [
        (row, limit)
        for row in judged
        if (limit := broken[row.strategy]) and _rank(row, objective) < _rank(best, objective)
    ]
    kept = _kept(group, best, limits)
    safer = () if _are_sure(kept) else (row for row in others if _are_sure(_kept(group, row, limits)))
    return Recommendation(
        objective, best, unjudged,
        kept=kept,
        keeping=tuple(keeping),
        same=same,
        alike=tuple((label, one) for label, one in compared if one.verdict in ("equal", "undecided")),
        beyond=better[-1] if better else None,
        safe=next(iter(safer), None),
        few=_few_compactions(best),
        rising_s=_rising(group, best),
        behind=behind,
    )  # fmt: skip


def _rank(row: Row, metric: str) -> float:
    """Lower is better."""
    value = row.values[metric]
    if value is None:
        return math.inf
    return -value if METRIC_BY_NAME[metric].better == "higher" else value


def _broken(row: Row, limits: Sequence[Limit]) -> Limit | None:
    return next((limit for limit in limits if not limit.is_kept_with(row.values[limit.metric])), None)


def _nearest(rows: Sequence[Row], limits: Sequence[Limit]) -> tuple[Row, Limit] | None:
    """None if each strategy has a figure that is not known."""
    worst = [(row, _worst(row, limits)) for row in rows if limits]
    nearest = min(worst, key=lambda one: one[1].breach(one[0].values[one[1].metric]), default=None)
    return None if nearest is None or nearest[0].values[nearest[1].metric] is None else nearest


def _worst(row: Row, limits: Sequence[Limit]) -> Limit:
    return max(limits, key=lambda limit: limit.breach(row.values[limit.metric]))


def _kept(group: RunGroup, row: Row, limits: Sequence[Limit]) -> tuple[Kept, ...]:
    return tuple(
        Kept(limit, value, _factor(group, row, limit.metric), _at_end(group, row, limit))
        for limit in limits
        if (value := row.values[limit.metric]) is not None
    )


def _are_sure(kept: Iterable[Kept]) -> bool:
    return all(one.is_sure for one in kept)


def _at_end(group: RunGroup, row: Row, limit: Limit) -> float | None:
    """A table that grows has no mean latency of its own: what counts is where it is going."""
    last_s = _last_s(group, row) if limit.metric == LATENCY else None
    return None if last_s is None or limit.is_kept_with(last_s) else last_s


def _rising(group: RunGroup, row: Row) -> float | None:
    mean_s, last_s = row.values[LATENCY], _last_s(group, row)
    return last_s if mean_s and last_s and last_s > RISING * mean_s else None


def _last_s(group: RunGroup, row: Row) -> float | None:
    """The mean query in the last quarter of the stream."""
    return mean_of_known(map(_last_of_run_s, group.usable_runs_of(row.strategy)))


def _last_of_run_s(run: RunResult) -> float | None:
    """Of the same queries and by the same weights as the mean of all that it is compared with."""
    queries = settled_of(primary_queries_of(run))
    late = queries.where(queries.column("at_ms") > run.manifest.duration_ms * (1 - _END))
    weights = None if run.manifest.is_live else query_weights(run.manifest, late.column("tick"))
    return known_mean(latencies_s(late), weights)


def _factor(group: RunGroup, row: Row, metric: str) -> float | None:
    """Of a modelled figure by the errors of the model; of a measured one, of a further run (t interval)."""
    if group.is_simulated:
        if not _is_timing(metric):
            return 1.0
        error = figure_error(group.manifest_of(row.strategy), metric)
        return None if error is None else math.exp(TWO_SIDED * error)
    values = [value for value in row.run_values[metric] if value is not None]
    if min(values) == max(values) and METRIC_BY_NAME[metric].basis == "count":
        return 1.0
    if len(values) < MIN_RUNS or min(values) <= 0:
        return None
    spread = statistics.stdev(map(math.log, values)) * math.sqrt(1 + 1 / len(values))
    return math.exp(reach(len(values) - 1) * spread)


def _few_compactions(row: Row) -> int | None:
    count = max(int(count or 0) for count in row.run_values["compactions"])
    return count if 0 < count < FEW_COMPACTIONS else None


def _is_timing(metric: str) -> bool:
    return METRIC_BY_NAME[metric].basis == "timing"
