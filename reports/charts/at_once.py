"""Commits, compactions and queries of each strategy over time, where they work at the same time."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from bench.results.figures import began_s, due_s, primary_queries_of
from bench.results.folders import RunResult
from bench.results.latency import latencies_s
from bench.results.records import CompactionRecord
from bench.results.table_content import stream_commits_of
from reports.charts.canvas import (
    belongs,
    head,
    key_row,
    left_margin,
    new_figure,
    nothing_to_draw,
    time_axis,
    write_label,
)
from reports.charts.theme import Theme, traits
from reports.data.group import RunGroup
from reports.phrases import Sentence, named_figures

_LANE_IN = 0.95
_COMMITS, _COMPACTIONS, _QUERIES = -0.3, -0.05, 0.38  # below the top of a lane, which is at -0.5
_HEIGHT, _QUERIES_HEIGHT = 0.2, 0.28
_LINE_PT = 0.8


def applies(group: RunGroup) -> bool:
    return group.manifest.is_live


def draw(group: RunGroup, theme: Theme) -> Figure:
    """A lane per strategy: bars of commits since they were due, bars of compactions, a mark per query."""
    runs = group.first_runs
    if not runs:
        return nothing_to_draw(theme, "no usable run")
    figure = new_figure(theme, 0.9 + _LANE_IN * len(runs), left=left_margin(group.strategies), right=0.98)
    axes, styles = figure.axes[0], traits(group.strategies, theme)
    unit_ms = time_axis(axes, group.manifest.duration_ms, theme)
    per_second = 1000 * group.manifest.speed / unit_ms
    axes.set_ylim(len(runs) - 0.5, -0.5)
    axes.set_yticks(range(len(runs)), labels=[])
    slowest_s = max(latencies_s(primary_queries_of(run)).max(initial=0.0) for run in runs.values())
    for lane, (label, run) in enumerate(runs.items()):
        write_label(axes, -0.012, 1 - (lane + 0.5) / len(runs), label, theme, ha="right")
        drawn = [
            *_commits(axes, lane, run, per_second, styles[label].colour, theme),
            *_compactions(axes, lane, run, per_second, styles[label].colour, theme),
            *_queries(axes, lane, run, slowest_s, unit_ms, styles[label].colour),
        ]
        belongs(drawn, label, theme)
    head(axes, "commits since they were due, compactions, queries", theme)
    key_row(axes, _key(theme), theme)
    return figure


def finding(group: RunGroup) -> Sentence:
    figures = []
    for row in group.rows:
        committed, lost = row.values["compactions"], row.values["lost_compactions"]
        redone = row.values["redone_commits"]
        if committed is not None and lost is not None and redone is not None:
            figures.append((row.strategy, f"{committed:,.0f} / {lost:,.0f}, {redone:,.0f}"))
    return named_figures("Compactions that committed / lost, and commits done again: ", figures)


def _bars(
    axes: Axes, middle: float, from_s: np.ndarray, to_s: np.ndarray, per_second: float, **how: Any
) -> Artist:
    """Bars from and to moments of the run's clock, a second of which has so many units of the time axis."""
    end_s = axes.get_xlim()[1] / per_second
    lengths = np.maximum(np.minimum(to_s, end_s) - from_s, 0.0) * per_second
    spans = list(zip(from_s * per_second, lengths, strict=True))
    return axes.broken_barh(spans, (middle - _HEIGHT / 2, _HEIGHT), clip_on=True, **how)


def _commits(
    axes: Axes, lane: int, run: RunResult, per_second: float, colour: str, theme: Theme
) -> Sequence[Artist]:
    commits = stream_commits_of(run)
    colours = [theme.alarm if reasons else colour for reasons in commits.column("conflicts").tolist()]
    spans_s = due_s(run, commits), commits.column("ended_s")
    return [_bars(axes, lane + _COMMITS, *spans_s, per_second, facecolors=colours, alpha=0.55, linewidth=0)]


def _compactions(
    axes: Axes, lane: int, run: RunResult, per_second: float, colour: str, theme: Theme
) -> Sequence[Artist]:
    """Filled if they committed."""
    compactions = run.of(CompactionRecord)
    compactions = compactions.where(~np.isnan(compactions.column("started_s")))
    have_committed = (compactions.column("status") == "ok").tolist()
    return [
        _bars(
            axes, lane + _COMPACTIONS, began_s(compactions), compactions.column("ended_s"), per_second,
            facecolors=[colour if has_committed else "none" for has_committed in have_committed],
            edgecolors=[colour if has_committed else theme.alarm for has_committed in have_committed],
            linewidth=_LINE_PT,
        )
    ]  # fmt: skip


def _queries(
    axes: Axes, lane: int, run: RunResult, slowest_s: float, unit_ms: int, colour: str
) -> Sequence[Artist]:
    queries = primary_queries_of(run)
    if not (len(queries) and slowest_s):
        return []
    heights = lane + _QUERIES - _QUERIES_HEIGHT * latencies_s(queries) / slowest_s
    at = queries.column("at_ms") / unit_ms
    return axes.plot(at, heights, ".", markersize=3, color=colour, clip_on=False)


def _key(theme: Theme) -> list[tuple[Line2D, str]]:
    def square(face: str, edge: str) -> Line2D:
        return Line2D(
            [4], [3.5], linestyle="", marker="s", markersize=5.5, markerfacecolor=face, markeredgecolor=edge
        )

    return [
        (square(theme.muted, theme.muted), "committed"),
        (square("none", theme.alarm), "compaction that did not commit"),
        (square(theme.alarm, theme.alarm), "commit done again"),
    ]
