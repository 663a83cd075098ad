"""Cumulative cost of compaction over scenario time."""

from collections.abc import Callable, Sequence
from operator import attrgetter

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bench.results.folders import RunResult
from bench.results.records import CompactionRecord
from bench.text import byte_unit, human_bytes
from reports.charts.canvas import (
    belongs,
    head,
    label_ends,
    new_figure,
    nothing_to_draw,
    right_margin,
    shade,
    time_axis,
    value_axis,
)
from reports.charts.theme import Theme, traits
from reports.charts.thinning import thinned
from reports.data.cost import COMPACTION_CPU
from reports.data.frames import compactions, cumulative
from reports.data.group import RunGroup
from reports.phrases import Sentence, Verbatim, joined, say
from reports.text import cost_text


def draw(group: RunGroup, theme: Theme) -> Figure:
    """Running totals of compaction seconds (above) and of the bytes compaction wrote (below)."""
    if compactions(group).empty:
        return nothing_to_draw(theme, "no strategy compacted")
    figure = new_figure(theme, 5.6, panels=2, right=right_margin(group.strategies))
    cost = group.compaction_cost
    is_cpu = cost is COMPACTION_CPU
    runs = [run for run in group.timed_runs if not is_cpu or _has_cpu(run)]
    seconds = attrgetter("cost.cpu_s" if is_cpu else "cost.wall_s")
    _panel(figure.axes[0], group, seconds, runs, (1.0, f"cumulative compaction cost ({cost.unit})"), theme)
    figure.axes[0].set_xlabel("")
    unit_bytes, unit = byte_unit(float(compactions(group).groupby("run_id")["added_bytes"].sum().max()))
    scale = (unit_bytes, f"cumulative data written by compaction ({unit})")
    _panel(figure.axes[1], group, attrgetter("change.added_bytes"), group.usable_runs, scale, theme)
    return figure


def _has_cpu(run: RunResult) -> bool:
    return not any(record.cost.is_shared for record in run.of(CompactionRecord))


def finding(group: RunGroup) -> Sentence:
    known = [
        (row.strategy, row.values[group.compaction_cost.metric], row.values["compaction_added_bytes"])
        for row in group.rows
    ]
    parts = [
        say(Verbatim(label), f" {cost_text(cost_s)} and {human_bytes(size_bytes)}")
        for label, cost_s, size_bytes in known
        if cost_s and size_bytes
    ]
    return say("In all: ") + joined(parts) + say(".") if parts else say()


def _panel(
    axes: Axes,
    group: RunGroup,
    value_of: Callable[[CompactionRecord], float],
    runs: Sequence[RunResult],
    scale: tuple[float, str],
    theme: Theme,
) -> None:
    styles, (divisor, title) = traits(group.strategies, theme), scale
    unit_ms = time_axis(axes, group.manifest.duration_ms, theme)
    totals = cumulative(group, value_of, runs)
    for label, of_runs in totals.items():
        line, trait = thinned(of_runs, "median"), styles[label]
        at = line["at_ms"] / unit_ms
        spread = shade(axes, at, line, 1 / divisor, trait.colour, step="post")
        middle = axes.step(at, line["median"] / divisor, where="post", color=trait.colour,
                           linestyle=trait.dash, linewidth=trait.width_pt)  # fmt: skip
        belongs([*spread, *middle], label, theme)
    value_axis(axes, [0.0, *(float(of_runs["max"].max()) / divisor for of_runs in totals.values())])
    head(axes, title, theme)
    ends = {label: of_runs["median"].iloc[-1] / divisor for label, of_runs in totals.items()}
    label_ends(axes, ends, styles, theme)
