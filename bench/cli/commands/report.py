"""`compactbench report`: a report for a design review."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from bench.cli.arguments import ResultsArgument, not_read, readable_runs
from bench.cli.output import ERR, print_remark
from bench.engines.keys import known_text
from bench.errors import ScenarioError
from bench.results.folders import RunResult
from reports.page.render import render


def report(
    results: ResultsArgument,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="The folder to write: a new or empty one, or that of an earlier report.",
            show_default="RESULTS/report",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="STRATEGY", help="Report on this strategy only. May be repeated."),
    ] = None,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
) -> None:
    """Write a report: one self-contained HTML page, the same text in Markdown, charts and tables.

    * `compactbench report`

    * `compactbench report results/quickstart -o review --open`

    * `compactbench report --only never --only every-10min`

    Prints the path of the page on its last line.
    """
    folder = out or results[0] / "report"
    with readable_runs(results) as runs:
        try:
            with ERR.status("writing the report"):
                page = render(_selected(runs, only or ()), folder)
        except OSError as error:
            raise ScenarioError(
                f"cannot write the report ({error.strerror}): choose another -o",
                code="not-writable",
                path=folder,
            ) from error
        for remark in not_read(results):
            print_remark(remark)
        typer.echo(page)
        if open_page:
            typer.launch(page.absolute().as_uri())


def _selected(runs: Sequence[RunResult], only: Sequence[str]) -> Sequence[RunResult]:
    """Raises ScenarioError for a strategy that has no run."""
    labels = {run.manifest.strategy for run in runs}
    for name in only:
        if name not in labels:
            problem = f"no such strategy here; {known_text(name, labels)}"
            raise ScenarioError(problem, code="unknown-name", path=f"--only {name}")
    return [run for run in runs if not only or run.manifest.strategy in only]
