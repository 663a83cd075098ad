"""Cost and query latency of each strategy, with the Pareto front."""

from collections.abc import Iterator, Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from bench.text import human_duration
from reports.charts.canvas import (
    FONT_PT,
    LOG_ABOVE_RANGE,
    belongs,
    head,
    new_figure,
    nothing_to_draw,
    root,
    scale_note,
    value_axis,
)
from reports.charts.hints import hint
from reports.charts.names import Name, write_names
from reports.charts.theme import Theme, chart_label, traits
from reports.data.group import RunGroup
from reports.phrases import Sentence, named_figures
from reports.text import cost_text, duration_unit
from reports.verdicts.pareto_front import Point, differ_in_staleness, pareto_front, points

_WIDTH_IN = 5.4  # next to a table
_ARROW_PT = 11.0  # height of the arrow for a point above the scale
_LOG_ABOVE_RANGE = 4.0  # of the latencies
_SQUEEZED_ABOVE = 4.0  # times the span of the front above it: a point that high would flatten the front


def draw(group: RunGroup, theme: Theme) -> Figure:
    """Compaction seconds (x) and mean latency (y); whiskers from the lowest to the highest run."""
    all_points = points(group)
    if not all_points:
        return nothing_to_draw(theme, "no run has both a compaction cost and a query latency")
    figure = new_figure(theme, 4.5, left=0.1, right=0.98, width_in=_WIDTH_IN)
    axes, optimal = figure.axes[0], pareto_front(all_points)
    above = _off_the_scale(all_points, optimal)
    shown = [point for point in all_points if point not in above]
    factor, unit = duration_unit(max(point.query_s for point in shown))
    cost_axis(axes, [point.cost_s for point in all_points])
    note = _latency_axis(axes, group, shown, factor, cut=bool(above))
    joined_up = () if differ_in_staleness(optimal) else optimal  # a front in three dimensions is no line
    axes.plot([p.cost_s for p in joined_up], [p.query_s * factor for p in joined_up], color=theme.muted,
              linewidth=1, linestyle=(0, (4, 3)))  # fmt: skip
    for point in shown:
        _point(axes, group, point, factor, point not in optimal, theme)
    edge = _upper_edge(axes)
    for point in above:
        _arrow(axes, group, point, edge, point not in optimal, theme)
    heights = {p.strategy: edge if p in above else p.query_s * factor for p in all_points}
    _names(axes, all_points, optimal, above, heights, factor, theme)
    xlabel = f"{group.cost.axis} ({group.cost.unit}{scale_note(axes.get_xscale())})"
    axes.set_xlabel(xlabel, fontsize=FONT_PT, color=theme.muted)
    head(axes, f"mean latency of the primary query ({unit}{note})", theme)
    return figure


def finding(group: RunGroup) -> Sentence:
    front = pareto_front(points(group))
    order = "" if differ_in_staleness(front) else ", from the cheapest to the fastest"
    figures = ((p.strategy, f"{human_duration(p.query_s)} at {cost_text(p.cost_s)}") for p in front)
    return named_figures(f"On the front{order}: ", figures)


def _off_the_scale(all_points: Sequence[Point], optimal: Sequence[Point]) -> tuple[Point, ...]:
    """Points so slow that on their scale the points of the front would overlap."""
    choices = [point.query_s for point in optimal if not point.is_baseline]
    if len(set(choices)) < 2:
        return ()
    limit_s = max(choices) + _SQUEEZED_ABOVE * (max(choices) - min(choices))
    return tuple(point for point in all_points if point.query_s > limit_s)


def _latency_axis(axes: Axes, group: RunGroup, shown: Sequence[Point], factor: float, cut: bool) -> str:
    runs = [y for p in shown for y in group.row(p.strategy).run_values["query_mean_s"] if y is not None]
    latencies = [y * factor for y in runs]
    value_axis(axes, latencies, log_above=_LOG_ABOVE_RANGE)
    arrows = "; arrows: above the scale" if cut else ""
    if axes.get_yscale() == "log":
        return f", logarithmic{arrows}"
    if not cut:
        return ""
    room = max((max(latencies) - min(latencies)) * 0.15, max(latencies) * 0.01)
    axes.set_ylim(max(0, min(latencies) - room), max(latencies) + 2 * room)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=6))
    return f", not from 0{arrows}"


def cost_axis(axes: Axes, costs_s: list[float]) -> None:
    """A scale from 0; logarithmic if costs span more than 20x, with room for `never` at 0."""
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
    known = [value for value in group.row(strategy).run_values[metric] if value is not None]
    return middle - min(known), max(known) - middle


def _point(
    axes: Axes, group: RunGroup, point: Point, factor: float, is_dominated: bool, theme: Theme
) -> None:
    trait = traits(group.strategies, theme)[point.strategy]
    colour = theme.baseline if is_dominated else trait.colour
    left, right = _whiskers(group, point.strategy, group.cost_metric, point.cost_s)
    down, up = (side * factor for side in _whiskers(group, point.strategy, "query_mean_s", point.query_s))
    middle, _, bars = axes.errorbar(
        [point.cost_s], [point.query_s * factor], xerr=[[left], [right]], yerr=[[down], [up]], fmt=trait.mark,
        markersize=5 if is_dominated else 7, color=colour, elinewidth=1.2, clip_on=False, zorder=3,
        markerfacecolor=theme.background if is_dominated else colour,
    )  # fmt: skip
    belongs([middle, *bars], point.strategy, theme)
    hint(axes, point.strategy, [(point.cost_s, point.query_s * factor, _figures(point))], theme)


def _arrow(axes: Axes, group: RunGroup, point: Point, edge: float, is_off_front: bool, theme: Theme) -> None:
    """A point above the scale: an arrow that points to it from the upper edge of the axes."""
    colour = theme.baseline if is_off_front else traits(group.strategies, theme)[point.strategy].colour
    mark = axes.plot(
        [point.cost_s], [edge], marker=r"$\uparrow$", markersize=_ARROW_PT, color=colour, linestyle="none",
        clip_on=False, zorder=3,
    )  # fmt: skip
    belongs(mark, point.strategy, theme)
    hint(axes, point.strategy, [(point.cost_s, edge, _figures(point))], theme)


def _upper_edge(axes: Axes) -> float:
    below_px = _ARROW_PT / 2 * root(axes).dpi / 72
    _, y = axes.transData.inverted().transform((0, axes.get_window_extent().y1 - below_px))
    return float(y)


def _figures(point: Point) -> str:
    return f"{cost_text(point.cost_s)}, {human_duration(point.query_s)}"


def _names(
    axes: Axes, all_points: Sequence[Point], optimal: Sequence[Point], above: Sequence[Point],
    heights: Mapping[str, float], factor: float, theme: Theme,
) -> None:  # fmt: skip
    """A name at each point, which is drawn at its height; for a point above the scale with its latency."""
    names = {
        p.strategy: Name(
            (p.cost_s, heights[p.strategy]),
            chart_label(p.strategy) + (f" {human_duration(p.query_s)}" if p in above else ""),
            theme.ink if p in optimal else theme.muted,
        )
        for p in all_points
    }
    write_names(axes, names, theme, line=[(p.cost_s, p.query_s * factor) for p in optimal])
