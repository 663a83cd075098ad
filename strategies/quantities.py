"""Sizes and durations as people write them: "128MiB", "90s", "10min"."""

import math
import re
from collections.abc import Mapping

BYTES_BY_UNIT = {
    "B": 1,
    "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40,
    "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
}  # fmt: skip
SECONDS_BY_UNIT = {"ms": 0.001, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}

_QUANTITY = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]+)\s*")


def parse_bytes(text: str) -> int:
    """Whole bytes of a size such as "128MiB" or "1.5GB" (binary and decimal units differ).

    Raises ValueError naming the text and the units.
    """
    return round(_parse(text, BYTES_BY_UNIT, "a size", "128MiB"))


def parse_duration_s(text: str) -> float:
    """Seconds of a duration such as "1min", "0s" or "1.5h". Raises ValueError like `parse_bytes`."""
    return _parse(text, SECONDS_BY_UNIT, "a duration", "10min")


def parse_duration_ms(text: str) -> int:
    """Whole milliseconds of a duration, which is how scenario time is counted.

    Raises ValueError like `parse_bytes`, and on a fraction of a millisecond.
    """
    seconds = parse_duration_s(text)
    milliseconds = round(seconds * 1000)
    if milliseconds / 1000 != seconds:
        raise ValueError(f"{text!r} is not a whole number of milliseconds: scenario time has no finer unit")
    return milliseconds


def _parse(text: str, units: Mapping[str, float], kind: str, example: str) -> float:
    match = _QUANTITY.fullmatch(text) if isinstance(text, str) else None
    if match is None or match[2] not in units:
        raise ValueError(
            f'{text!r} is not {kind}: write a number and a unit ({", ".join(units)}), e.g. "{example}"'
        )
    value = float(match[1]) * units[match[2]]
    if not math.isfinite(value):
        raise ValueError(f"{text!r} is too large")
    return value
