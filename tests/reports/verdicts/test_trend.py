import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nested import record
from result_builder import build_results

from bench.results.folders import RunResult, load_runs
from bench.results.records import CommitRecord, ControlRecord, ObserveRecord, QueryRecord
from reports.data.group import run_groups
from reports.verdicts.trend import has_grown, trend, variance_factor
from reports.verdicts.trend_series import latency_trends, trend_series

MINUTES = 60.0 * np.arange(60)
ONES = np.ones(60)


def test_a_rise_by_half_is_that_of_the_ends_against_the_control():
    warming = np.linspace(1, 0.6, 60)
    growth = np.exp(np.linspace(0, math.log(1.5), 60))
    found = trend(MINUTES, 0.1 * growth * warming, 0.02 * warming, [])
    assert (found.verdict, found.n) == ("rises", 60)
    assert found.ratio == pytest.approx(1.5)


def test_a_fall_that_control_and_probe_share_hides_no_rise():
    warming = np.linspace(1, 0.5, 60)
    values = warming * np.linspace(1, 1.4, 60)
    assert not trend(MINUTES, values, ONES, []).is_rising
    assert trend(MINUTES, values, warming, []).is_rising


def test_growing_files_explain_what_they_cost():
    files = 8.0 * np.arange(1, 61)
    noise = np.random.default_rng(3).lognormal(0, 0.02, 60)
    found = trend(MINUTES, (1 + 0.01 * files) * noise, ONES, [files])
    assert found.verdict == "rises with the table"


def test_a_table_that_grows_a_little_explains_no_large_rise():
    # Nothing that grows by 2 % can make a query 1.5 times as slow.
    held = np.linspace(1.0, 1.02, 60) * 1e9
    noise = np.random.default_rng(3).lognormal(0, 0.02, 60)
    assert trend(MINUTES, np.linspace(1, 1.5, 60) * noise, ONES, [held]).verdict == "rises"


def test_files_that_come_and_go_are_taken_out():
    files = 1.0 + np.arange(60) % 30  # two teeth: the slope of the latency alone is clearly above 0
    noise = np.random.default_rng(4).lognormal(0, 0.02, 60)
    latency = (1 + 0.05 * files) * noise
    assert trend(MINUTES, latency, ONES, []).ratio > 1.5
    without = trend(MINUTES, latency, ONES, [files])
    assert (without.verdict, without.ratio) == ("flat or undecided", pytest.approx(1, abs=0.03))
    assert trend(MINUTES, latency * np.linspace(1, 1.5, 60), ONES, [files]).verdict == "rises"


def test_what_comes_and_goes_like_time_itself_leaves_the_slope_unbounded():
    # It grows all the time but for the end, so it has not grown, and takes all that time could explain.
    held = np.concatenate([np.arange(1.0, 45.0), np.zeros(16)])
    noise = np.random.default_rng(5).lognormal(0, 0.02, 60)
    found = trend(MINUTES, noise, ONES, [held, 60 - MINUTES / 60])
    assert (found.verdict, found.low, found.high) == ("flat or undecided", None, None)
    assert found.ratio is not None


