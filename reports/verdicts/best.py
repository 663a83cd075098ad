"""Which strategies may be the best trade-off: the knee of the front, or several if noise decides."""

from collections import Counter
from dataclasses import replace

import numpy as np

from bench.results.metrics import LATENCY, MIN_RUNS
from reports.data.group import RunGroup
from reports.verdicts.pareto_front import Point, as_good_as_knee, knee, pareto_front, points
from reports.verdicts.repeating import MODELLED_TOLERANCE

RESAMPLES = 400
SURE = 0.9  # share of the resamples that the named strategies win together
_SEED = 2011


def likely_best(group: RunGroup) -> tuple[str, ...]:
    """The strategies that are the knee in nine of ten resamples of the repetitions, the likeliest first.

    Empty if the means have no knee. Fewer than three repetitions do not show the noise, so the answer is the
    knee of the means. In a simulation figures within 2 % are equal, so the answer is the knee and whatever is
    as good within 2 %. All strategies are resampled alike, since runs of one repetition share machine
    conditions.
    """
    all_points = points(group)
    front = pareto_front(all_points)
    on_means = knee(front)
    if on_means is None:
        return ()
    if group.is_simulated:
        return tuple(p.strategy for p in as_good_as_knee(front, all_points, MODELLED_TOLERANCE))
    runs = min((row.runs for row in group.rows if row.runs), default=0)
    if runs < MIN_RUNS:
        return (on_means.strategy,)
    by_repetition = [(point, _values(group, point)) for point in all_points]
    resamples = np.random.default_rng(_SEED).integers(0, runs, (RESAMPLES, runs))
    knees = (
        knee(pareto_front(tuple(_moved(point, values, drawn) for point, values in by_repetition)))
        for drawn in resamples
    )
    return _named(Counter(best.strategy for best in knees if best), on_means.strategy)


def _named(wins: Counter[str], otherwise: str) -> tuple[str, ...]:
    """The likeliest strategies that together reach `SURE`; the knee of the means if no resample has one."""
    reached, named = 0, list[str]()
    for label, count in wins.most_common():
        if reached >= SURE * wins.total():
            break
        named.append(label)
        reached += count
    return tuple(named) or (otherwise,)


def _values(group: RunGroup, point: Point) -> np.ndarray:
    """Cost and latency of each repetition, side by side; NaN if a run has none."""
    values = group.row(point.strategy).run_values
    return np.array([values[group.cost_metric], values[LATENCY]], float).T


def _moved(point: Point, values: np.ndarray, drawn: np.ndarray) -> Point:
    """The point with the means of these repetitions; unchanged if none of them has both values."""
    known = values[drawn]
    known = known[np.isfinite(known).all(axis=1)]
    if not len(known):
        return point
    cost_s, query_s = (float(mean) for mean in known.mean(axis=0))
    return replace(point, cost_s=cost_s, query_s=query_s)
