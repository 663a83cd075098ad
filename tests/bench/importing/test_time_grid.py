import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.importing import time_grid as time_grids

MINUTE_MS = 60_000


def time_grid(times_ms):
    return time_grids.time_grid(times_ms, times_ms[0])


def every(interval_ms, count=200, jitter_ms=0):
    return [n * interval_ms + (n * 7_919 % (jitter_ms + 1)) for n in range(count)]


@pytest.mark.parametrize(
    ("times_ms", "interval_ms"),
    [
        (every(MINUTE_MS), MINUTE_MS),
        (every(MINUTE_MS, jitter_ms=20_000), MINUTE_MS),
        (every(90_000), MINUTE_MS),
        (every(3_600_000), 600_000),
        ([day * 86_400_000 + second * 1_000 for day in range(90) for second in (0, 20, 40)], 600_000),
        (every(400), 1_000),  # faster than the shortest interval
        ([0], 600_000),
    ],
)
def test_the_interval_is_about_that_of_the_commits(times_ms, interval_ms):
    assert time_grid(times_ms).interval_ms == interval_ms


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=300))
def test_every_commit_has_its_tick_within_the_duration(times_ms):
    times_ms.sort()
    grid = time_grid(times_ms)
    assert grid.ticks_count >= len(times_ms)
    assert grid.ticks_count <= max(100_000, len(times_ms))
    assert grid.duration_ms >= times_ms[-1] - times_ms[0]
    assert grid.probe_every_ms % grid.interval_ms == 0
    assert grid.probe_every_ms <= grid.duration_ms
    assert all(interval_ms >= 2 * grid.interval_ms for interval_ms in grid.policy_intervals_ms)


@pytest.mark.parametrize(
    ("times_ms", "intervals"),
    [
        (every(MINUTE_MS, 30 * 24 * 60), (5, 120, 2_880)),
        (every(MINUTE_MS, 60), (5, 10)),
        (every(MINUTE_MS, 5), (2,)),  # too short for five compactions
        (every(30 * MINUTE_MS, 30, jitter_ms=MINUTE_MS), (60, 120)),
        (every(30 * MINUTE_MS, 5, jitter_ms=MINUTE_MS), (60,)),
    ],
)
def test_policies_run_at_intervals_of_two_commits_to_a_fifth_of_the_history(times_ms, intervals):
    assert time_grid(times_ms).policy_intervals_ms == tuple(MINUTE_MS * minutes for minutes in intervals)
