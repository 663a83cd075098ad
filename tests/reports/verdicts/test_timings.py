import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.verdicts.samples import Sample
from reports.verdicts.sittings import SittingEffect
from reports.verdicts.timings import compare_timings, fit

figures = st.floats(1e-3, 1e3)


def timings(values, works_s=None, sittings=None):
    values = tuple(map(float, values))
    n = len(values)
    return Sample(values, tuple(sittings or ["one"] * n), tuple(works_s or [None] * n))


def compared(a, b, *others):
    samples = {"a": timings(a), "b": timings(b)} | {
        f"other {index}": timings(values) for index, values in enumerate(others)
    }
    return compare_timings(samples, "a", "b")


def powers(*exponents):
    return [2.0**exponent for exponent in exponents]


def test_two_strategies_of_equal_noise_have_the_interval_of_a_pooled_t_test():
    # Logs in units of ln 2: 0, 1, 2 against 5, 6, 7: standard error sqrt(2 / 3), 4 degrees of freedom.
    result = compared(powers(0, 1, 2), powers(5, 6, 7))
    assert (result.n, result.method, result.verdict) == (3, "moderated t", "less")
    assert (result.error, result.freedom) == (pytest.approx(math.log(2) * math.sqrt(2 / 3)), 4)
    assert math.log2(result.ratio) == pytest.approx(-5)
    assert math.log2(result.low) == pytest.approx(-5 - 2.77645 * math.sqrt(2 / 3), rel=1e-4)
    assert math.log2(result.high) == pytest.approx(-5 + 2.77645 * math.sqrt(2 / 3), rel=1e-4)


def test_a_variance_is_the_mean_of_its_own_and_of_two_runs_of_the_common_one():
    # Variances 1 and 0 of three runs each: common 1/2; (2 x 1/2 + 2 x 1) / 4 and (2 x 1/2 + 2 x 0) / 4.
    model = fit({"a": timings(np.exp([0, 1, 2])), "b": timings(np.exp([3, 3, 3]))})
    assert model.variances == pytest.approx({"a": 0.75, "b": 0.25})
    assert model.freedoms == {"a": 4, "b": 4}
    assert (model.freedom, model.is_adjusted) == (4, False)


def test_other_strategies_lend_their_degrees_of_freedom():
    alone = compared(powers(0, 1, 2), powers(0, 1, 2))
    among = compared(powers(0, 1, 2), powers(0, 1, 2), powers(0, 1, 2), powers(3, 4, 5))
    assert (alone.freedom, among.freedom) == (4, 8)
    assert among.error == pytest.approx(alone.error)
    assert among.high < alone.high


def test_times_that_follow_the_speed_of_the_machine_are_compared_at_equal_speed():
    # b takes twice as long as a at any speed, but ran while the machine was slower.
    a_works, b_works, noise = [1.0, 1.1, 1.2], [1.4, 1.5, 1.3], [1.001, 0.999, 1.0]
    samples = {
        "a": timings([work * own for work, own in zip(a_works, noise, strict=True)], a_works),
        "b": timings([2 * work * own for work, own in zip(b_works, noise, strict=True)], b_works),
    }
    result = compare_timings(samples, "b", "a")
    assert result.method == "moderated t at equal speed"
    assert result.ratio == pytest.approx(2, rel=0.01)
    assert result.low > 1.9
    plain = {key: timings(sample.values) for key, sample in samples.items()}
    assert compare_timings(plain, "b", "a").ratio > 2.4


def test_a_slope_is_never_below_zero_nor_above_one():
    works = [1.0, 1.1, 1.2]
    inverse, cubic = ({key: timings([w**power for w in works], works) for key in "ab"} for power in (-1, 3))
    assert fit(inverse).levels["a"] == pytest.approx(float(np.mean(np.log(inverse["a"].values))))
    left = np.log(cubic["a"].values) - np.log(works)
    assert fit(cubic).variances["a"] == pytest.approx(float(np.var(left, ddof=1)) * 4 / 3)


def test_one_run_without_the_fixed_work_leaves_all_unadjusted():
    works = [1.0, 1.1, 1.2]
    samples = {"a": timings(works, works), "b": timings(works, [1.0, 1.1, None])}
    assert compare_timings(samples, "a", "b").method == "moderated t"


