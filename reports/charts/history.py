"""Metrics over the times at which suites were made, a panel each, with marks where something changed."""

import math
from itertools import groupby

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bench.results.metrics import LATENCY, METRIC_BY_NAME
from bench.text import counted
from reports.charts.canvas import (
    belongs,
    head,
    new_figure,
    nothing_to_draw,
    primary_query,
    right_margin,
    root,
    value_axis,
    write,
)
from reports.charts.hints import hint
from reports.charts.lines import label_ends
from reports.charts.theme import Theme, chart_label, traits
from reports.data.queries import sessions_of
from reports.phrases import Sentence, named_figures, say
from reports.text import duration_unit, format_value
from reports.verdicts.history import History

_PANEL_IN, _MARK_PT, _APART, _DATES_MAX = 1.9, 11.0, 0.05, 9
_TITLE_CHARACTERS = 110  # as many as fit
_AFTER_COST = {
    "write_amplification": "write amplification (x)",
    "space_amplification": "space amplification (x)",
    "files_end": "live data files at the end",
    "delete_files_mean": "mean number of live delete files",
}


def panels(history: History) -> dict[str, str]:
    """The metrics that are drawn, by name with their titles: the cost first, then what it achieves."""
    cost, latest = history.latest.cost, history.latest
    titles = {cost.metric: cost.words, LATENCY: _latencies(history), **_AFTER_COST}
    return {name: latest.in_delete_words(title) for name, title in titles.items() if history.has(name)}


def _latencies(history: History) -> str:
    """The query, and the sessions where they changed: "mean latency of q by new sessions, then of r"."""
    groups = [point.group for point in history.points]
    differ = len({sessions_of(group.manifest) for group in groups}) > 1
    names = [
        primary_query(group) + (f" by {own}" if differ and (own := sessions_of(group.manifest)) else "")
        for group in groups
    ]
    return f"mean latency of {', then of '.join(name for name, _ in groupby(names))}"


def draw(history: History, theme: Theme) -> Figure:
    titles = panels(history)
    if not titles:
        return nothing_to_draw(theme, "no usable run")
    marks = [(at, words) for at, point in enumerate(history.points) for words in point.change_words]
    below_in = (len(marks) * _MARK_PT + 4) / 72 if marks else 0.0
    height_in = _PANEL_IN * len(titles) + 0.6 + below_in
    right = right_margin(history.strategies)
    figure = new_figure(theme, height_in, len(titles), right=right, below_in=below_in)
    for axes, (metric, title) in zip(figure.axes, titles.items(), strict=True):
        _panel(axes, history, metric, title, theme)
    _dates(figure.axes[-1], history, below_in * 72)
    _mark(figure, marks, len(history.points), theme)
    return figure


def _panel(axes: Axes, history: History, metric: str, title: str, theme: Theme) -> None:
    """A line per strategy, with a gap where a figure is missing or does not compare with the one before."""
    styles, ends, drawn = traits(history.strategies, theme), dict[str, float](), list[float]()
    figures = {
        label: [point.value(metric, label) for point in history.points] for label in history.strategies
    }
    most = max(value.high for of_label in figures.values() for value in of_label if value)
    factor, unit = duration_unit(most) if METRIC_BY_NAME[metric].unit == "s" else (1.0, "")
    for place, (label, of_label) in enumerate(figures.items()):
        trait, shift = styles[label], (place - (len(figures) - 1) / 2) * _APART
        line, ranges = list[tuple[float, float]](), list[tuple[float, float, float]]()
        for at, (point, value) in enumerate(zip(history.points, of_label, strict=True)):
            if value is None or not point.is_comparable:
                line.append((at - 0.5, math.nan))
            if value is not None:
                line.append((at + shift, value.mean * factor))
                ranges.append((at + shift, value.low * factor, value.high * factor))
                ends[label] = value.mean * factor
        if not ranges:
            continue
        x, lowest, highest = zip(*ranges, strict=True)
        whiskers = axes.vlines(x, lowest, highest, color=trait.colour, linewidth=1)
        points = axes.plot(*zip(*line, strict=True), color=trait.colour, linestyle=trait.dash,
                           linewidth=trait.width_pt, marker=trait.mark, markersize=3.5,
                           clip_on=False)  # fmt: skip
        belongs([whiskers, *points], label, theme)
        texts = [
            f"{format_value(metric, value.mean)}, {counted(value.runs, 'run')}" for value in of_label if value
        ]
        known = [(at, y) for at, y in line if not math.isnan(y)]
        hint(axes, label, [(*at, text) for at, text in zip(known, texts, strict=True)], theme)
        drawn += [*lowest, *highest]
    axes.set_xlim(-0.5, len(history.points) - 0.5)
    value_axis(axes, drawn)
    scale = "logarithmic" if axes.get_yscale() == "log" else ""
    notes = ", ".join(filter(None, (unit, scale)))
    shown = chart_label(title, _TITLE_CHARACTERS)
    head(axes, f"{shown} ({notes})" if notes else shown, theme)
    axes.tick_params(axis="x", labelbottom=False, length=0)
    label_ends(axes, ends, history.strategies, theme)


def _dates(axes: Axes, history: History, pad_pt: float) -> None:
    """When the points were made, which are spaced evenly; of many, some."""
    step = math.ceil(len(history.points) / _DATES_MAX)
    places = range(0, len(history.points), step)
    axes.set_xticks([*places], [history.points[at].moment.replace(" ", "\n", 1) for at in places])
    axes.tick_params(axis="x", labelbottom=True, pad=pad_pt + 4)


def _mark(figure: Figure, marks: list[tuple[int, str]], count: int, theme: Theme) -> None:
    """A line before each point at which something changed; what, below the axis, in a row for each."""
    last = figure.axes[-1]
    row_height = _MARK_PT / (last.get_window_extent().height * 72 / root(last).dpi)
    depths = {at: (row + 0.8) * row_height for row, (at, _) in enumerate(marks)}  # down to its last row
    for axes in figure.axes:
        lowest = [-depth if axes is last else 0.0 for depth in depths.values()]
        axes.vlines([at - 0.5 for at in depths], lowest, 1, color=theme.muted, linewidth=0.8, zorder=0,
                    linestyle=(0, (2, 2)), clip_on=False, transform=axes.get_xaxis_transform())  # fmt: skip
    for row, (at, words) in enumerate(marks):
        is_left = at > count / 2  # where there is more room
        write(last, at + (-0.53 if is_left else -0.47), -(row + 0.8) * row_height, chart_label(words),
              theme.muted, ha="right" if is_left else "left",
              transform=last.get_xaxis_transform())  # fmt: skip


def finding(history: History) -> Sentence:
    """The cost at both ends of the last stretch that may be compared; empty if it is one point."""
    metric, points = history.latest.cost.metric, history.comparable
    if len(points) == 1:
        return say()
    ends = {label: [points[end].value(metric, label) for end in (0, -1)] for label in history.strategies}
    figures = [
        (label, " to ".join(format_value(metric, value.mean) for value in of_label if value))
        for label, of_label in ends.items()
        if all(of_label)
    ]
    return named_figures(f"{history.latest.cost.title}, {points[0].moment} to {points[-1].moment}: ", figures)
