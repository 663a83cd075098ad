"""Arguments that several commands share, and how runs that cannot be used are reported."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from bench.cli.output import print_error
from bench.errors import ResultSchemaError
from bench.results.folders import RunResult, missing_positions, nested_folders, stored_runs
from bench.results.rows import Row
from bench.text import counted, human_number, named_once

DEFAULT_OUT = Path("results")  # where `run` writes, and what the other commands read

ResultsArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="RESULTS",
        default_factory=lambda: [DEFAULT_OUT],
        show_default=str(DEFAULT_OUT),
        help="Results folders written by `run`, or parts of them.",
    ),
]

ScenariosArgument = Annotated[
    list[str], typer.Argument(metavar="SCENARIO", help="Paths of .toml files, or names of shipped scenarios.")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Override a key of the scenario, e.g. table.target_file_size=8MiB, or of one of its strategies: "
        "'strategies[LABEL].KEY=VALUE'. May be repeated.",
    ),
]


@contextmanager
def readable_runs(results: Sequence[Path]) -> Iterator[tuple[RunResult, ...]]:
    """The runs that can be read. The others are printed as errors, and the block ends with their exit code.

    Raises ResultSchemaError if no run can be read.
    """
    stored = stored_runs(*results)
    for damage in stored.damages:
        print_error(damage.within("left out"))
    yield stored.runs
    if stored.damages:
        raise typer.Exit(ResultSchemaError.exit_code)


def gaps(row: Row) -> str:
    """The runs whose figures are not used, or only in part: "1 failed, 2 interrupted"; empty if none."""
    counts = {
        "failed": row.failed,
        "interrupted": row.interrupted,
        f"replaced ({'; '.join(dict.fromkeys(row.replaced))})": len(row.replaced),
        "without valid timings": row.timings_invalid,
    }
    return ", ".join(f"{count} {fate}" for fate, count in counts.items() if count)


def absences(runs: Iterable[RunResult]) -> Iterator[str]:
    """Runs that were made and are gone, inferred from the gaps in the positions of the others."""
    for folder, missing in missing_positions(runs):
        who = f"run at position {missing[0]} is" if len(missing) == 1 else (
            f"runs at positions {named_once(map(str, missing))} are")  # fmt: skip
        yield f"{folder}: the {who} not in the results"


def not_read(results: Iterable[Path]) -> Iterator[str]:
    """Results folders in those that were read: `run --out results/mine` makes one in the default folder."""
    for folder in results:
        nested = nested_folders(folder)
        if nested:
            yield f"not read: {named_once(map(str, nested))}, results folders in {folder}; name one to read it"


def disturbance(row: Row) -> str:
    """How far other processes used the machine during the runs; empty if they did not."""
    cores = row.disturbed_cores
    if not cores:
        return ""
    runs = counted(len(cores), "run")
    most = human_number(max(cores))
    return f"other processes used up to {most} cores during {runs}, so times are longer and noisier"
