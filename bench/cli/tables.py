"""Tables for people, fitted to a width: neither a number nor a word is ever broken.

What does not fit is given up in a fixed order: first titles are stacked and text is folded at its spaces,
then the gaps shrink, then columns are left out by their `drop`, and at last each row becomes a block of
lines "key  value", without its empty cells.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal

from rich.cells import cell_len

from bench.text import MISSING

COMFORT_WIDTH = 24  # a column of text that is longer is not squeezed below this many characters
_GAPS = (2, 1)
_INDENT = 2  # of a path in a block that does not fit beside its key

_UNIT = r"(?:%|x|µs|ms|s|min|h|d|B|[KMGTP]iB)"
_NUMBER = r"[-+<>~]?\d[\d,.]*(?:e[-+]?\d+)?"
_QUANTITY = rf"(?:{_NUMBER} {_UNIT} )*(?:{_NUMBER} ?{_UNIT}?|{MISSING})"  # "7", "94 ms", "3 min 20 s"
_FIGURE = re.compile(rf"{_QUANTITY}(?: (?:to|of|/|->|-) {_QUANTITY})*")
_BREAK = re.compile(rf"(?<=\D) | (?!{_UNIT}(?!\w))")  # a space, but not one between a number and its unit


@dataclass(frozen=True, slots=True)
class Column:
    """A column; its unit is printed below its title.

    Where a table is too wide, the columns with the smallest `drop` are left out first; None is never left
    out. `shown` leaves a column out at any width, if all cells are empty or if all are the same. With
    `is_path` the cells, in the last column only, are left whole even beyond the width, so that they can be
    copied.
    """

    title: str
    unit: str = ""
    drop: int | None = None
    shown: Literal["always", "if any", "if varied"] = "always"
    is_path: bool = False

    @property
    def key(self) -> str:
        """Title and unit on one line."""
        return f"{self.title} ({self.unit})" if self.unit else self.title


@dataclass(frozen=True, slots=True)
class Layout:
    """Lines of text, the first `heading_lines_count` of them titles; `left_out` columns did not fit."""

    lines: tuple[str, ...]
    heading_lines_count: int
    left_out: tuple[str, ...]


def lay_out(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> Layout:
    """The table as lines of at most `width` characters; only a longer word or number exceeds it.

    Raises ValueError if a row has more or fewer cells than there are columns.
    """
    cells = [tuple(column) for column in zip(*rows, strict=True)] if rows else [() for _ in columns]
    if len(cells) != len(columns):
        raise ValueError(f"{len(columns)} columns, but rows of {len(cells)} cells")
    every = [index for index, column in enumerate(columns) if _is_shown(column, cells[index])]
    kept = list(every)
    while True:
        for gap in _GAPS:
            widths = _fitted([_bounds(columns[i], cells[i]) for i in kept], width - gap * (len(kept) - 1))
            if widths is not None:
                chosen = [(columns[i], cells[i], w) for i, w in zip(kept, widths, strict=True)]
                left_out = tuple(columns[i].key for i in every if i not in kept)
                return _table(chosen, " " * gap, left_out)
        droppable = {i: drop for i in kept if (drop := columns[i].drop) is not None}
        if not droppable:
            blocks = [{columns[i].key: row[i] for i in every if row[i]} for row in rows]
            return Layout(tuple(_blocks(blocks, width)), 0, ())
        kept.remove(min(droppable, key=lambda index: droppable[index]))


def fact_lines(facts: Mapping[str, str], width: int) -> Iterator[str]:
    """One line per fact, "key  value"; long values are folded at their spaces and indented."""
    indent = max((cell_len(key) for key in facts), default=0) + 2
    for key, value in facts.items():
        folded = folded_lines(value, width - indent)
        if max(map(cell_len, folded)) > width - indent and indent > _INDENT:
            below = folded_lines(value, width - _INDENT)
            yield from (key, *(" " * _INDENT + line for line in below))
            continue
        for lead, line in zip_longest([key], folded, fillvalue=""):
            yield f"{_padded(lead, indent)}{line}".rstrip()


def folded_lines(text: str, width: int) -> list[str]:
    """`text` in lines of at most `width` characters, broken at spaces; a longer word has its own line."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        if is_figure(paragraph) or cell_len(paragraph) <= width:
            lines.append(paragraph)
            continue
        line = ""
        for word in _BREAK.split(paragraph):
            if line and cell_len(line) + 1 + cell_len(word) > width:
                lines.append(line)
                line = word
            else:
                line = f"{line} {word}" if line else word
        lines.append(line)
    return lines


