"""Figures of metrics as text, in the unit of the metric."""

import math
import re
from collections.abc import Callable, Mapping

from bench.results.metrics import METRIC_BY_NAME
from bench.text import (
    MISSING,
    human_bytes,
    human_count,
    human_duration,
    human_number,
    human_percent,
    human_ratio,
)


def format_value(metric_or_unit: str, value: float | None) -> str:
    """A figure with its unit, given the name of a metric or a unit; None is a dash."""
    unit = METRIC_BY_NAME[metric_or_unit].unit if metric_or_unit in METRIC_BY_NAME else metric_or_unit
    text = _FORMATS[unit]
    return MISSING if value is None or math.isnan(value) else text(value)


def shared_decimals(values: list[float]) -> int:
    """How many decimals a column needs: two significant digits for its smallest non-zero value, at most 4."""
    sizes = [abs(value) for value in values if value]
    return min(4, max(0, 1 - math.floor(math.log10(min(sizes))))) if sizes else 0


def duration_unit(largest_s: float) -> tuple[float, str]:
    """The unit of a column or axis of durations: how many of it are a second, and its name.

    Milliseconds where all are below a second, so that a quantity has one unit wherever it stands.
    """
    return (1000.0, "ms") if largest_s < 1 else (1.0, "s")


def unbroken(text: str) -> str:
    """Numbers kept on one line with their units."""
    return _NUMBER_AND_UNIT.sub("\N{NO-BREAK SPACE}", text)


def cost_text(cost_s: float) -> str:
    """Seconds of cost in a sentence, in seconds as in the tables: "607 s", "17.3 s", "0.85 s"."""
    return f"{human_number(cost_s)} s"


_NUMBER_AND_UNIT = re.compile(
    r"(?<=\d) (?=(?:%|µs|ms|s|min|h|d|B|[KMGTP]iB)(?!\w))|(?<=\bn) (?==)|(?<=\bn =) "
)
_FORMATS: Mapping[str, Callable[[float], str]] = {
    "s": human_duration,
    "bytes": human_bytes,
    "ratio": human_ratio,
    "share": human_percent,
    "count": human_count,
    "queries/h": human_number,
    "points": human_number,
    "money": human_number,
}
