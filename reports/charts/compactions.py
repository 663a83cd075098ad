"""When each strategy compacted, how much, and why."""

import math
from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from bench.results.records import CompactionRecord
from reports.charts.canvas import head, key_row, left_margin, new_figure, nothing_to_draw, time_axis, write
from reports.load import Section
from reports.text import format_bytes
from reports.theme import Theme, chart_label

_LANE_IN = 0.42
_LARGEST_PT = 15.0  # diameter of the largest mark
_SMALLEST_PT = 3.5
_OTHER = "other reasons"
_MISSED = {"noop": "o", "failed": "x", "vetoed": "s"}
_MISSED_MEANING = {"noop": "committed nothing", "failed": "failed", "vetoed": "vetoed"}


def draw(data: Section, theme: Theme) -> Figure:
    """One lane a strategy, one mark a compaction of its first usable run, the area by bytes written."""
    lanes = {label: run.of(CompactionRecord) for label, run in data.first_runs.items()}
    everything = [record for made in lanes.values() for record in made]
    if not everything:
        return nothing_to_draw(theme, "no strategy compacted")
    figure = new_figure(theme, 0.85 + _LANE_IN * len(lanes), left=left_margin(data.strategies), right=0.98)
    axes, colours = figure.axes[0], _colours(everything, theme)
    largest_bytes = max(record.added_bytes for record in everything)
    unit_ms = time_axis(axes, data.manifest.duration_ms, theme)
    axes.set_ylim(len(lanes) - 0.5, -0.5)
    axes.set_yticks(range(len(lanes)), labels=[])
    for lane, (label, made) in enumerate(lanes.items()):
        write(axes, -0.012, 1 - (lane + 0.5) / len(lanes), chart_label(label), theme.ink, ha="right")
        for record in made:
            _mark(axes, record.at_ms / unit_ms, lane, record, largest_bytes, colours, theme)
    head(axes, f"area: bytes written, at most {format_bytes(largest_bytes)}", theme)
    key_row(axes, _key(everything, colours, theme), theme)
    return figure


def _colours(records: list[Any], theme: Theme) -> Mapping[str, str]:
    """A hue for each reason, the commonest first; what is beyond the hues shares the muted colour."""
    reasons = [record.reason for record in records if record.status == "ok"]
    ranked = sorted(dict.fromkeys(reasons), key=lambda reason: -reasons.count(reason))
    return dict(zip(ranked, theme.hues, strict=False))


def _mark(
    axes: Axes, x: float, lane: int, record: Any, largest_bytes: int, colours: Mapping[str, str], theme: Theme
) -> None:
    if record.status in _MISSED:
        axes.add_line(_missed(record.status, theme, [x], [lane]))
        return
    share = math.sqrt(record.added_bytes / largest_bytes) if largest_bytes else 0.0
    axes.plot([x], [lane], "o", markersize=max(_SMALLEST_PT, _LARGEST_PT * share), alpha=0.75,
              color=colours.get(record.reason, theme.muted), markeredgecolor=theme.background,
              markeredgewidth=0.6, clip_on=False, zorder=3)  # fmt: skip


def _missed(status: str, theme: Theme, x: list[float], y: list[float]) -> Line2D:
    colour = theme.muted if status == "noop" else theme.alarm
    return Line2D(x, y, linestyle="", marker=_MISSED[status], markersize=4.5, markeredgecolor=colour,
                  markerfacecolor="none", markeredgewidth=1.1, clip_on=False, zorder=4)  # fmt: skip


def _key(records: list[Any], colours: Mapping[str, str], theme: Theme) -> list[tuple[Line2D, str]]:
    shown = {**colours, _OTHER: theme.muted}
    needed = dict.fromkeys(r.reason if r.reason in colours else _OTHER for r in records if r.status == "ok")
    reasons = [
        (Line2D([4], [3.5], linestyle="", marker="o", markersize=6, color=shown[reason]), reason)
        for reason in shown
        if reason in needed
    ]
    statuses = [status for status in _MISSED if any(r.status == status for r in records)]
    return reasons + [(_missed(status, theme, [4], [3.5]), _MISSED_MEANING[status]) for status in statuses]
