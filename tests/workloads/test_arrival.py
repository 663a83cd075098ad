import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workloads.arrival import Bursts, Constant, Daily, Poisson

DAY_S = 86_400.0

bursts = st.builds(
    Bursts,
    every_s=st.just(3600.0),
    length_s=st.floats(1, 3599),
    factor=st.floats(1, 50),
    at_random=st.booleans(),
)
days = st.builds(
    Daily,
    peak_factor=st.floats(2, 10),
    night_factor=st.floats(0, 0.99),
    peak_at_s=st.none() | st.floats(0, 86_399),
    burst_length_s=st.floats(1, 3599),
    burst_factor=st.floats(1, 10),
    bursts_at_random=st.booleans(),
)


def traffic(arrival, mean_rows, commits, interval_s, seed="1/arrival"):
    ms = round(interval_s * 1000)
    return [arrival.rows(i, (i - 1) * ms, i * ms, mean_rows, str(seed)) for i in range(1, commits + 1)]


def test_constant_brings_the_mean_each_time():
    assert traffic(Constant(), 100, 3, 60.0) == [100, 100, 100]


@given(arrival=st.one_of(bursts, days), mean_rows=st.floats(0.2, 1e6))
def test_curves_bring_the_mean_over_a_day(arrival, mean_rows):
    rows = traffic(arrival, mean_rows, 96, 900.0)
    assert min(rows) >= 0
    assert sum(rows) == pytest.approx(96 * mean_rows, abs=2, rel=1e-9)


def test_bursts_come_at_the_end_of_each_period_and_are_stronger_by_the_factor():
    # 10 min of bursts in 60 at 7 x: base = 1 / (1 + 6/6) of the mean.
    rows = traffic(Bursts(3600.0, 600.0, 7.0), 100, 12, 600.0)
    assert rows == [50, 50, 50, 50, 50, 350] * 2


@pytest.mark.parametrize("seed", range(20))
def test_bursts_at_random_come_once_in_each_period_where_the_seed_draws_them(seed):
    # A burst of two minutes touches two or three commits of a minute, and brings the same rows in all.
    rows = traffic(Bursts(600.0, 120.0, 6.0, at_random=True), 100, 60, 60.0, seed)
    periods = [rows[begin : begin + 10] for begin in range(0, 60, 10)]
    for period in periods:
        burst = [index for index, count in enumerate(period) if count > 51]
        assert len(burst) in (2, 3)
        assert burst[-1] - burst[0] == len(burst) - 1
        assert sum(period) == pytest.approx(1000, abs=5)
    assert len({str(period) for period in periods}) > 3
    assert rows != traffic(Bursts(600.0, 120.0, 6.0, at_random=True), 100, 60, 60.0, f"{seed}/other")


def test_daily_is_quiet_at_night_and_peaks_in_the_day():
    hourly = traffic(Daily(peak_factor=2.5, night_factor=0.2), 1000, 24, 3600.0)
    assert hourly[:5] == [200] * 5  # the day part is 16.7 h around 14 h: from 5.65 h on
    assert max(hourly) == max(hourly[13:15])
    assert 2400 < max(hourly) <= 2500


def test_daily_squeezed_into_an_hour_has_the_same_curve():
    assert traffic(Daily(day_s=3600.0), 1000, 24, 150.0) == traffic(Daily(), 1000, 24, 3600.0)


def test_daily_bursts_add_the_same_rows_by_day_and_by_night():
    plain, bursting = Daily(), Daily(burst_every_s=3600.0, burst_length_s=600.0, burst_factor=4.0)
    # 3 x the mean for a sixth of the time raises the total by half, by which all is then lowered.
    expected = [(r + 3000 * (i % 6 == 5)) / 1.5 for i, r in enumerate(traffic(plain, 1000, 144, 600.0))]
    assert traffic(bursting, 1000, 144, 600.0) == pytest.approx(expected, abs=2)


@settings(max_examples=20)
@given(mean_rows=st.floats(0.5, 1e5), seed=st.integers())
def test_poisson_keeps_mean_and_variance(mean_rows, seed):
    rows = traffic(Poisson(), mean_rows, 1000, 60.0, seed)
    mean = sum(rows) / len(rows)
    variance = sum((r - mean) ** 2 for r in rows) / len(rows)
    # Six standard errors of a mean of 1,000 draws; the variance of a variance is (2 + 1/mean) mean^2 / n.
    assert mean == pytest.approx(mean_rows, abs=6 * (mean_rows / 1000) ** 0.5)
    assert variance == pytest.approx(mean_rows, rel=6 * ((2 + 1 / mean_rows) / 1000) ** 0.5)


@pytest.mark.parametrize(
    ("arrival", "options"),
    [
        (Bursts, {"every_s": 0}),
        (Bursts, {"length_s": 3600}),
        (Bursts, {"factor": 0.5}),
        (Bursts, {"factor": 1e7}),
        (Daily, {"peak_factor": 1e7}),
        (Daily, {"night_factor": 1}),
        (Daily, {"night_factor": 0.2, "peak_factor": 1.5}),
        (Daily, {"day_s": 0}),
        (Daily, {"day_s": 3600, "peak_at_s": 3600}),
        (Daily, {"burst_factor": 0}),
    ],
)
def test_arrivals_reject_bad_values(arrival, options):
    *_, (name, value) = options.items()
    with pytest.raises(ValueError, match=f"^{name}={re.escape(str(value))} must be"):
        arrival(**options)
