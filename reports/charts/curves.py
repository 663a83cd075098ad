"""Cost against latency, and against bytes written, of the cells of a sweep: each family is a curve."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bench.results.cells import Cell
from bench.text import human_duration, human_ratio
from reports.charts.canvas import (
    FONT_PT,
    belongs,
    head,
    latency_of,
    new_figure,
    nothing_to_draw,
    scale_note,
    value_axis,
)
from reports.charts.cost_axis import LOG_ABOVE, cost_axis
from reports.charts.hints import hint
from reports.charts.names import Name, write_names
from reports.charts.pareto import in_words
from reports.charts.theme import Theme, Trait, traits
from reports.data.families import families
from reports.data.group import RunGroup
from reports.phrases import Sentence, say
from reports.text import cost_text, duration_unit
from reports.verdicts.pareto_front import Point, pareto_front, points

_WRITTEN = "write_amplification"
_NAMED_MAX = 14
_BELOW_IN = 0.13  # for the second line of the tick at 0


def applies(group: RunGroup) -> bool:
    return bool(families(group.strategies))


def draw(group: RunGroup, theme: Theme) -> Figure:
    """Two panels with the mean latency as y: over compaction seconds, and over write amplification."""
    all_points = {point.strategy: point for point in points(group)}
    if not all_points:
        return nothing_to_draw(theme, "no run has both a compaction cost and a query latency")
    front = pareto_front(tuple(all_points.values()))
    written = {label: group.row(label).values[_WRITTEN] for label in all_points}
    panels = (
        (
            {label: point.cost_s for label, point in all_points.items()},
            f"{group.cost.axis} ({group.cost.unit}",
        ),
        ({label: value for label, value in written.items() if value is not None}, "write amplification (x"),
    )
    shown = panels[:1] if theme.is_slide else panels  # a slide has room for one
    figure = new_figure(theme, 8.4, panels=len(shown), left=0.07, right=0.97, below_in=_BELOW_IN)
    for axes, (across, title) in zip(figure.axes, shown, strict=True):
        _panel(axes, group, all_points, front, across, theme)
        axes.set_xlabel(f"{title}{scale_note(axes.get_xscale())})", fontsize=FONT_PT, color=theme.muted)
    return figure


def _panel(
    axes: Axes, group: RunGroup, all_points: Mapping[str, Point], front: Sequence[Point],
    across: Mapping[str, float], theme: Theme,
) -> None:  # fmt: skip
    shown = {label: point for label, point in all_points.items() if label in across}
    factor, unit = duration_unit(max(point.query_s for point in shown.values()))
    place = cost_axis(axes, list(across.values()), theme)
    spots = {label: (place(across[label]), point.query_s * factor) for label, point in shown.items()}
    value_axis(axes, [y for _, y in spots.values()], log_above=LOG_ABOVE)
    head(axes, f"mean {latency_of(group)} ({unit}{scale_note(axes.get_yscale())})", theme)
    cells = families(group.strategies)
    drawn, lines = traits(tuple(cells), theme), []
    for family, own in cells.items():
        for curve in _curves(own):
            line = [spots[cell.label] for cell in curve if cell.label in spots]
            axes.plot(*zip(*line, strict=True), color=drawn[family].colour, linestyle=drawn[family].dash,
                      linewidth=1.1, alpha=0.7) if line else None  # fmt: skip
            lines.append(line)
            _marks(axes, [cell.label for cell in curve], shown, spots, drawn[family], front, theme)
    in_families = {cell.label for own in cells.values() for cell in own}
    others = [label for label in shown if label not in in_families]
    of_others = traits(group.strategies, theme)
    for label in others:
        _marks(axes, [label], shown, spots, of_others[label], front, theme)
    names = {
        label: Name(spots[label], text, theme.ink)
        for label, text in _named(cells, others, front).items()
        if label in spots
    }
    write_names(axes, names, theme, lines)


def _curves(cells: Iterable[Cell]) -> Iterator[list[Cell]]:
    def by_curve(cell: Cell) -> tuple[tuple[str, str], ...]:
        return cell.curve

    for _, own in groupby(sorted(cells, key=by_curve), key=by_curve):
        yield list(own)


def _marks(
    axes: Axes, labels: Iterable[str], shown: Mapping[str, Point], spots: Mapping[str, tuple[float, float]],
    trait: Trait, front: Sequence[Point], theme: Theme,
) -> None:  # fmt: skip
    """Filled marks for the front, hollow ones for the others."""
    on_front = {point.strategy for point in front}
    for label in labels:
        if label not in spots:
            continue
        is_on = label in on_front
        mark = axes.plot(
            *spots[label], marker=trait.mark, markersize=6 if is_on else 4, color=trait.colour, clip_on=False,
            markerfacecolor=trait.colour if is_on else theme.background, linestyle="none", zorder=3,
        )  # fmt: skip
        belongs(mark, label, theme)
        point = shown[label]
        text = f"{label}: {cost_text(point.cost_s)}, {human_duration(point.query_s)}"
        hint(axes, label, [(*spots[label], text)], theme)


def _named(
    cells: Mapping[str, Sequence[Cell]], others: Sequence[str], front: Sequence[Point]
) -> Mapping[str, str]:
    """The first cell of each family with its whole label, every other strategy, and cells of the front."""
    named = {own[0].label: own[0].label for own in cells.values()} | {label: label for label in others}
    short = {cell.label: cell.short for own in cells.values() for cell in own}
    room = max(0, _NAMED_MAX - len(named))
    on_front = [point.strategy for point in front if point.strategy not in named]
    step = max(1, -(-len(on_front) // room)) if room else 0
    return named | {label: short.get(label, label) for label in (on_front[::step] if step else ())}


def finding(group: RunGroup) -> Sentence:
    def at(point: Point) -> str:
        written = _written(group.row(point.strategy).values[_WRITTEN])
        return f"{human_duration(point.query_s)} at {cost_text(point.cost_s)}{written}"

    front = pareto_front(points(group))
    start = say("On the front, from the cheapest to the fastest: ")
    return start + in_words(front, at) + say(".") if front else say()


def _written(ratio: float | None) -> str:
    return "" if ratio is None else f", {human_ratio(ratio)} written"
