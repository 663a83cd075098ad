"""`compactbench export`: results as tidy tables."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import duckdb
import typer

from bench.cli.destination import destination_path
from bench.cli.results_argument import ResultsArgument
from bench.errors import ScenarioError, first_error
from bench.results.folders import load_runs
from reports.export import export as export_tables


class ExportFormat(StrEnum):
    """What `export` writes."""

    PARQUET = "parquet"
    DUCKDB = "duckdb"


def export(
    results: ResultsArgument,
    destination: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            parser=destination_path,
            metavar="PATH",
            help="The folder (Parquet) or file (DuckDB) to create.",
        ),
    ],
    file_format: Annotated[
        ExportFormat, typer.Option("--to", help="One Parquet file per table, or a single DuckDB file.")
    ] = ExportFormat.PARQUET,
) -> None:
    """Export results as tidy tables: runs, metrics, commits, queries, compactions, decisions and more.

    * `compactbench export results -o tables`

    * `compactbench export results --to duckdb -o results.duckdb`
    """
    runs = load_runs(*results)
    try:
        written = export_tables(runs, destination, file_format.value)
    except OSError as error:
        raise _not_writable(destination, error.strerror) from error
    except duckdb.IOException as error:
        raise _not_writable(destination, first_error(error)) from error
    except ValueError as error:  # it already exists
        raise ScenarioError(str(error)) from error
    for path in written:
        typer.echo(path)


def _not_writable(destination: Path, problem: str | None) -> ScenarioError:
    return ScenarioError(f"{destination}: cannot write there ({problem}); choose another -o")
