"""Which strategies are on the front and which is its knee, the best trade-off, as far as noise allows.

Costs and latencies are drawn from the model of all runs (`reports.verdicts.timings`): from Student's t around
the level of each strategy, with its moderated variance. Resampling three repetitions instead has ten
different outcomes, of which one in nine is a single run three times over, and takes the noise for a fifth
smaller than it is; the drift of the machine is in the levels, which are at equal speed.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from bench.results.metrics import LATENCY, MIN_RUNS
from reports.data.group import RunGroup
from reports.verdicts.pareto_front import Point, as_good_as_knee, candidates, knee, pareto_front, points
from reports.verdicts.samples import samples
from reports.verdicts.timings import fit, positive

DRAWS = 400
SURE = 0.9  # share of all draws whose knee is one of the named strategies
_SEED = 2011


def likely_best(group: RunGroup) -> tuple[str, ...]:
    """The strategies that are the knee in nine of ten draws, the likeliest first.

    Empty if the means have no knee, or fewer than nine of ten draws. Fewer than three repetitions do not show
    the noise, so the answer is the knee of the means. In a simulation figures within 2 % are equal, so the
    answer is the knee and whatever is as good within 2 %.
    """
    all_points = points(group)
    front = pareto_front(all_points)
    on_means = knee(front)
    if on_means is None:
        return ()
    if group.is_simulated:
        return tuple(p.strategy for p in as_good_as_knee(front, all_points))
    fronts = _drawn_fronts(group)
    if not fronts:
        return (on_means.strategy,)
    knees = Counter(best.strategy for front in fronts if (best := knee(front)))
    reached, named = 0, list[str]()
    for label, count in knees.most_common():
        reached, named = reached + count, [*named, label]
        if reached >= SURE * len(fronts):
            return tuple(named)
    return ()


def on_front(group: RunGroup) -> Mapping[str, float]:
    """The share of the draws in which a strategy is on the front; empty where noise is not known."""
    fronts = _drawn_fronts(group)
    wins = Counter(point.strategy for front in fronts for point in front)
    labels = (point.strategy for point in candidates(points(group))) if fronts else ()
    return {label: wins[label] / len(fronts) for label in labels}


@lru_cache(maxsize=16)  # groups are told apart by identity
def _drawn_fronts(group: RunGroup) -> tuple[tuple[Point, ...], ...]:
    """The front of each draw; empty in simulations and below three runs, whose noise is not known."""
    all_points = points(group)
    labels = [point.strategy for point in all_points]
    known = [samples(group, metric) for metric in (group.cost_metric, LATENCY)]
    fewest = min((len(of[label].values) for of in known for label in labels), default=0)
    if group.is_simulated or fewest < MIN_RUNS:
        return ()
    generator = np.random.default_rng(_SEED)
    costs_s = _drawn(group, group.cost_metric, [point.cost_s for point in all_points], labels, generator)
    queries_s = _drawn(group, LATENCY, [point.query_s for point in all_points], labels, generator)
    return tuple(
        pareto_front(tuple(
            replace(point, cost_s=float(cost_s), query_s=float(query_s))
            for point, cost_s, query_s in zip(all_points, *figures, strict=True)
        ))
        for figures in zip(costs_s, queries_s, strict=True)
    )  # fmt: skip


def _drawn(
    group: RunGroup,
    metric: str,
    means: Sequence[float],
    labels: Sequence[str],
    generator: np.random.Generator,
) -> np.ndarray:
    """Draws of a metric of each strategy; its mean, without noise, if it is 0 in some run."""
    known = positive(samples(group, metric))
    figures = np.tile(np.array(means, float), (DRAWS, 1))
    model = fit(known) if known else None
    for place, label in enumerate(labels):
        if model is not None and label in known:
            error, freedom = model.error(label)
            noise = error * generator.standard_t(freedom, DRAWS)
            figures[:, place] = np.exp(model.levels[label] + noise)
    return figures
