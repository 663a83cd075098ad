import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.verdicts.compare import compare, compare_unpaired, holm

figures = st.floats(1e-3, 1e3)


def test_paired_t_interval_of_three_pairs():
    # Logs: ln 2 x (1, 2, 3); mean 2 ln 2, standard error ln 2 / sqrt 3; t(0.975, 2 d.f.) = 4.30265.
    result = compare([2.0, 4.0, 8.0], [1.0, 1.0, 1.0])
    assert result.ratio == pytest.approx(4)
    assert result.low == pytest.approx(2 ** (2 - 4.30265 / math.sqrt(3)), rel=1e-4)
    assert result.high == pytest.approx(2 ** (2 + 4.30265 / math.sqrt(3)), rel=1e-4)
    assert (result.n, result.method, result.verdict) == (3, "paired t on log ratios", "undecided")
    assert (result.error, result.freedom) == (pytest.approx(math.log(2) / math.sqrt(3)), 2)
    assert result.words == "indistinguishable"


@pytest.mark.parametrize(
    ("a", "b", "reason"),
    [
        ([3.0], [2.0], "1 pair of runs; an interval needs 3"),
        ([3.0, 3.3], [2.0, 2.1], "2 pairs of runs; an interval needs 3"),
    ],
)
def test_fewer_than_three_pairs_have_a_ratio_and_no_interval(a, b, reason):
    result = compare(a, b)
    assert result.ratio == pytest.approx(math.sqrt(math.prod(a) / math.prod(b)) if len(a) == 2 else 1.5)
    assert (result.low, result.high, result.method, result.verdict) == (None, None, "none", "undecided")
    assert (result.reason, result.words, result.p) == (reason, "undecided", None)


@pytest.mark.parametrize(("factor", "verdict"), [(3.0, "more"), (1 / 3, "less")])
def test_clear_differences_are_decided(factor, verdict):
    assert compare([1.0 * factor, 1.1 * factor, 0.9 * factor], [1.05, 1.0, 0.95]).verdict == verdict


@pytest.mark.parametrize(("a", "b", "verdict"), [(0.0, 0.0, "equal"), (5.0, 0.0, "more"), (0.0, 5.0, "less")])
@pytest.mark.parametrize("how", [compare, compare_unpaired])
@pytest.mark.parametrize("n", [1, 3])
def test_timings_of_nothing_are_certain(how, a, b, verdict, n):
    # A strategy that never compacts uses no CPU for it, in any run.
    result = how([a] * n, [b] * n)
    assert (result.method, result.verdict, result.p) == ("exact", verdict, None)


@pytest.mark.parametrize("how", [compare, compare_unpaired])
def test_measured_runs_without_spread_are_undecided(how):
    result = how([0.12] * 3, [0.11] * 3)  # a clock that counts hundredths
    assert (result.method, result.verdict) == ("none", "undecided")
    assert result.reason == "all runs agree to the last digit, so noise cannot be estimated"


@pytest.mark.parametrize("how", [compare, compare_unpaired])
def test_the_p_value_is_that_of_the_interval(how):
    rng = np.random.default_rng(5)
    for _ in range(50):
        a, b = np.exp(rng.normal(0.1, 0.1, 4)), np.exp(rng.normal(0, 0.1, 4))
        result = how(list(a), list(b))
        assert (result.p < 0.05) == (result.verdict != "undecided")
        # At an end of the interval, one side of the noise is 2.5 %.
        assert result.p_beyond(result.low, above=True) == pytest.approx(0.025)
        assert result.p_beyond(result.high, above=False) == pytest.approx(0.025)


def test_holm_multiplies_the_smallest_by_all_and_never_falls():
    # 0.01 x 4, 0.02 x 3 and 0.03 x 2 are 0.04, 0.06 and 0.06; 0.04 x 1 is not below the one before.
    assert holm([0.03, 0.01, 0.04, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9))
def test_adjusted_p_values_keep_their_order_and_are_never_smaller(p_values):
    adjusted = holm(p_values)
    assert all(0 <= p <= a <= 1 for p, a in zip(p_values, adjusted, strict=True))
    in_order = [a for _, a in sorted(zip(p_values, adjusted, strict=True))]
    assert in_order == sorted(in_order)


