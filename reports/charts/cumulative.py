"""What compaction has cost so far."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bench.results.folders import RunResult
from reports.charts.canvas import (
    head,
    label_ends,
    new_figure,
    nothing_to_draw,
    right_margin,
    time_axis,
    value_axis,
)
from reports.load import Section, cumulative
from reports.text import byte_unit
from reports.theme import Theme, traits


def draw(data: Section, theme: Theme) -> Figure:
    """Running totals of compaction seconds (above) and of bytes compaction wrote (below)."""
    if data.compactions.empty:
        return nothing_to_draw(theme, "no strategy compacted")
    figure = new_figure(theme, 5.6, panels=2, right=right_margin(data.strategies))
    seconds, column = (
        ("CPU seconds", "cpu_s") if data.cost_metric == "compaction_cpu_s" else ("seconds", "wall_s")
    )
    _panel(figure.axes[0], data, column, data.timed_runs, (1.0, f"compaction so far, {seconds}"), theme)
    figure.axes[0].set_xlabel("")
    unit_bytes, unit = byte_unit(float(data.compactions.groupby("run_id")["added_bytes"].sum().max()))
    title = f"bytes compaction wrote so far, {unit}"
    _panel(figure.axes[1], data, "added_bytes", data.usable_runs, (unit_bytes, title), theme)
    return figure


def _panel(
    axes: Axes, data: Section, column: str, runs: Sequence[RunResult], scale: tuple[float, str], theme: Theme
) -> None:
    styles, (divisor, title) = traits(data.strategies, theme), scale
    unit_ms = time_axis(axes, data.manifest.duration_ms, theme)
    totals = cumulative(data, column, runs)
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
