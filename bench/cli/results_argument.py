"""What the commands that read results share: the argument, and what is missing of a row's runs."""

from pathlib import Path
from typing import Annotated

import typer

from bench.results.rows import Row

ResultsArgument = Annotated[
    list[Path],
    typer.Argument(metavar="RESULTS...", help="Result folders: what `run --out` wrote, or parts of it."),
]


def gaps(row: Row) -> str:
    """The runs whose figures are not used, or not all, in words; empty where there are none."""
    counts = {
        "failed": row.failed,
        "cut off": row.interrupted,
        "timings_invalid by checks": row.timings_invalid,
    }
    return ", ".join(f"{count} {what}" for what, count in counts.items() if count)