def test_welch_interval_of_two_groups():
    # Logs in units of ln 2: 1, 2, 3 against 0, 0, 0; the ratio is 2^2, of one side the standard error is
    # 1 / sqrt 3, of the other 0, so 2 degrees of freedom are left; t(0.975, 2 d.f.) = 4.30265. A pooled
    # variance would have 4.
    result = compare_unpaired([2.0, 4.0, 8.0], [1.0, 1.0, 1.0])
    assert result.ratio == pytest.approx(4)
    assert math.log2(result.low) == pytest.approx(2 - 4.30265 / math.sqrt(3), rel=1e-4)
    assert math.log2(result.high) == pytest.approx(2 + 4.30265 / math.sqrt(3), rel=1e-4)
    assert (result.n, result.method, result.freedom) == (3, "Welch's t on logs", pytest.approx(2))


def test_welch_interval_of_equal_variances():
    # 0, 1, 2 against 5, 6, 7: standard errors 1 / sqrt 3 each, 4 degrees of freedom, t = 2.77645.
    result = compare_unpaired([1.0, 2.0, 4.0], [32.0, 64.0, 128.0])
    assert math.log2(result.low) == pytest.approx(-5 - 2.77645 * math.sqrt(2 / 3), rel=1e-4)
    assert (result.n, result.verdict) == (3, "less")


@pytest.mark.parametrize(
    ("a", "b", "reason"),
    [
        ([], [], "neither side has a value"),
        ([1.0], [], "one side has no value"),
        ([1.0], [2.0, 2.1], "1 run against 2; an interval needs 3 on each side"),
        ([1.0, 1.1], [2.0, 2.1], "2 runs; an interval needs 3 on each side"),
        ([1.0, 0.0], [2.0, 2.1], "values of zero or below have no ratio"),
    ],
)
def test_groups_that_cannot_be_compared_are_undecided_with_a_reason(a, b, reason):
    result = compare_unpaired(a, b)
    assert (result.verdict, result.low, result.reason) == ("undecided", None, reason)


@pytest.mark.parametrize("bad", [0.0, -1.0])
def test_figures_without_a_logarithm_are_undecided_with_a_reason(bad):
    result = compare([1.0, 2.0, 3.0], [1.0, 2.0, bad])
    assert (result.ratio, result.verdict) == (None, "undecided")
    assert result.reason


def test_no_pair_is_undecided():
    assert compare([], []).reason == "no pair of runs to compare"


def test_groups_of_unequal_length_are_refused():
    with pytest.raises(ValueError, match="zip"):
        compare([1.0], [1.0, 2.0])


@given(st.lists(st.tuples(figures, figures), min_size=3, max_size=8))
def test_swapping_the_groups_inverts_the_interval(pairs):
    a, b = zip(*pairs, strict=True)
    for how in (compare, compare_unpaired):
        one, other = how(a, b), how(b, a)
        assert one.ratio == pytest.approx(1 / other.ratio)
        assert {one.verdict, other.verdict} in ({"more", "less"}, {"undecided"})
        if one.low is not None:
            assert one.low == pytest.approx(1 / other.high, rel=1e-6)


@given(st.lists(st.tuples(figures, figures), min_size=3, max_size=8), st.floats(0.1, 10))
def test_the_interval_holds_the_ratio_and_scales_with_it(pairs, factor):
    a, b = zip(*pairs, strict=True)
    one, scaled = compare(a, b), compare([v * factor for v in a], b)
    if one.low is not None:
        assert one.low <= one.ratio * (1 + 1e-9)
        assert one.ratio <= one.high * (1 + 1e-9)
    assert scaled.ratio == pytest.approx(one.ratio * factor)


@given(st.lists(figures, min_size=1, max_size=25))
def test_runs_compared_with_themselves_never_differ(values):
    assert compare(values, values).verdict == "undecided"
    assert compare_unpaired(values, values).verdict == "undecided"


def test_the_interval_covers_the_truth_in_95_of_100_suites():
    rng = np.random.default_rng(42)
    true_ratio, suites = 1.5, 2_000
    drift = rng.lognormal(0, 0.3, (suites, 3))  # shared by both runs of a repetition, so it cancels
    a, b = (factor * drift * rng.lognormal(0, 0.1, (suites, 3)) for factor in (true_ratio, 1.0))
    made = [compare(list(x), list(y)) for x, y in zip(a, b, strict=True)]
    covered = np.mean([result.low <= true_ratio <= result.high for result in made])
    assert covered == pytest.approx(0.95, abs=0.015)  # three standard errors of a share over 2,000 trials
