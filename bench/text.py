"""Numbers and names for people, in reports, charts and the command line.

`bench.scenario.values` formats sizes and durations so that a scenario reads them back exactly.
"""

import math
from collections.abc import Iterable
from datetime import UTC, datetime

MISSING = "\N{EN DASH}"
_BYTE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_LONG_UNITS = (  # large unit, small unit, and up to how many small units the pair is used
    (60, "min", 1, "s", 60 * 60),
    (3600, "h", 60, "min", 48 * 60),
    (86_400, "d", 3600, "h", math.inf),
)


def human_bytes(size_bytes: float) -> str:
    """Binary units, three significant digits: "512 B", "1.50 KiB", "128 MiB".

    A whole number of its unit has no decimals. A negative size keeps its sign.
    """
    if size_bytes < 0:
        return f"-{human_bytes(-size_bytes)}"
    scaled, unit = float(size_bytes), 0
    while _as_printed(scaled) >= 1024 and unit < len(_BYTE_UNITS) - 1:
        scaled, unit = scaled / 1024, unit + 1
    text = f"{scaled:.0f}" if scaled == int(scaled) else _fixed(scaled)
    return f"{text} {_BYTE_UNITS[unit]}"


def byte_unit(largest_bytes: float) -> tuple[float, str]:
    """The bytes and the name of the unit that suits an axis up to `largest_bytes`."""
    power = min(max(int(math.log2(max(largest_bytes, 1)) // 10), 0), len(_BYTE_UNITS) - 1)
    return 1024.0**power, _BYTE_UNITS[power]


def human_duration(duration_s: float) -> str:
    """The two units that matter: "85 µs", "850 ms", "4.2 s", "3 min 20 s", "2 h 5 min", "3 d 4 h"."""
    if duration_s < 0:
        return f"-{human_duration(-duration_s)}"
    if duration_s == 0:
        return "0 s"
    for factor, unit in ((1e6, "µs"), (1e3, "ms"), (1, "s")):
        if _as_printed(duration_s * factor) < (60 if unit == "s" else 1000):
            return f"{human_number(duration_s * factor)} {unit}"
    large_s, large, small_s, small, _ = next(u for u in _LONG_UNITS if round(duration_s / u[2]) < u[4])
    whole, rest = divmod(round(duration_s / small_s), large_s // small_s)
    return f"{whole} {large} {rest} {small}" if rest else f"{whole} {large}"


def utc_text(at_ms: int) -> str:
    """A time in milliseconds since 1970 UTC, to the minute."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M")


def human_count(count: float) -> str:
    """A count with thousands separators; a mean that is not a whole number keeps three significant digits."""
    return f"{count:,.0f}" if count == int(count) else human_number(count)


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """A count with its noun, whose plural ends in s unless it is given: "1 run", "1,440 queries"."""
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"


def named_once(names: Iterable[str]) -> str:
    """Each name once, in order of first appearance: "a", "a, b and c"; "" without names."""
    *before, last = dict.fromkeys(names) or [""]
    return f"{', '.join(before)} and {last}" if before else last


def human_ratio(ratio: float) -> str:
    """Two significant digits and an x, three just above 1: "6.1x", "0.42x", "120x", "1.04x".

    Below a hundredth it is a fraction, "1/147", since leading zeros are hard to read.
    """
    if ratio == 0 or not math.isfinite(ratio):
        return f"{ratio:g}x"
    if 0 < ratio < 0.00995:
        return f"1/{human_ratio(1 / ratio).removesuffix('x')}"
    decimals = 2 if 1 <= ratio < 1.095 else max(0, 1 - math.floor(math.log10(abs(float(f"{ratio:.1e}")))))
    return f"{round(ratio, decimals):,.{decimals}f}x"


def human_percent(share: float) -> str:
    """A share of 1 as a percentage with two significant digits: "30 %", "0.12 %"."""
    return f"{share * 100:,.0f} %" if abs(share) >= 0.1 else f"{share * 100:.2g} %"


def pace_text(speed: float) -> str:
    """How scenario time passes with a real clock: "scenario time = 12 x real time"."""
    return "scenario time is real time" if speed == 1 else f"scenario time = {speed:g} x real time"


def whole_percent(share: float) -> str:
    """A share of 1 as a percentage without decimals: "30 %", "0 %"."""
    return f"{share:.0%}".replace("%", " %")


def human_number(value: float) -> str:
    """Three significant digits without trailing zeros; scientific notation only for tiny values."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _as_printed(value: float) -> float:
    """`value` at the precision it will be printed with, so that 1023.9 KiB becomes 1 MiB."""
    return float(f"{value:.0f}") if value >= 100 else float(f"{value:.3g}")


def _fixed(value: float) -> str:
    decimals = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:.{decimals}f}"
