"""Compaction cost and query latency of each strategy, with the Pareto front."""

from collections.abc import Iterator

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from reports.charts.canvas import (
    FONT_PT,
    LOG_ABOVE_RANGE,
    head,
    new_figure,
    nothing_to_draw,
    root,
    value_axis,
)
from reports.charts.placing import beside
from reports.load import RunGroup
from reports.pareto_front import Point, pareto_front, points
from reports.theme import Theme, chart_label, traits


def draw(group: RunGroup, theme: Theme) -> Figure:
    """Compaction seconds (x) and mean latency (y); whiskers from the lowest to the highest run."""
    all_points = points(group)
    if not all_points:
        return nothing_to_draw(theme, "no run has both a compaction cost and a query latency")
    figure = new_figure(theme, 4.4)
    axes, optimal = figure.axes[0], pareto_front(all_points)
    _cost_axis(axes, [point.cost_s for point in all_points])
    latencies = (y for p in all_points for y in group.row(p.strategy).run_values["query_mean_s"])
    value_axis(axes, [y for y in latencies if y is not None])
    line = [[p.cost_s for p in optimal], [p.query_s for p in optimal]]
    axes.plot(*line, color=theme.muted, linewidth=1, linestyle=(0, (4, 3)))
    for point in all_points:
        _point(axes, group, point, point not in optimal, theme)
    _names(axes, all_points, optimal, theme)
    unit = "CPU seconds" if group.cost_metric == "compaction_cpu_s" else "seconds"
    xlabel = f"total compaction cost ({unit}{_scale_note(axes.get_xscale())})"
    axes.set_xlabel(xlabel, fontsize=FONT_PT, color=theme.muted)
    head(axes, f"mean latency of the primary query (seconds{_scale_note(axes.get_yscale())})", theme)
    return figure


def _scale_note(name: str) -> str:
    return {"log": ", logarithmic", "symlog": ", logarithmic above 0"}.get(name, "")


def _cost_axis(axes: Axes, costs_s: list[float]) -> None:
    """From 0. Logarithmic where costs span more than 20x, with room for `never` at 0 left of the decades."""
    positive = [cost for cost in costs_s if cost > 0]
    low, high = min(positive, default=1.0), max(positive, default=1.0)
    axes.grid(True, axis="x", color=axes.yaxis.get_gridlines()[0].get_color(), linewidth=0.7)
    if high > LOG_ABOVE_RANGE * low:
        axes.set_xscale("symlog", linthresh=low / 2, linscale=0.35)
        axes.xaxis.set_major_locator(FixedLocator([0.0, *_decade_steps(low / 2, high * 1.5)]))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xlim(-low / 8, high * 1.9)
    else:
        axes.set_xlim(-high * 0.04, high * 1.2)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))


def _decade_steps(low: float, high: float) -> Iterator[float]:
    steps = (digit * 10.0**power for power in range(-6, 9) for digit in (1, 2, 5))
    return (step for step in steps if low <= step <= high)


def _whiskers(group: RunGroup, strategy: str, metric: str, middle: float) -> tuple[float, float]:
    """How far the lowest and the highest run lie from the mean."""
    known = [value for value in group.row(strategy).run_values[metric] if value is not None]
    return middle - min(known), max(known) - middle


def _point(axes: Axes, group: RunGroup, point: Point, is_dominated: bool, theme: Theme) -> None:
    colour = theme.baseline if is_dominated else traits(group.strategies, theme)[point.strategy].colour
    left, right = _whiskers(group, point.strategy, group.cost_metric, point.cost_s)
    down, up = _whiskers(group, point.strategy, "query_mean_s", point.query_s)
    axes.errorbar([point.cost_s], [point.query_s], xerr=[[left], [right]], yerr=[[down], [up]], fmt="o",
                  markersize=5 if is_dominated else 7, color=colour, elinewidth=1.2, clip_on=False, zorder=3,
                  markerfacecolor=theme.background if is_dominated else colour)  # fmt: skip


def _names(axes: Axes, all_points: tuple[Point, ...], optimal: tuple[Point, ...], theme: Theme) -> None:
    """A name beside each point."""
    pt = 72 / root(axes).dpi
    spots = [tuple(axes.transData.transform((p.cost_s, p.query_s)) * pt) for p in all_points]
    texts = [chart_label(point.strategy) for point in all_points]
    places = beside(spots, texts, axes.get_window_extent().x1 * pt)
    for point, text, place in zip(all_points, texts, places, strict=True):
        colour = theme.ink if point in optimal else theme.muted
        axes.annotate(text, (point.cost_s, point.query_s), xytext=(place.dx, place.dy), va="center",
                      textcoords="offset points", ha=place.side, fontsize=FONT_PT, color=colour,
                      bbox={"facecolor": theme.background, "edgecolor": "none", "pad": 0.6, "alpha": 0.85},
                      parse_math=False, annotation_clip=False)  # fmt: skip
