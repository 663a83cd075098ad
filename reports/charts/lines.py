"""Lines over scenario time: a median per strategy, the band that its runs span, and its name at the end."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from reports.charts.canvas import belongs, root, time_axis, write_label
from reports.charts.hints import hint
from reports.charts.placing import spread
from reports.charts.theme import Theme, traits
from reports.data.group import RunGroup

MOST_POINTS = 900  # of one line, about one and a half per pixel of a chart: more only make a page heavy
_LABEL_GAP_PT = 11.5


def draw_lines(
    axes: Axes, bands: Mapping[str, pd.DataFrame], group: RunGroup, theme: Theme, *, scale: float = 1.0,
    is_stepped: bool = False, has_marks: bool = False, hint_text: Callable[[Any], str] | None = None,
) -> Mapping[str, float]:  # fmt: skip
    """Draw `median` and, if a frame has them, `min` to `max` of each strategy over `at_ms`, times `scale`.

    `hint_text` makes the hint of a point from its row. Returns the last value of each line, for `label_ends`.
    """
    styles, unit_ms = traits(group.strategies, theme), time_axis(axes, group.manifest.duration_ms, theme)
    for label in (label for label in group.strategies if label in bands):
        line, trait = thinned(bands[label], "median"), styles[label]
        at, median = line["at_ms"] / unit_ms, line["median"] * scale
        artists: list[Artist] = []
        if "min" in line and (line["min"] != line["max"]).any():
            step: Literal["post"] | None = "post" if is_stepped else None
            low, high = line["min"] * scale, line["max"] * scale
            artists.append(
                axes.fill_between(at, low, high, color=trait.colour, alpha=0.18, linewidth=0, step=step)
            )
        marks: dict[str, Any] = {"marker": trait.mark, "markersize": 3, "clip_on": False} if has_marks else {}
        drawstyle = "steps-post" if is_stepped else None
        artists += axes.plot(at, median, color=trait.colour, linestyle=trait.dash, linewidth=trait.width_pt,
                             drawstyle=drawstyle, **marks)  # fmt: skip
        belongs(artists, label, theme)
        if hint_text is not None:
            hint(axes, label, zip(at, median, map(hint_text, line.itertuples()), strict=True), theme)
    return {label: float(of_runs["median"].iloc[-1]) * scale for label, of_runs in bands.items()}


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


def thinned(line: pd.DataFrame, value: str, most: int = MOST_POINTS) -> pd.DataFrame:
    """The rows of a line that show its shape: of each stretch the first, lowest, highest and last.

    If columns `min` and `max` differ, each row has the extremes of its whole stretch, so that a band never
    hides a value. Lines of at most `most` rows stay as they are.
    """
    if len(line) <= most:
        return line
    stretch = math.ceil(len(line) / (most // 4))
    has_band = {"min", "max"} <= set(line) and bool((line["min"] < line["max"]).any())
    values = _stretches(line[value], stretch)
    ends = np.arange(len(values)) * stretch
    shown = [
        ends,
        ends + np.where(np.isnan(values), np.inf, values).argmin(axis=1),
        ends + np.where(np.isnan(values), -np.inf, values).argmax(axis=1),
        np.minimum(ends + stretch, len(line)) - 1,
    ]
    places = np.unique(np.concatenate(shown))
    outline = line.iloc[places].reset_index(drop=True)
    if not has_band:
        return outline
    lowest, highest = (
        extreme.reduce(_stretches(line[name], stretch), axis=1)[places // stretch]
        for name, extreme in (("min", np.fmin), ("max", np.fmax))
    )
    return outline.assign(min=lowest, max=highest)


def _stretches(values: "pd.Series[float]", length: int) -> np.ndarray:
    """The values, a row for each stretch; the last one is filled up with NaN."""
    missing = -len(values) % length
    return np.pad(values.to_numpy(dtype=float), (0, missing), constant_values=np.nan).reshape(-1, length)
