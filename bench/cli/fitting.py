"""Tables that fit the terminal without breaking a number: columns are left out, in a fixed order."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.markup import escape
from rich.table import Table

from bench.cli.output import OUT, without_secrets

_WRAPPED_MIN = 16  # characters of a column of text that may wrap
_GAP = 1


@dataclass(frozen=True, slots=True)
class Fitted:
    """A column. `goes`: the one with 1 is left out first; None stays. Only one that `wraps` is broken."""

    name: str
    goes: int | None = None
    wraps: bool = False


def print_fitting(columns: Sequence[Fitted], rows: Iterable[Sequence[str]]) -> None:
    """Print rows for people, as many columns as fit. Cells are printed literally: brackets are no markup."""
    cells = [tuple(without_secrets(cell) for cell in row) for row in rows]
    kept = fitting(columns, cells, OUT.width)
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, _GAP, 0, 0))
    for index in kept:
        table.add_column(columns[index].name, no_wrap=not columns[index].wraps, overflow="fold")
    for row in cells:
        table.add_row(*(escape(row[index]) for index in kept))
    OUT.print(table)


def fitting(columns: Sequence[Fitted], rows: Sequence[Sequence[str]], width: int) -> tuple[int, ...]:
    """The places of the columns that fit into so many characters; those that stay are kept in any case."""
    least = [_least(column, [row[index] for row in rows]) for index, column in enumerate(columns)]
    kept = list(range(len(columns)))
    may_go = sorted((column.goes, index) for index, column in enumerate(columns) if column.goes is not None)
    for _, index in may_go:
        if sum(least[place] + _GAP for place in kept) - _GAP <= width:
            break
        kept.remove(index)
    return tuple(kept)


def _least(column: Fitted, texts: Sequence[str]) -> int:
    widest = max(len(text) for text in (column.name, *texts))
    return min(widest, _WRAPPED_MIN) if column.wraps else widest
