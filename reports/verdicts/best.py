"""Which strategies may be the best trade-off: the knee of the front, or what noise makes of it."""

from collections import Counter
from dataclasses import replace

import numpy as np

from bench.results.metrics import LATENCY, MIN_RUNS
from reports.data.group import RunGroup
from reports.verdicts.pareto_front import Point, as_good_as_knee, knee, pareto_front, points
from reports.verdicts.repeating import MODELLED_TOLERANCE

RESAMPLES = 400
SURE = 0.9  # share of the resamples that the strategies named have together
_SEED = 2011


def likely_best(group: RunGroup) -> tuple[str, ...]:
    """The strategies that are the knee in nine of ten resamples of the repetitions, the likeliest first.

    Empty where the means have no knee. With fewer than three repetitions nothing tells the noise, and it is
    the knee of the means alone. In a simulation figures within 2 % are equal: it is the knee, then what is as
    good within that. Repetitions are resampled for all strategies alike, since runs of one repetition share
    the mood of the machine.
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
    by_repetition = [(point, _values(group, point)) for point in points(group)]
    drawn = np.random.default_rng(_SEED).integers(0, runs, (RESAMPLES, runs))
    knees = (knee(pareto_front(tuple(_moved(*one, places) for one in by_repetition))) for places in drawn)
    return _named(Counter(found.strategy for found in knees if found), on_means.strategy)


def _named(found: Counter[str], otherwise: str) -> tuple[str, ...]:
    """The likeliest strategies until they are sure together; without any, that of the means."""
    reached, named = 0, list[str]()
    for label, count in found.most_common():
        if reached >= SURE * found.total():
            break
        named.append(label)
        reached += count
    return tuple(named) or (otherwise,)


def _values(group: RunGroup, point: Point) -> np.ndarray:
    """Cost and latency of each repetition, side by side; NaN where a run has none."""
    values = group.row(point.strategy).run_values
    return np.array([values[group.cost_metric], values[LATENCY]], float).T


def _moved(point: Point, values: np.ndarray, places: np.ndarray) -> Point:
    """The point as these repetitions have it; where one has no value, as the mean has it."""
    known = values[places]
    known = known[np.isfinite(known).all(axis=1)]
    if not len(known):
        return point
    cost_s, query_s = (float(mean) for mean in known.mean(axis=0))
    return replace(point, cost_s=cost_s, query_s=query_s)
