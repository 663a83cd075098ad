import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.compare import compare, trend

figures = st.floats(1e-3, 1e3)


def test_paired_t_interval_of_two_pairs():
    # Logs of the ratios: ln 2, ln 4; mean 1.5 ln 2, standard error 0.5 ln 2; t(0.975, 1 d.f.) = 12.7062.
    found = compare([2.0, 4.0], [1.0, 1.0])
    assert found.ratio == pytest.approx(2**1.5)
    assert found.low == pytest.approx(2 ** (1.5 - 0.5 * 12.7062), rel=1e-4)
    assert found.high == pytest.approx(2 ** (1.5 + 0.5 * 12.7062), rel=1e-4)
    assert (found.n, found.method, found.verdict) == (2, "paired t on log ratios", "undecided")


def test_paired_t_interval_of_three_pairs():
    # Logs: ln 2 x (1, 2, 3); mean 2 ln 2, standard error ln 2 / sqrt 3; t(0.975, 2 d.f.) = 4.30265.
    found = compare([2.0, 4.0, 8.0], [1.0, 1.0, 1.0])
    assert found.low == pytest.approx(2 ** (2 - 4.30265 / math.sqrt(3)), rel=1e-4)
    assert found.verdict == "undecided"


@pytest.mark.parametrize(("factor", "verdict"), [(3.0, "more"), (1 / 3, "less")])
def test_clear_differences_are_decided(factor, verdict):
    assert compare([1.0 * factor, 1.1 * factor, 0.9 * factor], [1.05, 1.0, 0.95]).verdict == verdict


def test_twenty_pairs_are_bootstrapped_the_same_each_time():
    noise = np.random.default_rng(1).lognormal(0, 0.1, 20)
    found = compare(list(2 * noise), [1.0] * 20)
    assert found == compare(list(2 * noise), [1.0] * 20)
    assert (found.method, found.verdict) == ("paired bootstrap of log ratios", "more")
    # Two standard errors of the mean of 20 such logs: about 2 x 0.1 / sqrt 20.
    assert math.log(found.high / found.low) / 2 == pytest.approx(2 * 0.1 / math.sqrt(20), rel=0.5)


@pytest.mark.parametrize(
    ("a", "b", "verdict"), [(3, 2, "more"), (2, 3, "less"), (2, 2, "equal"), (5, 0, "more")]
)
def test_exact_figures_are_decided_without_an_interval(a, b, verdict):
    found = compare([a, a], [b, b], exact=True)
    assert (found.method, found.verdict, found.low, found.high) == ("exact", verdict, None, None)


def test_exact_figures_that_do_not_repeat_are_treated_as_noisy():
    assert compare([3.0, 3.1], [2.0, 2.0], exact=True).method == "paired t on log ratios"


def test_one_pair_is_undecided_but_keeps_its_ratio():
    found = compare([3.0], [2.0])
    assert (found.ratio, found.verdict, found.low) == (pytest.approx(1.5), "undecided", None)
    assert "one pair" in found.reason


@pytest.mark.parametrize("bad", [0.0, -1.0])
def test_figures_without_a_logarithm_are_undecided_with_a_reason(bad):
    found = compare([1.0, 2.0], [1.0, bad])
    assert (found.ratio, found.verdict) == (None, "undecided")
    assert found.reason


def test_pairs_with_a_gap_are_left_out():
    assert compare([1.0, None, 3.0], [None, 2.0, 2.0]).n == 1
    assert compare([None], [None]).reason == "no pair of runs to compare"


def test_groups_of_unequal_length_are_refused():
    with pytest.raises(ValueError, match="zip"):
        compare([1.0], [1.0, 2.0])


@given(st.lists(st.tuples(figures, figures), min_size=2, max_size=8))
def test_swapping_the_groups_inverts_the_interval(pairs):
    a, b = zip(*pairs, strict=True)
    one, other = compare(a, b), compare(b, a)
    assert one.ratio == pytest.approx(1 / other.ratio)
    assert one.low == pytest.approx(1 / other.high, rel=1e-6)
    assert {one.verdict, other.verdict} in ({"more", "less"}, {"undecided"})


@given(st.lists(st.tuples(figures, figures), min_size=2, max_size=8), st.floats(0.1, 10))
def test_the_interval_holds_the_ratio_and_scales_with_it(pairs, factor):
    a, b = zip(*pairs, strict=True)
    one, scaled = compare(a, b), compare([v * factor for v in a], b)
    assert one.low <= one.ratio * (1 + 1e-9)
    assert one.ratio <= one.high * (1 + 1e-9)
    assert scaled.ratio == pytest.approx(one.ratio * factor)


@given(st.lists(figures, min_size=2, max_size=25))
def test_runs_compared_with_themselves_are_never_decided(values):
    assert compare(values, values).verdict == "undecided"


def test_the_interval_covers_the_truth_in_95_of_100_suites():
    rng = np.random.default_rng(42)
    true_ratio, suites = 1.5, 2_000
    drift = rng.lognormal(0, 0.3, (suites, 3))  # shared by both runs of a repetition, so it cancels
    a, b = (factor * drift * rng.lognormal(0, 0.1, (suites, 3)) for factor in (true_ratio, 1.0))
    made = [compare(list(x), list(y)) for x, y in zip(a, b, strict=True)]
    covered = np.mean([found.low <= true_ratio <= found.high for found in made])
    assert covered == pytest.approx(0.95, abs=0.015)  # three standard errors of a share over 2,000 trials


def test_trend_of_a_straight_line_is_its_slope():
    found = trend([0, 900, 1800, 2700, 3600], [1.0, 1.5, 2.0, 2.5, 3.0])  # 0.5 a quarter of an hour
    assert found.slope_per_h == pytest.approx(2.0)
    assert found.verdict == "rises"


def test_trend_is_the_median_of_the_pairwise_slopes():
    # Slopes of all pairs of (0,0) (1,1) (2,2) (3,3) (4,40): six of 1, the others 10, 12.67, 19, 37; median 1.
    found = trend([0, 3600, 7200, 10800, 14400], [0.0, 1.0, 2.0, 3.0, 40.0])
    assert found.slope_per_h == pytest.approx(1.0)


@pytest.mark.parametrize(
    "values", [[5.0, 4.0, 3.0, 2.0, 1.0], [1.0] * 5, [1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0]]
)
def test_what_falls_or_stays_does_not_rise(values):
    assert trend(range(len(values)), values).verdict == "flat or undecided"


@pytest.mark.parametrize(("at_s", "values"), [([], []), ([1, 2, 3, 4], [1, 2, 3, 4]), ([7] * 6, range(6))])
def test_too_few_points_give_no_trend(at_s, values):
    assert trend(at_s, values).slope_per_h is None


def test_gaps_are_left_out_of_a_trend():
    assert trend(range(7), [1, 2, math.nan, 4, 5, 6, math.nan]).n == 5


def test_long_series_are_thinned():
    found = trend(range(10_000), [float(v) for v in range(10_000)])
    assert found.n <= 1_500
    assert found.slope_per_h == pytest.approx(3600)
