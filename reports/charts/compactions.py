"""When each strategy compacted, how much it wrote, and why."""

import math
from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from bench.results.records import CompactionRecord
from bench.text import human_bytes
from reports.charts.canvas import head, key_row, left_margin, new_figure, nothing_to_draw, time_axis, write
from reports.load import RunGroup
from reports.theme import Theme, chart_label

_LANE_IN = 0.42
_LARGEST_PT = 15.0  # diameter of the largest mark
_SMALLEST_PT = 3.5
_OTHER = "other reasons"
_NOT_COMMITTED_MARKS = {"noop": "o", "failed": "x", "vetoed": "s"}
_NOT_COMMITTED_WORDS = {"noop": "committed nothing", "failed": "failed", "vetoed": "vetoed"}


def draw(group: RunGroup, theme: Theme) -> Figure:
    """A lane per strategy, a mark per compaction of its first usable run, its area by bytes added."""
    lanes = {label: run.of(CompactionRecord) for label, run in group.first_runs.items()}
    compactions = [record for lane in lanes.values() for record in lane]
    if not compactions:
        return nothing_to_draw(theme, "no strategy compacted")
    figure = new_figure(theme, 0.85 + _LANE_IN * len(lanes), left=left_margin(group.strategies), right=0.98)
    axes, colours = figure.axes[0], _colours(compactions, theme)
    largest_bytes = max(record.added_bytes for record in compactions)
    unit_ms = time_axis(axes, group.manifest.duration_ms, theme)
    axes.set_ylim(len(lanes) - 0.5, -0.5)
    axes.set_yticks(range(len(lanes)), labels=[])
    for lane, (label, records) in enumerate(lanes.items()):
        write(axes, -0.012, 1 - (lane + 0.5) / len(lanes), chart_label(label), theme.ink, ha="right")
        for record in records:
            _mark(axes, record.at_ms / unit_ms, lane, record, largest_bytes, colours, theme)
    head(axes, f"area of a mark: bytes added (largest: {human_bytes(largest_bytes)})", theme)
    key_row(axes, _key(compactions, colours, theme), theme)
    return figure


def _colours(records: list[Any], theme: Theme) -> Mapping[str, str]:
    """A hue for each reason, the most common first; reasons beyond the hues share the muted colour."""
    reasons = [record.reason for record in records if record.status == "ok"]
    ranked = sorted(dict.fromkeys(reasons), key=lambda reason: -reasons.count(reason))
    return dict(zip(ranked, theme.hues, strict=False))


def _mark(
    axes: Axes, x: float, lane: int, record: Any, largest_bytes: int, colours: Mapping[str, str], theme: Theme
) -> None:
    if record.status in _NOT_COMMITTED_MARKS:
        axes.add_line(_not_committed(record.status, theme, [x], [lane]))
        return
    share = math.sqrt(record.added_bytes / largest_bytes) if largest_bytes else 0.0
    axes.plot([x], [lane], "o", markersize=max(_SMALLEST_PT, _LARGEST_PT * share), alpha=0.75,
              color=colours.get(record.reason, theme.muted), markeredgecolor=theme.background,
              markeredgewidth=0.6, clip_on=False, zorder=3)  # fmt: skip


def _not_committed(status: str, theme: Theme, x: list[float], y: list[float]) -> Line2D:
    colour = theme.muted if status == "noop" else theme.alarm
    return Line2D(x, y, linestyle="", marker=_NOT_COMMITTED_MARKS[status], markersize=4.5,
                  markeredgecolor=colour, markerfacecolor="none", markeredgewidth=1.1, clip_on=False,
                  zorder=4)  # fmt: skip


def _key(records: list[Any], colours: Mapping[str, str], theme: Theme) -> list[tuple[Line2D, str]]:
    shown = {**colours, _OTHER: theme.muted}
    needed = dict.fromkeys(r.reason if r.reason in colours else _OTHER for r in records if r.status == "ok")
    reasons = [
        (Line2D([4], [3.5], linestyle="", marker="o", markersize=6, color=shown[reason]), reason)
        for reason in shown
        if reason in needed
    ]
    statuses = [status for status in _NOT_COMMITTED_MARKS if any(r.status == status for r in records)]
    return reasons + [
        (_not_committed(status, theme, [4], [3.5]), _NOT_COMMITTED_WORDS[status]) for status in statuses
    ]
