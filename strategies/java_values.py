"""Parsing and conversion of values as in Java, for options that a Java program parses.

Python's parsers differ: `int` accepts "1_0" and " 2", `float` accepts "nan" and rejects "0.3f".
Source: Integer.parseInt, Long.parseLong, Double.parseDouble and Boolean.parseBoolean of Java 11 to 17, and
the Java Language Specification, 5.1.3, for the conversion of a double to a long.
"""

import math
import re

MAX_INT = 2**31 - 1
MAX_LONG = 2**63 - 1

_WHOLE = re.compile(r"[+-]?\d+")
_DECIMAL = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)[fFdD]?")
_HEXADECIMAL = re.compile(r"([+-]?0[xX](?:[0-9a-fA-F]+\.?|[0-9a-fA-F]*\.[0-9a-fA-F]+)[pP][+-]?[0-9]+)[fFdD]?")
_NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf}
_TRIMMED = "".join(map(chr, range(0x21)))  # what String.trim removes: all characters up to U+0020


def parse_int(text: str) -> int:
    """`Integer.parseInt`: an optional sign, then decimal digits of any script.

    Raises ValueError; as in the functions below, its message starts with "must be".
    """
    return _whole(text, MAX_INT, "a Java int")


def parse_long(text: str) -> int:
    """`Long.parseLong`: like `parse_int`, with a wider range."""
    return _whole(text, MAX_LONG, "a Java long")


def parse_double(text: str) -> float:
    """`Double.parseDouble`, which trims the text and accepts "0.3f", "0x1p-2", "NaN" and "-Infinity".

    Raises ValueError. A number outside the range of a double becomes infinity or 0.
    """
    trimmed = text.strip(_TRIMMED)
    sign = -1.0 if trimmed.startswith("-") else 1.0
    unsigned = trimmed[1:] if trimmed[:1] in ("+", "-") else trimmed
    if unsigned in _NOT_FINITE:
        return sign * _NOT_FINITE[unsigned]
    if decimal := _DECIMAL.fullmatch(trimmed):
        return float(decimal[1])
    if hexadecimal := _HEXADECIMAL.fullmatch(trimmed):
        try:
            return float.fromhex(hexadecimal[1])
        except OverflowError:
            return sign * math.inf
    raise ValueError("must be a number that Java can parse, such as 0.3, 3e-1 or NaN")


def parse_boolean(text: str) -> bool:
    """`Boolean.parseBoolean`: "true" in upper or lower case is true; any other text, even "yes", is false."""
    return text.lower() == "true"


def text_of(value: str | float) -> str:
    """The text that Java gets for an option value; a bool becomes `true` or `false`."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return str(value)


def long_of(value: float) -> int:
    """`(long) value`: truncates towards zero and saturates; NaN becomes 0."""
    if math.isnan(value):
        return 0
    if value >= 2.0**63:
        return MAX_LONG
    return -MAX_LONG - 1 if value <= -(2.0**63) else int(value)


def divided(dividend: int, divisor: int) -> int:
    """`dividend / divisor` of integers, which truncates towards zero."""
    quotient = abs(dividend) // abs(divisor)
    return quotient if (dividend < 0) is (divisor < 0) else -quotient


def _whole(text: str, largest: int, name: str) -> int:
    """Digits above U+FFFF are refused: in Java each is two chars, neither of them a digit."""
    if not _WHOLE.fullmatch(text) or any(character > "\uffff" for character in text):
        raise ValueError("must be a whole number that Java can parse: digits, optionally after a sign")
    number = int(text)
    if not -largest - 1 <= number <= largest:
        raise ValueError(f"must be {name}, {-largest - 1} to {largest}")
    return number
