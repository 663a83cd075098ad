"""Query latency over scenario time."""

from matplotlib.figure import Figure

from reports.charts.canvas import (
    head,
    label_ends,
    new_figure,
    nothing_to_draw,
    right_margin,
    time_axis,
    value_axis,
)
from reports.load import RunGroup, band
from reports.theme import Theme, traits


def draw(group: RunGroup, theme: Theme) -> Figure:
    """The settled primary query: median over the repetitions, band from the fastest to the slowest."""
    bands = band(group.latency, "wall_s")
    if not bands or group.latency["wall_s"].isna().all():
        return nothing_to_draw(theme, "no query latency was recorded")
    figure = new_figure(theme, 3.7, right=right_margin(group.strategies))
    axes, styles = figure.axes[0], traits(group.strategies, theme)
    unit_ms = time_axis(axes, group.manifest.duration_ms, theme)
    for label, found in bands.items():
        at = found["at_ms"] / unit_ms
        axes.fill_between(at, found["min"], found["max"], color=styles[label].colour, alpha=0.18, linewidth=0)
        axes.plot(
            at,
            found["median"],
            color=styles[label].colour,
            linestyle=styles[label].dash,
            linewidth=styles[label].width_pt,
        )
    value_axis(axes, group.latency["wall_s"].tolist())
    head(axes, f"latency of the primary query (seconds{_scale(axes.get_yscale())})", theme)
    label_ends(axes, {label: found["median"].iloc[-1] for label, found in bands.items()}, styles, theme)
    return figure


def _scale(name: str) -> str:
    return ", logarithmic" if name == "log" else ""
