"""The health score that planners report, over scenario time."""

from matplotlib.figure import Figure

from reports.charts.canvas import (
    belongs,
    head,
    label_ends,
    new_figure,
    nothing_to_draw,
    right_margin,
    shade,
    time_axis,
)
from reports.charts.theme import Theme, traits
from reports.charts.thinning import thinned
from reports.data.frames import band, health
from reports.data.group import RunGroup
from reports.phrases import Sentence, Verbatim, joined, say

_BEST = 100


def applies(group: RunGroup) -> bool:
    """Whether a score changes: one that stays the same is a number in a table."""
    return health(group)["health_score"].nunique() > 1


def draw(group: RunGroup, theme: Theme) -> Figure:
    """A mark per evaluation with a fired trigger: the median over the runs, and a band over all of them."""
    bands = band(health(group), "health_score")
    if not bands:
        return nothing_to_draw(theme, "no planner reported a health score")
    figure = new_figure(theme, 3.7, right=right_margin(group.strategies))
    axes, styles = figure.axes[0], traits(group.strategies, theme)
    unit_ms = time_axis(axes, group.manifest.duration_ms, theme)
    for label, of_runs in bands.items():
        line, trait = thinned(of_runs, "median"), styles[label]
        at = line["at_ms"] / unit_ms
        spread = shade(axes, at, line, 1.0, trait.colour)
        middle = axes.plot(at, line["median"], color=trait.colour, linestyle=trait.dash,
                           linewidth=trait.width_pt, marker=trait.mark, markersize=3,
                           clip_on=False)  # fmt: skip
        belongs([*spread, *middle], label, theme)
    axes.set_ylim(0, _BEST)
    head(axes, "health score reported by the planner (0 to 100, 100 is best)", theme)
    label_ends(axes, {label: of_runs["median"].iloc[-1] for label, of_runs in bands.items()}, styles, theme)
    return figure


def finding(group: RunGroup) -> Sentence:
    ranges = health(group).groupby("strategy", sort=False)["health_score"].agg(["min", "max"])
    parts = [
        say(Verbatim(str(label)), f" {scores['min']:.0f} to {scores['max']:.0f}")
        for label, scores in ranges.iterrows()
    ]
    return say("Lowest to highest score: ") + joined(parts) + say(".") if parts else say()
