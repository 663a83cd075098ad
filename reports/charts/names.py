"""Names of strategies next to their points."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.offsetbox import AnnotationBbox, HPacker, TextArea

from reports.charts.canvas import FONT_PT, belongs, root
from reports.charts.placing import Place, Spot, beside
from reports.charts.theme import Theme

_NOT_TOLD_APART = " = "
_ENDS = {"left": 0.0, "center": 0.5, "right": 1.0}
Line = Sequence[Spot]


@dataclass(frozen=True, slots=True)
class Name:
    """A label for the point at these data coordinates.

    `not_told_apart` are further strategies that it names, each with its text; `others` is where they are.
    """

    at: Spot
    text: str
    colour: str
    not_told_apart: tuple[tuple[str, str], ...] = ()
    others: tuple[Spot, ...] = ()

    @property
    def whole(self) -> str:
        return _NOT_TOLD_APART.join((self.text, *(text for _, text in self.not_told_apart)))


def write_names(axes: Axes, names: Mapping[str, Name], theme: Theme, lines: Sequence[Line] = ()) -> None:
    """The name of each strategy, where it covers neither a point nor another name, nor a line if possible.

    Scales and limits must be set: they decide where there is room.
    """
    extent, pt = axes.get_window_extent(), 72 / root(axes).dpi
    within = (extent.x0 * pt, extent.y0 * pt, extent.x1 * pt, extent.y1 * pt)
    placed = beside(
        _in_points(axes, [name.at for name in names.values()]),
        [name.whole for name in names.values()],
        within,
        [_in_points(axes, line) for line in lines],
        _in_points(axes, [spot for name in names.values() for spot in name.others]),
    )
    for (strategy, name), place in zip(names.items(), placed, strict=True):
        _write(axes, strategy, name, place, theme)


def _write(axes: Axes, strategy: str, name: Name, place: Place, theme: Theme) -> None:
    near_end = (0.5, 0.0 if place.dy > 0 else 1.0) if place.side == "center" else (_ENDS[place.side], 0.5)
    leader: dict[str, Any] = {"arrowstyle": "-", "color": theme.muted, "linewidth": 0.6,
                              "relpos": near_end, "shrinkA": 1, "shrinkB": 4}  # fmt: skip
    how: dict[str, Any] = {"annotation_clip": False, "arrowprops": leader if place.is_far else None}
    if name.not_told_apart:
        _write_several(axes, [(strategy, name.text), *name.not_told_apart], name, place, theme, how)
        return
    text = axes.annotate(
        name.text, name.at, xytext=(place.dx, place.dy), textcoords="offset points", ha=place.side,
        va="center", fontsize=FONT_PT, color=name.colour, parse_math=False, **how,
    )  # fmt: skip
    belongs([text], strategy, theme, is_name=True)


def _write_several(
    axes: Axes, texts: Sequence[tuple[str, str]], name: Name, place: Place, theme: Theme, how: dict[str, Any]
) -> None:
    """A text for each strategy of a label, which a page can strike out alone, with signs between them."""
    areas = [_area(text, name.colour) for _, text in texts]
    signs = [*(_area(_NOT_TOLD_APART.strip(), theme.muted) for _ in texts[1:]), None]
    packed: list[Artist] = [
        area for pair in zip(areas, signs, strict=True) for area in pair if area is not None
    ]
    box = HPacker(children=packed, pad=0, sep=FONT_PT / 3, align="baseline")
    axes.add_artist(AnnotationBbox(
        box, name.at, xybox=(place.dx, place.dy), boxcoords="offset points", frameon=False, pad=0.05,
        box_alignment=(_ENDS[place.side], 0.5), **how,
    ))  # fmt: skip
    for (label, _), area in zip(texts, areas, strict=True):
        belongs(area.get_children(), label, theme, is_name=True)


def _area(text: str, colour: str) -> TextArea:
    return TextArea(text, textprops={"fontsize": FONT_PT, "color": colour, "parse_math": False})


def _in_points(axes: Axes, spots: Sequence[Spot]) -> list[Spot]:
    """From the axes' data to typographic points on the figure."""
    if not spots:
        return []
    pixels = axes.transData.transform(np.array(spots)) * 72 / root(axes).dpi
    return [(float(x), float(y)) for x, y in pixels]