def is_figure(cell: str) -> bool:
    """Whether a cell is a number, with or without a unit, or several: "1,440", "3 min 20 s", "4 to 18"."""
    return cell != MISSING and _FIGURE.fullmatch(cell) is not None


def _is_shown(column: Column, cells: Sequence[str]) -> bool:
    if column.shown == "if any":
        return any(cell not in ("", MISSING) for cell in cells)
    return column.shown == "always" or len(set(cells)) > 1


@dataclass(frozen=True, slots=True)
class _Bounds:
    """The least width of a column that breaks no word, that of its cells unfolded, and that of title too."""

    least: int
    cells: int
    desired: int


def _bounds(column: Column, cells: Sequence[str]) -> _Bounds:
    heading = [column.title, column.unit]
    title = max(_longest_word(text) for text in heading)
    if column.is_path:
        return _Bounds(title, title, title)
    longest = max((cell_len(line) for cell in cells for line in cell.split("\n")), default=0)
    word = max((_longest_word(line) for cell in cells for line in cell.split("\n")), default=0)
    least = max(title, word, min(longest, COMFORT_WIDTH))
    return _Bounds(least, max(least, longest), max(least, longest, *map(cell_len, heading)))


def _longest_word(text: str) -> int:
    return cell_len(text) if is_figure(text) else max(map(cell_len, _BREAK.split(text)))


def _fitted(columns: Sequence[_Bounds], available: int) -> list[int] | None:
    """Widths that add up to at most `available`; None if even the least widths do not fit.

    If not all titles fit on one line, none gets more room than its cells need, and columns of text are cut at
    one width, none below its least.
    """
    desired = [column.desired for column in columns]
    if sum(desired) <= available:
        return desired

    def cut(at: int) -> list[int]:
        return [min(column.cells, max(column.least, at)) for column in columns]

    if sum(cut(0)) > available:
        return None
    low, high = 0, max((column.cells for column in columns), default=0)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if sum(cut(middle)) <= available else (low, middle - 1)
    return cut(low)


def _table(
    chosen: Sequence[tuple[Column, Sequence[str], int]], gap: str, left_out: tuple[str, ...]
) -> Layout:
    is_right = [_is_right_aligned(cells) for _, cells, _ in chosen]
    widths = [width for _, _, width in chosen]
    titles = [folded_lines(column.title, width) for column, _, width in chosen]
    if any(column.unit for column, _, _ in chosen):
        titles = [[*title, column.unit] for title, (column, _, _) in zip(titles, chosen, strict=True)]
    heading = list(_joined([title[::-1] for title in titles], widths, is_right, gap))[::-1]  # bottoms align
    lines = list(heading)
    for row in zip(*(cells for _, cells, _ in chosen), strict=True):
        folded = [
            cell.split("\n") if column.is_path else folded_lines(cell, width)
            for cell, (column, _, width) in zip(row, chosen, strict=True)
        ]
        lines += _joined(folded, widths, is_right, gap)
    return Layout(tuple(lines), len(heading), left_out)


def _is_right_aligned(cells: Sequence[str]) -> bool:
    filled = [cell for cell in cells if cell]
    return bool(filled) and all(cell == MISSING or is_figure(cell) for cell in filled)


def _joined(
    columns: Sequence[Sequence[str]], widths: Sequence[int], is_right: Sequence[bool], gap: str
) -> Iterator[str]:
    for parts in zip_longest(*columns, fillvalue=""):
        padded = (
            _padded(part, width, is_right=right)
            for part, width, right in zip(parts, widths, is_right, strict=True)
        )
        yield gap.join(padded).rstrip()


def _padded(text: str, width: int, *, is_right: bool = False) -> str:
    spaces = " " * max(0, width - cell_len(text))
    return spaces + text if is_right else text + spaces


def _blocks(blocks: Sequence[Mapping[str, str]], width: int) -> Iterator[str]:
    for number, block in enumerate(blocks):
        if number:
            yield ""
        yield from fact_lines(block, width)
