"""Printing for all sub-commands: tables and JSON to stdout, errors and progress to stderr.

Secrets are hidden: those that `bench.secrets` recognises, and those passed to `conceal`.
"""

import csv
import json
import math
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from rich.markup import escape
from rich.text import Text

from bench.cli.tables import Column, fact_lines, folded_lines, lay_out
from bench.errors import CompactbenchError
from bench.secrets import NO_SECRETS, Secrets
from reports.data.spreadsheets import formula_safe

EXIT_INTERRUPTED = 130  # what a shell reports for a program killed by SIGINT
EXIT_BROKEN_PIPE = 141  # what a shell reports for a program killed by SIGPIPE
PIPE_WIDTH = 120  # of tables in files and pipes, unless the shell exports COLUMNS
WIDTH_MIN = 20  # a smaller COLUMNS, such as the 0 of some editors and containers, is ignored


def is_width(columns: str) -> bool:
    return columns.isdigit() and int(columns) >= WIDTH_MIN


if not is_width(os.environ.get("COLUMNS", "")):
    os.environ.pop("COLUMNS", None)  # rich and worker processes would use it
_IS_PIPE = sys.stdout is None or not sys.stdout.isatty()  # None if the caller closed it


class _Console(Console):
    """A console that exits with the code of a closed pipe; rich would exit with that of a failed run."""

    def on_broken_pipe(self) -> None:
        with suppress(SystemExit):
            super().on_broken_pipe()
        raise SystemExit(EXIT_BROKEN_PIPE)


OUT = _Console(emoji=False, width=PIPE_WIDTH if _IS_PIPE and "COLUMNS" not in os.environ else None)
ERR = _Console(emoji=False, stderr=True)

# All but tab and line break: a label in somebody else's results must not control the terminal.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

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
    return _concealed.get().scrub(text)


def printable(text: str) -> str:
    return _visible(without_secrets(text))


def _visible(text: str) -> str:
    """Control characters as in JSON, so that JSON stays JSON."""
    return _CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


FormatOption = Annotated[
    Literal["table", "json"], typer.Option("--format", help="A table for people, or JSON for programs.")
]

ComparisonFormat = Literal["table", "json", "csv", "markdown"]
TitledTable = tuple[str, Sequence[str | Column], Iterable[Sequence[str]]]


def print_json(data: object) -> None:
    """Print data for programs, without colours or wrapping; NaN and infinities become null."""
    cleaned = _finite(_concealed.get().clean(data))
    typer.echo(_visible(json.dumps(cleaned, indent=2, ensure_ascii=False, allow_nan=False)))


def print_csv(columns: Sequence[str], lines: Iterable[Sequence[Any]]) -> None:
    """Print data for programs and spreadsheets."""
    writer = csv.writer(sys.stdout)
    writer.writerow(columns)
    for line in lines:
        cells = map(formula_safe, _concealed.get().clean(list(line)))
        writer.writerow([_visible(cell) if isinstance(cell, str) else cell for cell in cells])


def _finite(value: Any) -> Any:
    """A JSON-like value with None for NaN and infinities."""
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def print_table(columns: Sequence[str | Column], rows: Iterable[Sequence[str]]) -> None:
    """Print rows for people, fitted to the terminal (see `bench.cli.tables`). Cells are no markup.

    Columns for which the terminal is too narrow are named on stderr.
    """
    print_tables([("", columns, rows)])


def print_tables(tables: Iterable[TitledTable]) -> None:
    """Print several tables, each after its heading; columns that were left out are named once, at the end."""
    left_out: dict[str, None] = {}
    for number, (heading, columns, rows) in enumerate(tables):
        if heading and number:
            print_line("")
        if heading:
            print_heading(heading)
        left_out |= dict.fromkeys(_print_table(columns, rows))
    if left_out:
        print_remark(
            f"left out at this width: {', '.join(left_out)}; widen the terminal, or use --format json"
        )


def _print_table(columns: Sequence[str | Column], rows: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Returns the columns that did not fit."""
    headed = [column if isinstance(column, Column) else Column(column) for column in columns]
    fitted, left_out = lay_out(headed, [[printable(cell) for cell in row] for row in rows], OUT.width)
    if isinstance(fitted, list):
        for number, facts in enumerate(fitted):
            _print_lines(["", *fact_lines(facts, OUT.width)][not number :])
        return left_out
    with OUT.capture() as captured:
        OUT.print(fitted, crop=False)
    for line in captured.get().splitlines():
        OUT.file.write(f"{line.rstrip()}\n")
    return left_out


def print_facts(facts: Mapping[str, str]) -> None:
    """Print one line per fact: its name and its value."""
    _print_lines(fact_lines({key: printable(value) for key, value in facts.items()}, OUT.width))


def print_paragraph(text: str, indent: str = "") -> None:
    """Print text for people, folded at its spaces; `indent` is that of all lines but the first."""
    _print_lines(folded_lines(printable(text), OUT.width, indent=indent) or [""])


def print_heading(text: str) -> None:
    """Print text in bold, folded at its spaces."""
    _print_lines(folded_lines(printable(text), OUT.width), "bold")


def _print_lines(lines: Iterable[str], style: str = "") -> None:
    """Print lines as they are, even those that exceed the width."""
    for line in lines:
        OUT.print(Text(line, style), highlight=False, soft_wrap=True)


def print_line(text: str) -> None:
    """Print a sentence for people on one line, however long."""
    OUT.print(printable(text), markup=False, highlight=False, soft_wrap=True)


def print_remark(text: str) -> None:
    """Print a remark on the data, on stderr and on one line, however long."""
    ERR.print(printable(text), markup=False, highlight=False, soft_wrap=True)


def print_warning(text: str) -> None:
    ERR.print(f"[bold yellow]warning:[/] {escape(printable(text))}", soft_wrap=True, highlight=False)


def print_error(error: CompactbenchError | str) -> None:
    """Print an error on stderr."""
    if isinstance(error, CompactbenchError):
        text = _visible(error.coded(without_secrets))
    else:
        text = printable(error)
    ERR.print(f"[bold red]error:[/] {escape(text)}", soft_wrap=True, highlight=False)
