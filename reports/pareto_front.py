"""The Pareto front of a run group: the strategies that no other one matches in cost and beats in latency.

The best trade-off among them is the knee of the front. Source: the point farthest from the chord between the
ends (Satopaa et al., "Finding a Kneedle in a Haystack", 2011), here on logarithmic axes, since costs and
latencies are compared as ratios: three times the cost is the same step at 1 s as at 100 s.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from bench.results.metrics import LATENCY
from reports.load import RunGroup
from reports.repeating import MODELLED_TOLERANCE
from reports.unmodelled import unmodelled

_ON_CHORD = 1e-9  # of the logarithm of a latency: less than rounding may change


@dataclass(frozen=True, slots=True)
class Point:
    """A strategy's mean compaction cost and mean query latency, in seconds; `is_baseline` for `never`.

    One that `is_late` compacts at the last tick only: what it pays for comes after the stream.
    """

    strategy: str
    cost_s: float
    query_s: float
    is_baseline: bool = False
    is_late: bool = False


def points(group: RunGroup, cost_metric: str | None = None) -> tuple[Point, ...]:
    """Every strategy that has both figures and a cost that may be compared, in the order of the group.

    The cost is that of the group's compactions, unless `cost_metric` names another. Of variants, which are
    no strategies to choose from, there are none: they are compared with the scenario as it is. Where that did
    not run, the points are those of the first variant.
    """
    variant = group.rows[0].variant
    figures = (
        (row, row.values[cost_metric or group.cost_metric], row.values[LATENCY])
        for row in group.rows
        if row.variant == variant and unmodelled(group, row.strategy) is None
    )
    return tuple(
        Point(row.strategy, cost_s, query_s, row.is_baseline, row.strategy in group.late_strategies)
        for row, cost_s, query_s in figures
        if cost_s is not None and query_s is not None
    )


def candidates(all_points: tuple[Point, ...]) -> tuple[Point, ...]:
    """Without those that never compact, or only at the last tick: no query meets what they pay for.

    They differ from `never` by noise, or by how they write.
    """
    return tuple(p for p in all_points if p.is_baseline or (p.cost_s > 0 and not p.is_late))


def dominated(all_points: tuple[Point, ...]) -> Mapping[str, str]:
    """Dominated strategy -> the cheapest one that dominates it.

    A strategy is dominated by one that is no worse in cost and latency, and better in at least one of them.
    """
    dominated_by = {}
    for point in candidates(all_points):
        dominating = [other for other in candidates(all_points) if _dominates(other, point)]
        if dominating:
            dominated_by[point.strategy] = min(dominating, key=lambda p: (p.cost_s, p.query_s)).strategy
    return dominated_by


def pareto_front(all_points: tuple[Point, ...]) -> tuple[Point, ...]:
    """The points that are not dominated, from the cheapest to the fastest."""
    dominated_by = dominated(all_points)
    optimal = (point for point in candidates(all_points) if point.strategy not in dominated_by)
    return tuple(sorted(optimal, key=lambda point: (point.cost_s, point.query_s)))


def knee(front: tuple[Point, ...]) -> Point | None:
    """The point of a front farthest below the chord between its cheapest and its fastest end.

    Both axes are logarithmic, so `never`, at cost 0, is no end: the front begins with the cheapest strategy
    that compacts. With costs 1, 3 and 9 s and latencies 8, 2 and 1 s it is the middle one: the chord passes
    3 s at 2.8 s. None where fewer than three strategies of the front compact, all of them at one point, or
    none is below the chord.
    """
    compacting = [point for point in front if point.cost_s > 0 and point.query_s > 0]
    if len(compacting) < 3 or compacting[0].cost_s == compacting[-1].cost_s:
        return None
    best = max(compacting, key=lambda point: _below_chord(point, compacting[0], compacting[-1]))
    return best if _below_chord(best, compacting[0], compacting[-1]) > _ON_CHORD else None


def as_good_as_knee(
    front: tuple[Point, ...], all_points: tuple[Point, ...], tolerance: float
) -> tuple[Point, ...]:
    """The knee of a front first, then the points that would lie as far below its chord within a tolerance.

    For these, cost and latency are both lower by the tolerance. A point beside the knee need not be on the
    front for that.
    """
    found = knee(front)
    if found is None:
        return ()
    ends = [point for point in front if point.cost_s > 0]
    cheapest, fastest = ends[0], ends[-1]
    depth = _below_chord(found, cheapest, fastest)
    near = (
        point
        for point in candidates(all_points)
        if point.cost_s > 0 and point.query_s > 0 and point != found
        and _below_chord(_lower(point, tolerance), cheapest, fastest) >= depth
    )  # fmt: skip
    return (found, *near)


def alike(group: RunGroup) -> Mapping[str, str]:
    """Dominated strategy of a simulation -> the one that it equals in cost and latency, within 2 %."""
    all_points = points(group)
    of_label = {point.strategy: point for point in all_points}
    return {
        label: other
        for label, other in (dominated(all_points) if group.is_simulated else {}).items()
        if _is_within(of_label[label], of_label[other])
    }


def _is_within(worse: Point, better: Point) -> bool:
    most = 1 + MODELLED_TOLERANCE
    return worse.cost_s <= better.cost_s * most and worse.query_s <= better.query_s * most


def _lower(point: Point, tolerance: float) -> Point:
    share = 1 + tolerance
    return replace(point, cost_s=point.cost_s / share, query_s=point.query_s / share)


def _below_chord(point: Point, cheapest: Point, fastest: Point) -> float:
    """How far a point lies below the chord, in the logarithm of the latency; the ends are at 0."""
    share = math.log(point.cost_s / cheapest.cost_s) / math.log(fastest.cost_s / cheapest.cost_s)
    on_chord = math.log(cheapest.query_s) + share * math.log(fastest.query_s / cheapest.query_s)
    return on_chord - math.log(point.query_s)


def _dominates(a: Point, b: Point) -> bool:
    is_no_worse = a.cost_s <= b.cost_s and a.query_s <= b.query_s
    return is_no_worse and (a.cost_s < b.cost_s or a.query_s < b.query_s)
