"""Metrics over the times at which suites were made, a panel each, with marks where something changed."""

import math
from datetime import UTC, datetime

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bench.results.metrics import LATENCY, METRIC_BY_NAME
from reports.charts.canvas import (
    belongs,
    head,
    new_figure,
    nothing_to_draw,
    right_margin,
    root,
    value_axis,
    write,
)
from reports.charts.hints import hint
from reports.charts.lines import label_ends
from reports.charts.theme import Theme, chart_label, traits
from reports.phrases import Sentence, named_figures
from reports.text import duration_unit, format_value
from reports.verdicts.history import History

_PANEL_IN, _MARK_PT, _APART, _DATES_MAX = 1.9, 11.0, 0.05, 9
_AFTER_COST = {
    LATENCY: "mean latency of the primary query",
    "write_amplification": "write amplification (x)",
    "space_amplification": "space amplification (x)",
    "files_end": "live data files at the end",
    "delete_files_mean": "mean number of live delete files",
}


def panels(history: History) -> dict[str, str]:
    """The metrics that are drawn, by name with their titles: the cost first, then what it achieves."""
    cost, latest = history.latest.cost, history.latest
    titles = {cost.metric: cost.words, **_AFTER_COST}
    return {name: latest.in_delete_words(title) for name, title in titles.items() if history.has(name)}


def draw(history: History, theme: Theme) -> Figure:
    titles = panels(history)
    if not titles:
        return nothing_to_draw(theme, "no sitting has a usable run")
    marks = [(at, words) for at, sitting in enumerate(history.sittings) for words in sitting.change_words]
    below_in = (len(marks) * _MARK_PT + 4) / 72 if marks else 0.0
    height_in = _PANEL_IN * len(titles) + 0.6 + below_in
    right = right_margin(history.strategies)
    figure = new_figure(theme, height_in, len(titles), right=right, below_in=below_in)
    for axes, (metric, title) in zip(figure.axes, titles.items(), strict=True):
        _panel(axes, history, metric, title, theme)
    _dates(figure.axes[-1], history, below_in * 72)
    _mark(figure, marks, len(history.sittings), theme)
    return figure


def _panel(axes: Axes, history: History, metric: str, title: str, theme: Theme) -> None:
    """A line per strategy, with a gap where a figure is missing or does not compare with the one before."""
    styles, ends, drawn = traits(history.strategies, theme), dict[str, float](), list[float]()
    figures = {
        label: [sitting.values(metric, label) for sitting in history.sittings] for label in history.strategies
    }
    most = max(values[2] for of_label in figures.values() for values in of_label if values)
    factor, unit = duration_unit(most) if METRIC_BY_NAME[metric].unit == "s" else (1.0, "")
    for place, (label, of_label) in enumerate(figures.items()):
        trait, shift = styles[label], (place - (len(figures) - 1) / 2) * _APART
        line, ranges = list[tuple[float, float]](), list[tuple[float, float, float]]()
        for at, (sitting, values) in enumerate(zip(history.sittings, of_label, strict=True)):
            if values is None or not sitting.is_comparable:
                line.append((at - 0.5, math.nan))
            if values is not None:
                mean, low, high = (value * factor for value in values)
                line.append((at + shift, mean))
                ranges.append((at + shift, low, high))
                ends[label] = mean
        if not ranges:
            continue
        x, lowest, highest = zip(*ranges, strict=True)
        whiskers = axes.vlines(x, lowest, highest, color=trait.colour, linewidth=1)
        points = axes.plot(*zip(*line, strict=True), color=trait.colour, linestyle=trait.dash,
                           linewidth=trait.width_pt, marker=trait.mark, markersize=3.5,
                           clip_on=False)  # fmt: skip
        belongs([whiskers, *points], label, theme)
        texts = [format_value(metric, values[0]) for values in of_label if values]
        known = [(at, y) for at, y in line if not math.isnan(y)]
        hint(axes, label, [(*at, text) for at, text in zip(known, texts, strict=True)], theme)
        drawn += [*lowest, *highest]
    axes.set_xlim(-0.5, len(history.sittings) - 0.5)
    value_axis(axes, drawn)
    scale = "logarithmic" if axes.get_yscale() == "log" else ""
    notes = ", ".join(filter(None, (unit, scale)))
    head(axes, f"{title} ({notes})" if notes else title, theme)
    axes.tick_params(axis="x", labelbottom=False, length=0)
    label_ends(axes, ends, history.strategies, theme)


def _dates(axes: Axes, history: History, pad_pt: float) -> None:
    """The moments of the sittings, which are spaced evenly; of many, some."""
    step = math.ceil(len(history.sittings) / _DATES_MAX)
    places = range(0, len(history.sittings), step)
    moments = [datetime.fromisoformat(history.sittings[at].started_utc).astimezone(UTC) for at in places]
    axes.set_xticks([*places], [f"{moment:%Y-%m-%d\n%H:%M} UTC" for moment in moments])
    axes.tick_params(axis="x", labelbottom=True, pad=pad_pt + 4)


def _mark(figure: Figure, marks: list[tuple[int, str]], count: int, theme: Theme) -> None:
    """A line before each sitting in which something changed; what, below the axis, in a row for each."""
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
    """The cost in the first and the last sitting."""
    metric, figures = history.latest.cost.metric, list[tuple[str, str]]()
    for label in history.strategies:
        known = [values[0] for sitting in history.sittings if (values := sitting.values(metric, label))]
        if known:
            ends = (format_value(metric, value) for value in (known[0], known[-1]))
            figures.append((label, " to ".join(ends)))
    return named_figures(f"{history.latest.cost.title}, first to last: ", figures)
