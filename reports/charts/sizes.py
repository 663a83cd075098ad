"""How large the data files are at the end."""

import math
from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bench.text import human_bytes, human_count
from reports.charts.canvas import FONT_PT, left_margin, new_figure, nothing_to_draw, write
from reports.load import RunGroup
from reports.theme import Theme, chart_label, traits

_ROW_IN = 0.62


def draw(group: RunGroup, theme: Theme) -> Figure:
    """A histogram per strategy; bins are powers of two, heights are relative to its own largest bin."""
    sizes = {label: counts for label, counts in group.file_sizes.items() if counts}
    if not sizes:
        return nothing_to_draw(theme, "no file sizes were recorded")
    target = _power(group.manifest.target_file_size_bytes)
    powers = [target, *(_power(low_bytes) for counts in sizes.values() for low_bytes in counts)]
    first, last, rows = min(powers), max(powers), len(sizes)
    left = left_margin(group.strategies)
    figure = new_figure(theme, 0.85 + _ROW_IN * rows, panels=rows, left=left, right=0.98)
    for axes, (label, counts) in zip(figure.axes, sizes.items(), strict=True):
        _row(axes, label, counts, traits(group.strategies, theme)[label].colour, theme)
        axes.set_xlim(first - 0.7, last + 0.7)
        axes.axvline(target - 0.5, color=theme.muted, linewidth=1, linestyle=(0, (4, 3)))
    ticks = range(first, last + 1, math.ceil((last - first + 1) / 12))
    figure.axes[-1].set_xticks(ticks, labels=[human_bytes(2**power) for power in ticks])
    xlabel = "file size (lower bound of the bin, powers of two)"
    figure.axes[-1].set_xlabel(xlabel, fontsize=FONT_PT, color=theme.muted)
    write(figure.axes[0], 1, 1.15, "dashed: target file size", theme.muted, ha="right")
    return figure


def _power(size_bytes: int) -> int:
    return max(size_bytes, 1).bit_length() - 1


def _row(axes: Axes, label: str, counts: Mapping[int, int], colour: str, theme: Theme) -> None:
    highest = max(counts.values())
    bars = [(_power(low_bytes), count / highest, count) for low_bytes, count in counts.items()]
    axes.bar([x for x, _, _ in bars], [height for _, height, _ in bars], width=0.9, color=colour)
    for x, height, count in bars:
        axes.annotate(human_count(count), (x, height), xytext=(0, 5), ha="center", va="center",
                      textcoords="offset points", fontsize=FONT_PT, color=theme.ink)  # fmt: skip
    axes.set_ylim(0, 1.35)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines["bottom"].set_color(theme.grid)
    write(axes, -0.012, 0.35, chart_label(label), theme.ink, ha="right")
