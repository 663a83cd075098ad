"""Building blocks of all charts: an empty figure in a theme, its axes, names and legends.

Without pyplot, figures have no global state and need no display.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.offsetbox import AnchoredOffsetbox, DrawingArea, HPacker, TextArea
from matplotlib.text import Text
from matplotlib.ticker import FuncFormatter, Locator, LogLocator, MaxNLocator, MultipleLocator, NullLocator

from reports.charts.over_time import stands_for_time
from reports.charts.placing import CHARACTER_PT
from reports.charts.theme import Theme, chart_label, number
from reports.data.group import RunGroup
from reports.data.queries import query_name

WIDTH_IN = 9.6
SLIDE_IN = (WIDTH_IN, 5.4)
TITLE_IN, SOURCE_IN = 0.85, 0.3  # of a slide, above and below its chart
FONT_PT = 8.5
LOG_ABOVE_RANGE = 20  # ratio of the largest to the smallest value
_QUERY_CHARACTERS = 36
_LEADER_PT = 34.0  # between the axes and a name, with room at the edge
STRATEGY_ID = "strategy"  # prefix of the ids of one strategy's artists, replaced in a page


def new_figure(
    theme: Theme,
    height_in: float,
    panels: int = 1,
    left: float = 0.065,
    right: float = 0.97,
    width_in: float = WIDTH_IN,
    below_in: float = 0.0,
    above_in: float = 0.0,
    columns: int = 1,
) -> Figure:
    """A figure with `panels` bare axes in columns, row by row; the right margin holds the labels.

    `below_in` is room for marks between the axes and their ticks, `above_in` for a second heading. On a slide
    the size is that of the slide.
    """
    top_in, bottom_in = 0.42 + above_in, 0.46 + below_in
    if theme.is_slide:
        (width_in, height_in), top_in, bottom_in = SLIDE_IN, top_in + TITLE_IN, bottom_in + SOURCE_IN
    figure = Figure(figsize=(width_in, height_in), facecolor=theme.background)
    margins = {"top": 1 - top_in / height_in, "bottom": bottom_in / height_in, "hspace": 0.32}
    places = figure.subplots(
        math.ceil(panels / columns), columns, squeeze=False,
        gridspec_kw={**margins, "left": left, "right": right, "wspace": 0.09},
    ).flatten()  # fmt: skip
    for spare in places[panels:]:
        spare.remove()
    for axes in places[:panels]:
        axes.set_facecolor(theme.background)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.spines["bottom"].set_color(theme.muted)
        axes.tick_params(labelsize=FONT_PT, labelcolor=theme.muted, color=theme.grid, length=3)
        axes.grid(True, axis="y", color=theme.grid, linewidth=0.7)
        axes.set_axisbelow(True)
    return figure


def write(axes: Axes, x: float, y: float, text: str, colour: str, **how: Any) -> Text:
    settings: dict[str, Any] = {"fontsize": FONT_PT, "va": "center", "transform": axes.transAxes, **how}
    return axes.text(x, y, text, color=colour, parse_math=False, **settings)


def write_label(axes: Axes, x: float, y: float, label: str, theme: Theme, **how: Any) -> None:
    belongs([write(axes, x, y, chart_label(label), theme.ink, **how)], label, theme, is_name=True)


def belongs(artists: Iterable[Artist], label: str, theme: Theme, is_name: bool = False) -> None:
    """Mark the artists of a strategy, so that a page can highlight or hide them."""
    place = number(label, theme)
    for artist in artists if place is not None else ():
        artist.set_gid(f"{STRATEGY_ID}{place}{'n' if is_name else ''}")


def primary_query(group: RunGroup) -> str:
    return chart_label(query_name(group), _QUERY_CHARACTERS)


def latency_of(group: RunGroup) -> str:
    """What an axis of latencies shows, such as "latency of min_order"."""
    return f"latency of {primary_query(group)}"


def head(axes: Axes, text: str, theme: Theme, line: int = 0) -> None:
    """A heading above the axes; line 1 is above line 0."""
    axes.annotate(text, (0, 1), xytext=(0, 9 + 13 * line), xycoords="axes fraction",
                  textcoords="offset points", fontsize=FONT_PT, color=theme.ink, va="center",
                  annotation_clip=False, parse_math=False)  # fmt: skip


def time_unit(duration_ms: int) -> tuple[int, str]:
    """Milliseconds in the unit of the time axis, and its name."""
    for unit_ms, name, up_to_ms in (
        (1_000, "seconds", 180_000),
        (60_000, "minutes", 3 * 3_600_000),
        (3_600_000, "hours", 4 * 86_400_000),
    ):
        if duration_ms <= up_to_ms:
            return unit_ms, name
    return 86_400_000, "days"


_HOURS = (0.25, 0.5, 1, 2, 3, 6, 12)


def time_locator(unit: str, end: float, most: int) -> Locator:
    """About `most` ticks from 0 to `end` at the most, at round times: 0.5 hours, not 0.6."""
    if unit != "hours":
        return MaxNLocator(nbins=most, steps=[1, 2, 3, 6, 10])
    return MultipleLocator(next((step for step in _HOURS if end / step <= most), _HOURS[-1]))


def time_axis(axes: Axes, duration_ms: int, theme: Theme) -> int:
    """Scenario time from 0 to the end of the stream; returns the milliseconds of one unit."""
    unit_ms, name = time_unit(duration_ms)
    stands_for_time(axes, name)
    axes.set_xlim(0, max(duration_ms, 1000) / unit_ms)
    axes.xaxis.set_major_locator(time_locator(name, max(duration_ms, 1000) / unit_ms, 9))
    axes.set_xlabel(f"scenario time ({name})", fontsize=FONT_PT, color=theme.muted)
    return unit_ms


def value_axis(axes: Axes, values: Sequence[float], log_above: float = LOG_ABOVE_RANGE) -> None:
    """A scale from 0; a logarithmic one if all values are positive and max / min exceeds `log_above`."""
    known = [value for value in values if value == value]
    low, high = min(known, default=0), max(known, default=0)
    if low > 0 and high > log_above * low:
        axes.set_yscale("log")
        axes.set_ylim(low / 1.15, high * 1.15)
        steps = (1, 2, 5) if high > 10 * low else (1, 1.5, 2, 3, 4, 5, 7)
        axes.yaxis.set_major_locator(LogLocator(subs=steps))
        axes.yaxis.set_minor_locator(NullLocator())
    else:
        axes.set_ylim(0, high * 1.05 if high > 0 else 1)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))


def scale_note(scale: str) -> str:
    """What the title of an axis says about its scale (`Axes.get_yscale`)."""
    return ", logarithmic" if scale == "log" else ""


def key_row(axes: Axes, entries: Sequence[tuple[Line2D, str]], theme: Theme) -> None:
    """A legend in one row above the axes, right-aligned; texts are printed as they are."""
    boxes: list[Artist] = []
    for mark, text in entries:
        area = DrawingArea(9, 7)
        area.add_artist(mark)
        props = {"fontsize": FONT_PT, "color": theme.muted, "parse_math": False}
        boxes.append(HPacker(children=[area, TextArea(chart_label(text), textprops=props)], pad=0, sep=3))
    packed = HPacker(children=boxes, pad=0, sep=12)
    axes.add_artist(AnchoredOffsetbox("lower right", child=packed, frameon=False, pad=0, borderpad=0.4,
                                      bbox_to_anchor=(1, 1), bbox_transform=axes.transAxes))  # fmt: skip


def right_margin(labels: Sequence[str]) -> float:
    return 1 - left_margin(labels)


def left_margin(labels: Sequence[str]) -> float:
    """The share of the width that the longest of these names needs."""
    longest = max((len(chart_label(label)) for label in labels), default=0)
    return (longest * CHARACTER_PT + _LEADER_PT) / (WIDTH_IN * 72)


def root(axes: Axes) -> Figure:
    figure = axes.get_figure(root=True)
    assert figure is not None  # noqa: S101 - only axes taken out of their figure have none
    return figure


def nothing_to_draw(theme: Theme, why: str) -> Figure:
    figure = new_figure(theme, 1.0, right=0.98)
    figure.axes[0].set_axis_off()
    write(figure.axes[0], 0.5, 0.5, why, theme.muted, ha="center")
    return figure
