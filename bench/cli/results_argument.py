"""What the commands that read results share: their argument, and the runs that are missing from a row."""

from pathlib import Path
from typing import Annotated

import typer

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


def gaps(row: Row) -> str:
    """The runs whose figures are not used, or only in part, in words; empty if there are none."""
    counts = {
        "failed": row.failed,
        "interrupted": row.interrupted,
        "without valid timings": row.timings_invalid,
    }
    return ", ".join(f"{count} {fate}" for fate, count in counts.items() if count)
