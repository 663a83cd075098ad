"""`compactbench report`: a report for a design review."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from bench.cli.arguments import ResultsArgument, readable_runs
from bench.cli.completion import strategy_labels
from bench.cli.output import ERR, print_remark
from bench.errors import ScenarioError, writing_report
from bench.names import known_text
from bench.results.folders import RunResult
from reports.verdicts.history import History, histories


def report(
    results: ResultsArgument,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="The folder to write: a new or empty one, or that of an earlier report.",
            show_default="'report' in the folder that holds all RESULTS, with --history 'history'",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="STRATEGY",
            autocompletion=strategy_labels,
            help="Report on this strategy only. May be repeated.",
        ),
    ] = None,
    history: Annotated[
        bool,
        typer.Option(
            "--history",
            help="Draw each metric over the times at which suites were made, with marks where versions, "
            "options or the machine changed.",
        ),
    ] = False,
    charts: Annotated[
        Literal["page", "slides"],
        typer.Option(help="slides: also write charts for presentations, 16:9, into the folder slides."),
    ] = "page",
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
) -> None:
    """Write a report: one self-contained HTML page, the same text in Markdown, charts and tables.

    * `compactbench report`

    * `compactbench report results/quickstart -o review --open`

    * `compactbench report --only never --only every-10min`

    * `compactbench report --history results/*`

    * `compactbench report --charts slides`

    Prints the path of the page on its last line.
    """
    # What draws takes a second to load: a shell that completes the command does not wait for it.
    from reports.page.render import is_report, render, render_history

    if history and charts == "slides":
        problem = "a history has no slides: remove one of the options"
        raise ScenarioError(problem, code="exclusive", path="--history and --charts slides")
    if history:  # "results/*" may have reports among them
        results = [place for place in results if not is_report(place)] or results
    folder = out or _common(results) / ("history" if history else "report")
    with readable_runs(results) as runs:
        selected = _selected(runs, only or ())
        told = _told(selected) if history else []
        with writing_report(folder), ERR.status("writing the report"):
            if history:
                page = render_history(told, folder)
            else:
                page = render(selected, folder, has_slides=charts == "slides")
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


def _common(folders: Sequence[Path]) -> Path:
    """The folder that holds all of them, or is the only one."""
    try:
        return Path(os.path.commonpath(folders))
    except ValueError:  # some are absolute
        return Path(os.path.commonpath([folder.absolute() for folder in folders]))


def _told(runs: Sequence[RunResult]) -> list[History]:
    """The histories of several points; the others are named. Raises ScenarioError if there is none."""
    known = histories(runs)
    told = [history for history in known if len(history.points) > 1]
    if not told:
        raise ScenarioError(
            "each scenario ran in one sitting only: run one again at another time, into a folder of its own "
            "(`compactbench run SCENARIO --out results/DATE`), and name both folders",
            code="one-sitting",
            path="--history",
        )
    for history in known:
        if history not in told:
            m = history.latest.manifest
            print_remark(f"{m.scenario}, {m.mode}: it ran in one sitting only, so it has no history")
    return told
