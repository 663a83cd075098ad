"""`compactbench export`: results as tidy tables."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import duckdb
import typer

from bench.cli.arguments import ResultsArgument, readable_runs
from bench.errors import ScenarioError, first_error
from bench.results.records import MANIFEST
from reports.data.export import export as export_tables


class ExportFormat(StrEnum):
    PARQUET = "parquet"
    DUCKDB = "duckdb"


def export(
    results: ResultsArgument,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="PATH",
            help="The folder (Parquet) or file (DuckDB) to create.",
            show_default="RESULTS/tables or RESULTS/tables.duckdb",
        ),
    ] = None,
    file_format: Annotated[
        ExportFormat, typer.Option("--to", help="One Parquet file per table, or a single DuckDB file.")
    ] = ExportFormat.PARQUET,
) -> None:
    """Export results as tidy tables: runs, metrics, commits, queries, compactions, decisions and more.

    * `compactbench export`

    * `compactbench export results/quickstart -o tables`

    * `compactbench export --to duckdb -o results.duckdb`

    Nothing is overwritten. Prints the files written. To query them:

    * `duckdb -c "SELECT * FROM 'results/tables/metrics.parquet'"`
    """
    with readable_runs(results) as runs:
        destination = out or _beside(results[0], file_format)
        try:
            written = export_tables(runs, destination, file_format.value)
        except OSError as error:
            raise _not_writable(destination, error.strerror) from error
        except duckdb.Error as error:
            raise _not_writable(destination, first_error(error)) from error
        except ValueError as error:  # it already exists
            raise ScenarioError(str(error), code="taken") from error
        for path in written:
            typer.echo(path)


def _beside(results: Path, file_format: ExportFormat) -> Path:
    """The default place. Raises ScenarioError for a run's folder, where `clean` would remove `tables`."""
    if (results / MANIFEST).is_file():
        raise ScenarioError(
            "is the folder of a single run: name the folder to create with -o", code="exclusive", path=results
        )
    return results / ("tables" if file_format is ExportFormat.PARQUET else "tables.duckdb")


def _not_writable(destination: Path, problem: str | None) -> ScenarioError:
    return ScenarioError(
        f"cannot write there ({problem}); choose another -o", code="not-writable", path=destination
    )
