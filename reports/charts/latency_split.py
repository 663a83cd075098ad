"""How much of the query latency is planning."""

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter

from bench.text import human_duration, human_percent
from reports.charts.canvas import (
    FONT_PT,
    belongs,
    key_row,
    latency_of,
    left_margin,
    new_figure,
    nothing_to_draw,
    write_label,
)
from reports.charts.theme import Theme, traits
from reports.data.group import RunGroup
from reports.phrases import Sentence, named_figures
from reports.text import duration_unit

_ROW_IN = 0.36
_EXECUTION_ALPHA = 0.4


def draw(group: RunGroup, theme: Theme) -> Figure:
    """Mean planning and execution of the settled primary query, a bar per strategy."""
    means = _means(group)
    if means.empty or not means["planning_s"].any():
        return nothing_to_draw(theme, "planning and execution were not recorded separately")
    labels, styles = [str(label) for label in means.index], traits(group.strategies, theme)
    figure = new_figure(theme, 0.85 + _ROW_IN * len(labels), left=left_margin(group.strategies), right=0.94)
    axes = figure.axes[0]
    factor, unit = duration_unit(float((means["planning_s"] + means["execution_s"]).max()))
    for row, (label, planning_s, execution_s) in enumerate(means.itertuples()):
        colour, whole_s = styles[label].colour, planning_s + execution_s
        bars = [
            *axes.barh([row], [planning_s * factor], height=0.62, color=colour),
            *axes.barh([row], [execution_s * factor], left=[planning_s * factor], height=0.62, color=colour,
                       alpha=_EXECUTION_ALPHA),
        ]  # fmt: skip
        whole = axes.annotate(human_duration(whole_s), (whole_s * factor, row), xytext=(5, 0), va="center",
                              textcoords="offset points", fontsize=FONT_PT, color=theme.muted)  # fmt: skip
        belongs([*bars, whole], label, theme)
        write_label(axes, -0.012, 1 - (row + 0.5) / len(labels), label, theme, ha="right")
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.set_yticks([])
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
    xlabel = f"mean {latency_of(group)} ({unit})"
    axes.set_xlabel(xlabel, fontsize=FONT_PT, color=theme.muted, parse_math=False)
    key_row(axes, [(_square(theme, 1.0), "planning"), (_square(theme, _EXECUTION_ALPHA), "execution")], theme)
    return figure


def finding(group: RunGroup) -> Sentence:
    means = _means(group)
    shares = (means["planning_s"] / (means["planning_s"] + means["execution_s"])).dropna()
    return named_figures(
        "Share of planning: ", ((str(label), human_percent(s)) for label, s in shares.items())
    )


def _means(group: RunGroup) -> pd.DataFrame:
    """Means of the primary query over scenario time, by strategy; without planning or execution: left out."""
    primary = group.manifest.primary_probe
    by_strategy = {row.strategy: row.probes[primary] for row in group.rows if primary in row.probes}
    columns = {"planning_s": "planning_mean_s", "execution_s": "execution_mean_s"}
    lines = {
        label: {name: figures[key] for name, key in columns.items()} for label, figures in by_strategy.items()
    }
    return pd.DataFrame.from_dict(lines, orient="index", columns=list(columns), dtype=float).dropna()


def _square(theme: Theme, alpha: float) -> Line2D:
    return Line2D([4], [3.5], linestyle="", marker="s", markersize=6, color=theme.muted, alpha=alpha)
