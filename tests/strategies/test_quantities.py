from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies.quantities import (
    BYTES_BY_UNIT,
    DURATION_DAYS_MAX,
    MILLISECONDS_BY_UNIT,
    parse_bytes,
    parse_duration_ms,
    parse_duration_s,
)


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [("128MiB", 128 * 1024 * 1024), ("1.5GB", 1_500_000_000), (" 8 KiB ", 8192), ("0B", 0), ("0.5KiB", 512)],
)
def test_parse_bytes_tells_binary_from_decimal_units(text, size_bytes):
    assert parse_bytes(text) == size_bytes


@pytest.mark.parametrize(
    ("text", "seconds"), [("1min", 60.0), ("0s", 0.0), ("1.5h", 5400.0), ("250ms", 0.25), ("2d", 172_800.0)]
)
def test_parse_duration_reads_every_unit(text, seconds):
    assert parse_duration_s(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "128", "MiB", "-1MiB", "1 MiBs", "128mib", "1e3B", "1,5GB", "10min 5s", "१MiB"]
)
def test_parse_refuses_what_is_not_a_number_and_a_unit(text):
    with pytest.raises(ValueError, match="MiB"):
        parse_bytes(text)


@pytest.mark.parametrize("parse", [parse_duration_s, parse_duration_ms])
def test_parse_refuses_what_is_too_large_for_a_float(parse):
    with pytest.raises(ValueError, match="too large"):
        parse("9" * 400 + "d")


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("1min", 60_000), ("0s", 0), ("0.0h", 0), ("1.5h", 5_400_000), ("250ms", 250), ("2d", 172_800_000),
        ("0.001s", 1), ("1.0ms", 1), ("0.3s", 300), ("1.001s", 1001),
        ("9ms", 9),  # as floats 9 x 0.001 s is 0.009000000000000001 s
        ("0.07h", 252_000),  # as floats 0.07 x 3600 s is 252.00000000000003 s
    ],
)  # fmt: skip
def test_parse_duration_ms_reads_every_unit(text, milliseconds):
    parsed = parse_duration_ms(text)
    assert (parsed, type(parsed)) == (milliseconds, int)


@pytest.mark.parametrize("text", ["0.5ms", "1.0005s", "0.0001s", "0.00001min", "0.0000001h", "0.3333333d"])
def test_parse_duration_ms_refuses_a_fraction_of_a_millisecond(text):
    with pytest.raises(ValueError, match=text):
        parse_duration_ms(text)


@pytest.mark.parametrize(
    "value", [600, 1.5, True, None, ["10min"], "600", "10 minutes", "-1s", "1e3ms", "nans", "१min"]
)
def test_parse_duration_ms_refuses_what_is_no_number_with_a_unit(value):
    with pytest.raises(ValueError, match="duration"):
        parse_duration_ms(value)


@pytest.mark.parametrize("parse", [parse_duration_s, parse_duration_ms])
def test_parse_refuses_a_duration_of_more_than_100000_days(parse):
    assert parse("100000d") == parse("2400000h")
    with pytest.raises(ValueError, match="100000d"):
        parse("2400000.1h")


@given(st.decimals(0, DURATION_DAYS_MAX, places=6), st.sampled_from(sorted(MILLISECONDS_BY_UNIT)))
def test_parse_duration_ms_is_exact_or_refuses(number, unit):
    exact = Fraction(number) * MILLISECONDS_BY_UNIT[unit]
    if exact.denominator == 1:
        assert parse_duration_ms(f"{number:f}{unit}") == exact
    else:
        with pytest.raises(ValueError, match="milliseconds"):
            parse_duration_ms(f"{number:f}{unit}")


@given(st.integers(0, 10**6), st.sampled_from(sorted(BYTES_BY_UNIT)))
def test_parse_bytes_is_exact_for_whole_numbers(number, unit):
    assert parse_bytes(f"{number}{unit}") == number * BYTES_BY_UNIT[unit]
