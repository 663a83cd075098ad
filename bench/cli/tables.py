"""Tables for people, drawn by rich at widths at which neither a number nor a word is broken.

A table that is too wide is narrowed in this order: titles are stacked and text is folded at its spaces, gaps
shrink, columns are left out by their `drop`, and finally each row becomes a list of facts.
"""

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from rich.cells import cell_len
from rich.console import JustifyMethod
from rich.table import Table
from rich.text import Text

from bench.text import MISSING

COMFORT_WIDTH = 24  # a column of text that is longer is not squeezed below this many characters
_GAPS = (2, 1)
_UNIT = r"(?:%|x|µs|ms|s|min|h|d|B|[KMGTP]iB)"
_NUMBER = r"[-+<>~]?\d[\d,.]*(?:e[-+]?\d+)?"
_QUANTITY = rf"(?:{_NUMBER} {_UNIT} )*(?:{_NUMBER} ?{_UNIT}?|{MISSING})"  # "7", "94 ms", "3 min 20 s"
_FIGURE = re.compile(rf"{_QUANTITY}(?: (?:to|of|/|->|-) {_QUANTITY})*")


@dataclass(frozen=True, slots=True)
class Column:
    """A column; its unit is printed below its title.

    If a table is too wide, the columns with the smallest `drop` are left out first, and None never. "if any"
    hides a column of empty cells and zeros, "if varied" one of equal cells. Cells of a path, allowed in the
    last column only, may exceed the width, so that they can be copied.
    """

    title: str
    unit: str = ""
    drop: int | None = None
    shown: Literal["always", "if any", "if varied"] = "always"
    is_path: bool = False

    @property
    def key(self) -> str:
        return f"{self.title} ({self.unit})" if self.unit else self.title


@dataclass(frozen=True, slots=True)
class _Filled:
    """A column with its cells. Below `least_width` a word breaks; from `cells_width` on no cell is folded."""

    column: Column
    cells: tuple[str, ...]
    is_number: bool
    least_width: int
    cells_width: int
    heading_width: int


def lay_out(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int
) -> tuple[Table | list[dict[str, str]], tuple[str, ...]]:
    """A table of at most `width` characters and the columns left out, or the facts of each row.

    Raises ValueError if a row has more or fewer cells than there are columns.
    """
    cells = zip(*rows, strict=True) if rows else [()] * len(columns)
    filled = [_filled(*pair) for pair in zip(columns, cells, strict=True) if _is_shown(*pair)]
    fitting = list(filled)
    while True:
        for gap in _GAPS:
            widths = _widths(fitting, width - gap * (len(fitting) - 1))
            if widths is not None:
                return _drawn(fitting, widths, gap), tuple(f.column.key for f in filled if f not in fitting)
        droppable = {drop: f for f in reversed(fitting) if (drop := f.column.drop) is not None}
        if not droppable:
            return [{f.column.key: f.cells[n] for f in filled if f.cells[n]} for n in range(len(rows))], ()
        fitting.remove(droppable[min(droppable)])


def fact_lines(facts: Mapping[str, str], width: int) -> Iterator[str]:
    """Lines of "key  value"; long values are folded at their spaces and indented."""
    indent = max(map(cell_len, facts), default=0) + 2
    for key, value in facts.items():
        yield from folded_lines(value, width, key + " " * (indent - cell_len(key)), " " * indent) or [key]


def folded_lines(text: str, width: int, first_indent: str = "", indent: str = "") -> list[str]:
    """`text` in lines of at most `width` characters, broken at spaces; a longer word has its own line."""
    return textwrap.wrap(
        text, max(width, len(indent) + 1), initial_indent=first_indent, subsequent_indent=indent,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def is_figure(cell: str) -> bool:
    """Whether a cell is a number, with or without a unit, or several: "1,440", "3 min 20 s", "4 to 18"."""
    return cell != MISSING and _FIGURE.fullmatch(cell) is not None


def _is_shown(column: Column, cells: Sequence[str]) -> bool:
    if column.shown == "if any":
        return any(cell not in ("", "0", MISSING) for cell in cells)
    return column.shown == "always" or len(set(cells)) > 1


def _filled(column: Column, cells: tuple[str, ...]) -> _Filled:
    known = [cell for cell in cells if cell]
    is_number = bool(known) and all(cell == MISSING or is_figure(cell) for cell in known)
    title_width = max(map(cell_len, [*column.title.split(), column.unit]))
    to_fit = () if column.is_path else cells
    longest = max((cell_len(line) for cell in to_fit for line in cell.split("\n")), default=0)
    words = (cell_len(word) for cell in to_fit for word in ([cell] if is_figure(cell) else cell.split()))
    least = max(min(longest, COMFORT_WIDTH), max(words, default=0))
    return _Filled(
        column, cells, is_number, max(title_width, least), max(title_width, longest),
        max(cell_len(column.title), cell_len(column.unit)),
    )  # fmt: skip


def _widths(columns: Sequence[_Filled], available: int) -> list[int] | None:
    """Widths that add up to at most `available`; None if even the least widths exceed it.

    Unless all titles fit on one line, a column is no wider than its cells, and all columns of text are cut at
    the same width, but not below their least.
    """
    desired = [max(f.cells_width, f.heading_width) for f in columns]
    if sum(desired) <= available:
        return desired
    for cut in range(available, -1, -1):
        widths = [min(f.cells_width, max(f.least_width, cut)) for f in columns]
        if sum(widths) <= available:
            return widths
    return None


def _drawn(columns: Sequence[_Filled], widths: Sequence[int], gap: int) -> Table:
    table = Table(box=None, padding=(0, gap, 0, 0), pad_edge=False, header_style="bold")
    has_units = any(f.column.unit for f in columns)
    whole = [
        max([w, *map(cell_len, f.cells)]) if f.column.is_path else w
        for f, w in zip(columns, widths, strict=True)
    ]
    for f, width in zip(columns, whole, strict=True):
        heading = f"{f.column.title}\n{f.column.unit}" if has_units else f.column.title
        # Not rich's ellipsis, which replaces the end of a line of wide characters with a space after it.
        justify: JustifyMethod = "right" if f.is_number else "left"
        table.add_column(Text(heading), justify=justify, width=width, overflow="fold")
    for row in zip(*(f.cells for f in columns), strict=True):
        table.add_row(*map(Text, row))
    table.width = sum(whole) + gap * (len(whole) - 1)
    return table
