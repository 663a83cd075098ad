"""The Pareto front of a run group: the strategies that no other one matches in cost and beats in latency."""

from collections.abc import Mapping
from dataclasses import dataclass

from bench.results.rows import BASELINE
from reports.load import RunGroup


@dataclass(frozen=True, slots=True)
class Point:
    """A strategy's mean compaction cost and mean query latency, in seconds."""

    strategy: str
    cost_s: float
    query_s: float


def points(group: RunGroup) -> tuple[Point, ...]:
    """Every strategy that has both figures, in the order of the group."""
    figures = (
        (row.strategy, row.values[group.cost_metric], row.values["query_mean_s"]) for row in group.rows
    )
    return tuple(
        Point(label, cost_s, query_s)
        for label, cost_s, query_s in figures
        if cost_s is not None and query_s is not None
    )


def candidates(all_points: tuple[Point, ...]) -> tuple[Point, ...]:
    """Without the strategies that never compacted: they differ from `never` by noise only."""
    return tuple(point for point in all_points if point.cost_s > 0 or point.strategy == BASELINE)


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


def _dominates(a: Point, b: Point) -> bool:
    is_no_worse = a.cost_s <= b.cost_s and a.query_s <= b.query_s
    return is_no_worse and (a.cost_s < b.cost_s or a.query_s < b.query_s)
