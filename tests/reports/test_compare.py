import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.compare import (
    BOOTSTRAP_RESAMPLES,
    compare,
    compare_unpaired,
    paired_interval,
    trend,
    unpaired_interval,
    variance_factor,
)

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
    ("a", "b", "verdict"), [(3, 2, "more"), (2, 3, "less"), (2, 2, "equal"), (0, 2, "less")]
)
@pytest.mark.parametrize("how", [compare, compare_unpaired])
def test_exact_figures_are_decided_by_their_ratio(how, a, b, verdict):
    for n in (1, 2):
        found = how([a] * n, [b] * n, exact=True)
        assert (found.method, found.verdict, found.n) == ("exact", verdict, n)
        assert found.low == found.ratio == found.high == a / b


@pytest.mark.parametrize("how", [compare, compare_unpaired])
def test_an_exact_figure_over_zero_is_more_but_has_no_ratio(how):
    found = how([5, 5], [0, 0], exact=True)
    assert (found.method, found.verdict, found.ratio, found.low) == ("exact", "more", None, None)
    assert found.reason == "the value it is compared with is 0"


@pytest.mark.parametrize("exact", [True, False, None])
@pytest.mark.parametrize("how", [compare, compare_unpaired])
def test_two_figures_of_zero_are_equal_measured_or_not(how, exact):
    found = how([0.0, 0.0], [0.0, 0.0], exact=exact)
    assert (found.verdict, found.ratio, found.reason) == ("equal", None, "both values are 0")


@pytest.mark.parametrize("how", [compare, compare_unpaired])
def test_runs_without_spread_are_exact_and_no_proof_from_noise(how):
    # As a deterministic engine gives them, the last digits by the order of a sum.
    found = how([2.0, 2.0, 2.0 + 1e-15], [1.0, 1.0 + 1e-15, 1.0])
    assert (found.method, found.verdict) == ("exact", "more")
    assert found.low == found.high == found.ratio == pytest.approx(2.0)
    equal = how([1.0, 1.0, 1.0 + 1e-12], [1.0] * 3)
    assert (equal.method, equal.verdict, equal.ratio) == ("exact", "equal", 1.0)


@pytest.mark.parametrize("how", [compare, compare_unpaired])
def test_measured_runs_without_spread_are_undecided(how):
    found = how([0.12, 0.12], [0.11, 0.11], exact=False)  # a clock that counts hundredths
    assert (found.method, found.verdict) == ("none", "undecided")
    assert found.reason == "all runs agree to the last digit, so noise cannot be estimated"


def test_welch_interval_of_two_groups():
    # Logs in units of ln 2: 1, 3 against 0, 0; the ratio is 2^2, of one side the standard error is 1, of the
    # other 0, so 1 degree of freedom is left; t(0.975, 1 d.f.) = 12.7062. A pooled variance would have 2.
    found = compare_unpaired([2.0, 8.0, None], [1.0, 1.0])
    assert found.ratio == pytest.approx(4)
    assert math.log2(found.low) == pytest.approx(2 - 12.7062, rel=1e-4)
    assert math.log2(found.high) == pytest.approx(2 + 12.7062, rel=1e-4)
    assert (found.n, found.method, found.verdict) == (2, "Welch's t on logs", "undecided")


def test_welch_interval_of_equal_variances():
    # 0, 1, 2 against 5, 6, 7: standard errors 1 / sqrt 3 each, 4 degrees of freedom, t = 2.77645.
    found = compare_unpaired([1.0, 2.0, 4.0], [32.0, 64.0, 128.0])
    assert math.log2(found.low) == pytest.approx(-5 - 2.77645 * math.sqrt(2 / 3), rel=1e-4)
    assert (found.n, found.verdict) == (3, "less")


def test_groups_of_twenty_are_bootstrapped_the_same_each_time():
    noise = np.random.default_rng(1).lognormal(0, 0.1, 45)
    found = compare_unpaired(list(2 * noise[:20]), list(noise[20:]))
    assert found == compare_unpaired(list(2 * noise[:20]), list(noise[20:]))
    assert (found.method, found.verdict, found.n) == ("unpaired bootstrap of logs", "more", 20)
    assert compare_unpaired(list(noise[:19]), list(noise[20:])).method == "Welch's t on logs"


