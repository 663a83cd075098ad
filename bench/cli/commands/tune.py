"""`compactbench tune`: choose the settings of strategies on some seeds, and score them on others."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from bench.cli.arguments import (
    CoefficientsOption,
    KeyOption,
    OutOption,
    QuietOption,
    ScenarioArgument,
    given,
    repeated,
)
from bench.cli.executing import stoppable, stopped_by_sigterm
from bench.cli.output import (
    conceal,
    print_csv,
    print_json,
    print_line,
    print_paragraph,
    print_remark,
    print_tables,
)
from bench.cli.searching import MOMENTS, MomentsOption, SchedulesOfOption, Search, rates_of
from bench.cli.tuning import (
    by_seed,
    least_extra,
    regrets_on,
    score,
    streams,
    with_strategies_of,
)
from bench.cli.tuning_output import (
    CSV_COLUMNS,
    Budget,
    Role,
    Tuned,
    budget_sentences,
    csv_lines,
    regret_remarks,
    tuned_json,
    tuned_table,
)
from bench.errors import ScenarioError
from bench.hindsight.search import SCHEDULES_OF, hindsight_scenario, moments_of, searched_specs
from bench.runs.preflight.checks import check_coefficients
from bench.runs.suite.results_folder import locked
from bench.runs.suite.suite import Options
from bench.sweep.grid import drawn, families
from bench.text import named_once

_SEEDS = 5
_SEEDS_MAX = 1_000


@stopped_by_sigterm()
def tune(
    scenario: ScenarioArgument,
    over: Annotated[
        list[str],
        typer.Option(
            "--over",
            metavar="KEY=VALUES",
            help="A key of a strategy and its values, as for `sweep`. May be repeated, for every "
            "combination.",
        ),
    ],
    runs: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            show_default="enough for all settings of the smallest family",
            help="Maximum simulated runs of each family, settings times training seeds. If a family has "
            "more settings than that allows, a random sample is tried, drawn with the scenario's seed.",
        ),
    ] = None,
    training: Annotated[
        int,
        typer.Option("--training-seeds", metavar="N", min=1, max=_SEEDS_MAX, help="Seeds to choose on."),
    ] = _SEEDS,
    held_out: Annotated[
        int,
        typer.Option(
            "--held-out-seeds", metavar="N", min=1, max=_SEEDS_MAX, help="Other seeds to score the choice on."
        ),
    ] = _SEEDS,
    held_out_on: Annotated[
        list[str] | None,
        typer.Option(
            "--held-out-on",
            metavar="SCENARIO",
            help="Another scenario to score the choice on, such as one with a trace: its stream and table "
            "are used with the strategies of the tuned scenario. May be repeated.",
        ),
    ] = None,
    overrides: KeyOption = None,
    most: MomentsOption = MOMENTS,
    schedules_of: SchedulesOfOption = None,
    out: OutOption = Path("results/tune"),
    coefficients: CoefficientsOption = None,
    output: Annotated[
        Literal["table", "json", "csv"],
        typer.Option("--format", help="Tables for people, or JSON or CSV for programs."),
    ] = "table",
    quiet: QuietOption = False,
) -> None:
    """Choose the settings of strategies by simulation, on some seeds, and score them on others.

    * `compactbench tune append-only --over strategies.amoro.every=1min..30min*8`

    * `compactbench tune mine.toml --set prices.queries_per_hour=40 --runs 60 \\`\
      `--over strategies.x.every=10min..7d*12 \\`\
      `--over strategies.y.options.min-input-files=2..200*20`

    **Families**: each strategy with an `--over` is a family, with a setting for each combination of its
    values (keys and values as for `compactbench sweep`). All families get as many simulated runs, settings
    times training seeds, so that none wins by being tried more often. The other strategies of the scenario
    are scored as they are.

    **What is minimised** is extra CPU, as in `compactbench hindsight`: the CPU of compactions, plus the CPU
    that commits and queries take beyond what they would take on a table that is always compacted. Queries
    come at `prices.queries_per_hour`, or else at each of 1, 10, 100 and 1,000 an hour. If a planner has an
    option `queries_per_minute`, set it to the same rate, and tune at one rate at a time.

    **Scores** are that extra CPU and its ratio to the best schedule in hindsight, on training seeds and on
    held-out ones: mean and worst. Seeds count up from the scenario's. The answer says whether they differ at
    all; where they do not, `--held-out-on` is the better test.

    All of it is simulated, in the steady state (`jvm = "warm"`) and without maintenance. The verdict comes
    from real runs: the last lines are the `compactbench run` that measures each choice.

    The same command after an interruption goes on where it stopped.
    """
    out = out.absolute()
    base, left_out = hindsight_scenario(scenario, overrides or ())
    conceal(base.secrets)
    if left_out:
        print_remark(f"left out of the simulations, and of all costs: {named_once(left_out)}")
    cells = families(base, over)
    budget = _budget(cells, over, runs, training)
    seeds = [base.seed + place for place in range(training + held_out)]
    others = [with_strategies_of(other, base) for other in held_out_on or ()]
    for other in others:
        conceal(other.secrets)
    if coefficients:
        check_coefficients(coefficients, [base, *others])
    roles = (
        Role(base.name, "training", tuple(seeds[:training])),
        *(Role(place.name, "held-out", tuple(seeds[training:])) for place in (base, *others)),
    )
    places = (base, base, *others)
    for place in (base, *others):
        searched_specs(place, schedules_of or ())  # raises before anything is simulated
    of_role = [streams(place, over, by_seed(role.seeds)) for place, role in zip(places, roles, strict=True)]
    as_they_are = [spec.label for spec in base.strategies if spec.label not in cells]
    tried = {label: drawn([*own], base.seed, budget.settings_count) for label, own in cells.items()}
    asked = Search(rates_of(base), most, tuple(schedules_of or ()), coefficients)
    repeating = [
        scenario,
        *repeated("--set", overrides),
        *repeated("--over", over),
        *given("--runs", runs),
        "--training-seeds", str(training),
        "--held-out-seeds", str(held_out),
        *repeated("--held-out-on", held_out_on),
        *repeated(SCHEDULES_OF, schedules_of),
        "--moments", str(most),
        *given("--coefficients", coefficients),
    ]  # fmt: skip
    command = shlex.join(["compactbench", "tune", *repeating])
    options = Options(out, command=command, coefficients=coefficients)
    with locked(out), stoppable("finished runs are kept, the same command makes the others"):
        every = [*(label for own in tried.values() for label in own), *as_they_are]
        first = regrets_on(of_role[0], every, asked, options, quiet=quiet)
        chosen = [
            {family: least_extra([one[n] for one in first], own) for family, own in tried.items()}
            for n in range(len(asked.rates))
        ]
        kept = list(dict.fromkeys([*(label for one in chosen for label in one.values()), *as_they_are]))
        by_role = [first, *(regrets_on(some, kept, asked, options, quiet=quiet) for some in of_role[1:])]

    def tuned(n: int) -> list[Tuned]:
        """The families and the other strategies at the rate with this index."""
        labels = {**chosen[n], **{label: label for label in as_they_are}}
        return [
            Tuned(
                family,
                label.removeprefix(f"{family} ") if family in cells else None,
                tuple(score([one[n] for one in regrets], label) for regrets in by_role),
            )
            for family, label in labels.items()
        ]

    rates = tuple(zip(asked.rates, map(tuned, range(len(asked.rates))), chosen, strict=True))
    measured = [_measured(scenario, overrides, rate, cells, one) for rate, _, one in rates]
    if output == "json":
        print_json(
            {
                "scenario": base.name,
                "settings_of_each_family": budget.settings_count,
                "training_runs_of_each_family": budget.runs_count,
                "grids": {label: list(axes) for label, (_, axes) in budget.grids.items()},
                "rates": [
                    {"queries_per_h": rate, "strategies": tuned_json(one, roles), "measured_by": words}
                    for (rate, one, _), words in zip(rates, measured, strict=True)
                ],
            }
        )
        return
    if output == "csv":
        print_csv(CSV_COLUMNS, (line for rate, one, _ in rates for line in csv_lines(rate, one, roles)))
        return
    what = "extra CPU, and that over the best schedule's"
    print_tables(
        (f"{base.name} ({base.table.format}, simulated) at {rate:,.10g} queries/h: {what}",
         *tuned_table(one, roles, base.name))
        for rate, one, _ in rates
    )  # fmt: skip
    moments = moments_of(base.commits_count, most)
    for sentence in (
        *budget_sentences(budget, roles), *regret_remarks(by_role, base.commits_count, len(moments))
    ):  # fmt: skip
        print_paragraph(sentence)
    print_paragraph("A simulation may choose; the verdict comes from real runs:")
    for words in measured:
        print_line(words)


def _budget(
    cells: dict[str, dict[str, tuple[str, ...]]], over: Sequence[str], runs: int | None, training: int
) -> Budget:
    """As many settings for each family. Raises ScenarioError if there are runs for none."""
    if runs is not None and runs < training:
        problem = f"is too few to try one setting on all {training} training seeds: give at least {training}"
        raise ScenarioError(problem, code="invalid", path=f"--runs {runs}")
    fewest = min(map(len, cells.values()))
    grids = {
        label: (len(own), tuple(text for text in over if _is_of(text, label))) for label, own in cells.items()
    }
    return Budget(fewest if runs is None else min(fewest, runs // training), training, grids)


def _is_of(axis: str, label: str) -> bool:
    return axis.startswith((f"strategies.{label}.", f"strategies[{label}]."))


def _measured(
    scenario: str,
    overrides: Sequence[str] | None,
    rate: float,
    cells: dict[str, dict[str, tuple[str, ...]]],
    chosen: dict[str, str],
) -> str:
    """The `compactbench run` that measures the cell that was chosen of each family."""
    settings = [setting for family, label in chosen.items() for setting in cells[family][label]]
    words = [
        "compactbench", "run", scenario,
        *repeated("--set", overrides),
        "--out", f"results/tuned-{rate:.10g}",
        *repeated("--set", settings),
        *repeated("--only", (f"strategy={family}" for family in chosen)),
    ]  # fmt: skip
    return shlex.join(words)
