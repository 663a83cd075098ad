"""`compactbench export`: results as tidy tables."""

from pathlib import Path
from typing import Annotated, Literal

import duckdb
import typer

from bench.cli.arguments import ResultsArgument, readable_runs
from bench.errors import ScenarioError, first_error
from bench.results.records import MANIFEST
from reports.data.export import export as export_tables

ExportFormat = Literal["parquet", "duckdb"]


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
    ] = "parquet",
) -> None:
    """Export results as tidy tables: runs, metrics, commits, queries, compactions, decisions and more.

    * `compactbench export`

    * `compactbench export results/quickstart -o tables`

    * `compactbench export --to duckdb -o results.duckdb`

    Runs that failed or lost rows are exported, too: join `runs` and keep those with `usable`. Nothing is
    overwritten. Prints the files written. To query them:

    * in Python: `duckdb.sql("FROM 'results/tables/metrics.parquet'")`
    """
    with readable_runs(results) as runs:
        destination = out or _default_place(results[0], file_format)
        try:
            written = export_tables(runs, destination, file_format)
        except (OSError, duckdb.Error) as error:
            problem = error.strerror if isinstance(error, OSError) else first_error(error)
            raise ScenarioError(
                f"cannot write there ({problem}); choose another -o", code="not-writable", path=destination
            ) from error
        except ValueError as error:  # it already exists
            raise ScenarioError(str(error), code="taken") from error
        for path in written:
            typer.echo(path)


def _default_place(results: Path, file_format: ExportFormat) -> Path:
    """The default place. Raises ScenarioError for a run's folder, where `clean` would remove `tables`."""
    if (results / MANIFEST).is_file():
        raise ScenarioError(
            "is the folder of a single run: name the folder to create with -o", code="exclusive", path=results
        )
    return results / ("tables" if file_format == "parquet" else "tables.duckdb")
