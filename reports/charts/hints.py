"""The values of a chart's points, which a page shows when the pointer is over one."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from weakref import WeakKeyDictionary
from xml.sax.saxutils import escape

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reports.charts.canvas import root
from reports.charts.theme import Theme, chart_label, number

MOST_HINTS = 120  # of one line: more would lie on top of each other
_RADIUS_PT = 5.0


@dataclass(frozen=True, slots=True)
class _Hints:
    """The points of one strategy in one axes, in its data coordinates, each with its text."""

    axes: Axes
    place: int
    points: tuple[tuple[float, float, str], ...]


_OF_FIGURES: WeakKeyDictionary[Figure, list[_Hints]] = WeakKeyDictionary()


def hint(axes: Axes, label: str, points: Iterable[tuple[float, float, str]], theme: Theme) -> None:
    """Give points of a strategy (x, y, text) a hint: its name and the text. Gaps have none."""
    place = number(label, theme)
    if place is None:
        return
    known = [point for point in points if math.isfinite(point[0]) and math.isfinite(point[1])]
    step = math.ceil(len(known) / MOST_HINTS) or 1
    named = tuple((x, y, f"{chart_label(label)}, {text}") for x, y, text in known[::step])
    _OF_FIGURES.setdefault(root(axes), []).append(_Hints(axes, place, named))


def hints_of(figure: Figure) -> str:
    """SVG elements for the hints of a figure, in points from its upper left corner."""
    pt, height_pt = 72 / figure.dpi, figure.get_figheight() * 72
    elements: list[str] = []
    for hints in _OF_FIGURES.get(figure, ()):
        elements.append(f'<g class="hints" data-strategy="{hints.place}">')
        for x, y, text in hints.points:
            at_x, at_y = hints.axes.transData.transform((x, y)) * pt
            circle = f'<circle cx="{at_x:.1f}" cy="{height_pt - at_y:.1f}" r="{_RADIUS_PT:g}">'
            elements.append(f"{circle}<title>{escape(text)}</title></circle>")
        elements.append("</g>")
    return "".join(elements)
