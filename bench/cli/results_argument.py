"""What the commands that read results share: their argument, and the runs that are missing from a row."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from bench.cli.output import print_error
from bench.errors import ResultSchemaError
from bench.results.folders import RunResult, stored_runs
from bench.results.rows import Row

DEFAULT_OUT = Path("results")  # where `run` writes, and what the other commands read


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
        print_error(damage.within("left out"))
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
