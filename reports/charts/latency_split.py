"""How much of the query latency is planning."""

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter

from bench.text import human_duration
from reports.charts.canvas import FONT_PT, key_row, left_margin, new_figure, nothing_to_draw, write
from reports.load import RunGroup
from reports.theme import Theme, chart_label

_ROW_IN = 0.36


def draw(group: RunGroup, theme: Theme) -> Figure:
    """Mean planning and execution seconds of the settled primary query, a bar per strategy."""
    means = group.latency.groupby("strategy", sort=False)[["planning_s", "execution_s"]].mean().dropna()
    if means.empty or not means["planning_s"].any():
        return nothing_to_draw(theme, "planning and execution were not recorded separately")
    labels = [label for label in group.strategies if label in means.index]
    means, planning, execution = means.loc[labels], theme.hues[0], theme.hues[-1]
    figure = new_figure(theme, 0.85 + _ROW_IN * len(labels), left=left_margin(group.strategies), right=0.94)
    axes, rows = figure.axes[0], range(len(labels))
    axes.barh(rows, means["planning_s"], height=0.62, color=planning)
    axes.barh(rows, means["execution_s"], left=means["planning_s"], height=0.62, color=execution, alpha=0.55)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.set_yticks([])
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
    axes.set_xlabel("mean latency of the primary query (seconds)", fontsize=FONT_PT, color=theme.muted)
    for row, (label, mean) in enumerate(means.iterrows()):
        write(axes, -0.012, 1 - (row + 0.5) / len(labels), chart_label(str(label)), theme.ink, ha="right")
        whole_s = float(mean["planning_s"] + mean["execution_s"])
        axes.annotate(human_duration(whole_s), (whole_s, row), xytext=(5, 0), textcoords="offset points",
                      va="center", fontsize=FONT_PT, color=theme.muted)  # fmt: skip
    key = [(_square(planning, 1.0), "planning"), (_square(execution, 0.55), "execution")]
    key_row(axes, key, theme)
    return figure


def _square(colour: str, alpha: float) -> Line2D:
    return Line2D([4], [3.5], linestyle="", marker="s", markersize=6, color=colour, alpha=alpha)
