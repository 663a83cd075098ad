"""Axes over scenario time: what a page has to know of them to show a part of that time."""

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bench.text import human_duration

_AXES = "time"  # begins the id of such axes
_ARTIST = "-over-time"  # ends the ids of what stands at times
_OUTLINE = "-outline"  # is in the ids of what is drawn in steps
_SEPARATOR = "|"


def stands_for_time(axes: Axes, unit: str) -> None:
    """Say that the x axis is scenario time in this unit, from 0 to the end of the stream."""
    axes.set_gid(_SEPARATOR.join((_AXES, unit, "0")))


def drawn_in_steps(axes: Axes, step_ms: float, how: str = "drawn in steps of") -> None:
    """Say below the axis that what happened within such a step cannot be told apart; the longest counts."""
    _, unit, coarsest_ms = (axes.get_gid() or "").split(_SEPARATOR)
    if step_ms > float(coarsest_ms):
        axes.set_gid(_SEPARATOR.join((_AXES, unit, f"{step_ms:.0f}")))
        text = f"scenario time ({unit}; {how} {human_duration(step_ms / 1000)})"
        axes.xaxis.label.set_text(text)


def is_outline(artist: Artist) -> None:
    """Say that an artist shows in steps what a page can draw point by point."""
    artist.set_gid(f"{artist.get_gid() or ''}{_OUTLINE}")


def place_of_panel(figure: Figure, axes: Axes) -> int:
    """The position of axes among those over time."""
    return _panels(figure).index(axes)


def mark_over_time(figure: Figure) -> None:
    """Complete the ids of axes over time with their left and right edge in points and the end of the stream.

    Artists that stand at times get an id too; one that has an id gets a longer one.
    """
    for axes in _panels(figure):
        _, unit, _ = (axes.get_gid() or "").split(_SEPARATOR)
        extent, pt, (_, end) = axes.get_window_extent(), 72 / figure.dpi, axes.get_xlim()
        edges = (f"{extent.x0 * pt:.2f}", f"{extent.x1 * pt:.2f}", f"{end:g}")
        axes.set_gid(_SEPARATOR.join((_AXES, *edges, unit)))
        for artist in (*axes.lines, *axes.collections):
            # Their y may be a share of the axes, as that of ticks below the axis is.
            if artist.get_transform().contains_branch_seperately(axes.transData)[0]:
                artist.set_gid(f"{artist.get_gid() or ''}{_ARTIST}")


def time_attribute(gid: str) -> str:
    """What a page has in place of an id that says that something stands for time or at times."""
    kind, _, facts = gid.partition(_SEPARATOR)
    if kind == _AXES:
        return f' data-time="{facts}"'
    if not gid.endswith(_ARTIST):
        return ""
    return f' data-over-time="{_OUTLINE[1:] if _OUTLINE in gid else ""}"'


def _panels(figure: Figure) -> list[Axes]:
    return [
        axes
        for axes in figure.axes
        if (axes.get_gid() or "").partition(_SEPARATOR)[0] == _AXES and axes.get_visible()
    ]
