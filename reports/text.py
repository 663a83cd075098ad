"""Numbers as people read them. Used by the report, its charts and the command line."""

import math
from collections.abc import Callable, Mapping

from bench.results.rows import METRIC_BY_NAME

MISSING = "\N{EN DASH}"
_BYTE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_LONG_UNITS = (  # large unit, small unit, and the count of small ones it is good for
    (60, "min", 1, "s", 60 * 60),
    (3600, "h", 60, "min", 48 * 60),
    (86_400, "d", 3600, "h", math.inf),
)


def format_bytes(size_bytes: float) -> str:
    """Binary units, three significant digits: "512 B", "1.50 KiB", "128 MiB".

    A whole number of its unit has no decimals. Below zero the sign is kept.
    """
    if size_bytes < 0:
        return f"-{format_bytes(-size_bytes)}"
    scaled, unit = float(size_bytes), 0
    while _digits(scaled) >= 1024 and unit < len(_BYTE_UNITS) - 1:
        scaled, unit = scaled / 1024, unit + 1
    text = f"{scaled:.0f}" if scaled == int(scaled) else _fixed(scaled)
    return f"{text} {_BYTE_UNITS[unit]}"


def byte_unit(largest_bytes: float) -> tuple[float, str]:
    """The unit in which an axis up to `largest_bytes` reads best: its bytes and its name."""
    power = min(max(int(math.log2(max(largest_bytes, 1)) // 10), 0), len(_BYTE_UNITS) - 1)
    return 1024.0**power, _BYTE_UNITS[power]


def format_duration(duration_s: float) -> str:
    """The two units that matter: "85 µs", "850 ms", "4.2 s", "3 min 20 s", "2 h 5 min", "3 d 4 h"."""
    if duration_s < 0:
        return f"-{format_duration(-duration_s)}"
    if duration_s == 0:
        return "0 s"
    for factor, unit in ((1e6, "µs"), (1e3, "ms"), (1, "s")):
        if _digits(duration_s * factor) < (60 if unit == "s" else 1000):
            return f"{_plain(duration_s * factor)} {unit}"
    large_s, large, small_s, small, _ = next(u for u in _LONG_UNITS if round(duration_s / u[2]) < u[4])
    whole, rest = divmod(round(duration_s / small_s), large_s // small_s)
    return f"{whole} {large} {rest} {small}" if rest else f"{whole} {large}"


def format_count(count: float) -> str:
    """A count with thousands separators; a mean that is no whole number keeps three significant digits."""
    return f"{count:,.0f}" if count == int(count) else _plain(count)


def format_ratio(ratio: float) -> str:
    """Two significant digits and an x, three just above 1: "6.1x", "0.42x", "120x", "1.04x"."""
    if ratio == 0 or not math.isfinite(ratio):
        return f"{ratio:g}x"
    decimals = 2 if 1 <= ratio < 1.095 else max(0, 1 - math.floor(math.log10(abs(float(f"{ratio:.1e}")))))
    return f"{round(ratio, decimals):,.{decimals}f}x" if decimals < 5 else f"{ratio:.1e}x"


def format_percent(share: float) -> str:
    """A share of 1 in percent, two significant digits: "30 %", "0.12 %"."""
    return f"{share * 100:,.0f} %" if abs(share) >= 0.1 else f"{share * 100:.2g} %"


def format_value(metric_or_unit: str, value: float | None) -> str:
    """A figure with its unit, given the name of a metric or a unit; None is a dash.

    Raises ValueError for a name that is neither.
    """
    unit = METRIC_BY_NAME[metric_or_unit].unit if metric_or_unit in METRIC_BY_NAME else metric_or_unit
    if unit not in _FORMATS:
        raise ValueError(f"{metric_or_unit!r} is neither a metric nor one of the units {sorted(_FORMATS)}")
    if value is None or math.isnan(value):
        return MISSING
    return _FORMATS[unit](value)


def shared_decimals(values: list[float]) -> int:
    """How many decimals a column needs: two significant digits for its smallest non-zero value, at most 4."""
    sizes = [abs(value) for value in values if value]
    return min(4, max(0, 1 - math.floor(math.log10(min(sizes))))) if sizes else 0


def _digits(value: float) -> float:
    """`value` at the precision it will be printed with, so that 1023.9 KiB becomes 1 MiB."""
    return float(f"{value:.0f}") if value >= 100 else float(f"{value:.3g}")


def _fixed(value: float) -> str:
    decimals = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:.{decimals}f}"


def _plain(value: float) -> str:
    """Three significant digits without trailing zeros, never in powers of ten unless tiny."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


_FORMATS: Mapping[str, Callable[[float], str]] = {
    "s": format_duration,
    "bytes": format_bytes,
    "ratio": format_ratio,
    "share": format_percent,
    "count": format_count,
    "passes": format_count,
    "points": _plain,
    "GB-hours": _plain,
    "money": _plain,
}
