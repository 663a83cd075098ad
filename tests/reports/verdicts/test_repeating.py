import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.verdicts.repeating import (
    BYTES_TOLERANCE,
    BytesNoise,
    bytes_noise,
    compare_bytes,
    compare_counts,
    compare_modelled,
)

sizes = st.lists(st.floats(1, 1e12), min_size=1, max_size=6)


@pytest.mark.parametrize(
    ("a", "b", "verdict"), [(3, 2, "more"), (2, 3, "less"), (2, 2, "equal"), (0, 2, "less")]
)
@pytest.mark.parametrize("n", [1, 2])
def test_counts_are_decided_by_their_ratio(a, b, verdict, n):
    result = compare_counts([a] * n, [b] * n)
    assert (result.method, result.verdict, result.n, result.words) == ("exact", verdict, n, verdict)
    assert result.low == result.ratio == result.high == a / b


def test_a_count_over_zero_is_more_but_has_no_ratio():
    result = compare_counts([5, 5], [0, 0])
    assert (result.method, result.verdict, result.ratio, result.low) == ("exact", "more", None, None)
    assert result.reason == "the value it is compared with is 0"


def test_counts_that_do_not_repeat_are_not_exact():
    assert compare_counts([8, 16], [8, 8]) is None
    assert compare_counts([], [8]) is None


def test_bytes_of_single_runs_are_equal_within_the_default_tolerance():
    # The ratio of two runs of one strategy, as measured.
    result = compare_bytes([1.00117], [1.0], BytesNoise())
    assert (result.method, result.verdict, result.words) == ("tolerance", "equal", "equal within 2 %")
    assert (result.low, result.high) == (pytest.approx(1.00117 / 1.02), pytest.approx(1.00117 * 1.02))
    assert result.p is None
    assert compare_bytes([1.03], [1.0], BytesNoise()).verdict == "more"
    assert compare_bytes([1.0], [1.03], BytesNoise()).verdict == "less"


def test_the_tolerance_is_the_margin_of_the_noisiest_strategy():
    # Logs -0.01, 0, 0.01: sd 0.01 with 2 degrees of freedom; t(0.975) = 4.30265; three runs against three.
    noisy = [math.exp(log) for log in (-0.01, 0.0, 0.01)]
    noise = bytes_noise([[5.0, 5.0, 5.0], noisy, [7.0]])
    assert (noise.sd, noise.freedom) == (pytest.approx(0.01), 2)
    assert noise.tolerance(3, 3) == pytest.approx(math.expm1(4.30265 * 0.01 * math.sqrt(2 / 3)), rel=1e-4)
    result = compare_bytes([value * 1.03 for value in noisy], noisy, noise)
    assert (result.verdict, result.words) == ("equal", "equal within 3.6 %")
    # At the end of the tolerance the p-value is that of a 95 % interval.
    assert result.p_beyond(result.low, above=True) == pytest.approx(0.025)


def test_two_runs_may_widen_the_default_tolerance_and_never_narrow_it():
    assert bytes_noise([[100.0, 100.1], [50.0]]).tolerance(2, 2) == BYTES_TOLERANCE
    assert bytes_noise([[100.0, 105.0], [50.0]]).tolerance(2, 2) == pytest.approx(0.05)
    assert bytes_noise([]).tolerance(1, 1) == BYTES_TOLERANCE


def test_bytes_that_always_repeat_have_no_tolerance():
    noise = bytes_noise([[5.0] * 3, [7.0] * 3])
    assert compare_bytes([5.0] * 3, [5.0] * 3, noise).words == "equal"
    result = compare_bytes([5.001] * 3, [5.0] * 3, noise)
    assert (result.verdict, result.p) == ("more", None)


def test_bytes_compared_with_none_written_are_exact():
    result = compare_bytes([5.0], [0.0], BytesNoise())
    assert (result.method, result.verdict, result.ratio) == ("exact", "more", None)
    assert compare_bytes([0.0], [0.0], BytesNoise()).verdict == "equal"


@given(sizes, sizes)
def test_bytes_and_their_inverse_agree(a, b):
    noise = bytes_noise([a, b])
    one, other = compare_bytes(a, b, noise), compare_bytes(b, a, noise)
    assert {one.verdict, other.verdict} in ({"more", "less"}, {"equal"})
    assert one.low <= one.ratio <= one.high


@pytest.mark.parametrize(
    ("basis", "b", "verdict"),
    [
        ("timing", 1.005, "equal"),
        ("timing", 1.03, "less"),
        ("bytes", 1.005, "equal"),
        ("count", 1.005, "less"),
    ],
)
def test_what_a_model_says_is_modelled_and_half_a_per_cent_is_no_difference(basis, b, verdict):
    result = compare_modelled([1.0], [b], basis)
    assert (result.method, result.verdict, result.p) == ("modelled", verdict, None)


def test_a_model_that_says_zero_is_modelled_too():
    result = compare_modelled([1.0], [0.0], "timing")
    assert (result.method, result.verdict, result.ratio) == ("modelled", "more", None)