def _resamples(values, seed):
    """Means and standard errors of the resamples of `values`, one by one."""
    rows = np.random.default_rng(seed).integers(0, len(values), (BOOTSTRAP_RESAMPLES, len(values)))
    drawn = np.asarray(values)[rows]
    return drawn.mean(axis=1), drawn.std(axis=1, ddof=1) / math.sqrt(len(values))


def test_the_bootstrap_takes_the_95th_of_100_sizes_of_t_over_resamples():
    logs, others = np.random.default_rng(3).normal(0.1, 0.1, (2, 25))
    others = others[:20]
    means, errors = _resamples(logs, 1993)
    margin = np.sort(np.abs(means - logs.mean()) / errors)[1899] * logs.std(ddof=1) / 5
    low, high = paired_interval(logs)
    assert (low, high) == pytest.approx((logs.mean() - margin, logs.mean() + margin))

    other_means, other_errors = _resamples(others, 1994)  # drawn apart from the first group
    distance = logs.mean() - others.mean()
    sizes = np.abs(means - other_means - distance) / np.hypot(errors, other_errors)
    margin = np.sort(sizes)[1899] * math.hypot(logs.std(ddof=1) / 5, others.std(ddof=1) / math.sqrt(20))
    low, high = unpaired_interval(logs, others)
    assert (low, high) == pytest.approx((distance - margin, distance + margin))


def test_a_bootstrap_that_resamples_no_spread_falls_back_on_student():
    # One run of twenty is slow: 36 % of the resamples leave it out and have no spread.
    found = compare([1.0] * 19 + [2.0], [1.0] * 20)
    assert found.method == "paired bootstrap of log ratios"
    # Mean ln 2 / 20, standard error the same; t(0.975, 19 d.f.) = 2.09302.
    assert math.log2(found.high) == pytest.approx((1 + 2.09302) / 20, rel=1e-4)
    assert found.verdict == "undecided"


@pytest.mark.parametrize(
    ("a", "b", "reason"),
    [
        ([], [], "neither side has a value"),
        ([1.0, None], [None], "one side has no value"),
        ([1.0], [2.0, 2.1], "a single run on one side gives no estimate of noise"),
        ([1.0, 0.0], [2.0, 2.1], "values of zero or below have no ratio"),
    ],
)
def test_groups_that_cannot_be_compared_are_undecided_with_a_reason(a, b, reason):
    found = compare_unpaired(a, b)
    assert (found.verdict, found.low, found.reason) == ("undecided", None, reason)


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
    for how in (compare, compare_unpaired):
        one, other = how(a, b), how(b, a)
        assert one.ratio == pytest.approx(1 / other.ratio)
        assert one.low == pytest.approx(1 / other.high, rel=1e-6)
        assert {one.verdict, other.verdict} in ({"more", "less"}, {"undecided"}, {"equal"})


@given(st.lists(st.tuples(figures, figures), min_size=2, max_size=8), st.floats(0.1, 10))
def test_the_interval_holds_the_ratio_and_scales_with_it(pairs, factor):
    a, b = zip(*pairs, strict=True)
    one, scaled = compare(a, b), compare([v * factor for v in a], b)
    assert one.low <= one.ratio * (1 + 1e-9)
    assert one.ratio <= one.high * (1 + 1e-9)
    assert scaled.ratio == pytest.approx(one.ratio * factor)


@given(st.lists(figures, min_size=2, max_size=25))
def test_runs_compared_with_themselves_never_differ(values):
    assert compare(values, values).verdict == "equal"  # the ratio is 1 in every pair
    assert compare(values, values, exact=False).verdict == "undecided"
    assert compare_unpaired(values, values).verdict in ("undecided", "equal")


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


def test_gaps_are_left_out_of_a_trend():
    assert trend(range(7), [1, 2, math.nan, 4, 5, 6, math.nan]).n == 5


def test_long_series_are_thinned():
    found = trend(range(10_000), [float(v) for v in range(10_000)])
    assert found.n <= 1_500
    assert found.slope_per_h == pytest.approx(3600)
