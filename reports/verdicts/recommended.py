"""Which strategy to run: the least of one figure among those that keep limits, and how sure that is."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bench.results.metrics import METRIC_BY_NAME
from bench.results.rows import Row
from reports.data.group import RunGroup
from reports.verdicts.compare import Comparison
from reports.verdicts.judge import compare_strategies
from reports.verdicts.repeating import TWO_SIDED
from reports.verdicts.unmodelled import figure_error, unmodelled


@dataclass(frozen=True, slots=True)
class Limit:
    """A figure that must be at most so high, in the unit of its metric."""

    metric: str
    at_most: float

    def is_kept_by(self, row: Row) -> bool:
        value = row.values[self.metric]
        return value is not None and value <= self.at_most


@dataclass(frozen=True, slots=True)
class Kept:
    """A limit that a strategy keeps with `value`.

    `factor`: the real figure is expected within this factor, up or down; None if that is not known.
    """

    limit: Limit
    value: float
    factor: float | None

    @property
    def is_sure(self) -> bool:
        return self.factor is not None and self.value * self.factor <= self.limit.at_most


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The strategy with the least objective among `kept_count` that keep all limits.

    `alike` are those that the noise, or the errors of the model, do not tell from it, each compared with it.
    `beyond` is the best of the strategies with a lower objective that break a limit, with the first such
    limit. `safe` is the best that keeps the limits for sure, if the best of all does not. `unjudged`
    strategies have no comparable seconds.
    """

    best: Row
    objective: str
    kept: tuple[Kept, ...]
    kept_count: int
    alike: tuple[tuple[str, Comparison], ...]
    beyond: tuple[Row, Limit] | None
    safe: Row | None
    unjudged: tuple[str, ...]


def recommend(group: RunGroup, objective: str, limits: Sequence[Limit]) -> Recommendation | None:
    """None if no strategy keeps the limits."""
    metrics = (objective, *(limit.metric for limit in limits))
    has_timings = any(METRIC_BY_NAME[metric].basis == "timing" for metric in metrics)
    rows = [row for row in group.choices if row.values[objective] is not None]
    unjudged = tuple(row.strategy for row in rows if has_timings and unmodelled(group, row.strategy))
    judged = sorted(
        (row for row in rows if row.strategy not in unjudged), key=lambda row: _of(row, objective)
    )
    keeping = [row for row in judged if all(limit.is_kept_by(row) for limit in limits)]
    if not keeping:
        return None
    best, *others = keeping
    compared = [
        (row.strategy, compare_strategies(group, objective, row.strategy, best.strategy)) for row in others
    ]
    cheaper = [row for row in judged if row not in keeping and _of(row, objective) < _of(best, objective)]
    sure = (row for row in keeping if all(_kept(group, row, limit).is_sure for limit in limits))
    safe = next(sure, None)
    return Recommendation(
        best, objective,
        kept=tuple(_kept(group, best, limit) for limit in limits),
        kept_count=len(keeping),
        alike=tuple((label, one) for label, one in compared if one.verdict in ("equal", "undecided")),
        beyond=(cheaper[-1], _broken(cheaper[-1], limits)) if cheaper else None,
        safe=None if safe is best else safe,
        unjudged=unjudged,
    )  # fmt: skip


def _broken(row: Row, limits: Sequence[Limit]) -> Limit:
    return next(limit for limit in limits if not limit.is_kept_by(row))


def _of(row: Row, metric: str) -> float:
    value = row.values[metric]
    return math.inf if value is None else value


def _kept(group: RunGroup, row: Row, limit: Limit) -> Kept:
    """For real runs the factor is that of the highest run; for modelled counts and bytes it is 1."""
    value = _of(row, limit.metric)
    if not group.is_simulated:
        highest = max(one for one in row.run_values[limit.metric] if one is not None)
        return Kept(limit, value, highest / value if value else 1.0)
    if METRIC_BY_NAME[limit.metric].basis != "timing":
        return Kept(limit, value, 1.0)
    error = figure_error(group.manifest_of(row.strategy), limit.metric)
    return Kept(limit, value, None if error is None else math.exp(TWO_SIDED * error))
