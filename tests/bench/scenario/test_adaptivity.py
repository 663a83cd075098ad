import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.scenario.adaptivity import least_cost

AMOUNT = st.floats(0, 1e6)
TICKS = st.lists(st.tuples(AMOUNT, AMOUNT), min_size=1, max_size=50)


@pytest.mark.parametrize(
    ("files", "queries", "expected"),
    [
        # (sqrt(10) + sqrt(1)) / 2 over sqrt((10 + 1) / 2).
        ([10, 1], [1, 1], 0.8874),
        ([1, 1], [10, 1], 0.8874),
        # All in a quarter of the time: 1 / 4 over sqrt(1 / 4).
        ([7, 0, 0, 0], [1, 1, 1, 1], 0.5),
        # Readers who come when files do not, or when they do: what counts is the product.
        ([4, 1], [1, 4], 1.0),
        ([4, 1], [4, 1], (4 + 1) / 2 / (17 / 2) ** 0.5),
    ],
)
def test_by_hand(files, queries, expected):
    assert least_cost(files, queries) == pytest.approx(expected, abs=1e-4)


@given(TICKS)
def test_no_schedule_is_free_and_none_loses_by_adapting(ticks):
    files, queries = zip(*ticks, strict=True)
    found = least_cost(files, queries)
    if not any(added * asked for added, asked in ticks):
        assert found is None
    else:
        assert 0 < found <= 1
        # The worst case: all that counts is in one tick of so many.
        assert found >= len(ticks) ** -0.5 - 1e-9


@given(st.floats(1e-6, 1e6), st.floats(1e-6, 1e6), st.integers(1, 50))
def test_nothing_is_gained_where_nothing_changes(files, queries, ticks):
    assert least_cost([files] * ticks, [queries] * ticks) == pytest.approx(1)


@given(TICKS, st.floats(1e-3, 1e3), st.floats(1e-3, 1e3), st.integers(0, 99))
def test_units_and_order_do_not_matter(ticks, of_files, of_queries, seed):
    files, queries = zip(*ticks, strict=True)
    mixed = random.Random(seed).sample(ticks, len(ticks))
    found, scaled = (
        least_cost(files, queries),
        least_cost([added * of_files for added, _ in mixed], [asked * of_queries for _, asked in mixed]),
    )
    assert scaled == (None if found is None else pytest.approx(found))


@given(TICKS, st.integers(2, 4))
def test_a_stream_that_repeats_gains_as_much(ticks, times):
    files, queries = zip(*ticks, strict=True)
    once, repeated = least_cost(files, queries), least_cost(files * times, queries * times)
    assert repeated == (None if once is None else pytest.approx(once))
