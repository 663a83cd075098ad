"""Query latency over scenario time, with the compactions under its axis."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bench.results.metrics import LATENCY
from bench.results.records import CompactionRecord
from bench.text import human_duration
from reports.charts.canvas import (
    belongs,
    head,
    latency_of,
    new_figure,
    nothing_to_draw,
    right_margin,
    root,
    scale_note,
    time_unit,
    value_axis,
)
from reports.charts.every_point import keep_every_point
from reports.charts.lines import draw_lines, label_ends
from reports.charts.theme import Theme, traits
from reports.data.formats import part_name
from reports.data.frames import band, latency
from reports.data.group import RunGroup
from reports.phrases import Sentence, named_figures, say, sentence, spanned
from reports.text import duration_unit
from reports.verdicts.pareto_front import points

_LANE_PT = 6.0  # one lane of compaction marks under the axis
_TICK_PT = 1.2
_MOST_MARKS = 600  # of a lane; for more, so many steps of time have any or none


def draw(group: RunGroup, theme: Theme) -> Figure:
    """The settled primary query: median over the repetitions, band from the fastest to the slowest."""
    bands = band(latency(group), "wall_s")
    if not bands or latency(group)["wall_s"].isna().all():
        return nothing_to_draw(theme, "no query latency was recorded")
    lanes = _compactions(group)
    below_in = (len(lanes) * _LANE_PT + 4) / 72 if lanes else 0.0
    figure = new_figure(theme, 3.8 + below_in, right=right_margin(group.strategies), below_in=below_in)
    axes = figure.axes[0]
    factor, unit = duration_unit(latency(group)["wall_s"].max())
    ends = draw_lines(axes, bands, group, theme, scale=factor, hint_text=_hint)
    value_axis(axes, (latency(group)["wall_s"] * factor).tolist())
    head(axes, f"{latency_of(group)} ({unit}{scale_note(axes.get_yscale())})", theme)
    label_ends(axes, ends, group.strategies, theme)
    _mark_compactions(axes, lanes, group, theme)
    return figure


def _hint(point: Any) -> str:
    span = f" ({human_duration(point.min)} to {human_duration(point.max)})" if point.min < point.max else ""
    return f"{human_duration(point.at_ms / 1000)}: {human_duration(point.median)}{span}"


def finding(group: RunGroup) -> Sentence:
    """The last median of each strategy that has one, in the order of the scenario."""
    bands = band(latency(group), "wall_s")
    ends = {label: float(bands[label]["median"].iloc[-1]) for label in group.strategies if label in bands}
    return named_figures(
        "At the end: ",
        ((label, human_duration(end_s)) for label, end_s in ends.items() if not math.isnan(end_s)),
    )


def message(group: RunGroup) -> Sentence:
    """The lowest and the highest mean of the strategies to choose from, which are of one format.

    Those that do nothing else than `never` before the last tick are left out.
    """
    idle = {point.strategy for point in points(group) if point.is_idle}
    means = [
        (row.strategy, mean_s, human_duration(mean_s))
        for row in group.choices
        if row.strategy not in idle and (mean_s := row.values[LATENCY]) is not None
    ]
    if not means:
        return say()
    of_format = f", {part_name(group.parts[0], group)}" if len(group.parts) > 1 else ""
    over = "time" if group.manifest.query_weights is None else "those that arrive"
    return sentence(
        "Mean query over {over}{format}: {range}", over=over, format=of_format, range=spanned(means)
    )


def _compactions(group: RunGroup) -> dict[str, list[float]]:
    """When each strategy compacted in its first usable run, in scenario milliseconds."""
    times = {
        label: run.of(CompactionRecord).having(status="ok").column("at_ms").tolist()
        for label, run in group.first_runs.items()
    }
    return {label: at_ms for label, at_ms in times.items() if at_ms}


def _mark_compactions(axes: Axes, lanes: dict[str, list[float]], group: RunGroup, theme: Theme) -> None:
    if not lanes:
        return
    axes.tick_params(axis="x", pad=len(lanes) * _LANE_PT + 5, length=0)
    height_pt = axes.get_window_extent().height * 72 / root(axes).dpi
    styles, (unit_ms, _) = traits(group.strategies, theme), time_unit(group.manifest.duration_ms)
    for lane, (label, at_ms) in enumerate(lanes.items()):
        low, high = (-(lane + share) * _LANE_PT / height_pt for share in (1.25, 0.5))
        is_dense = len(at_ms) > _MOST_MARKS
        marks = [(t, t, low, high) for t in at_ms]
        if is_dense:
            middle = (low + high) / 2
            marks = [(*span, middle, middle) for span in _spans(at_ms, group.manifest.duration_ms)]
        x = [t / unit_ms for start, end, *_ in marks for t in (start, end, math.nan)]
        y = [place for *_, first, last in marks for place in (first, last, math.nan)]
        drawn = axes.plot(x, y, color=styles[label].colour, transform=axes.get_xaxis_transform(),
                          linewidth=(high - low) * height_pt if is_dense else _TICK_PT,
                          solid_capstyle="butt", clip_on=False)  # fmt: skip
        belongs(drawn, label, theme)
        if is_dense:
            times, heights = np.repeat(at_ms, 3), np.tile([low, high, math.nan], len(at_ms))
            trait = replace(styles[label], dash="-", width_pt=_TICK_PT)
            keep_every_point(drawn[0], label, times, heights, trait, group.manifest.duration_ms, theme,
                             axes.get_xaxis_transform())  # fmt: skip


def _spans(at_ms: Sequence[float], duration_ms: int) -> list[tuple[float, float]]:
    """From when to when each step of time, or several in a row, has any of these times."""
    step_ms = duration_ms / _MOST_MARKS
    taken = {min(int(t / step_ms), _MOST_MARKS - 1) for t in at_ms}
    starts = sorted(step for step in taken if step - 1 not in taken)
    ends = sorted(step + 1 for step in taken if step + 1 not in taken)
    return [(start * step_ms, end * step_ms) for start, end in zip(starts, ends, strict=True)]
