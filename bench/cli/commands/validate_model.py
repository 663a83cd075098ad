"""`compactbench validate-model`: how far a simulation is off from real runs."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer

from bench.cli.arguments import QuietOption, ResultsArgument, readable_runs
from bench.cli.executing import stopped_by_sigterm
from bench.cli.model_validation import validated
from bench.cli.output import TitledTable, print_json, print_remark, print_tables
from bench.cli.tables import Column
from bench.runs.resimulation import Resimulation
from bench.text import MISSING, human_duration, human_ratio, whole_percent
from reports.verdicts.model_errors import (
    METRICS,
    ErrorOfFigure,
    ModelErrors,
    figure_summaries,
    ratio_summaries,
)

# How tables name `METRICS`.
HEADINGS = {
    "compaction_cpu_s": "compaction CPU",
    "commit_cpu_s": "commit CPU",
    "query_mean_s": "mean query",
    "query_new_session_mean_s": "mean query, new sessions",
    "compaction_added_bytes": "compacted bytes",
    "commit_added_bytes": "committed bytes",
    "files_end": "files",
    "delete_files_end": "delete files",
}


@stopped_by_sigterm()
def validate_model(
    results: ResultsArgument,
    coefficients: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Cost coefficients to test, in place of the shipped ones; of one format."
        ),
    ] = None,
    output: Annotated[
        Literal["table", "json"], typer.Option("--format", help="Tables for people, JSON for programs.")
    ] = "table",
    quiet: QuietOption = False,
) -> None:
    """Simulate the scenarios of real runs again, and show how far the simulation is off.

    * `compactbench validate-model results/append-only`

    * `compactbench validate-model results --coefficients mine.toml`

    **Error** is the simulated figure divided by the mean of the real runs, minus 1. The **mean error**
    ignores the signs of the errors, the **bias** keeps them. **A repetition** is how far a single real run is
    from the mean of the other runs of its strategy. **In interval** counts the real figures inside the 95 %
    prediction interval of the coefficients for streams that they were not fitted to. If the runs recorded how
    fast their machine was (the time of a fixed piece of work), the simulated machine is equally fast.

    **Ratios** compare two strategies of one scenario. **Off by** is the mean factor between the simulated and
    the real ratio. **Told apart** counts the pairs whose difference in the real runs exceeds the noise, and
    **ranked alike** the pairs that the simulation puts in the same order. **Tau** (Kendall's) is the number
    of pairs in the same order minus the number in the opposite order, divided by the number told apart.

    **Regret**: at each rate of queries, the simulation chooses the strategy with the least CPU of commits,
    policy and queries. Its regret is how much more CPU it took in the real runs than the strategy that was
    cheapest there. **At random** is the mean regret of a strategy chosen at random.

    Strategies that cannot be simulated are left out and named. If a simulation fails, the exit code is 1.
    """
    with readable_runs(results) as runs:
        errors, made = validated(runs, results[0], coefficients, quiet=quiet)
        left_out = [one for one in made if one.made is None]
        if output == "json":
            _print_json(errors, left_out)
        else:
            print_tables(_tables(errors))
            for remark in dict.fromkeys(_core_speed(one) for one in made if one.core_speed != 1):
                print_remark(remark)
            for one in left_out:
                print_remark(str(one))
        if any(one.has_failed for one in left_out):
            raise typer.Exit(1)


def _core_speed(one: Resimulation) -> str:
    took = human_duration(one.fixed_work_cpu_s or 0)
    return (
        f"{one.scenario}, {one.real[0].manifest.format}: simulated with resources.core_speed = "
        f"{one.core_speed:.2g}, since the fixed work took {took} of CPU on its machine"
    )


def _tables(errors: ModelErrors) -> Iterator[TitledTable]:
    for scenario in dict.fromkeys(error.scenario for error in errors.figures):
        yield _scenario_table(scenario, errors.figures)
    yield (
        "all strategies",
        [
            "format", "figure", Column("strategies"), Column("mean error"), Column("bias"),
            Column("a repetition"), Column("in interval"),
        ],
        [
            (
                one.format, HEADINGS[one.metric], str(one.strategies_count), _percent(one.mean_absolute),
                _signed(one.mean_signed), _percent(one.repeat),
                f"{one.covered_count}/{one.intervals_count}" if one.intervals_count else MISSING,
            )
            for one in figure_summaries(errors.figures)
        ],
    )  # fmt: skip
    if errors.ratios:
        yield (
            "ratios of two strategies",
            [
                "format", "figure", Column("pairs"), Column("off by"), Column("told apart"),
                Column("ranked alike"), Column("tau"),
            ],
            [
                (
                    one.format, HEADINGS[one.metric], str(one.pairs_count), human_ratio(one.mean_factor),
                    str(one.decided_count), str(one.alike_count),
                    MISSING if one.tau is None else f"{one.tau:.2f}",
                )
                for one in ratio_summaries(errors.ratios)
            ],
        )  # fmt: skip
    if errors.regrets:
        yield (
            "the strategy that the simulation finds cheapest",
            [
                "scenario", Column("queries/h"), "chosen", "cheapest", Column("regret"), Column("at random"),
                Column("runs"),
            ],
            [
                (
                    one.scenario, str(one.queries_per_h), one.chosen, one.best, _percent(one.regret),
                    _percent(one.at_random), str(one.repetitions),
                )
                for one in errors.regrets
            ],
        )  # fmt: skip


def _scenario_table(scenario: str, errors: Iterable[ErrorOfFigure]) -> TitledTable:
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
    return f"{scenario}: error of the simulation", columns, lines


def _signed(share: float) -> str:
    return f"{share:+z.0%}".replace("%", " %")


def _percent(share: float | None) -> str:
    return MISSING if share is None else whole_percent(share)


def _print_json(errors: ModelErrors, left_out: Sequence[Resimulation]) -> None:
    print_json(
        {
            "figures": [{**asdict(one), "error": one.error} for one in errors.figures],
            "ratios": [{**asdict(one), "factor": one.factor} for one in errors.ratios],
            "regrets": [asdict(one) for one in errors.regrets],
            "figure_summaries": [asdict(one) for one in figure_summaries(errors.figures)],
            "ratio_summaries": [asdict(one) for one in ratio_summaries(errors.ratios)],
            "left_out": [
                {"scenario": one.scenario, "strategy": one.strategy, "problem": one.problem}
                for one in left_out
            ],
        }
    )
