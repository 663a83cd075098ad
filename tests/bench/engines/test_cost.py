"""Adding up what steps cost."""

from dataclasses import fields

from hypothesis import given
from hypothesis import strategies as st

from bench.results.values import NO_COST, Cost, SparkWork

SECONDS = st.integers(0, 2**20).map(lambda ticks: ticks / 64)  # their sums are exact
PEAKS = st.none() | st.integers(0, 2**50)
COUNTS = st.none() | st.integers(0, 2**40)
REQUESTS = st.none() | st.dictionaries(st.sampled_from(["GET", "PUT", "LIST"]), st.integers(1, 2**30))
COSTS = st.builds(
    Cost, SECONDS, SECONDS, SECONDS, st.none() | SECONDS, st.none() | SECONDS, PEAKS, PEAKS,
    requests=REQUESTS, spark=st.builds(SparkWork, *[COUNTS] * 7),
)  # fmt: skip


@given(COSTS)
def test_no_cost_adds_nothing(cost):
    assert NO_COST + cost == cost + NO_COST == cost


@given(COSTS, COSTS, COSTS)
def test_steps_add_up_in_any_order(one, two, three):
    assert one + two == two + one
    assert (one + two) + three == one + (two + three)


@given(COSTS, COSTS)
def test_a_sum_is_known_if_both_sides_are(one, two):
    for name in ("jit_cpu_s", "gc_cpu_s"):
        parts = [getattr(one, name), getattr(two, name)]
        assert getattr(one + two, name) == (None if None in parts else sum(parts))


@given(COSTS, COSTS)
def test_the_work_of_both_steps_is_known_figure_by_figure(one, two):
    for field in fields(SparkWork):
        parts = [getattr(cost.spark, field.name) for cost in (one, two)]
        assert getattr((one + two).spark, field.name) == (None if None in parts else sum(parts))


@given(COSTS, COSTS)
def test_a_peak_is_the_highest_that_is_known(one, two):
    for name in ("peak_rss_bytes", "peak_heap_bytes"):
        known = [peak for peak in (getattr(one, name), getattr(two, name)) if peak is not None]
        assert getattr(one + two, name) == max(known, default=None)


@given(COSTS, COSTS)
def test_requests_add_up_kind_by_kind_where_both_sides_count_them(one, two):
    both = (one + two).requests
    if one.requests is None or two.requests is None:
        assert both is None
    else:
        kinds = {*one.requests, *two.requests}
        assert both == {kind: one.requests.get(kind, 0) + two.requests.get(kind, 0) for kind in kinds}


def test_no_cost_is_known_to_be_nothing():
    assert (NO_COST.jit_cpu_s, NO_COST.gc_cpu_s, NO_COST.peak_rss_bytes) == (0.0, 0.0, None)
