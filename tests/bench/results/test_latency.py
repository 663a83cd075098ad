import pytest
from records import query
from result_builder import manifest

from bench.results.latency import mean_cpu_s, mean_over_time, mean_wall_s, window_ms

MINUTE_MS = 60_000


@pytest.mark.parametrize(("at", "expected"), [(1, 4), (4, 4), (5, 4), (8, 4), (9, 2), (10, 2)])
def test_a_window_ends_with_its_last_tick_and_the_last_one_with_the_scenario(at, expected):
    assert window_ms(4 * MINUTE_MS, 10 * MINUTE_MS, at * MINUTE_MS) == expected * MINUTE_MS


def test_a_query_counts_for_the_time_it_stands_for():
    made = manifest(probe_every_ms=4 * MINUTE_MS, duration_ms=10 * MINUTE_MS)
    queries = [query(wall_s, at_ms=at * MINUTE_MS) for wall_s, at in ((1.0, 2), (3.0, 8), (8.0, 9))]
    assert mean_wall_s(made, queries) == pytest.approx((4 * 1 + 4 * 3 + 2 * 8) / 10)


def test_other_probes_have_windows_of_their_own():
    made = manifest(probe_every_ms=MINUTE_MS, side_probe_every_ms=4 * MINUTE_MS, duration_ms=6 * MINUTE_MS)
    queries = [
        query(1.0, at_ms=at * MINUTE_MS, cpu_s=cpu_s, primary=False) for at, cpu_s in ((3, 6.0), (6, 9.0))
    ]
    assert mean_cpu_s(made, queries) == pytest.approx((4 * 6 + 2 * 9) / 6)


def test_a_mean_needs_every_value():
    made = manifest()
    assert mean_wall_s(made, []) is None
    assert mean_over_time(made, [query(), query(files_count=None)], lambda q: q.work.files_count) is None
    assert mean_over_time(made, [query(files_count=3)], lambda q: q.work.files_count) == 3
