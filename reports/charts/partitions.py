"""When each strategy compacted which partitions, and the delete files that waited there."""

import math
from collections.abc import Iterator, Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import Locator

from bench.results.folders import RunResult
from bench.results.records import CompactionRecord, ObserveRecord
from bench.text import counted
from reports.charts.canvas import (
    FONT_PT,
    SLIDE_IN,
    SOURCE_IN,
    TITLE_IN,
    WIDTH_IN,
    belongs,
    time_locator,
    time_unit,
    write_label,
)
from reports.charts.over_time import stands_for_time
from reports.charts.placing import CHARACTER_PT
from reports.charts.theme import Theme, chart_label, traits
from reports.data.group import RunGroup
from reports.phrases import Sentence, named_figures

_COLUMNS = 3
_LANE_IN = 0.15
_HEAD_IN = 0.5  # between panels, for the name of one and the axis of another
_ABOVE_IN, _BELOW_IN = 0.35, 0.5  # the panels
_TICK_PT = 7.5
_LABEL_IN = 0.13  # of height that the name of a lane needs
_MOST_PARTITIONS = 30
_BACKLOG_SHARE = 0.85  # of a lane that the largest backlog takes

_Lanes = Mapping[str, int]  # the lane of each partition


def applies(group: RunGroup) -> bool:
    """Whether strategies differ in which of a few partitions they compact."""
    rewritten = {frozenset(places) for places in _rewritten(group).values() if places}
    names = {partition for places in rewritten for _, partition in places}
    return 1 < len(names) <= _MOST_PARTITIONS and len(rewritten) > 1


def draw(group: RunGroup, theme: Theme) -> Figure:
    """A panel for each strategy that compacts: a lane per partition, a mark per compaction of it."""
    rewritten = {label: places for label, places in _rewritten(group).items() if places}
    backlogs = {label: _backlogs(group.first_runs[label]) for label in rewritten}
    named = {name for places in rewritten.values() for _, name in places}
    names = sorted(named.union(*(backlog.keys() for backlog in backlogs.values())), reverse=True)
    lanes = {name: lane for lane, name in enumerate(names)}
    rows = max(1, math.ceil(len(rewritten) / _COLUMNS))
    panel_in = max(0.1, _LANE_IN * len(lanes))
    above_in, below_in = _ABOVE_IN, _BELOW_IN
    height_in = above_in + below_in + rows * panel_in + (rows - 1) * _HEAD_IN
    if theme.is_slide:
        above_in, below_in, height_in = above_in + TITLE_IN, below_in + SOURCE_IN, SLIDE_IN[1]
        panel_in = (height_in - above_in - below_in - (rows - 1) * _HEAD_IN) / rows
    figure = Figure(figsize=(WIDTH_IN, height_in), facecolor=theme.background)
    panels = figure.subplots(rows, _COLUMNS, squeeze=False, sharex=True, sharey=True, gridspec_kw={
        "left": _left(names), "right": 0.98, "top": 1 - above_in / height_in,
        "bottom": below_in / height_in, "hspace": _HEAD_IN / panel_in, "wspace": 0.06,
    }).flatten()  # fmt: skip
    every = math.ceil(_LABEL_IN * len(lanes) / panel_in)
    unit_ms, unit = time_unit(group.manifest.duration_ms)
    highest = _highest(backlogs)
    end = group.manifest.duration_ms / unit_ms
    for axes, (label, places) in zip(panels, rewritten.items(), strict=False):
        _prepare(axes, lanes, every, end, time_locator(unit, end, 5), theme)
        stands_for_time(axes, unit)
        write_label(axes, 0.0, 1 + 0.13 / panel_in, label, theme, ha="left")
        _draw_backlogs(axes, lanes, backlogs[label], highest, unit_ms, theme)
        style = traits(group.strategies, theme)[label]
        marks = axes.plot(
            [at_ms / unit_ms for at_ms, _ in places], [lanes[name] for _, name in places], "o",
            color=style.colour, markersize=4, clip_on=False, zorder=3,
        )  # fmt: skip
        belongs(marks, label, theme)
    for axes in panels[len(rewritten) :]:
        axes.set_visible(False)
    for axes in panels[: len(rewritten)][-_COLUMNS:]:
        axes.set_xlabel(f"scenario time ({unit})", fontsize=FONT_PT, color=theme.muted)
    return figure


