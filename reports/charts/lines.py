"""Lines over scenario time: a median per strategy, the band that its runs span, and its name at the end.

A line of very many points is an area from the lowest to the highest of each stretch of time. Joined points
would show a rhythm that is not there, both at a distance and enlarged.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from reports.charts.canvas import belongs, root, time_axis, write_label
from reports.charts.every_point import keep_every_point
from reports.charts.hints import MOST_HINTS, hint
from reports.charts.over_time import drawn_in_steps
from reports.charts.placing import spread
from reports.charts.theme import Theme, Trait, traits
from reports.data.group import RunGroup

_MOST_POINTS = 10_000  # of the lines of one panel
_STRETCHES = 3_000  # of the areas in place of longer lines
_MOST_MARKS = 300  # of a line; more are a line alone
_LABEL_GAP_PT = 11.5


def draw_lines(
    axes: Axes, bands: Mapping[str, pd.DataFrame], group: RunGroup, theme: Theme, *, scale: float = 1.0,
    is_stepped: bool = False, has_marks: bool = False, hint_text: Callable[[Any], str] | None = None,
) -> Mapping[str, float]:  # fmt: skip
    """Draw `median` and, if a frame has them, `min` to `max` of each strategy over `at_ms`, times `scale`.

    `hint_text` makes the hint of a point from its row. Returns the last value of each line, for `label_ends`.
    """
    styles, unit_ms = traits(group.strategies, theme), time_axis(axes, group.manifest.duration_ms, theme)
    duration_ms = group.manifest.duration_ms
    for label in (label for label in group.strategies if label in bands):
        of_runs, trait = bands[label], styles[label]
        is_long = len(of_runs) * len(bands) > _MOST_POINTS
        is_area = is_long and not is_stepped
        line = _shortened(of_runs, len(bands), is_area) if is_long else of_runs
        scaled = line.select_dtypes("number") * scale
        at = line["at_ms"] / unit_ms
        artists: list[Artist] = []
        if "min" in line and (of_runs["min"] != of_runs["max"]).any():
            step: Literal["post"] | None = "post" if is_stepped else None
            artists.append(axes.fill_between(at, scaled["min"], scaled["max"], color=trait.colour, alpha=0.18,
                                             linewidth=0, step=step))  # fmt: skip
        artists += _area(axes, at, scaled, trait) if is_area else _line(
            axes, at, scaled["median"], trait, is_stepped, has_marks and len(line) <= _MOST_MARKS
        )  # fmt: skip
        belongs(artists, label, theme)
        if is_long:
            how = {"how": "areas: lowest to highest of each"} if is_area else {}
            drawn_in_steps(axes, duration_ms / len(line), **how)
            points = (of_runs["at_ms"].to_numpy(), of_runs["median"].to_numpy() * scale)
            at_ms, heights = _as_steps(*points) if is_stepped else points
            keep_every_point(artists[-1], label, at_ms, heights, trait, duration_ms, theme)
        if hint_text is not None:
            known = of_runs[of_runs["median"].notna()]
            some = known.iloc[:: max(1, math.ceil(len(known) / MOST_HINTS))]
            hints = zip(some["at_ms"] / unit_ms, some["median"] * scale, map(hint_text, some.itertuples()),
                         strict=True)  # fmt: skip
            hint(axes, label, hints, theme)
    return {label: float(of_runs["median"].iloc[-1]) * scale for label, of_runs in bands.items()}


def _line(
    axes: Axes, at: "pd.Series[float]", values: "pd.Series[float]", trait: Trait, is_stepped: bool,
    is_marked: bool,
) -> Sequence[Artist]:  # fmt: skip
    marks: dict[str, Any] = {"marker": trait.mark, "markersize": 3, "clip_on": False} if is_marked else {}
    return axes.plot(at, values, color=trait.colour, linestyle=trait.dash, linewidth=trait.width_pt,
                     drawstyle="steps-post" if is_stepped else None, **marks)  # fmt: skip


def _area(axes: Axes, at: "pd.Series[float]", line: pd.DataFrame, trait: Trait) -> Sequence[Artist]:
    colours: dict[str, Any] = {"facecolor": (trait.colour, 0.35), "edgecolor": trait.colour}
    area = axes.fill_between(at, line["lowest"], line["highest"], linewidth=trait.width_pt / 2, **colours)
    return [area]


def label_ends(axes: Axes, ends: Mapping[str, float], strategies: Sequence[str], theme: Theme) -> None:
    """Each strategy's name right of the axes at its last value, moved apart where names would overlap.

    Names of equal values stand in the order of the strategies.
    """
    scale = axes.transScale + axes.transLimits
    heights = {label: float(scale.transform((0, y))[1]) for label, y in ends.items() if y == y}
    axes_height_pt = axes.get_window_extent().height * 72 / root(axes).dpi
    styles = traits(strategies, theme)
    order = sorted(heights, key=lambda label: (heights[label], -strategies.index(label)))
    gap = _LABEL_GAP_PT / axes_height_pt
    centres = spread([heights[label] for label in order], gap)
    # Within the axes: below what is written above them, and above the ticks.
    tops = [1 - (len(order) - 1 - index) * gap for index in range(len(order))]
    lowered = map(min, centres, tops)
    places = [max(centre, (index + 0.3) * gap) for index, centre in enumerate(lowered)]
    for label, place in zip(order, places, strict=True):
        trait, heights_drawn = styles[label], [heights[label], place, place]
        leader = axes.plot([1.003, 1.017, 1.025], heights_drawn, color=trait.colour,
                           linewidth=trait.width_pt, transform=axes.transAxes, clip_on=False)  # fmt: skip
        belongs(leader, label, theme)
        write_label(axes, 1.032, place, label, theme)


def _shortened(line: pd.DataFrame, lines: int, is_area: bool) -> pd.DataFrame:
    """A long line as an area, or as some of its rows, which show a running total as well."""
    length = math.ceil(len(line) * lines / _STRETCHES)
    return outline(line, length) if is_area else pd.concat([line.iloc[:-1:length], line.tail(1)])


def outline(line: pd.DataFrame, length: int) -> pd.DataFrame:
    """Where stretches of `length` rows begin or end, the `lowest` and `highest` median on both sides.

    So no value is outside of an area between them. Columns `min` and `max` have their extremes likewise.
    """
    reduced = {"lowest": ("median", np.fmin), "highest": ("median", np.fmax)}
    if "min" in line:
        reduced |= {"min": ("min", np.fmin), "max": ("max", np.fmax)}
    columns = {}
    for name, (value, extreme) in reduced.items():
        of_stretches = extreme.reduce(_stretches(line[value], length), axis=1)
        first, last = of_stretches[:1], of_stretches[-1:]
        columns[name] = extreme(np.append(first, of_stretches), np.append(of_stretches, last))
    at_ms = line["at_ms"].to_numpy()
    return pd.DataFrame({"at_ms": np.append(at_ms[::length], at_ms[-1]), **columns})


def _as_steps(at: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The corners of a line that keeps each value until the next."""
    return np.repeat(at, 2)[1:], np.repeat(values, 2)[:-1]


def _stretches(values: "pd.Series[float]", length: int) -> np.ndarray:
    """The values, a row for each stretch; the last one is filled up with NaN."""
    missing = -len(values) % length
    return np.pad(values.to_numpy(dtype=float), (0, missing), constant_values=np.nan).reshape(-1, length)
