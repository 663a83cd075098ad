"""`compactbench validate-model`: how far a simulation is off from real runs."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer

from bench.cli.arguments import ResultsArgument, readable_runs
from bench.cli.output import ERR, print_json, print_remark, print_tables
from bench.cli.progress import SuiteProgress
from bench.cli.tables import Column
from bench.errors import ResultSchemaError
from bench.runs.resimulation import Resimulation, resimulations, simulate
from bench.text import MISSING
from reports.data.group import run_groups
from reports.verdicts.model_errors import (
    METRICS,
    ErrorOfFigure,
    ModelErrors,
    model_errors,
    rank_summaries,
    summaries,
)

# How tables name `METRICS`; the mean query is one of a new session.
HEADINGS = {
    "compaction_cpu_s": "compaction CPU",
    "commit_cpu_s": "commit CPU",
    "query_new_session_mean_s": "mean query",
    "compaction_added_bytes": "compacted bytes",
    "commit_added_bytes": "committed bytes",
    "files_end": "files",
    "delete_files_end": "delete files",
}


def validate_model(
    results: ResultsArgument,
    coefficients: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Cost coefficients to test, in place of the shipped ones."),
    ] = None,
    output: Annotated[
        Literal["table", "json"], typer.Option("--format", help="Tables for people, JSON for programs.")
    ] = "table",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
) -> None:
    """Simulate the scenarios of real runs again, and show how far the simulation is off.

    * `compactbench validate-model results/append-only`

    * `compactbench validate-model results --coefficients mine.toml`

    The **error** of a figure is the simulated value over the mean of the real runs, minus 1. Beside it stands
    how far a single **repetition** is off from the mean of the others. Ratios compare two strategies of one
    scenario. **Tau** counts the pairs of strategies that the real runs tell apart: it is 1 if the simulation
    ranks all of them alike, and -1 if it ranks none alike. **Regret** is how much more than the cheapest
    strategy the one costs, in the real runs, that the simulation finds cheapest, at a given rate of queries.
    Strategies that cannot be simulated are left out and named.
    """
    with readable_runs(results) as runs:
        tried = resimulations(runs)
        if not tried:
            raise ResultSchemaError(
                "contains no usable real runs to compare with", code="no-runs", path=results[0]
            )
        planned = [one.planned for one in tried if one.planned is not None]
        with SuiteProgress(planned, ERR, quiet=quiet) as progress:
            simulated = simulate(tried, coefficients, progress)
        errors = model_errors(run_groups(run for one in tried for run in one.real), simulated)
        left_out = [one for one in tried if one.planned is None]
        if output == "json":
            _print_json(errors, left_out)
        else:
            _print(errors, left_out)


def _print(errors: ModelErrors, left_out: Sequence[Resimulation]) -> None:
    print_tables(
        [
            *(_scenario_table(scenario, errors.figures) for scenario in _scenarios(errors.figures)),
            (
                "all strategies",
                [
                    "format", "figure", Column("n"), Column("mean error"), Column("bias"),
                    Column("a repetition"),
                ],
                [
                    (
                        one.format, HEADINGS[one.metric], str(one.n), _percent(one.mean_absolute),
                        _signed(one.mean_signed), _percent(one.repeat),
                    )
                    for one in summaries(errors.figures)
                ],
            ),
            (
                "ratios of two strategies",
                ["format", "figure", Column("pairs"), Column("mean error"), Column("decided"), Column("tau")],
                [
                    (
                        one.format, HEADINGS[one.metric], str(one.pairs), _percent(one.mean_error),
                        str(one.decided), _number(one.tau),
                    )
                    for one in rank_summaries(errors.ratios)
                ],
            ),
            (
                "the strategy that the simulation finds cheapest",
                ["scenario", Column("queries/h"), "chosen", "cheapest", Column("regret")],
                [
                    (one.scenario, str(one.queries_per_h), one.chosen, one.best, _percent(one.regret))
                    for one in errors.regrets
                ],
            ),
        ]
    )  # fmt: skip
    for one in left_out:
        print_remark(f"{one.real[0].manifest.scenario}, {one.strategy}: left out: {one.problem}")


def _scenarios(errors: Iterable[ErrorOfFigure]) -> Iterable[str]:
    return dict.fromkeys(error.scenario for error in errors)


def _scenario_table(
    scenario: str, errors: Iterable[ErrorOfFigure]
) -> tuple[str, list[str | Column], list[tuple[str, ...]]]:
    own = {(error.strategy, error.metric): error for error in errors if error.scenario == scenario}
    shown = [metric for metric in METRICS if any(name == metric for _, name in own)]
    lines = [
        (
            label,
            *(_signed(own[label, metric].error) if (label, metric) in own else MISSING for metric in shown),
        )
        for label in dict.fromkeys(label for label, _ in own)
    ]
    columns: list[str | Column] = ["strategy", *(Column(HEADINGS[metric]) for metric in shown)]
    return f"{scenario}: simulated / real - 1", columns, lines


def _signed(share: float) -> str:
    return f"{100 * share:+.0f} %"


def _percent(share: float | None) -> str:
    return MISSING if share is None else f"{100 * share:.1f} %" if share < 0.1 else f"{100 * share:.0f} %"


def _number(value: float | None) -> str:
    return MISSING if value is None else f"{value:.2f}"


def _print_json(errors: ModelErrors, left_out: Sequence[Resimulation]) -> None:
    print_json(
        {
            "figures": [{**asdict(one), "error": one.error} for one in errors.figures],
            "ratios": [{**asdict(one), "error": one.error} for one in errors.ratios],
            "regrets": [asdict(one) for one in errors.regrets],
            "summaries": [asdict(one) for one in summaries(errors.figures)],
            "ranks": [asdict(one) for one in rank_summaries(errors.ratios)],
            "left_out": [
                {"scenario": one.real[0].manifest.scenario, "strategy": one.strategy, "problem": one.problem}
                for one in left_out
            ],
        }
    )
