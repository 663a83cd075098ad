import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scenario_builder import load

from bench.replay.open_loop import asks_ms, due_ms

HOUR_MS = 3_600_000


@given(
    st.lists(st.floats(0.0, 1.0), min_size=1, max_size=8),
    st.integers(1, HOUR_MS),
    st.text(max_size=5),
)
def test_moments_ascend_within_the_stream_and_repeat_with_the_seed(rates, duration_ms, seed):
    moments = list(due_ms(rates, duration_ms, seed))
    assert moments == sorted(moments)
    assert all(0 <= at_ms < duration_ms for at_ms in moments)
    assert list(due_ms(rates, duration_ms, seed)) == moments


def test_the_mean_rate_is_the_given_one_and_gaps_are_as_random_as_those_of_a_poisson_process():
    moments = list(due_ms([2.0], 10 * HOUR_MS, "seed"))
    assert len(moments) == pytest.approx(72_000, rel=0.02)
    gaps_s = [(after - before) / 1000 for before, after in itertools.pairwise(moments)]
    mean_s = sum(gaps_s) / len(gaps_s)
    deviation_s = (sum((gap - mean_s) ** 2 for gap in gaps_s) / len(gaps_s)) ** 0.5
    assert deviation_s == pytest.approx(mean_s, rel=0.03)  # that of an exponential distribution


def test_each_part_of_the_stream_has_its_own_rate():
    moments = list(due_ms((0.0, 0.5, 2.5, 1.0), HOUR_MS, "seed"))
    counts = [sum(at_ms * 4 // HOUR_MS == part for at_ms in moments) for part in range(4)]
    assert counts == [
        0,
        pytest.approx(450, rel=0.15),
        pytest.approx(2250, rel=0.06),
        pytest.approx(900, rel=0.1),
    ]


def test_readers_ask_after_a_commit_at_the_rate_of_its_tick(tmp_path):
    (tmp_path / "readers.csv").write_text("time,rows\n60,3\n119,1\n120,4\n299,12\n")
    queries = {"arrival": {"type": "trace", "path": "readers.csv"}}
    scenario = load(tmp_path, clock="real", queries=queries, roles={"reader": {"rate": "1/s"}})
    asked = {at_ms // scenario.commit_interval_ms for at_ms in asks_ms(scenario, repetition=1)}
    assert asked == {0, 1, 2, 4}  # before the first commit as after it
