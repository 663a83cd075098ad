"""The health score that planners report, over scenario time."""

from matplotlib.figure import Figure

from reports.charts.canvas import head, label_ends, new_figure, nothing_to_draw, right_margin, time_axis
from reports.load import RunGroup, band
from reports.theme import Theme, traits

_BEST = 100


def draw(group: RunGroup, theme: Theme) -> Figure:
    """A mark per evaluation whose trigger fired: the median over the runs; the band is lowest to highest."""
    bands = band(group.health, "health_score")
    if not bands:
        return nothing_to_draw(theme, "no planner reported a health score")
    figure = new_figure(theme, 3.7, right=right_margin(group.strategies))
    axes, styles = figure.axes[0], traits(group.strategies, theme)
    unit_ms = time_axis(axes, group.manifest.duration_ms, theme)
    for label, found in bands.items():
        at, trait = found["at_ms"] / unit_ms, styles[label]
        axes.fill_between(at, found["min"], found["max"], color=trait.colour, alpha=0.18, linewidth=0)
        axes.plot(at, found["median"], color=trait.colour, linestyle=trait.dash, linewidth=trait.width_pt,
                  marker="o", markersize=3, clip_on=False)  # fmt: skip
    axes.set_ylim(0, _BEST)
    head(axes, "health score reported by the planner (0 to 100, 100 is best)", theme)
    label_ends(axes, {label: found["median"].iloc[-1] for label, found in bands.items()}, styles, theme)
    return figure
