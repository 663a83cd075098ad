"""Commits, compactions and queries of each strategy over time, where they work at the same time."""

from collections.abc import Sequence
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from bench.results.figures import due_s, primary_queries_of
from bench.results.folders import RunResult
from bench.results.latency import latencies_s
from bench.results.records import CompactionRecord
from bench.results.table_content import stream_commits_of
from bench.results.tables import Records
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
    axes.set_ylim(len(runs) - 0.5, -0.5)
    axes.set_yticks(range(len(runs)), labels=[])
    slowest_s = max(latencies_s(primary_queries_of(run)).max(initial=0.0) for run in runs.values())
    for lane, (label, run) in enumerate(runs.items()):
        write_label(axes, -0.012, 1 - (lane + 0.5) / len(runs), label, theme, ha="right")
        place = _Place(axes, lane, 1000 * group.manifest.speed / unit_ms)
        drawn = [
            *_commits(place, run, styles[label].colour, theme),
            *_compactions(place, run.of(CompactionRecord), styles[label].colour, theme),
            *_queries(place, run, slowest_s, unit_ms, styles[label].colour),
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


class _Place:
    """A lane of the axes; `per_second` are units of the time axis in a real second."""

    def __init__(self, axes: Axes, lane: int, per_second: float) -> None:
        self.axes, self.lane, self.per_second = axes, lane, per_second

    def bars(self, from_s: Any, to_s: Any, offset: float, **how: Any) -> Artist:
        end_s = self.axes.get_xlim()[1] / self.per_second
        spans = [
            (begun * self.per_second, max(min(ended, end_s) - begun, 0.0) * self.per_second)
            for begun, ended in zip(from_s, to_s, strict=True)
        ]
        middle = self.lane + offset
        return self.axes.broken_barh(spans, (middle - _HEIGHT / 2, _HEIGHT), clip_on=True, **how)


def _commits(place: _Place, run: RunResult, colour: str, theme: Theme) -> Sequence[Artist]:
    commits = stream_commits_of(run)
    colours = [theme.alarm if reasons else colour for reasons in commits.column("conflicts").tolist()]
    spans_s = due_s(run, commits), commits.column("ended_s")
    return [place.bars(*spans_s, _COMMITS, facecolors=colours, alpha=0.55, linewidth=0)]


def _compactions(
    place: _Place, compactions: Records[CompactionRecord], colour: str, theme: Theme
) -> Sequence[Artist]:
    drawn = []
    for record in compactions:
        if record.span is None:
            continue
        from_s = record.span.started_s if record.staged is None else record.staged.started_s
        has_committed = record.status == "ok"
        drawn.append(
            place.bars(
                [from_s], [record.span.ended_s], _COMPACTIONS,
                facecolors=colour if has_committed else "none",
                edgecolors=colour if has_committed else theme.alarm, linewidth=_LINE_PT,
            )
        )  # fmt: skip
    return drawn


def _queries(place: _Place, run: RunResult, slowest_s: float, unit_ms: int, colour: str) -> Sequence[Artist]:
    queries = primary_queries_of(run)
    if not (len(queries) and slowest_s):
        return []
    base = place.lane + _QUERIES
    heights = base - _QUERIES_HEIGHT * latencies_s(queries) / slowest_s
    return place.axes.plot(
        queries.column("at_ms") / unit_ms, heights, ".", markersize=3, color=colour, clip_on=False
    )


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
