"""Which strategies may be the best trade-off: the knee of the front, or what noise makes of it."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from bench.results.metrics import LATENCY
from reports.compare import MIN_RUNS
from reports.load import RunGroup
from reports.pareto_front import Point, knee, pareto_front, points

RESAMPLES = 400
SURE = 0.9  # share of the resamples that the strategies named have together
_SEED = 2011


def likely_best(group: RunGroup) -> tuple[str, ...]:
    """The strategies that are the knee in nine of ten resamples of the repetitions, the likeliest first.

    Empty where the means have no knee. Where nothing tells the noise (a simulation, or fewer than three
    repetitions) it is the knee of the means alone. Repetitions are resampled for all strategies alike, since
    runs of one repetition share the mood of the machine.
    """
    on_means = knee(pareto_front(points(group)))
    if on_means is None:
        return ()
    runs = min(row.runs for row in group.rows if row.runs) if any(row.runs for row in group.rows) else 0
    if group.is_simulated or runs < MIN_RUNS:
        return (on_means.strategy,)
    drawn = np.random.default_rng(_SEED).integers(0, runs, (RESAMPLES, runs))
    found = Counter(_knee_of(group, places) for places in drawn)
    found.pop(None, None)
    return _named(found, on_means.strategy)


def _named(found: Mapping[str | None, int], otherwise: str) -> tuple[str, ...]:
    """The likeliest strategies until they are sure together; without any, that of the means."""
    total, reached, named = sum(found.values()), 0, list[str]()
    for label, count in sorted(found.items(), key=lambda item: -item[1]):
        if label is None or reached >= SURE * total:
            break
        named.append(label)
        reached += count
    return tuple(named) or (otherwise,)


def _knee_of(group: RunGroup, places: np.ndarray) -> str | None:
    resampled = tuple(_moved(group, point, places) for point in points(group))
    found = knee(pareto_front(resampled))
    return found.strategy if found else None


def _moved(group: RunGroup, point: Point, places: np.ndarray) -> Point:
    """The point as these repetitions have it; where one has no value, as the mean has it."""
    values = group.row(point.strategy).run_values
    costs, latencies = ([values[name][place] for place in places] for name in (group.cost_metric, LATENCY))
    known = [(c, q) for c, q in zip(costs, latencies, strict=True) if c is not None and q is not None]
    if not known:
        return point
    cost_s, query_s = (float(mean) for mean in np.mean(known, axis=0))
    return replace(point, cost_s=cost_s, query_s=query_s)
