import math
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from reports.verdicts.pareto_front import Point, candidates, dominated, knee, pareto_front
from reports.verdicts.pareto_front import points as points_of

points = st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9)), max_size=8).map(
    lambda pairs: tuple(Point(str(i), float(cost), float(query)) for i, (cost, query) in enumerate(pairs))
)


@given(points)
def test_front_and_dominated_are_all_points_and_share_none(all_points):
    optimal = {point.strategy for point in pareto_front(all_points)}
    assert optimal | dominated(all_points).keys() == {point.strategy for point in candidates(all_points)}
    assert not optimal & dominated(all_points).keys()


near = st.tuples(st.integers(95, 105), st.integers(95, 105))


@given(st.lists(near, min_size=1, max_size=8))
def test_within_a_tolerance_every_point_is_on_the_front_or_beaten(pairs):
    all_points = tuple(Point(str(i), *map(float, pair), tolerance=0.02) for i, pair in enumerate(pairs))
    front, beaten = pareto_front(all_points), dominated(all_points)
    assert front
    assert {point.strategy for point in front} | beaten.keys() == {point.strategy for point in all_points}
    assert not {point.strategy for point in front} & beaten.keys()


def test_what_is_clearly_faster_than_the_front_stays_on_it():
    pairs = {"a": (100, 103), "b": (103, 101.5), "c": (106, 100)}  # a beats b, b beats c, a does not beat c
    all_points = tuple(Point(label, *pair, tolerance=0.02) for label, pair in pairs.items())
    assert [point.strategy for point in pareto_front(all_points)] == ["a", "c"]
    assert dominated(all_points) == {"b": "a"}


@given(points)
def test_along_the_front_latency_falls_while_cost_rises(all_points):
    for cheaper, faster in pairwise(pareto_front(all_points)):
        assert cheaper.cost_s <= faster.cost_s
        assert cheaper.query_s >= faster.query_s


def test_the_knee_is_farthest_below_the_chord():
    # On logarithmic axes the chord from (1, 8) to (9, 1) passes 3 s of cost at 8 / 8 ** 0.5 = 2.8 s.
    never, cheap, middle, fast = Point("never", 0, 9), Point("a", 1, 8), Point("b", 3, 2), Point("c", 9, 1)
    assert knee((never, cheap, middle, fast)) == middle
    near = Point("d", 8, 1.2)  # chord at 8 s: 8 / 8 ** (ln 8 / ln 9) = 1.12 s, so it lies above
    assert knee((never, cheap, middle, near, fast)) == middle
    assert knee((never, cheap, near, fast)) is None


def test_two_strategies_that_compact_have_no_knee():
    assert knee((Point("never", 0, 9), Point("a", 1, 8), Point("b", 3, 2))) is None
    assert knee(()) is None


@given(points, st.floats(0.1, 10), st.floats(0.1, 10))
def test_the_knee_is_on_the_front_and_does_not_go_by_units(all_points, cost_unit, query_unit):
    front = pareto_front(all_points)
    chosen = knee(front)
    assert chosen is None or (chosen in front and chosen.cost_s > 0)
    scaled = knee(tuple(Point(p.strategy, p.cost_s * cost_unit, p.query_s * query_unit) for p in front))
    if chosen is None or scaled is None:
        return
    compacting = [p for p in front if p.cost_s > 0]
    below = [
        _below(p, compacting[0], compacting[-1])
        for p in (chosen, front[[q.strategy for q in front].index(scaled.strategy)])
    ]
    assert math.isclose(*below, abs_tol=1e-6)


def _below(point, cheapest, fastest):
    """The distance to the chord, computed as the cross product of two vectors."""
    (x, y), (dx, dy) = (
        (math.log(p.cost_s / cheapest.cost_s), math.log(p.query_s / cheapest.query_s))
        for p in (point, fastest)
    )
    return (dy * x - dx * y) / dx


def test_a_strategy_that_compacts_at_the_last_tick_only_is_no_choice(group):
    assert group.late_strategies == {"every-60min"}
    late = next(point for point in points_of(group) if point.strategy == "every-60min")
    assert late.is_late
    assert late not in candidates(points_of(group))
    assert "every-60min" not in [point.strategy for point in pareto_front(points_of(group))]