def test_a_known_effect_of_sittings_widens_the_interval_by_its_variance():
    # Variances 0.01 of each mean of three, which 4 degrees of freedom know, and 0.02 of the sittings.
    spread = 0.1 * math.sqrt(3)
    values = [math.exp(log) for log in (-spread, 0.0, spread)]
    samples = {"a": timings(values, sittings="xxx"), "b": timings(values, sittings="yyy")}
    known = compare_timings(samples, "a", "b", SittingEffect(0.1))
    assert (known.error, known.freedom) == (pytest.approx(0.2), pytest.approx(0.04**2 / (0.02**2 / 4)))
    estimated = compare_timings(samples, "a", "b", SittingEffect(0.1, 2))
    assert estimated.freedom == pytest.approx(0.04**2 / (0.02**2 / 4 + 0.02**2 / 2))


@pytest.mark.parametrize(("a", "b", "verdict"), [(0.0, 0.0, "equal"), (5.0, 0.0, "more"), (0.0, 5.0, "less")])
@pytest.mark.parametrize("n", [1, 3])
def test_timings_of_nothing_are_certain(a, b, verdict, n):
    # A strategy that never compacts uses no CPU for it, in any run.
    result = compared([a] * n, [b] * n)
    assert (result.method, result.verdict, result.p) == ("exact", verdict, None)


def test_strategies_without_a_logarithm_lend_no_noise():
    result = compared(powers(0, 1, 2), powers(5, 6, 7), [0.0, 0.0, 0.0], [])
    assert result == compared(powers(0, 1, 2), powers(5, 6, 7))


def test_runs_without_spread_are_undecided():
    result = compared([0.12] * 3, [0.11] * 3)  # a clock that counts hundredths
    assert (result.method, result.verdict) == ("none", "undecided")
    assert result.reason == "all runs agree to the last digit, so noise cannot be estimated"


@pytest.mark.parametrize(
    ("a", "b", "reason"),
    [
        ([], [], "neither side has a value"),
        ([1.0], [], "one side has no value"),
        ([1.0], [2.0, 2.1], "1 run against 2; an interval needs 3 on each side"),
        ([1.0, 1.1], [2.0, 2.1], "2 runs; an interval needs 3 on each side"),
        ([1.0, 0.0], [2.0, 2.1], "values of zero or below have no ratio"),
        ([1.0, 2.0, 3.0], [1.0, 2.0, -1.0], "values of zero or below have no ratio"),
    ],
)
def test_what_cannot_be_compared_is_undecided_with_a_reason(a, b, reason):
    result = compared(a, b)
    assert (result.verdict, result.low, result.reason) == ("undecided", None, reason)


def test_the_p_value_is_that_of_the_interval():
    rng = np.random.default_rng(5)
    for _ in range(50):
        a, b = np.exp(rng.normal(0.1, 0.1, 4)), np.exp(rng.normal(0, 0.1, 4))
        result = compared(a, b)
        assert (result.p < 0.05) == (result.verdict != "undecided")
        # At an end of the interval, one side of the noise is 2.5 %.
        assert result.p_beyond(result.low, above=True) == pytest.approx(0.025)
        assert result.p_beyond(result.high, above=False) == pytest.approx(0.025)


@given(st.lists(figures, min_size=3, max_size=8), st.lists(figures, min_size=3, max_size=8))
def test_swapping_the_strategies_inverts_the_interval(a, b):
    result, other = compared(a, b), compared(b, a)
    assert result.ratio == pytest.approx(1 / other.ratio)
    assert {result.verdict, other.verdict} in ({"more", "less"}, {"undecided"})
    if result.low is not None:
        assert result.low == pytest.approx(1 / other.high, rel=1e-6)
        assert result.low <= result.ratio <= result.high


@given(st.lists(st.tuples(figures, st.floats(0.5, 2)), min_size=3, max_size=6), st.floats(0.1, 10))
def test_a_ratio_scales_with_the_timings(runs, factor):
    values, works = zip(*runs, strict=True)
    base = {"a": timings(values, works), "b": timings(values[::-1], works)}
    scaled = {**base, "a": timings([value * factor for value in values], works)}
    one, other = (compare_timings(samples, "a", "b") for samples in (base, scaled))
    assert other.ratio == pytest.approx(one.ratio * factor)
