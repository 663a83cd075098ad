"""`compactbench report`: a report for a design review."""

from pathlib import Path
from typing import Annotated

import typer

from bench.cli.destination import destination_path
from bench.cli.output import ERR
from bench.cli.results_argument import ResultsArgument
from bench.errors import ScenarioError
from bench.results.folders import load_runs
from reports.render import render


def report(
    results: ResultsArgument,
    destination: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            parser=destination_path,
            metavar="DIR",
            help="The folder to write; default RESULTS/report.",
        ),
    ] = None,
) -> None:
    """Write a report: one self-contained HTML page, the same in Markdown, charts and tables.

    * `compactbench report results`

    * `compactbench report results/quickstart -o review`

    Prints the path of the page on its last line.
    """
    runs = load_runs(*results)
    folder = destination or results[0] / "report"
    try:
        with ERR.status("writing the report"):
            page = render(runs, folder)
    except OSError as error:
        raise ScenarioError(
            f"{folder}: cannot write the report ({error.strerror}); choose another -o"
        ) from error
    typer.echo(page)
