"""How large the data files are in the end."""

import math
from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reports.charts.canvas import FONT_PT, left_margin, new_figure, nothing_to_draw, write
from reports.load import Section
from reports.text import format_bytes, format_count
from reports.theme import Theme, chart_label, traits

_ROW_IN = 0.62


def draw(data: Section, theme: Theme) -> Figure:
    """A row of bars a strategy; bins are powers of two, bars grow to the strategy's own largest bin."""
    sizes = {label: found for label, found in data.file_sizes.items() if found}
    if not sizes:
        return nothing_to_draw(theme, "no run recorded its file sizes")
    target = _power(data.manifest.target_file_size_bytes)
    powers = [target, *(_power(low_bytes) for found in sizes.values() for low_bytes in found)]
    first, last, rows = min(powers), max(powers), len(sizes)
    left = left_margin(data.strategies)
    figure = new_figure(theme, 0.85 + _ROW_IN * rows, panels=rows, left=left, right=0.98)
    for axes, (label, found) in zip(figure.axes, sizes.items(), strict=True):
        _row(axes, label, found, traits(data.strategies, theme)[label].colour, theme)
        axes.set_xlim(first - 0.7, last + 0.7)
        axes.axvline(target - 0.5, color=theme.muted, linewidth=1, linestyle=(0, (4, 3)))
    ticks = range(first, last + 1, math.ceil((last - first + 1) / 12))
    figure.axes[-1].set_xticks(ticks, labels=[format_bytes(2**power) for power in ticks])
    figure.axes[-1].set_xlabel("file size from … up, powers of two", fontsize=FONT_PT, color=theme.muted)
    write(figure.axes[0], 1, 1.15, "dashed: target file size", theme.muted, ha="right")
    return figure


def _power(size_bytes: int) -> int:
    return max(size_bytes, 1).bit_length() - 1


def _row(axes: Axes, label: str, found: Mapping[int, int], colour: str, theme: Theme) -> None:
    highest = max(found.values())
    bars = [(_power(low_bytes), count / highest, count) for low_bytes, count in found.items()]
    axes.bar([x for x, _, _ in bars], [height for _, height, _ in bars], width=0.9, color=colour)
    for x, height, count in bars:
        axes.annotate(format_count(count), (x, height), xytext=(0, 5), ha="center", va="center",
                      textcoords="offset points", fontsize=FONT_PT, color=theme.ink)  # fmt: skip
    axes.set_ylim(0, 1.35)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines["bottom"].set_color(theme.grid)
    write(axes, -0.012, 0.35, chart_label(label), theme.ink, ha="right")
