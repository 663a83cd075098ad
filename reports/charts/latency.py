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
from reports.load import Section, band
from reports.theme import Theme, traits


def draw(data: Section, theme: Theme) -> Figure:
    """The primary probe at its cadence: median over the repetitions, band from the fastest to the slowest."""
    bands = band(data.latency, "wall_s")
    if not bands or data.latency["wall_s"].isna().all():
        return nothing_to_draw(theme, "no run gave a latency")
    figure = new_figure(theme, 3.7, right=right_margin(data.strategies))
    axes, styles = figure.axes[0], traits(data.strategies, theme)
    unit_ms = time_axis(axes, data.manifest.duration_ms, theme)
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
    value_axis(axes, data.latency["wall_s"].tolist())
    head(axes, f"latency of the primary probe, seconds{_scale(axes.get_yscale())}", theme)
    label_ends(axes, {label: found["median"].iloc[-1] for label, found in bands.items()}, styles, theme)
    return figure


def _scale(name: str) -> str:
    return ", logarithmic" if name == "log" else ""
