"""Cumulative cost of compaction over scenario time."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bench.results.folders import RunResult
from bench.text import byte_unit
from reports.charts.canvas import (
    head,
    label_ends,
    new_figure,
    nothing_to_draw,
    right_margin,
    time_axis,
    value_axis,
)
from reports.load import RunGroup, cumulative
from reports.theme import Theme, traits


def draw(group: RunGroup, theme: Theme) -> Figure:
    """Running totals of compaction seconds (above) and of the bytes compaction wrote (below)."""
    if group.compactions.empty:
        return nothing_to_draw(theme, "no strategy compacted")
    figure = new_figure(theme, 5.6, panels=2, right=right_margin(group.strategies))
    seconds, column = (
        ("CPU seconds", "cpu_s") if group.cost_metric == "compaction_cpu_s" else ("seconds", "wall_s")
    )
    title = f"cumulative compaction cost ({seconds})"
    _panel(figure.axes[0], group, column, group.timed_runs, (1.0, title), theme)
    figure.axes[0].set_xlabel("")
    unit_bytes, unit = byte_unit(float(group.compactions.groupby("run_id")["added_bytes"].sum().max()))
    title = f"cumulative data written by compaction ({unit})"
    _panel(figure.axes[1], group, "added_bytes", group.usable_runs, (unit_bytes, title), theme)
    return figure


def _panel(
    axes: Axes,
    group: RunGroup,
    column: str,
    runs: Sequence[RunResult],
    scale: tuple[float, str],
    theme: Theme,
) -> None:
    styles, (divisor, title) = traits(group.strategies, theme), scale
    unit_ms = time_axis(axes, group.manifest.duration_ms, theme)
    totals = cumulative(group, column, runs)
    for label, found in totals.items():
        at, colour = found["at_ms"] / unit_ms, styles[label].colour
        axes.fill_between(at, found["min"] / divisor, found["max"] / divisor, step="post", color=colour,
                          alpha=0.18, linewidth=0)  # fmt: skip
        axes.step(
            at,
            found["median"] / divisor,
            where="post",
            color=colour,
            linestyle=styles[label].dash,
            linewidth=styles[label].width_pt,
        )
    value_axis(axes, [0.0, *(float(found["max"].max()) / divisor for found in totals.values())])
    head(axes, title, theme)
    label_ends(
        axes, {label: found["median"].iloc[-1] / divisor for label, found in totals.items()}, styles, theme
    )
