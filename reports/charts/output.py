"""Charts as SVG, in a page or as a file, and as PNG."""

import io
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from reports.charts.canvas import FONT_PT, STRATEGY_ID
from reports.charts.every_point import every_point_of
from reports.charts.hints import hints_of
from reports.charts.over_time import mark_over_time, time_attribute
from reports.charts.theme import Theme
from reports.data.group import RunGroup

_PNG_DPI = 200  # twice what a screen shows
_FONTS = ["DejaVu Sans"]  # which matplotlib brings along; a viewer without it takes its own sans-serif
_GROUP_ID = re.compile(r'<g id="([^"]*)"')
_STRATEGY_ID = re.compile(rf"{STRATEGY_ID}(\d+)(n?)")
_TAG = re.compile(r"<[^>]+>")
_COLOUR = re.compile(r"#[0-9a-f]{6}\b")
_INDENT = re.compile(r"\n\s+(?=<)")
_LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}")
_NO_TURN = re.compile(r' transform="rotate\(-?0 [^"]*\)"')
_PATH = re.compile(r'(?<= d=")[^"]*')
_CURVE = re.compile("[CQ]")
_LINE_TO = re.compile(r"\s+L\s+")
_NO_METADATA = {"Date": None, "Creator": None, "Format": None, "Type": None}

Draw = Callable[[RunGroup, Theme], Figure]


def svg(draw: Draw, group: RunGroup, theme: Theme, salt: str) -> str:
    """An `<svg>` element, the same bytes each time. `salt` makes its ids unique within a page.

    Text stays text: it can be searched, copied and read aloud, and uses the font of the page. On a slide it
    is drawn, since programs for slides have other fonts.
    """
    return _GROUP_ID.sub("<g", _drawn(draw, group, theme, salt)[0])


def svg_of_page(draw: Draw, group: RunGroup, theme: Theme, salt: str) -> str:
    """An `<svg>` element for a page: colours are variables of its style sheet, and points have hints.

    The elements of a strategy have its number in `data-strategy`, its name has `data-name` too. Axes over
    time have `data-time`, what stands at times in them `data-over-time`, and ticks are of class `xtick`.
    Long series have all their points in `data-points` of an element that is not drawn yet.
    """
    variables = {colour: f"var(--{name})" for name, colour in theme.colours.items()}
    drawn, figure = _drawn(draw, group, theme, salt)
    drawn = drawn.replace("</svg>", f"{every_point_of(figure)}</svg>")
    marked = _GROUP_ID.sub(lambda opening: f"<g{_attributes(opening[1])}", drawn)
    coloured = _TAG.sub(
        lambda tag: _compact(_COLOUR.sub(lambda c: variables.get(c[0], c[0]), tag[0])), marked
    )
    before, end, after = _INDENT.sub("\n", coloured).rpartition("</svg>")
    return f"{before}{hints_of(figure)}{end}{after}"


def _attributes(group_id: str) -> str:
    """What a page has to know of a group of elements, in place of its id."""
    if group_id.startswith("xtick_"):
        return ' class="xtick"'
    strategy = _STRATEGY_ID.match(group_id)
    of_strategy = f' data-strategy="{strategy[1]}"' if strategy else ""
    name = ' data-name=""' if strategy and strategy[2] else ""
    return f"{of_strategy}{name}{time_attribute(group_id)}"


def _compact(tag: str) -> str:
    """A tag with two decimals, which is a hundredth of a point, and the shortest form of straight lines."""
    short = _LONG_NUMBER.sub(lambda value: f"{float(value[0]):.2f}", _NO_TURN.sub("", tag))
    return _PATH.sub(lambda path: _compact_path(path[0]), short)


def _compact_path(path: str) -> str:
    """Without the letter of a straight line, which may be left out after another one."""
    straight = path if _CURVE.search(path) else _LINE_TO.sub(" ", path)
    return " ".join(straight.split())


def _drawn(draw: Draw, group: RunGroup, theme: Theme, salt: str) -> tuple[str, Figure]:
    out = io.StringIO()
    with _settings(salt, "path" if theme.is_slide else "none"):
        figure = _stamped(draw, group, theme)
        mark_over_time(figure)
        figure.savefig(out, format="svg", metadata=_NO_METADATA)
    text = out.getvalue()
    return text[text.index("<svg") :], figure


def png(draw: Draw, group: RunGroup, theme: Theme) -> bytes:
    out = io.BytesIO()
    with _settings("png"):
        figure = _stamped(draw, group, theme)
        FigureCanvasAgg(figure)
        figure.savefig(out, format="png", dpi=_PNG_DPI, metadata={"Software": None})
    return out.getvalue()


def _stamped(draw: Draw, group: RunGroup, theme: Theme) -> Figure:
    """The figure, marked if its runs are simulated, since charts are shared without their page.

    The line below a slide says so itself.
    """
    figure = draw(group, theme)
    if group.is_simulated and not theme.is_slide:
        figure.text(0.995, 0.995, "simulated: nothing was measured", color=theme.ink, fontsize=FONT_PT,
                    ha="right", va="top", style="italic")  # fmt: skip
    return figure


@contextmanager
def _settings(salt: str, svg_text: str = "none") -> Iterator[None]:
    """Matplotlib's own defaults, independent of the machine's matplotlibrc."""
    ours: dict[Any, Any] = {
        "svg.hashsalt": f"compactbench/{salt}", "svg.fonttype": svg_text, "backend": "agg",
        "font.sans-serif": _FONTS,
    }  # fmt: skip
    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(ours)
        # A label in a script DejaVu lacks: a browser uses another font, a PNG shows boxes.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield
