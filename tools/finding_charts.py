"""The charts of docs/findings: one figure of each strategy as bars, with what they show as title."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from reports.charts import pareto
from reports.charts.canvas import FONT_PT, head, key_row, left_margin, new_figure, write
from reports.charts.output import svg
from reports.charts.theme import LIGHT, Theme, chart_label
from reports.data.group import RunGroup

_BAR_IN = 0.34
_AXES_IN = 0.9  # title and axis


FindingChart = Callable[[Mapping[str, RunGroup]], str]  # of all published runs by name, as SVG


def _bars(
    group: RunGroup, theme: Theme, *, title: str, metrics: Mapping[str, str], unit: str, labels: Sequence[str]
) -> Figure:
    """A bar for each strategy: the named metrics one after the other, and their sum as a number."""
    strategies = labels or group.strategies
    parts = {
        name: np.array([_value(group, label, metric) for label in strategies])
        for metric, name in metrics.items()
    }
    figure = new_figure(theme, _AXES_IN + _BAR_IN * len(strategies), left=left_margin(strategies), right=0.93)
    (axes,) = figure.axes
    places, ends = np.arange(len(strategies)), np.zeros(len(strategies))
    colours = (theme.hues[0],) if len(parts) == 1 else (theme.baseline, theme.hues[0])
    for colour, values in zip(colours, parts.values(), strict=True):
        axes.barh(places, values, 0.62, left=ends, color=colour)
        ends = ends + values
    most = float(ends.max())
    for place, end in enumerate(ends):
        write(axes, end + most / 120, place, f"{end:.3g}", theme.ink, transform=axes.transData)
    axes.set_yticks(places, [chart_label(label) for label in strategies], fontsize=FONT_PT)
    axes.invert_yaxis()
    axes.set_xlim(0, most * 1.06)
    axes.grid(False, axis="y")
    axes.set_xlabel(unit, fontsize=FONT_PT, color=theme.muted)
    head(axes, title, theme)
    if len(parts) > 1:
        key_row(axes, [(_swatch(c), name) for c, name in zip(colours, parts, strict=True)], theme)
    return figure


def _value(group: RunGroup, label: str, metric: str) -> float:
    value = group.row(label).values[metric]
    assert value is not None, f"{label} has no {metric}"
    return value


def _swatch(colour: str) -> Line2D:
    return Line2D([4], [3.5], linestyle="", marker="s", markersize=6, color=colour)


def _chart(
    name: str, title: str, metrics: Mapping[str, str], unit: str, labels: Sequence[str] = ()
) -> FindingChart:
    draw = partial(_bars, title=title, metrics=metrics, unit=unit, labels=labels)
    return lambda by_name: svg(draw, by_name[name], LIGHT, name)


FINDING_CHARTS: Mapping[str, FindingChart] = {
    "cadence": lambda by_name: svg(pareto.draw, by_name["append_only"], LIGHT, "cadence"),
    "size-limits": _chart(
        "delta_repacking", "OPTIMIZE wrote, for each byte of the final content",
        {"compaction_amplification": "OPTIMIZE"}, "bytes",
    ),
    "inline-compaction": _chart(
        "hudi_sync_async", "Time until a commit returned, 95th percentile",
        {"commit_returned_p95_s": "commit"}, "seconds",
    ),
    "writer": _chart(
        "delta_small_files_user", "CPU of the stream's commits, and of compaction",
        {"commit_cpu_s": "commits", "compaction_cpu_s": "compaction"}, "CPU seconds",
    ),
    "delta-rs": _chart(
        "delta_rs_1gb", "One compaction of 1 GB in 101 files",
        {"compaction_cpu_s": "compaction"}, "CPU seconds", ("spark", "delta-rs"),
    ),
    "at-once": _chart(
        "merge_at_once", "Compactions beside a MERGE every five seconds",
        {"compactions": "committed", "lost_compactions": "lost"}, "compactions in two hours of scenario time",
        ("small-files", "all-deletes"),
    ),
    "without-spark": _chart(
        "policies_append", "Compaction in an hour of small appends",
        {"compaction_cpu_s": "compaction"}, "CPU seconds",
        ("amoro", "break-even", "amoro-single-node", "break-even-single-node"),
    ),
}  # fmt: skip
