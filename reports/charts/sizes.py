"""How large the data files are at the end."""

import math
from collections.abc import Mapping

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bench.text import counted, human_bytes, human_count
from reports.charts.canvas import (
    FONT_PT,
    belongs,
    left_margin,
    new_figure,
    nothing_to_draw,
    write,
    write_label,
)
from reports.charts.theme import Theme, traits
from reports.data.group import RunGroup
from reports.phrases import Sentence, named_figures

_ROW_IN = 0.62
_MOST_EMPTY_BINS = 3  # between the largest file and the target, which else is named at the edge


def draw(group: RunGroup, theme: Theme) -> Figure:
    """A histogram per strategy; bins are powers of two, heights logarithmic and of one scale for all."""
    sizes = _sizes(group)
    if not sizes:
        return nothing_to_draw(theme, "no file sizes were recorded")
    target_bytes = group.manifest.target_file_size_bytes
    target = _power(target_bytes)
    powers = [_power(low_bytes) for counts in sizes.values() for low_bytes in counts]
    is_near = target - max(powers) <= _MOST_EMPTY_BINS
    first, last, rows = min(powers), max([*powers, target] if is_near else powers), len(sizes)
    most = max(count for counts in sizes.values() for count in counts.values())
    figure = new_figure(theme, 0.85 + _ROW_IN * rows, panels=rows, left=left_margin(group.strategies),
                        right=0.98)  # fmt: skip
    for axes, (label, counts) in zip(figure.axes, sizes.items(), strict=True):
        _row(axes, (label, counts), most, traits(group.strategies, theme)[label].colour, theme)
        axes.set_xlim(first - 0.7, last + 0.7)
        if is_near:
            axes.axvline(math.log2(target_bytes) - 0.5, color=theme.muted, linewidth=1, linestyle=(0, (4, 3)))
    ticks = range(first, last + 1, math.ceil((last - first + 1) / 12))
    figure.axes[-1].set_xticks(ticks, labels=[human_bytes(2**power) for power in ticks])
    xlabel = "file size (lower bound of the bin, powers of two)"
    figure.axes[-1].set_xlabel(xlabel, fontsize=FONT_PT, color=theme.muted)
    size = human_bytes(target_bytes)
    text = f"dashed: target file size, {size}" if is_near else f"target file size: {size}, off the scale"
    write(figure.axes[0], 1, 1.15, text, theme.muted, ha="right")
    return figure


def finding(group: RunGroup) -> Sentence:
    figures = (
        (label, f"{counted(sum(counts.values()), 'file')}, "
                f"the largest from {human_bytes(max(counts))}")
        for label, counts in _sizes(group).items()
    )  # fmt: skip
    return named_figures("At the end: ", figures)


def _sizes(group: RunGroup) -> Mapping[str, Mapping[int, int]]:
    """Live data files at the end of each strategy's first usable run: lower bound in bytes -> count."""
    ends = {label: run.end for label, run in group.first_runs.items()}
    return {label: dict(end.file_sizes) for label, end in ends.items() if end is not None and end.file_sizes}


def _power(size_bytes: int) -> int:
    return max(size_bytes, 1).bit_length() - 1


def _row(axes: Axes, row: tuple[str, Mapping[int, int]], most: int, colour: str, theme: Theme) -> None:
    label, counts = row
    drawn: list[Artist] = []
    for low_bytes, count in counts.items():
        x, height = _power(low_bytes), math.log1p(count) / math.log1p(most)
        drawn += list(axes.bar([x], [height], width=0.9, color=colour))
        count_text = axes.annotate(human_count(count), (x, height), xytext=(0, 5), ha="center", va="center",
                                   textcoords="offset points", fontsize=FONT_PT, color=theme.ink)  # fmt: skip
        drawn.append(count_text)
    belongs(drawn, label, theme)
    axes.set_ylim(0, 1.35)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines["bottom"].set_color(theme.grid)
    write_label(axes, -0.012, 0.35, label, theme, ha="right")
