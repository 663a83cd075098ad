"""Query latency over scenario time, with the compactions under its axis."""

import math
from collections.abc import Iterator

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bench.results.records import CompactionRecord
from bench.text import human_duration
from reports.charts.canvas import (
    belongs,
    head,
    label_ends,
    new_figure,
    nothing_to_draw,
    right_margin,
    root,
    scale_note,
    shade,
    time_axis,
    value_axis,
)
from reports.charts.hints import hint
from reports.charts.theme import Theme, traits
from reports.charts.thinning import thinned
from reports.data.frames import band, latency
from reports.data.group import RunGroup
from reports.phrases import Sentence, Verbatim, joined, say
from reports.text import duration_unit

_LANE_PT = 6.0  # one lane of compaction marks under the axis
_MOST_MARKS = 300  # of a lane; more are rounded to this many places


def draw(group: RunGroup, theme: Theme) -> Figure:
    """The settled primary query: median over the repetitions, band from the fastest to the slowest."""
    bands = band(latency(group), "wall_s")
    if not bands or latency(group)["wall_s"].isna().all():
        return nothing_to_draw(theme, "no query latency was recorded")
    lanes = _compactions(group)
    below_in = (len(lanes) * _LANE_PT + 4) / 72 if lanes else 0.0
    figure = new_figure(theme, 3.8 + below_in, right=right_margin(group.strategies), below_in=below_in)
    axes, styles = figure.axes[0], traits(group.strategies, theme)
    unit_ms = time_axis(axes, group.manifest.duration_ms, theme)
    factor, unit = duration_unit(latency(group)["wall_s"].max())
    for label, of_runs in bands.items():
        line, trait = thinned(of_runs, "median"), styles[label]
        at = line["at_ms"] / unit_ms
        spread = shade(axes, at, line, factor, trait.colour)
        middle = axes.plot(at, line["median"] * factor, color=trait.colour, linestyle=trait.dash,
                           linewidth=trait.width_pt)  # fmt: skip
        belongs([*spread, *middle], label, theme)
        hint(axes, label, _hints(line, unit_ms, factor), theme)
    value_axis(axes, (latency(group)["wall_s"] * factor).tolist())
    head(axes, f"latency of the primary query ({unit}{scale_note(axes.get_yscale())})", theme)
    ends = {label: of_runs["median"].iloc[-1] * factor for label, of_runs in bands.items()}
    label_ends(axes, ends, styles, theme)
    _mark_compactions(axes, lanes, unit_ms, group, theme)
    return figure


def _hints(line: pd.DataFrame, unit_ms: int, factor: float) -> Iterator[tuple[float, float, str]]:
    for at_ms, middle, low, high in zip(line["at_ms"], line["median"], line["min"], line["max"], strict=True):
        text = f"{human_duration(at_ms / 1000)}: {human_duration(middle)}"
        spread = f" ({human_duration(low)} to {human_duration(high)})" if low < high else ""
        yield at_ms / unit_ms, middle * factor, text + spread


def finding(group: RunGroup) -> Sentence:
    bands = band(latency(group), "wall_s")
    ends = {label: float(of_runs["median"].iloc[-1]) for label, of_runs in bands.items()}
    known = [say(Verbatim(label), f" {human_duration(s)}") for label, s in ends.items() if not math.isnan(s)]
    return say("At the end: ") + joined(known) + say(".") if known else say()


def _compactions(group: RunGroup) -> dict[str, list[int]]:
    """When each strategy compacted in its first usable run, in scenario milliseconds."""
    times = {
        label: [c.at_ms for c in run.of(CompactionRecord) if c.status == "ok"]
        for label, run in group.first_runs.items()
    }
    return {label: at_ms for label, at_ms in times.items() if at_ms}


def _mark_compactions(
    axes: Axes, lanes: dict[str, list[int]], unit_ms: int, group: RunGroup, theme: Theme
) -> None:
    if not lanes:
        return
    axes.tick_params(axis="x", pad=len(lanes) * _LANE_PT + 5, length=0)
    height_pt = axes.get_window_extent().height * 72 / root(axes).dpi
    styles, step = traits(group.strategies, theme), group.manifest.duration_ms / _MOST_MARKS
    for lane, (label, at_ms) in enumerate(lanes.items()):
        low, high = (-(lane + share) * _LANE_PT / height_pt for share in (1.25, 0.5))
        places = at_ms if len(at_ms) <= _MOST_MARKS else sorted({round(t / step) * step for t in at_ms})
        marks = axes.vlines([t / unit_ms for t in places], low, high, color=styles[label].colour,
                            linewidth=1.2, transform=axes.get_xaxis_transform(), clip_on=False)  # fmt: skip
        belongs([marks], label, theme)
