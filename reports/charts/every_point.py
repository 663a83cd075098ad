"""Every point of long series, from which a page draws a part of the time that has been enlarged.

A chart shows such series in steps. Their points are packed: as whole numbers, as differences between
neighbours, and by zlib, which takes some 5 KB for the 14,400 minutes of ten days.
"""

import base64
import zlib
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import Transform

from reports.charts.canvas import root
from reports.charts.over_time import is_outline, place_of_panel
from reports.charts.theme import Theme, Trait, number

_PER_POINT = 20  # heights are whole twentieths of a typographic point
_GAP = 0  # in place of a height: the upper edge of the chart, where nothing is drawn


@dataclass(frozen=True, slots=True)
class _Series:
    axes: Axes
    place: int  # of the strategy on its page
    at_ms: np.ndarray
    heights: np.ndarray
    transform: Transform
    trait: Trait
    end_ms: int


_OF_FIGURES: WeakKeyDictionary[Figure, list[_Series]] = WeakKeyDictionary()


def keep_every_point(
    outline: Artist, label: str, at_ms: np.ndarray, heights: np.ndarray, trait: Trait, end_ms: int,
    theme: Theme, transform: Transform | None = None,
) -> None:  # fmt: skip
    """Keep the points that an artist shows in steps; a height of NaN is a gap.

    Heights are in the coordinates of `transform`, or else in those of the axes' data.
    """
    place = number(label, theme)
    axes = outline.axes
    if place is None or not isinstance(axes, Axes):
        return
    is_outline(outline)
    series = _Series(axes, place, at_ms.astype(np.int64), heights, transform or axes.transData, trait, end_ms)
    _OF_FIGURES.setdefault(root(axes), []).append(series)


def every_point_of(figure: Figure) -> str:
    """SVG elements that hold the points of a figure, each for the outline of its strategy in its panel."""
    return "".join(map(_element, _OF_FIGURES.get(figure, ())))


def _element(series: _Series) -> str:
    figure, trait = root(series.axes), series.trait
    pixels = series.transform.transform(np.column_stack([np.zeros(len(series.heights)), series.heights]))
    from_top = figure.get_figheight() * 72 - pixels[:, 1] * 72 / figure.dpi
    heights = np.where(np.isnan(from_top), _GAP, np.rint(from_top * _PER_POINT)).astype(np.int64)
    tick_ms = int(np.gcd.reduce(np.append(series.at_ms, series.end_ms)))
    packed = zlib.compress(np.concatenate([_steps(series.at_ms // tick_ms), _steps(heights)]).tobytes(), 9)
    points = f"{series.end_ms // tick_ms}|{base64.b64encode(packed).decode()}"
    dashes = "" if isinstance(trait.dash, str) else " ".join(f"{d * trait.width_pt:g}" for d in trait.dash[1])
    dashed = f"; stroke-dasharray: {dashes}" if dashes else ""
    data = f'data-panel="{place_of_panel(figure, series.axes)}" data-points="{points}"'
    style = f"fill: none; stroke: {trait.colour}; stroke-width: {trait.width_pt:g}{dashed}"
    return f'<path class="every-point" data-strategy="{series.place}" {data} style="{style}"/>'


def _steps(values: np.ndarray) -> np.ndarray:
    """The first value, and how much each differs from the one before."""
    return np.diff(values, prepend=0).astype("<i4")
