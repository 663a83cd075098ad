import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies.quantities import BYTES_BY_UNIT, SECONDS_BY_UNIT, parse_bytes, parse_duration_s


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [("128MiB", 128 * 1024 * 1024), ("1.5GB", 1_500_000_000), (" 8 KiB ", 8192), ("0B", 0), ("0.5KiB", 512)],
)
def test_parse_bytes_tells_binary_from_decimal_units(text, size_bytes):
    assert parse_bytes(text) == size_bytes


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("1min", 60.0), ("0s", 0.0), ("1.5h", 5400.0), ("250ms", 0.25), ("2d", 172_800.0)],
)
def test_parse_duration_reads_every_unit(text, seconds):
    assert parse_duration_s(text) == seconds


@pytest.mark.parametrize("text", ["", "128", "MiB", "-1MiB", "1 MiBs", "128mib", "1e3B", "1,5GB", "10min 5s"])
def test_parse_refuses_what_is_not_a_number_and_a_unit(text):
    with pytest.raises(
        ValueError, match=r"is not a size: write a number and a unit \(B, KiB.* e\.g\. \"128MiB\""
    ):
        parse_bytes(text)


@pytest.mark.parametrize("value", [600, 1.5, True, None, ["10min"]])
def test_parse_duration_refuses_bare_numbers(value):
    with pytest.raises(ValueError, match="is not a duration"):
        parse_duration_s(value)


def test_parse_refuses_what_is_too_large_for_a_float():
    with pytest.raises(ValueError, match="too large"):
        parse_duration_s("9" * 400 + "d")


@given(st.integers(0, 10**6), st.sampled_from(sorted(BYTES_BY_UNIT)))
def test_parse_bytes_is_exact_for_whole_numbers(number, unit):
    assert parse_bytes(f"{number}{unit}") == number * BYTES_BY_UNIT[unit]


@given(st.decimals(0, 10**6, places=3), st.sampled_from(sorted(SECONDS_BY_UNIT)))
def test_parse_duration_scales_with_its_unit(number, unit):
    assert math.isclose(parse_duration_s(f"{number}{unit}"), float(number) * SECONDS_BY_UNIT[unit])
