"""Names of strategies next to their points."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes

from reports.charts.canvas import FONT_PT, belongs, root
from reports.charts.placing import Spot, beside
from reports.charts.theme import Theme


@dataclass(frozen=True, slots=True)
class Name:
    """A label for the point at these data coordinates."""

    at: Spot
    text: str
    colour: str


def write_names(axes: Axes, names: Mapping[str, Name], theme: Theme, line: Sequence[Spot] = ()) -> None:
    """The name of each strategy, where it covers neither a point nor another name, nor `line` if possible.

    Scales and limits must be set: they decide where there is room.
    """
    extent, pt = axes.get_window_extent(), 72 / root(axes).dpi
    within = (extent.x0 * pt, extent.y0 * pt, extent.x1 * pt, extent.y1 * pt)
    spots = _in_points(axes, [name.at for name in names.values()])
    placed = beside(spots, [name.text for name in names.values()], within, _in_points(axes, line))
    for (strategy, name), place in zip(names.items(), placed, strict=True):
        near_end = 1.0 if place.side == "right" else 0.0
        leader = {"arrowstyle": "-", "color": theme.muted, "linewidth": 0.6, "relpos": (near_end, 0.5),
                  "shrinkA": 1, "shrinkB": 4}  # fmt: skip
        written = axes.annotate(
            name.text, name.at, xytext=(place.dx, place.dy), va="center", ha=place.side,
            textcoords="offset points", fontsize=FONT_PT, color=name.colour,
            bbox={"facecolor": theme.background, "edgecolor": "none", "pad": 0.6},
            arrowprops=leader if place.is_far else None, parse_math=False, annotation_clip=False,
        )  # fmt: skip
        belongs([written], strategy, theme, is_name=True)


def _in_points(axes: Axes, spots: Sequence[Spot]) -> list[Spot]:
    """From the axes' data to typographic points on the figure."""
    if not spots:
        return []
    pixels = axes.transData.transform(np.array(spots)) * 72 / root(axes).dpi
    return [(float(x), float(y)) for x, y in pixels]
