"""Printing for all sub-commands: tables and JSON to stdout, errors and progress to stderr.

No secret is printed: neither those that `bench.secrets` recognises by itself nor those passed to `conceal`.
"""

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from enum import StrEnum
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from bench.secrets import NO_SECRETS, Secrets

# Without a terminal there is no width to fit: lines are kept whole for `grep` and files.
PIPE_WIDTH = 400

OUT = Console(width=None if sys.stdout.isatty() else PIPE_WIDTH)
ERR = Console(stderr=True)


_concealed: ContextVar[Secrets] = ContextVar("concealed", default=NO_SECRETS)


@contextmanager
def concealing(secrets: Secrets) -> Iterator[None]:
    """Within the block, hide these secrets and those that `conceal` adds in everything printed."""
    before = _concealed.set(secrets)
    try:
        yield
    finally:
        _concealed.reset(before)


def conceal(secrets: Secrets) -> None:
    """From now on, hide these secrets as well."""
    _concealed.set(_concealed.get() | secrets)


def without_secrets(text: str) -> str:
    """`text` with all concealed secrets hidden."""
    return _concealed.get().scrub(text)


class OutputFormat(StrEnum):
    """How a command prints its data."""

    TABLE = "table"
    JSON = "json"


FormatOption = Annotated[
    OutputFormat, typer.Option("--format", help="A table for people, or JSON for programs.")
]


def print_json(data: object) -> None:
    """Print data for programs: no colours, no wrapping."""
    typer.echo(json.dumps(_concealed.get().clean(data), indent=2, ensure_ascii=False))


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows for people. Cells are printed literally: brackets are no markup."""
    table = Table(
        box=None, header_style="bold", pad_edge=False, padding=(0, 2 if OUT.width > 100 else 1, 0, 0)
    )
    for index, column in enumerate(columns):
        table.add_column(column, no_wrap=index == 0, overflow="fold")
    for row in rows:
        table.add_row(*(escape(without_secrets(cell)) for cell in row))
    OUT.print(table)


def print_line(text: str) -> None:
    """Print a sentence for people on one line, however long."""
    OUT.print(without_secrets(text), markup=False, highlight=False, soft_wrap=True)


def print_error(text: str) -> None:
    """Print why the command failed."""
    ERR.print(f"[bold red]error:[/] {escape(without_secrets(text))}", soft_wrap=True, highlight=False)
