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
from reports.charts.hints import hints_of
from reports.charts.theme import Theme
from reports.data.group import RunGroup

_PNG_DPI = 200  # twice what a screen shows
_GROUP_ID = re.compile(r'<g id="[^"]*"')
_STRATEGY_ID = re.compile(rf'<g id="{STRATEGY_ID}(\d+)(n?)"')
_NAME = ' data-name=""'
_TAG = re.compile(r"<[^>]+>")
_COLOUR = re.compile(r"#[0-9a-f]{6}\b")
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

    The elements of a strategy have its number in `data-strategy`, its name has `data-name` too.
    """
    variables = {colour: f"var(--{name})" for name, colour in theme.colours.items()}
    drawn, figure = _drawn(draw, group, theme, salt)
    marked = _STRATEGY_ID.sub(lambda m: f'<g data-strategy="{m[1]}"{_NAME if m[2] else ""}', drawn)
    coloured = _TAG.sub(
        lambda tag: _COLOUR.sub(lambda c: variables.get(c[0], c[0]), tag[0]), _GROUP_ID.sub("<g", marked)
    )
    before, end, after = coloured.rpartition("</svg>")
    return f"{before}{hints_of(figure)}{end}{after}"


def _drawn(draw: Draw, group: RunGroup, theme: Theme, salt: str) -> tuple[str, Figure]:
    out = io.StringIO()
    with _settings(salt, "path" if theme.is_slide else "none"):
        figure = _stamped(draw, group, theme)
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
    """The figure, marked if its runs are simulated or quick, since charts are shared without their page.

    The line below a slide says so itself.
    """
    figure = draw(group, theme)
    if theme.is_slide:
        return figure
    stamp = "simulated: nothing was measured" if group.is_simulated else "--quick: a first impression"
    if group.is_simulated or group.is_quick:
        figure.text(0.995, 0.995, stamp, color=theme.ink, fontsize=FONT_PT,
                    ha="right", va="top", style="italic")  # fmt: skip
    return figure


@contextmanager
def _settings(salt: str, svg_text: str = "none") -> Iterator[None]:
    """Matplotlib's own defaults, independent of the machine's matplotlibrc."""
    ours: dict[Any, str] = {
        "svg.hashsalt": f"compactbench/{salt}", "svg.fonttype": svg_text, "backend": "agg",
    }  # fmt: skip
    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(ours)
        # A label in a script DejaVu lacks: a browser uses another font, a PNG shows boxes.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield
