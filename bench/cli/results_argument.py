"""What the commands that read results share: their argument, and the runs that are missing from a row."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from bench.cli.output import print_error
from bench.errors import ResultSchemaError, ScenarioError
from bench.results.folders import RunResult, stored_runs
from bench.results.rows import Row
from bench.scenario.values import is_utf8

DEFAULT_OUT = Path("results")  # where `run` writes, and what the other commands read


def on_this_machine(place: Path | None) -> Path | None:
    """Where to write. Raises ScenarioError for a name that a library would take for another place.

    Of a URI a folder here would be made. Writers of tables replace ~ by the home folder and take a name with
    a colon for a URI, where a check for existing files would have looked at the name itself.
    """
    text = "" if place is None else str(place)
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/", text):
        raise ScenarioError(f"-o {text}: results are written to this machine; name a folder, not a URI")
    if text.startswith("~"):
        raise ScenarioError(
            f"-o {text}: the shell has not replaced the ~, as in --out=~/x; put a space before it, or write "
            "the whole path"
        )
    if re.match(r"[A-Za-z0-9+.-]*:", text):
        raise ScenarioError(f"-o {text}: looks like a URI; name a folder by its whole path, from / on")
    if not is_utf8(text):
        raise ScenarioError(f"-o {text!a}: is not UTF-8; choose another -o")
    return place


ResultsArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="RESULTS",
        default_factory=lambda: [DEFAULT_OUT],
        show_default=str(DEFAULT_OUT),
        help="Results folders that `run` wrote, or parts of them.",
    ),
]


@contextmanager
def readable_runs(results: Sequence[Path]) -> Iterator[tuple[RunResult, ...]]:
    """The runs that can be read. The others are named, and after the block the command ends with an error.

    Raises ResultSchemaError if there is no run that can be read.
    """
    stored = stored_runs(*results)
    for damage in stored.damages:
        print_error(f"left out: {damage}")
    yield stored.runs
    if stored.damages:
        raise typer.Exit(ResultSchemaError.exit_code)


def gaps(row: Row) -> str:
    """The runs whose figures are not used, or only in part, in words; empty if there are none."""
    counts = {
        "failed": row.failed,
        "interrupted": row.interrupted,
        "without valid timings": row.timings_invalid,
    }
    return ", ".join(f"{count} {fate}" for fate, count in counts.items() if count)