@pytest.mark.parametrize(
    ("held", "grown"),
    [
        (np.arange(60), True),
        (np.ones(60), False),
        (np.arange(60)[::-1], False),
        (np.arange(60) % 10, False),
        (np.arange(60) % 30, False),
        (np.arange(60) % 60, True),
        (np.arange(60) // 20, True),
    ],
)
def test_what_has_grown_is_told_from_what_came_and_went(held, grown):
    assert has_grown(held.astype(float)) == grown


def test_without_a_control_nobody_can_tell():
    found = trend(MINUTES, np.linspace(1, 9, 60), None)
    assert (found.verdict, found.ratio, found.is_rising) == ("cannot tell", None, False)
    assert found.reason == "no control query was recorded"


def test_the_slope_is_the_median_of_the_pairwise_slopes():
    # Of logs 0, 1, 2, 3 and 40 at steps of a quarter of the span: six pairs of slope 1 a step, then 10,
    # 12.67, 19, 37; the median is 1, so the whole span has 4.
    found = trend([0, 1, 2, 3, 4], [math.exp(v) for v in (0, 1, 2, 3, 40)], [1.0] * 5)
    assert found.ratio == pytest.approx(math.exp(4))


@pytest.mark.parametrize("values", [np.linspace(2, 1, 60), ONES, 1.5 + np.arange(60) % 2])
def test_what_falls_or_stays_does_not_rise(values):
    assert trend(MINUTES, values, ONES).verdict == "flat or undecided"


@pytest.mark.parametrize(
    ("at_s", "values"), [([], []), ([1, 2, 3, 4], [1.0, 2.0, 3.0, 4.0]), ([7] * 6, [1.0] * 6)]
)
def test_too_few_points_give_no_trend(at_s, values):
    found = trend(at_s, values, [1.0] * len(at_s))
    assert (found.ratio, found.verdict, found.reason) == (None, "flat or undecided", "fewer than 5 points")


def test_series_of_unequal_length_are_refused():
    with pytest.raises(ValueError, match="zip"):
        trend([0, 1], [1.0, 2.0], [1.0])


def test_gaps_are_left_out():
    values = [1, 2, math.nan, 4, 5, 6, 0]
    assert trend(range(7), values, [1.0] * 7, [range(7)]).n == 5


def test_long_series_are_thinned():
    growing = np.linspace(1, 2, 10_000)
    found = trend(range(10_000), growing, np.ones(10_000))
    assert found.n <= 1_500
    assert found.verdict == "rises"


def test_one_spike_moves_no_trend():
    values = 1 + 0.01 * np.random.default_rng(8).normal(0, 1, 60)
    values[-1] = 50.0
    assert trend(MINUTES, values, ONES, [np.arange(60) % 10]).verdict == "flat or undecided"


@given(
    st.lists(
        st.tuples(
            st.floats(1e-6, 1e6), st.floats(1e-6, 1e6), st.integers(0, 10**6), st.integers(0, 10**12)
        ),
        min_size=5, max_size=40,
    ),
    st.integers(0, 20),
)  # fmt: skip
def test_any_series_has_a_trend(points, repeated):
    """Holdings may be constant, collinear with each other or with time, and fits may be degenerate."""
    points += [points[-1]] * repeated
    values, control, files, size_bytes = zip(*points, strict=True)
    at_s = range(len(points))
    found = trend(at_s, values, control, [files, size_bytes, at_s, [2 * f for f in files]])
    assert found.n == len(points)
    assert found.ratio >= 0
    assert found.is_rising == (found.low is not None and found.low > 1)


def test_autocorrelation_widens_the_interval_by_the_formula_of_hamed_and_rao():
    # Blocks of ten high, ten low: ranks 15.5 and 5.5, centred +5 and -5; sum of squares 500, of products
    # of neighbours 17 x 25 = 425 (of 19 pairs 18 agree, one does not); r = 0.85, with the bias given back
    # (20 x 0.85 + 2) / 16 = 1.19, capped at 0.95.
    lags = np.arange(1, 20)
    weights = (20 - lags) * (19 - lags) * (18 - lags)
    expected = 1 + 2 / (20 * 19 * 18) * sum(weights * 0.95**lags)
    assert variance_factor(np.array([1.0] * 10 + [0.0] * 10)) == pytest.approx(expected)
    assert variance_factor(np.array([0.0, 1.0] * 10)) == 1.0  # points that alternate make nothing surer
    assert variance_factor(np.ones(20)) == 1.0


# The series of runs


def step(tick, **fields):
    return {"tick": tick, "at_ms": 60_000 * tick, "written_utc": "2026-01-05T09:00:00Z", **fields}


def settled(tick, wall_s, **fields):
    given = {"probe": "first-order", "primary": True, "when": "settled", **fields}
    return record(QueryRecord, **step(tick, wall_s=wall_s), **given)


def control(tick, wall_s):
    return record(ControlRecord, **step(tick, wall_s=wall_s))


def observed(tick, files, after="commit"):
    return record(
        ObserveRecord,
        **step(tick),
        after=after,
        data_files_count=files,
        delete_files_count=2,
        live_bytes=10 * files,
        rows=1,
        storage_bytes=1,
        metadata_storage_bytes=1,
    )


def run(manifest, *records):
    committed = record(CommitRecord, **step(1), rows=1)
    return RunResult(manifest.__class__.__name__, manifest, (committed, *records))


def test_a_point_is_the_settled_probe_its_control_and_what_the_tick_left(runs):
    manifest = runs[0].manifest
    one = run(
        manifest,
        observed(1, 8), settled(1, 0.5, when="after_commit"), observed(1, 1, after="compaction"),
        settled(0, 0.1), control(0, 0.1), observed(0, 0),  # of an empty table
        settled(1, 0.2),
        settled(1, 9.0, primary=False), control(1, 0.1), observed(1, 5, after="maintenance"),
    )  # fmt: skip
    found = trend_series([one])
    assert (found.at_s, found.values, found.control) == (
        (60.0,), (pytest.approx(0.2),), (pytest.approx(0.1),),
    )  # fmt: skip
    assert found.holdings == ((1.0,), (2.0,), (10.0,))


def test_runs_are_averaged_on_the_log_scale_where_they_have_a_point(runs):
    manifest = runs[0].manifest
    one = run(manifest, *(r for t in (1, 2) for r in (observed(t, 4), settled(t, 0.1), control(t, 0.1))))
    other = run(
        manifest,
        observed(1, 8), settled(1, 0.4), control(1, 0.1),
        observed(2, 8), settled(2, 9.9, status="failed"), control(2, 0.1), observed(3, 8), settled(3, 1.0),
    )  # fmt: skip
    found = trend_series([one, other])
    assert found.at_s == (60.0, 120.0)
    assert found.values == (pytest.approx(0.2), pytest.approx(0.1))
    assert found.holdings[0] == (6.0, 4.0)


def test_runs_without_control_queries_cannot_be_told(tmp_path):
    build_results(tmp_path, {"never": None}, 1, 8)
    for path in tmp_path.rglob("events.jsonl"):
        lines = [line for line in path.read_text().splitlines() if '"kind": "control"' not in line]
        path.write_text("\n".join(lines) + "\n")
    (group,) = run_groups(load_runs(tmp_path))
    assert trend_series(group.timed_runs).at_s == ()
    assert latency_trends(group)["never"].verdict == "cannot tell"


def test_a_table_that_is_never_compacted_gets_slower_with_its_files(tmp_path):
    build_results(tmp_path, {"never": None}, 3, 40)
    (group,) = run_groups(load_runs(tmp_path))
    found = latency_trends(group)["never"]
    assert (found.verdict, found.n) == ("rises with the table", 40)
    assert found.low > 1


def test_a_simulation_has_no_trend(tmp_path):
    build_results(tmp_path, {"never": None}, 1, 40, mode="simulated")
    (group,) = run_groups(load_runs(tmp_path))
    assert latency_trends(group)["never"].verdict == "cannot tell"