def finding(group: RunGroup) -> Sentence:
    figures = (
        (label, f"{counted(len(places), 'partition')} in "
                f"{counted(len({at_ms for at_ms, _ in places}), 'compaction')}")
        for label, places in _rewritten(group).items() if places
    )  # fmt: skip
    return named_figures("Partitions rewritten: ", figures)


def _rewritten(group: RunGroup) -> Mapping[str, Sequence[tuple[int, str]]]:
    """Times and partitions of the compactions that committed in the first run of each strategy."""
    return {label: list(_places(run)) for label, run in group.first_runs.items()}


def _places(run: RunResult) -> Iterator[tuple[int, str]]:
    done = run.of(CompactionRecord).having(status="ok")
    for at_ms, partitions in zip(*(done.column(x).tolist() for x in ("at_ms", "partitions")), strict=True):
        for partition in partitions or ():
            yield at_ms, partition


def _backlogs(run: RunResult) -> Mapping[str, Sequence[tuple[int, int]]]:
    """Bytes of delete files after each commit and compaction, by partition: (at_ms, bytes)."""
    records = run.of(ObserveRecord)
    values = (records.column(name).tolist() for name in ("at_ms", "delete_bytes_by_partition"))
    observed = [(at_ms, sizes) for at_ms, sizes in zip(*values, strict=True) if sizes is not None]
    names = {name for _, sizes in observed for name in sizes}
    return {name: [(at_ms, sizes.get(name, 0)) for at_ms, sizes in observed] for name in sorted(names)}


def _highest(backlogs: Mapping[str, Mapping[str, Sequence[tuple[int, int]]]]) -> Mapping[str, int]:
    highest: dict[str, int] = {}
    for of_strategy in backlogs.values():
        for name, points in of_strategy.items():
            highest[name] = max(highest.get(name, 0), *(size_bytes for _, size_bytes in points))
    return highest


def _left(names: Sequence[str]) -> float:
    """The share of the width that the longest name of a partition needs."""
    longest = max((len(chart_label(name)) for name in names), default=0)
    return (longest * CHARACTER_PT * _TICK_PT / FONT_PT + 12) / (WIDTH_IN * 72)


def _prepare(axes: Axes, lanes: _Lanes, every: int, end: float, ticks: Locator, theme: Theme) -> None:
    """The bare axes of a panel, with a name at `every` so many lanes."""
    axes.set_facecolor(theme.background)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(theme.muted)
    axes.set_xlim(0, end)
    axes.xaxis.set_major_locator(ticks)
    axes.set_ylim(len(lanes) - 0.5, -0.5)
    named = [(lane, chart_label(name) or "all") for name, lane in lanes.items() if lane % every == 0]
    axes.set_yticks([lane for lane, _ in named], labels=[text for _, text in named], parse_math=False)
    axes.tick_params(labelsize=_TICK_PT, labelcolor=theme.muted, color=theme.grid, length=2, labelbottom=True)


def _draw_backlogs(
    axes: Axes, lanes: _Lanes, backlogs: Mapping[str, Sequence[tuple[int, int]]],
    highest: Mapping[str, int], unit_ms: int, theme: Theme,
) -> None:  # fmt: skip
    """The bytes of delete files over time, as the outline of each lane, each partition to its own scale."""
    for name, points in backlogs.items():
        base, most = lanes[name] + _BACKLOG_SHARE / 2, max(1, highest[name])
        at = [at_ms / unit_ms for at_ms, _ in points]
        heights = [base - _BACKLOG_SHARE * size_bytes / most for _, size_bytes in points]
        axes.fill_between(at, base, heights, step="post", color=theme.muted, alpha=0.3, linewidth=0, zorder=1)
