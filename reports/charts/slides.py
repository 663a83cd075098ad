"""Charts as slides: 16:9 pictures that need no page, with a finding as title and where figures come from."""

import textwrap

from matplotlib.figure import Figure

from reports.charts.output import Draw
from reports.charts.theme import Theme, printable
from reports.data.group import RunGroup
from reports.text import unbroken

_LEFT, _TOP_IN, _BOTTOM_IN = 0.028, 0.2, 0.11
_TITLES = ((16.0, 66, 2), (12.5, 84, 3))  # size in points, characters of a line, lines
_SOURCE_PT = 8.0


def as_slide(draw: Draw, title: str, source: str) -> Draw:
    """A chart that is drawn with a theme for slides, its title above it and its source below it."""

    def drawn(group: RunGroup, theme: Theme) -> Figure:
        figure = draw(group, theme)
        height_in = figure.get_figheight()
        size_pt, lines = _fitted(unbroken(printable(title)))
        figure.text(
            _LEFT, 1 - _TOP_IN / height_in, "\n".join(lines), fontsize=size_pt, fontweight="bold",
            color=theme.ink, va="top", parse_math=False,
        )  # fmt: skip
        figure.text(
            _LEFT, _BOTTOM_IN / height_in, printable(source), fontsize=_SOURCE_PT, color=theme.muted,
            va="bottom", parse_math=False,
        )  # fmt: skip
        return figure

    return drawn


def _fitted(title: str) -> tuple[float, list[str]]:
    """The largest type in which a title has room, and its lines; a longer one ends in dots."""
    for size_pt, characters, lines_max in _TITLES:
        lines = textwrap.wrap(title, characters)
        if len(lines) <= lines_max:
            return size_pt, lines
    return size_pt, textwrap.wrap(title, characters, max_lines=lines_max, placeholder=" …")
