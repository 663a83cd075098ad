"""The health score that planners report, over scenario time."""

from matplotlib.figure import Figure

from reports.charts.canvas import head, new_figure, nothing_to_draw, right_margin
from reports.charts.lines import draw_lines, label_ends
from reports.charts.theme import Theme
from reports.data.frames import band, health
from reports.data.group import RunGroup
from reports.phrases import Sentence, named_figures

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
    axes = figure.axes[0]
    ends = draw_lines(axes, bands, group, theme, has_marks=True)
    axes.set_ylim(0, _BEST)
    head(axes, "health score reported by the planner (0 to 100, 100 is best)", theme)
    label_ends(axes, ends, group.strategies, theme)
    return figure


def finding(group: RunGroup) -> Sentence:
    scores = dict(list(health(group).groupby("strategy")["health_score"]))
    figures = (
        (label, f"{scores[label].min():.0f} to {scores[label].max():.0f}")
        for label in group.strategies
        if label in scores
    )
    return named_figures("Lowest to highest score: ", figures)
