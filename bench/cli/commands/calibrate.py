"""`compactbench calibrate`: fit the coefficients of the cost model to measured runs."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

import typer

from bench.calibration.calibration import documented
from bench.calibration.coefficients_file import with_fitted
from bench.calibration.design import design
from bench.calibration.fit import Fitted
from bench.calibration.machine_speed import at_one_speed
from bench.calibration.measured import measured_steps
from bench.cli.arguments import QuietOption, readable_runs
from bench.cli.completion import format_names
from bench.cli.executing import execute, stopped_by_sigterm
from bench.cli.model_validation import resimulated
from bench.cli.output import TitledTable, print_line, print_remark, print_tables
from bench.cli.tables import Column
from bench.cli.writing import check_folder, writing
from bench.engines.registry import FORMATS, check_format
from bench.engines.simulated.costs import ModelError, shipped_file
from bench.engines.simulated.steps import PLANNING_OF, Operation
from bench.errors import ResultSchemaError
from bench.runs.suite.cases import plan_runs
from bench.runs.suite.results_folder import earlier_runs, locked
from bench.runs.suite.suite import Options
from bench.text import MISSING, counted, whole_percent

_FIGURES = {
    "compaction_cpu_s": "compaction CPU",
    "commit_cpu_s": "commit CPU",
    "query_mean_s": "mean query",
    "query_new_session_mean_s": "mean query by new sessions",
    "compaction_s": "time of compactions",
    "commit_mean_s": "mean commit",
    "query_cpu_s": "mean CPU of a query",
    "maintenance_cpu_s": "maintenance CPU",
}


@stopped_by_sigterm()
def calibrate(
    table_format: Annotated[
        str,
        typer.Argument(metavar="FORMAT", help=f"{', '.join(FORMATS)}.", autocompletion=format_names),
    ],
    results: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[RESULTS]...",
            show_default=False,
            help="Results of real runs to fit to, in place of the calibration runs.",
        ),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--file", "-f", metavar="FILE", show_default="FORMAT-coefficients.toml", help="What to write."
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="Where the calibration runs are kept.")
    ] = Path("results/calibration"),
    quiet: QuietOption = False,
) -> None:
    """Fit the cost model of a format to this machine, or to results that you already have.

    * `compactbench calibrate iceberg`

    * `compactbench calibrate iceberg results/mine -f mine.toml`

    * `compactbench run append-only --simulate --coefficients mine.toml`

    Without results it makes the calibration runs of the format, ten to fifteen small scenarios that take
    about half an hour on two cores. Leave the machine alone meanwhile. Stop them at any time; the same
    command goes on. Results of your own scenarios may be given, with or without the folder of these runs.

    **Errors** come from cross-validation: each stream is predicted with coefficients fitted to the other
    streams. The **noise of a run** is the standard deviation of repeated runs, which no model can predict.
    The cost of a file or a row holds within the **range** of amounts that were measured. In the file, the
    comment after a coefficient gives its least and greatest value when any one stream is left out. Operations
    with fewer than five measured steps keep the coefficients that ship with the format. `validate-model` on
    the same results shows how well the coefficients fit, not how well they predict.
    """
    check_format(table_format, table_format)
    target = file or Path(f"{table_format}-coefficients.toml")
    check_folder(target)
    are_complete = True
    if not results:
        results, are_complete = _calibration_runs(table_format, out, quiet=quiet)
    with readable_runs(results) as runs:
        own = [run for run in runs if run.manifest.format == table_format]
        if not own:
            problem = f"has no run of {table_format}: name a folder of real runs of it, or none at all"
            raise ResultSchemaError(problem, code="no-runs", path=results[0])
        made = resimulated(own, results[0], quiet=quiet)
        steps, fixed_work_cpu_s = at_one_speed(measured_steps(made))
        if not steps:
            problem = (
                "has no step to fit to: its runs failed, shared a JVM, or ran on a cluster of unknown size"
            )
            raise ResultSchemaError(problem, code="no-runs", path=results[0])
        calibration = documented(steps, table_format, fixed_work_cpu_s, (run.manifest for run in own))
        text = with_fitted(shipped_file(table_format), calibration)
        with writing(target):
            target.write_text(text, encoding="utf-8")
        named = {_FIGURES[name]: error for name, error in calibration.errors.items()}
        named |= {f"CPU of {name}": error for name, error in calibration.operation_errors.items()}
        print_tables([_operations(calibration.fitted), *_errors(named)])
        for one in made:
            if one.made is None:
                print_remark(str(one))
        runs_count = len({step.run_id for step in steps})
        print_line(
            f"fitted to {counted(runs_count, 'run')}, written to {target}; next: "
            f"compactbench run SCENARIO --simulate --coefficients {target}"
        )
    if not are_complete:
        print_remark(f"some calibration runs failed: read their log.txt in {out}, and repeat the command")
        raise typer.Exit(1)


def _calibration_runs(table_format: str, out: Path, *, quiet: bool) -> tuple[list[Path], bool]:
    """Makes the runs that are missing; returns the folders of all, and whether none failed."""
    out = out.absolute()
    scenarios = design(table_format)
    with locked(out):
        done = earlier_runs(scenarios, out, resume=True)
        planned = plan_runs(scenarios, (), 1, done)
        options = Options(out, command=f"compactbench calibrate {table_format}")
        made = execute(planned, options, goes_on_with="the same command makes the others", quiet=quiet)
    folders = [folder for scenario in scenarios if (folder := out / scenario.name).is_dir()]
    return folders, all(run.finished for run in made)


def _operations(fitted: Mapping[Operation, Fitted]) -> TitledTable:
    lines = [
        (operation.value, f"{one.cost.steps:,}", ", ".join(one.dropped) or "-")
        for operation, one in fitted.items()
        if operation not in PLANNING_OF.values()
    ]
    return "fitted operations", ("operation", Column("steps"), "not identified"), lines


def _errors(errors: Mapping[str, ModelError]) -> Iterator[TitledTable]:
    if errors:
        columns = (
            "figure", Column("mean error"), Column("noise of a run"), Column("strategies"),
            Column("streams"), Column("unpredicted"),
        )  # fmt: skip
        lines = [
            (
                name, _percent(error.mean_absolute), _percent(error.repeat_log_sd),
                str(error.strategies), str(error.streams), str(error.unpredicted),
            )
            for name, error in errors.items()
        ]  # fmt: skip
        yield "errors of streams that were left out", columns, lines


def _percent(share: float | None) -> str:
    return MISSING if share is None else whole_percent(share)
