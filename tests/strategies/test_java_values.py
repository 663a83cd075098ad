"""What Java reads as a number. The expectations are what Java 17 answered, not what ours does."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies.java_values import (
    MAX_INT,
    MAX_LONG,
    divided,
    long_of,
    parse_boolean,
    parse_double,
    parse_int,
    parse_long,
    text_of,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("7", 7), ("+5", 5), ("-0", 0), ("007", 7), ("2147483647", MAX_INT), ("-2147483648", -(2**31)),
        ("\uff11\u0662", 12),  # a fullwidth and an Arabic digit
    ],
)  # fmt: skip
def test_whole_numbers_are_a_sign_and_digits(text, expected):
    assert parse_int(text) == parse_long(text) == expected


@pytest.mark.parametrize(
    "text", ["", "+", "1_0", " 2", "2 ", "2.0", "1e3", "0x1", "\u00b2", "\U0001d7cf", "five"]
)
def test_python_reads_more_as_a_whole_number_than_java(text):
    for parse in (parse_int, parse_long):
        with pytest.raises(ValueError, match="whole number"):
            parse(text)


def test_whole_numbers_have_a_range():
    assert parse_long(str(MAX_LONG)) == MAX_LONG
    with pytest.raises(ValueError, match="Java int"):
        parse_int("2147483648")
    with pytest.raises(ValueError, match="Java long"):
        parse_long("9223372036854775808")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.3", 0.3), (".5", 0.5), ("1.", 1.0), (" 0.3f\t", 0.3), ("1.e5D", 1e5), ("0x1p-2", 0.25),
        ("-0x.8P1f", -1.0), ("-Infinity", -math.inf), ("1e400", math.inf), ("1e-400", 0.0),
        ("0x1p9999999999", math.inf), ("-0x1p9999999999", -math.inf),
    ],
)  # fmt: skip
def test_doubles_may_have_a_suffix_an_exponent_and_blanks_around(text, expected):
    assert parse_double(text) == expected


def test_nan_is_a_number_to_java():
    assert math.isnan(parse_double("NaN"))
    assert math.isnan(parse_double(" -NaN"))


@pytest.mark.parametrize(
    "text", ["", ".", "1e", "nan", "inf", "infinity", "1_0.5", "0x1", "\u0661", "1 .0", "1ff", "1\u00a0"]
)
def test_python_reads_more_as_a_double_than_java(text):
    with pytest.raises(ValueError, match="number"):
        parse_double(text)


def test_every_text_but_true_is_false():
    assert [parse_boolean(text) for text in ("true", "TRUE", "tRuE")] == [True] * 3
    assert [parse_boolean(text) for text in ("yes", "1", "", " true", "false")] == [False] * 5


def test_a_double_is_narrowed_to_a_long_by_the_language():
    # Java Language Specification, 5.1.3.
    assert [long_of(value) for value in (1.9, -1.9, math.nan)] == [1, -1, 0]
    assert [long_of(value) for value in (math.inf, 1e30, 2.0**63)] == [MAX_LONG] * 3
    assert [long_of(value) for value in (-math.inf, -(2.0**63))] == [-MAX_LONG - 1] * 2


def test_division_is_towards_zero():
    pairs = (7, 2), (-7, 2), (7, -2), (-7, -2), (1, -2)
    assert [divided(*pair) for pair in pairs] == [3, -3, -3, 3, 0]


def test_values_reach_java_as_texts():
    values = ("as it is", True, False, 7, 0.5, math.nan, math.inf, -math.inf)
    expected = ["as it is", "true", "false", "7", "0.5", "NaN", "Infinity", "-Infinity"]
    assert [text_of(value) for value in values] == expected


@given(st.integers())
def test_whole_numbers_are_read_back_within_their_range(number):
    for parse, largest in ((parse_int, MAX_INT), (parse_long, MAX_LONG)):
        if -largest - 1 <= number <= largest:
            assert parse(text_of(number)) == number
        else:
            with pytest.raises(ValueError, match="must be a Java"):
                parse(text_of(number))


@given(st.floats(), st.sampled_from(["", "f", "D"]), st.sampled_from(["", " ", "\n\t"]))
def test_doubles_are_read_back_with_any_suffix(number, suffix, blank):
    parsed = parse_double(f"{blank}{text_of(number)}{suffix if math.isfinite(number) else ''}{blank}")
    assert parsed == number or (math.isnan(parsed) and math.isnan(number))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_hexadecimal_doubles_are_read_exactly(number):
    assert parse_double(number.hex()) == number


@given(st.text(max_size=6))
def test_what_java_reads_as_a_whole_number_python_reads_alike(text):
    try:
        number = parse_long(text)
    except ValueError:
        return
    assert int(text) == number
    assert text == text.strip()
    assert "_" not in text


@given(st.integers(-(10**6), 10**6), st.integers(-50, 50).filter(bool))
def test_division_leaves_a_rest_of_the_sign_of_the_dividend(dividend, divisor):
    rest = dividend - divided(dividend, divisor) * divisor
    assert abs(rest) < abs(divisor)
    assert rest == 0 or (rest < 0) is (dividend < 0)
