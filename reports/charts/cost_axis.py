"""An axis of costs, on which a cost of 0 has a place even if the axis is logarithmic."""

from collections.abc import Callable, Iterator, Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from reports.charts.canvas import root
from reports.charts.theme import Theme

LOG_ABOVE = 3.0  # ratio of the largest to the smallest value of an axis
_BAND_SHARE = 0.1  # of a logarithmic axis, for a cost of 0
_ROOM = 1.25  # beyond the values at either end
_DIGITS = ((1, 1.5, 2, 3, 4, 5, 7), (1, 2, 5), (1, 3), (1,))  # of ticks, the most first
_TICK_PT = 40.0
_AT_ZERO = "0\nno compaction"


def cost_axis(axes: Axes, costs: Sequence[float], theme: Theme) -> Callable[[float], float]:
    """Scale the x axis to these costs; returns where on it a cost is drawn.

    The scale begins at 0, or is logarithmic if the positive costs span more than 3x. A cost of 0 then has a
    band of its own at the left edge, whose tick says what it means.
    """
    positive = [cost for cost in costs if cost > 0]
    low, high = min(positive, default=1.0), max(positive, default=1.0)
    axes.grid(True, axis="x", color=theme.grid, linewidth=0.7)
    if high <= LOG_ABOVE * low:
        axes.set_xlim(-high * 0.04, high * 1.2)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
        return lambda cost: cost
    left, right = low / _ROOM, high * _ROOM
    has_zero = len(positive) < len(costs)
    band = (right / left) ** (_BAND_SHARE / (1 - _BAND_SHARE)) if has_zero else 1.0
    at_zero = left / band**0.5
    axes.set_xscale("log")
    axes.set_xlim(left / band, right)
    if has_zero:
        axes.axvspan(left / band, left, facecolor=theme.grid, alpha=0.55, linewidth=0, zorder=0)
    ticks = [*([at_zero] if has_zero else []), *_ticks(axes, left, right)]
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(
        FuncFormatter(lambda value, _: _AT_ZERO if value < left else f"{value:,.6g}")
    )
    return lambda cost: cost if cost > 0 else at_zero


def _ticks(axes: Axes, left: float, right: float) -> list[float]:
    """As many round values as have room, or two at the least."""
    width_pt = axes.get_window_extent().width * 72 / root(axes).dpi
    steps = [list(_steps(digits, left, right)) for digits in _DIGITS]
    fitting = [step for step in steps if 2 <= len(step) <= width_pt / _TICK_PT]
    return fitting[0] if fitting else next((step for step in steps[::-1] if len(step) > 1), steps[0])


def _steps(digits: Sequence[float], left: float, right: float) -> Iterator[float]:
    steps = (digit * 10.0**power for power in range(-6, 10) for digit in digits)
    return (step for step in steps if left <= step <= right)
