"""Sizes and durations as people write them: "128MiB", "90s", "10min"."""

import math
import re
from collections.abc import Mapping
from fractions import Fraction

BYTES_BY_UNIT = {
    "B": 1,
    "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40,
    "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
}  # fmt: skip
MILLISECONDS_BY_UNIT = {"ms": 1, "s": 1000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}

# 273 years: dates of a stream and a format's timestamps stay far from their ends, and sums within 64 bits.
DURATION_DAYS_MAX = 100_000

_QUANTITY = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]+)\s*")


def parse_bytes(text: str) -> int:
    """Whole bytes of a size such as "128MiB" or "1.5GB" (binary and decimal units differ).

    Raises ValueError, which names the text and the units.
    """
    return round(_parse(text, BYTES_BY_UNIT, "a size", "128MiB"))


def parse_duration_s(text: str) -> float:
    """Seconds of a duration such as "1min", "0s" or "1.5h". Raises ValueError like `parse_bytes`."""
    return float(_milliseconds(text) / 1000)


def parse_duration_ms(text: str) -> int:
    """Whole milliseconds of a duration, the unit of scenario time.

    Raises ValueError like `parse_bytes`, and on a fraction of a millisecond.
    """
    milliseconds = _milliseconds(text)
    if milliseconds.denominator != 1:
        raise ValueError(f"{text!r} is not a whole number of milliseconds: scenario time has no finer unit")
    return milliseconds.numerator


def _milliseconds(text: str) -> Fraction:
    milliseconds = _parse(text, MILLISECONDS_BY_UNIT, "a duration", "10min")
    if milliseconds > DURATION_DAYS_MAX * MILLISECONDS_BY_UNIT["d"]:
        shown = text if len(text) <= 40 else f"{text[:37]}..."
        raise ValueError(f"{shown!r} is too large: a duration is at most {DURATION_DAYS_MAX}d")
    return milliseconds


def _parse(text: str, units: Mapping[str, int], kind: str, example: str) -> Fraction:
    match = _QUANTITY.fullmatch(text) if isinstance(text, str) else None
    if match is None or match[2] not in units:
        raise ValueError(
            f'{text!r} is not {kind}: write a number and a unit ({", ".join(units)}), e.g. "{example}"'
        )
    if not math.isfinite(float(match[1]) * units[match[2]]):
        raise ValueError(f"{text!r} is too large")
    return Fraction(match[1]) * units[match[2]]
