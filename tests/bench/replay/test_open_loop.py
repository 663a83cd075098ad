import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.replay.open_loop import due_ms

HOUR_MS = 3_600_000


@given(
    st.floats(0.001, 1.0),
    st.integers(1, HOUR_MS),
    st.text(max_size=5),
    st.none() | st.lists(st.floats(0.0, 5.0), min_size=1, max_size=8),
)
def test_moments_ascend_within_the_stream_and_repeat_with_the_seed(rate, duration_ms, seed, weights):
    moments = list(due_ms(rate, duration_ms, seed, weights))
    assert moments == sorted(moments)
    assert all(0 <= at_ms < duration_ms for at_ms in moments)
    assert list(due_ms(rate, duration_ms, seed, weights)) == moments


def test_the_mean_rate_is_the_given_one_and_gaps_are_as_random_as_those_of_a_poisson_process():
    moments = list(due_ms(2.0, 10 * HOUR_MS, "seed"))
    assert len(moments) == pytest.approx(72_000, rel=0.02)
    gaps_s = [(after - before) / 1000 for before, after in itertools.pairwise(moments)]
    mean_s = sum(gaps_s) / len(gaps_s)
    deviation_s = (sum((gap - mean_s) ** 2 for gap in gaps_s) / len(gaps_s)) ** 0.5
    assert deviation_s == pytest.approx(mean_s, rel=0.03)  # that of an exponential distribution


def test_weights_move_queries_to_their_part_of_the_stream():
    moments = list(due_ms(1.0, HOUR_MS, "seed", (0.0, 0.5, 2.5, 1.0)))
    counts = [sum(at_ms * 4 // HOUR_MS == part for at_ms in moments) for part in range(4)]
    assert counts == [
        0,
        pytest.approx(450, rel=0.15),
        pytest.approx(2250, rel=0.06),
        pytest.approx(900, rel=0.1),
    ]
