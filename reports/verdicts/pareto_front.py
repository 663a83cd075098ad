"""The Pareto front of a run group: the strategies that no other one matches in cost and beats in latency.

The best trade-off among them is the knee of the front. Source: the point farthest from the chord between the
ends (Satopaa et al., "Finding a Kneedle in a Haystack", 2011), here on logarithmic axes, since costs and
latencies are compared as ratios: three times the cost is the same step at 1 s as at 100 s.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from bench.results.metrics import LATENCY
from bench.results.rows import Row
from reports.data.group import RunGroup
from reports.verdicts.repeating import MODELLED_TOLERANCE
from reports.verdicts.unmodelled import unmodelled

_ON_CHORD = 1e-9  # of the logarithm of a latency: less than rounding may change


@dataclass(frozen=True, slots=True)
class Point:
    """A strategy's mean cost and mean query latency, in seconds; `is_baseline` for `never`.

    `is_late`: it compacts at the last tick only, so what it pays for comes after the stream. `is_idle`:
    before that it does nothing else than `never`: it compacts nothing and commits in the same way.
    """

    strategy: str
    cost_s: float
    query_s: float
    is_baseline: bool = False
    is_late: bool = False
    is_idle: bool = False
    staleness_s: float = 0.0  # mean age of the newest rows; 0 where it is not known
    tolerance: float = 0.0  # costs and latencies whose ratio differs from 1 by no more are equal


def points(group: RunGroup, cost_metric: str | None = None) -> tuple[Point, ...]:
    """The group's `choices` that have both figures and a cost that may be compared, in their order.

    The cost is the group's own unless `cost_metric` names another.
    """
    figures = (
        (row, row.values[cost_metric or group.cost_metric], row.values[LATENCY])
        for row in group.choices
        if unmodelled(group, row.strategy, cost_metric or group.cost_metric, LATENCY) is None
    )
    return tuple(
        Point(
            row.strategy, cost_s, query_s, row.is_baseline, row.strategy in group.late_strategies,
            _is_idle(group, row), row.values["staleness_mean_s"] or 0.0,
            MODELLED_TOLERANCE if group.is_simulated else 0.0,
        )
        for row, cost_s, query_s in figures
        if cost_s is not None and query_s is not None
    )  # fmt: skip


def _is_idle(group: RunGroup, row: Row) -> bool:
    compacts = bool(row.values[group.compaction_cost.metric]) and row.strategy not in group.late_strategies
    return not (row.is_baseline or compacts or group.writes_otherwise(row.strategy))


def candidates(all_points: tuple[Point, ...]) -> tuple[Point, ...]:
    """Without the idle ones, which differ from `never` by noise only."""
    return tuple(point for point in all_points if not point.is_idle)


def dominated(all_points: tuple[Point, ...]) -> Mapping[str, str]:
    """Dominated strategy -> the cheapest one that dominates it.

    A strategy is dominated by one that is no worse in cost and latency and better in at least one of them,
    and whose queries see rows that are no older. In a simulation it may be worse in one by less than the
    tolerance, if it is better in the other by more.
    """
    some, front = candidates(all_points), _front(all_points)
    dominated_by = {}
    for point in some:
        if point not in front:
            on_it = [other for other in front if _dominates(other, point)]
            dominating = on_it or [other for other in some if _dominates(other, point)]
            dominated_by[point.strategy] = min(dominating, key=_place).strategy
    return dominated_by


def pareto_front(all_points: tuple[Point, ...]) -> tuple[Point, ...]:
    """The points that are not dominated, from the cheapest to the fastest."""
    return tuple(sorted(_front(all_points), key=_place))


def compacting_front(group: RunGroup) -> list[Point]:
    """The front without `never`: the strategies that a policy is chosen from."""
    return [point for point in pareto_front(points(group)) if not point.is_baseline]


def _front(all_points: tuple[Point, ...]) -> list[Point]:
    """Compared with the points that stay only: within a tolerance, a may beat b and b beat c, but a not c."""
    front: list[Point] = []
    for point in sorted(candidates(all_points), key=_place):
        if not any(_dominates(other, point) for other in front):
            front = [other for other in front if not _dominates(point, other)] + [point]
    return front


def _place(point: Point) -> tuple[float, float]:
    return point.cost_s, point.query_s


def differ_in_staleness(some: Iterable[Point]) -> bool:
    """Whether queries see older rows under some strategies than under others."""
    return len({point.staleness_s for point in some}) > 1


def knee(front: tuple[Point, ...]) -> Point | None:
    """The point of a front farthest below the chord between its cheapest and its fastest end.

    `never` is no end, as its cost may be 0 and both axes are logarithmic: the front begins with the cheapest
    other strategy. With costs 1, 3 and 9 s and latencies 8, 2 and 1 s it is the middle one: the chord passes
    3 s at 2.8 s. None if the front has fewer than three strategies besides `never`, if they all have the same
    cost, if none is below the chord, or if they differ in staleness, which no ratio of cost to latency makes
    up for.
    """
    compacting = [point for point in front if _is_choice(point)]
    if differ_in_staleness(compacting):
        return None
    if len(compacting) < 3 or compacting[0].cost_s == compacting[-1].cost_s:
        return None
    best = max(compacting, key=lambda point: _below_chord(point, compacting[0], compacting[-1]))
    return best if _below_chord(best, compacting[0], compacting[-1]) > _ON_CHORD else None


def as_good_as_knee(front: tuple[Point, ...], all_points: tuple[Point, ...]) -> tuple[Point, ...]:
    """The knee of a front first, then the points that would lie as far below its chord within the tolerance.

    Their cost and latency are both lowered by the tolerance for that; they need not be on the front.
    """
    best = knee(front)
    if best is None:
        return ()
    ends = [point for point in front if _is_choice(point)]
    cheapest, fastest = ends[0], ends[-1]
    depth = _below_chord(best, cheapest, fastest)
    near = (
        point
        for point in candidates(all_points)
        if _is_choice(point) and point != best
        and _below_chord(_lower(point), cheapest, fastest) >= depth
    )  # fmt: skip
    return (best, *near)


def alike(group: RunGroup) -> Mapping[str, str]:
    """Dominated strategy of a simulation -> the one that it equals in cost and latency, within 2 %."""
    all_points = points(group)
    of_label = {point.strategy: point for point in all_points}
    return {
        label: other
        for label, other in (dominated(all_points) if group.is_simulated else {}).items()
        if is_within(of_label[label], of_label[other])
    }


def is_within(worse: Point, better: Point) -> bool:
    """Whether a modelled strategy has at most 2 % more cost and latency than the other."""
    most = 1 + MODELLED_TOLERANCE
    return worse.cost_s <= better.cost_s * most and worse.query_s <= better.query_s * most


def _is_choice(point: Point) -> bool:
    return not point.is_baseline and point.cost_s > 0 and point.query_s > 0


def _lower(point: Point) -> Point:
    share = 1 + point.tolerance
    return replace(point, cost_s=point.cost_s / share, query_s=point.query_s / share)


def _below_chord(point: Point, cheapest: Point, fastest: Point) -> float:
    """How far a point lies below the chord, in the logarithm of the latency; the ends are at 0."""
    share = math.log(point.cost_s / cheapest.cost_s) / math.log(fastest.cost_s / cheapest.cost_s)
    on_chord = math.log(cheapest.query_s) + share * math.log(fastest.query_s / cheapest.query_s)
    return on_chord - math.log(point.query_s)


def _dominates(a: Point, b: Point) -> bool:
    if a.staleness_s > b.staleness_s:
        return False
    if a.cost_s <= b.cost_s and a.query_s <= b.query_s:
        return a.cost_s < b.cost_s or a.query_s < b.query_s
    most = 1 + a.tolerance
    is_about_equal = a.cost_s <= b.cost_s * most and a.query_s <= b.query_s * most
    return is_about_equal and (a.cost_s * most < b.cost_s or a.query_s * most < b.query_s)
