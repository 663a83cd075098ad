"""Dynamic programming against all choices, on costs that grow while a table is not compacted."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.hindsight.schedule import cheapest, lowest, parts_cpu_s
from bench.hindsight.search import moments_of
from bench.hindsight.segments import Floor, Segment

COSTS = st.floats(0, 10, allow_subnormal=False)


@st.composite
def streams(draw):
    """Costs by the number of ticks since the last compaction, which never fall."""
    count = draw(st.integers(1, 7))
    commit, query, evaluation = (
        np.cumsum(draw(st.lists(COSTS, min_size=count + 1, max_size=count + 1))) for _ in range(3)
    )
    idle = draw(st.integers(0, 3))  # so many ticks after a compaction, there is nothing to compact
    segments = [
        Segment(
            start,
            _after(start + 1, commit[: count - start], count),
            _after(start, query[: count + 1 - start], count),
            _after(start + 1, evaluation[: count - start], count),
            np.arange(count + 1) > start + idle,
        )
        for start in range(count + 1)
    ]
    return count, segments, np.array(draw(st.lists(COSTS, min_size=count + 1, max_size=count + 1)))


def _after(first, values, count):
    made = np.zeros(count + 1)
    made[first : first + len(values)] = values
    return made


def cost_of(ticks, segments, queries):
    """As a replay adds them up: each tick has a commit, perhaps a compaction, and queries."""
    total, last = 0.0, 0
    for tick in range(1, len(segments)):
        total += segments[last].commit_cpu_s[tick]
        if tick in ticks:
            if not segments[last].compacts[tick]:
                return np.inf
            total += segments[last].evaluation_cpu_s[tick]
            last = tick
        total += queries[tick] * segments[last].query_cpu_s[tick]
    return total


@given(stream=streams(), most=st.integers(1, 7))
def test_the_cheapest_schedule_is_found_and_none_undercuts_the_bound(stream, most):
    count, segments, queries = stream
    moments = moments_of(count, most)
    every = [ticks for size in range(count + 1) for ticks in combinations(range(1, count + 1), size)]
    cost = {ticks: cost_of(ticks, segments, queries) for ticks in every}
    least = min(cost[ticks] for ticks in every if set(ticks) <= set(moments))
    floor = lowest([Floor(segments[0].commit_cpu_s, segments[0].query_cpu_s)], segments)
    starts = [0, *(tick for tick in moments if segments[0].compacts[tick])]
    found = cheapest([segments[start] for start in starts], moments, floor, queries)
    assert found.cpu_s == pytest.approx(least)
    assert cost[found.ticks] == pytest.approx(least)
    assert parts_cpu_s(segments, found.ticks, np.array([0.0, *queries[1:]])) == pytest.approx(least)
    assert found.bound_cpu_s <= min(cost.values()) + 1e-9
    if moments == tuple(range(1, count + 1)):
        assert found.bound_cpu_s == pytest.approx(least)
