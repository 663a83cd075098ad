"""Cumulative cost of compaction over scenario time."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bench.results.records import CompactionRecord
from bench.text import byte_unit, human_bytes
from reports.charts.canvas import head, new_figure, nothing_to_draw, right_margin, value_axis
from reports.charts.lines import draw_lines, label_ends
from reports.charts.theme import Theme
from reports.data.cost import COMPACTION_CPU
from reports.data.frames import compactions, cumulative
from reports.data.group import RunGroup
from reports.phrases import Sentence, named_figures
from reports.text import cost_text


def draw(group: RunGroup, theme: Theme) -> Figure:
    """Running totals of compaction seconds (above) and of the bytes compaction wrote (below)."""
    if compactions(group).empty:
        return nothing_to_draw(theme, "no strategy compacted")
    figure = new_figure(theme, 5.6, panels=2, right=right_margin(group.strategies))
    above, below = figure.axes
    cost = group.compaction_cost
    is_cpu = cost is COMPACTION_CPU
    runs = [
        run
        for run in group.timed_runs
        if not is_cpu or not run.of(CompactionRecord).column("is_shared").any()
    ]
    seconds = cumulative(group, "cpu_s" if is_cpu else "wall_s", runs)
    _panel(above, group, seconds, 1.0, f"cumulative compaction cost ({cost.unit})", theme)
    above.set_xlabel("")
    unit_bytes, unit = byte_unit(float(compactions(group).groupby("run_id")["added_bytes"].sum().max()))
    written = cumulative(group, "added_bytes", group.usable_runs)
    _panel(below, group, written, 1 / unit_bytes, f"cumulative data written by compaction ({unit})", theme)
    return figure


def finding(group: RunGroup) -> Sentence:
    cost = group.compaction_cost.metric
    known = ((r.strategy, r.values[cost], r.values["compaction_added_bytes"]) for r in group.rows)
    figures = (
        (label, f"{cost_text(cost_s)} and {human_bytes(size_bytes)}")
        for label, cost_s, size_bytes in known
        if cost_s and size_bytes
    )
    return named_figures("In all: ", figures)


def _panel(
    axes: Axes, group: RunGroup, totals: Mapping[str, pd.DataFrame], scale: float, title: str, theme: Theme
) -> None:
    ends = draw_lines(axes, totals, group, theme, scale=scale, is_stepped=True)
    value_axis(axes, [0.0, *(float(of_runs["max"].max()) * scale for of_runs in totals.values())])
    head(axes, title, theme)
    label_ends(axes, ends, group.strategies, theme)
