"""Cost and query latency of each strategy, with the Pareto front of each format."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.spatial import ConvexHull

from bench.results.metrics import LATENCY
from bench.text import human_duration
from reports.charts.canvas import (
    FONT_PT,
    SOURCE_IN,
    belongs,
    head,
    latency_of,
    new_figure,
    nothing_to_draw,
    root,
    scale_note,
    value_axis,
)
from reports.charts.cost_axis import LOG_ABOVE, cost_axis
from reports.charts.hints import hint
from reports.charts.names import Name, write_names
from reports.charts.placing import CHARACTER_PT, Spot
from reports.charts.theme import Theme, chart_label, traits
from reports.data.formats import part_name
from reports.data.group import RunGroup
from reports.phrases import Sentence, Verbatim, joined, listed, say, sentence, separated
from reports.text import cost_text, duration_unit
from reports.verdicts.apart import clusters
from reports.verdicts.pareto_front import Point, differ_in_staleness, pareto_front, points

_WIDTH_IN = 5.4  # next to a table
_COLUMNS = 2  # of the panels of several formats
_PANEL_IN, _AROUND_IN = 2.4, 0.6  # height of one, and of what is around them
_ABOVE_IN = 0.2  # for the line above the names of formats
_BELOW_IN = 0.13  # for the second line of the tick at 0
_MOST_NAMES = 3  # of a cluster
_CLUSTER_PT, _CORNERS = 8.5, 48  # the circle around each of its points: radius, corners
_DASHED, _DOTTED = (0, (4, 3)), (0, (1, 2.5))


@dataclass(frozen=True, slots=True)
class _Scales:
    """Where a cost is drawn, and the unit of latencies."""

    place: Callable[[float], float]
    factor: float

    def spot(self, point: Point) -> Spot:
        return self.place(point.cost_s), point.query_s * self.factor


def draw(group: RunGroup, theme: Theme) -> Figure:
    """Compaction seconds (x) and mean latency (y); whiskers from the lowest to the highest run.

    Several parts of the group have a panel each, on common scales.
    """
    parts = _parts(group)
    if not parts:
        return nothing_to_draw(theme, "no run has both a compaction cost and a query latency")
    columns = len(parts) if theme.is_slide else min(len(parts), _COLUMNS)
    is_alone = len(parts) == 1
    height_in = 4.6 if is_alone else _AROUND_IN + _PANEL_IN * math.ceil(len(parts) / columns)
    figure = new_figure(
        theme, height_in, len(parts), left=0.1, right=0.98, width_in=_WIDTH_IN, below_in=_BELOW_IN,
        above_in=0.0 if is_alone else _ABOVE_IN, columns=columns,
    )  # fmt: skip
    costs_s, queries_s = (
        [value for part in parts for value in _values(part, metric)]
        for metric in (group.cost_metric, LATENCY)
    )
    factor, unit = duration_unit(max(point.query_s for part in parts for point in points(part)))
    for axes, part in zip(figure.axes, parts, strict=True):
        scales = _Scales(cost_axis(axes, costs_s, theme), factor)
        value_axis(axes, [query_s * factor for query_s in queries_s], log_above=LOG_ABOVE)
        _draw_points(axes, part, scales, theme)
        if not is_alone:
            characters = int(axes.get_window_extent().width * 72 / figure.dpi / CHARACTER_PT)
            head(axes, chart_label(part_name(part, group), characters), theme)
    for place, axes in enumerate(figure.axes):
        axes.tick_params(labelleft=place % columns == 0, labelbottom=place + columns >= len(parts))
    first = figure.axes[0]
    title = f"mean {latency_of(group)} ({unit}{scale_note(first.get_yscale())})"
    head(first, title, theme, line=0 if is_alone else 1)
    xlabel = f"{group.cost.axis} ({group.cost.unit}{scale_note(first.get_xscale())})"
    if is_alone:
        first.set_xlabel(xlabel, fontsize=FONT_PT, color=theme.muted)
    else:
        bottom = (0.06 + (SOURCE_IN if theme.is_slide else 0)) / figure.get_figheight()
        figure.supxlabel(xlabel, y=bottom, va="bottom", fontsize=FONT_PT, color=theme.muted)
    return figure


def finding(group: RunGroup) -> Sentence:
    fronts = {part: front for part in _parts(group) if (front := pareto_front(points(part)))}
    if not fronts:
        return say()
    order = "" if any(map(differ_in_staleness, fronts.values())) else ", from the cheapest to the fastest"
    clauses = [
        say("" if len(group.parts) == 1 else f"{part_name(part, group)}, ") + in_words(front, _at)
        for part, front in fronts.items()
    ]
    said = say(f"On the front{order}: ") + separated("; ", clauses) + say(".")
    for cluster in (cluster for part in _parts(group) for cluster in _clusters(part)):
        first, *others = cluster
        for point in others:
            said += sentence(
                " {strategy}, {at}, is not told apart from {first}.",
                strategy=Verbatim(point.strategy), at=_at(point), first=Verbatim(first.strategy),
            )  # fmt: skip
    return said


def in_words(front: Iterable[Point], at: Callable[[Point], str]) -> Sentence:
    """The figures of each point of a front, those of equal ones once: "a 2 s at 1 s (b the same)"."""
    said = []
    for text, equal in groupby(front, key=at):
        first, *others = (point.strategy for point in equal)
        same = say(" (") + listed(others) + say(" the same)") if others else say()
        said.append(say(Verbatim(first), f" {text}") + same)
    return joined(said)


def _parts(group: RunGroup) -> list[RunGroup]:
    return [part for part in group.parts if points(part)]


def _at(point: Point) -> str:
    return f"{human_duration(point.query_s)} at {cost_text(point.cost_s)}"


def _values(group: RunGroup, metric: str) -> list[float]:
    """A metric in each run of each point."""
    runs = (group.row(point.strategy).run_values[metric] for point in points(group))
    return [value for values in runs for value in values if value is not None]


def _draw_points(axes: Axes, group: RunGroup, scales: _Scales, theme: Theme) -> None:
    """The points of a part of a group with their names, their front and their clusters."""
    all_points = points(group)
    front, several = pareto_front(all_points), _clusters(group)
    outlines = [_outline(axes, [scales.spot(point) for point in cluster], theme) for cluster in several]
    line = () if differ_in_staleness(front) else front  # a front in three dimensions is no line
    _draw_front(axes, line, scales, theme)
    together = {point.strategy for cluster in several for point in cluster}
    lines: list[Sequence[Spot]] = [[scales.spot(point) for point in line], *outlines]
    for point in all_points:
        is_off = point not in front and point.strategy not in together
        lines += _draw_point(axes, group, point, scales, is_off, theme)
    labels = {row.strategy: row.strategy if group.whole is None else row.base_strategy for row in group.rows}
    alone = [[point] for point in all_points if point.strategy not in together]
    names = {named[0].strategy: _name(named, labels, front, scales, theme) for named in (*several, *alone)}
    write_names(axes, names, theme, lines)


def _clusters(group: RunGroup) -> list[list[Point]]:
    by_label = {point.strategy: point for point in points(group)}
    return [[by_label[label] for label in cluster] for cluster in clusters(group)]


def _outline(axes: Axes, spots: Sequence[Spot], theme: Theme) -> Sequence[Spot]:
    """Draw a soft outline around the points of a cluster, the hull of a circle around each; returns it."""
    radius_px = _CLUSTER_PT * root(axes).dpi / 72
    turns = np.linspace(0, 2 * np.pi, _CORNERS, endpoint=False)
    circle = radius_px * np.column_stack([np.cos(turns), np.sin(turns)])
    corners = np.concatenate([centre + circle for centre in axes.transData.transform(np.array(spots))])
    hull = axes.transData.inverted().transform(corners[ConvexHull(corners).vertices])
    axes.fill(*hull.T, facecolor=theme.grid, edgecolor=theme.muted, linewidth=0.7, clip_on=False, zorder=1)
    return [(float(x), float(y)) for x, y in (*hull, hull[0])]


def _draw_front(axes: Axes, front: Sequence[Point], scales: _Scales, theme: Theme) -> None:
    """Dashed; dotted from a cost of 0, which has no place on a logarithmic scale."""
    from_zero = sum(point.cost_s <= 0 for point in front) if axes.get_xscale() == "log" else 0
    for some, dash in ((front[: from_zero + 1], _DOTTED), (front[from_zero:], _DASHED)):
        if len(some) > 1:
            axes.plot(*zip(*map(scales.spot, some), strict=True), color=theme.muted, linewidth=1,
                      linestyle=dash)  # fmt: skip


def _draw_point(
    axes: Axes, group: RunGroup, point: Point, scales: _Scales, is_off: bool, theme: Theme
) -> list[Sequence[Spot]]:
    """Draw a point and its whiskers, grey if it is off the front; returns the whiskers as lines."""
    trait = traits(group.strategies, theme)[point.strategy]
    colour = theme.baseline if is_off else trait.colour
    x, y = scales.spot(point)
    left, right = _ends(group, point.strategy, group.cost_metric, scales.place)
    low, high = _ends(group, point.strategy, LATENCY, lambda query_s: query_s * scales.factor)
    across, upright = ([[max(x - left, 0)], [max(right - x, 0)]], [[max(y - low, 0)], [max(high - y, 0)]])
    middle, _, bars = axes.errorbar(
        [x], [y], xerr=across, yerr=upright,
        fmt=trait.mark, markersize=5 if is_off else 7, color=colour, elinewidth=1.2, clip_on=False, zorder=3,
        markerfacecolor=theme.background if is_off else colour,
    )  # fmt: skip
    belongs([middle, *bars], point.strategy, theme)
    figures = f"{cost_text(point.cost_s)}, {human_duration(point.query_s)}"
    hint(axes, point.strategy, [(x, y, figures)], theme)
    return [((left, y), (right, y)), ((x, low), (x, high))]


def _ends(
    group: RunGroup, strategy: str, metric: str, place: Callable[[float], float]
) -> tuple[float, float]:
    known = [place(value) for value in group.row(strategy).run_values[metric] if value is not None]
    return min(known), max(known)


def _name(
    cluster: Sequence[Point], labels: Mapping[str, str], front: Sequence[Point], scales: _Scales, theme: Theme
) -> Name:
    """One name for all points of a cluster, grey for a point off the front."""
    first, *others = cluster
    others_named = [(point.strategy, chart_label(labels[point.strategy])) for point in others]
    if len(cluster) > _MOST_NAMES:
        rest = others_named[_MOST_NAMES - 2 :]
        others_named = [*others_named[: _MOST_NAMES - 2], ("", f"{len(rest)} more")]
    return Name(
        scales.spot(first),
        chart_label(labels[first.strategy]),
        theme.ink if others or first in front else theme.muted,
        tuple(others_named),
        tuple(scales.spot(point) for point in others),
    )
