"""When each strategy compacted, how much it wrote, and why."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from bench.results.records import CompactionRecord
from bench.results.tables import Records
from bench.text import human_bytes
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
from reports.charts.over_time import drawn_in_steps
from reports.charts.theme import Theme, traits
from reports.data.group import RunGroup
from reports.phrases import Sentence, named_figures

_LANE_IN = 0.42
_LARGEST_PT = 15.0  # diameter of the largest mark
_SMALLEST_PT = 3.5
_MOST_MARKS = 100  # of a lane; more are drawn as the bytes added in each stretch of time
_MOST_STRETCHES = 150
_COMPACTIONS_PER_STRETCH = 4  # at least, on average: fewer would show how the stretches fall
_LANE_SHARE = 0.8  # of a lane that the tallest bar takes
_MOST_PLACES = 600  # of compactions without effect
_OTHER = "other reasons"
_REASON_MARKS = ("o", "D", "^", "s", "v", "P")
_NOT_COMMITTED_MARKS = {"noop": "o", "failed": "x", "vetoed": "s", "conflict": "X", "unfinished": "D"}
_Lane = Records[CompactionRecord]
_NOT_COMMITTED_WORDS = {
    "noop": "committed nothing", "failed": "failed", "vetoed": "vetoed", "conflict": "lost a conflict",
    "unfinished": "did not end",
}  # fmt: skip


def draw(group: RunGroup, theme: Theme) -> Figure:
    """A lane per strategy, a mark per compaction of its first usable run, its area by bytes added."""
    lanes = {label: run.of(CompactionRecord) for label, run in group.first_runs.items()}
    if not any(lanes.values()):
        return nothing_to_draw(theme, "no strategy compacted")
    figure = new_figure(theme, 0.9 + _LANE_IN * len(lanes), left=left_margin(group.strategies), right=0.98)
    axes, outcomes = figure.axes[0], _outcomes(lanes.values())
    marks = _reason_marks(outcomes)
    styles, unit_ms = traits(group.strategies, theme), time_axis(axes, group.manifest.duration_ms, theme)
    axes.set_ylim(len(lanes) - 0.5, -0.5)
    axes.set_yticks(range(len(lanes)), labels=[])
    largest_bytes = max(int(lane.column("added_bytes").max(initial=0)) for lane in lanes.values())
    scale = _Scale(unit_ms, group.manifest.duration_ms, largest_bytes)
    for lane, (label, records) in enumerate(lanes.items()):
        write_label(axes, -0.012, 1 - (lane + 0.5) / len(lanes), label, theme, ha="right")
        is_dense, colour = len(records) > _MOST_MARKS, styles[label].colour
        drawn = (
            _density(axes, lane, records, scale, colour)
            if is_dense
            else _committed(axes, lane, records, scale, colour, marks, theme)
        )
        belongs([*drawn, *_without_effect(axes, lane, records, scale, theme)], label, theme)
    head(axes, _heading(list(lanes.values()), scale.largest_bytes), theme)
    key_row(axes, _key(outcomes, marks, theme), theme)
    return figure


def finding(group: RunGroup) -> Sentence:
    known = ((row.strategy, row.values["compactions"]) for row in group.rows)
    return named_figures("Compactions that committed: ", ((label, f"{n:,.0f}") for label, n in known if n))


@dataclass(frozen=True, slots=True)
class _Scale:
    """The units of the axes; `unit_ms` is one unit of the time axis."""

    unit_ms: int
    duration_ms: int
    largest_bytes: int


def _heading(lanes: Sequence[_Lane], largest_bytes: int) -> str:
    sizes = [len(records) for records in lanes]
    parts = []
    if any(0 < size <= _MOST_MARKS for size in sizes):
        parts.append(f"area of a mark: bytes added, up to {human_bytes(largest_bytes)}")
    if any(size > _MOST_MARKS for size in sizes):
        parts.append("outline: bytes added over time")
    return "; ".join(parts)


def _outcomes(lanes: Iterable[_Lane]) -> Counter[tuple[str, str]]:
    """How many compactions have each status and reason."""
    return Counter(
        outcome
        for lane in lanes
        for outcome in zip(lane.column("status").tolist(), lane.column("reason").tolist(), strict=True)
    )


def _reason_marks(outcomes: Counter[tuple[str, str]]) -> Mapping[str, str]:
    """A shape for each reason, the most common first; reasons beyond the shapes share the last."""
    ranked = [reason for (status, reason), _ in outcomes.most_common() if status == "ok"]
    return dict(zip(ranked, _REASON_MARKS[:-1], strict=False))


def _committed(
    axes: Axes, lane: int, records: _Lane, scale: _Scale, colour: str,
    marks: Mapping[str, str], theme: Theme,
) -> Sequence[Artist]:  # fmt: skip
    drawn: list[Artist] = []
    for record in (record for record in records if record.status == "ok"):
        share = math.sqrt(record.change.added_bytes / scale.largest_bytes) if scale.largest_bytes else 0.0
        mark = marks.get(record.reason, _REASON_MARKS[-1])
        drawn += axes.plot([record.at_ms / scale.unit_ms], [lane], mark,
                           markersize=max(_SMALLEST_PT, _LARGEST_PT * share), alpha=0.75, color=colour,
                           markeredgecolor=theme.background, markeredgewidth=0.6, clip_on=False,
                           zorder=3)  # fmt: skip
    return drawn


def _density(axes: Axes, lane: int, records: _Lane, scale: _Scale, colour: str) -> Sequence[Artist]:
    """The bytes added in each stretch of time, as one outline."""
    done = records.having(status="ok")
    stretches = max(1, min(_MOST_STRETCHES, len(done) // _COMPACTIONS_PER_STRETCH))
    sums, edges = np.histogram(
        done.column("at_ms"), bins=stretches, range=(0, scale.duration_ms),
        weights=done.column("added_bytes"),
    )  # fmt: skip
    drawn_in_steps(axes, scale.duration_ms / stretches)
    base = lane + _LANE_SHARE / 2
    heights = base - _LANE_SHARE * sums / max(sums.max(), 1)
    steps = np.append(heights, heights[-1])
    at = edges / scale.unit_ms
    area = axes.fill_between(at, base, steps, step="post", color=colour, alpha=0.35, linewidth=0)
    return [area, *axes.step(at, steps, where="post", color=colour, linewidth=0.9)]


def _without_effect(axes: Axes, lane: int, records: _Lane, scale: _Scale, theme: Theme) -> list[Line2D]:
    """A mark for each compaction that committed nothing; all of one status are one line."""
    drawn = []
    for status in _NOT_COMMITTED_MARKS:
        at_ms = records.having(status=status).column("at_ms")
        if len(at_ms) > _MOST_PLACES:
            drawn_in_steps(axes, scale.duration_ms / _MOST_PLACES)
        if len(at_ms):
            at = _places(at_ms, scale)
            drawn.append(axes.add_line(_not_committed(status, theme, at, [float(lane)] * len(at))))
    return drawn


def _places(at_ms: np.ndarray, scale: _Scale) -> list[float]:
    """Places on the time axis, at most as many as the eye can tell apart."""
    if len(at_ms) > _MOST_PLACES:
        step_ms = scale.duration_ms / _MOST_PLACES
        at_ms = np.unique(np.round(at_ms / step_ms)) * step_ms
    return [float(place) for place in at_ms / scale.unit_ms]


def _not_committed(status: str, theme: Theme, x: list[float], y: list[float]) -> Line2D:
    colour = theme.muted if status == "noop" else theme.alarm
    return Line2D(x, y, linestyle="", marker=_NOT_COMMITTED_MARKS[status], markersize=4.5,
                  markeredgecolor=colour, markerfacecolor="none", markeredgewidth=1.1, clip_on=False,
                  zorder=4)  # fmt: skip


def _key(
    outcomes: Counter[tuple[str, str]], marks: Mapping[str, str], theme: Theme
) -> list[tuple[Line2D, str]]:
    shown = {**marks, _OTHER: _REASON_MARKS[-1]}
    needed = {reason if reason in marks else _OTHER for status, reason in outcomes if status == "ok"}
    reasons = [
        (Line2D([4], [3.5], linestyle="", marker=shown[reason], markersize=5.5, color=theme.muted), reason)
        for reason in shown
        if reason in needed
    ]
    statuses = [mark for mark in _NOT_COMMITTED_MARKS if any(status == mark for status, _ in outcomes)]
    return reasons + [
        (_not_committed(status, theme, [4.0], [3.5]), _NOT_COMMITTED_WORDS[status]) for status in statuses
    ]
