"""Which strategies are worth choosing: nothing else is both cheaper and faster."""

from collections.abc import Mapping
from dataclasses import dataclass

from bench.results.rows import BASELINE
from reports.load import Section


@dataclass(frozen=True, slots=True)
class Point:
    """A strategy's mean compaction cost and mean query latency, in seconds."""

    strategy: str
    cost_s: float
    query_s: float


def points(section: Section) -> tuple[Point, ...]:
    """Every strategy that gave both figures, in the order of the section."""
    made = (
        (row.strategy, row.values[section.cost_metric], row.values["query_mean_s"]) for row in section.rows
    )
    return tuple(
        Point(label, cost, query) for label, cost, query in made if cost is not None and query is not None
    )


def candidates(found: tuple[Point, ...]) -> tuple[Point, ...]:
    """Without the strategies that never came to compact: they are `never` by another name, plus noise."""
    return tuple(point for point in found if point.cost_s > 0 or point.strategy == BASELINE)


def dominated(found: tuple[Point, ...]) -> Mapping[str, str]:
    """Strategy -> the cheapest one that costs no more and answers no slower, and is better in one of both."""
    made = {}
    for point in candidates(found):
        better = [p for p in candidates(found) if _beats(p, point)]
        if better:
            made[point.strategy] = min(better, key=lambda p: (p.cost_s, p.query_s)).strategy
    return made


def front(found: tuple[Point, ...]) -> tuple[Point, ...]:
    """The points nothing dominates, from the cheapest to the fastest."""
    beaten = dominated(found)
    return tuple(
        sorted(
            (p for p in candidates(found) if p.strategy not in beaten), key=lambda p: (p.cost_s, p.query_s)
        )
    )


def _beats(a: Point, b: Point) -> bool:
    no_worse = a.cost_s <= b.cost_s and a.query_s <= b.query_s
    return no_worse and (a.cost_s < b.cost_s or a.query_s < b.query_s)
