"""`compactbench sweep`: simulate a grid of settings, and draw the front of cost against latency."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

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
from bench.cli.executing import execute, stopped_by_sigterm
from bench.cli.output import conceal, print_line
from bench.cli.progress import doing
from bench.results.folders import RunResult, load_runs
from bench.runs.preflight.checks import check_coefficients
from bench.runs.suite.cases import plan_runs
from bench.runs.suite.results_folder import check_alone, earlier_runs, locked
from bench.runs.suite.suite import Options
from bench.scenario.load import load_scenario
from bench.sweep.grid import swept_scenarios


@stopped_by_sigterm()
def sweep(
    scenario: ScenarioArgument,
    over: Annotated[
        list[str],
        typer.Option(
            "--over",
            metavar="KEY=VALUES",
            help="A key and its values, A,B,C or LOW..HIGH*COUNT. May be repeated, for every combination.",
        ),
    ],
    overrides: KeyOption = None,
    out: OutOption = Path("results/sweep"),
    coefficients: CoefficientsOption = None,
    quiet: QuietOption = False,
) -> None:
    """Simulate every combination of some settings, and show the best trade-offs of cost and latency.

    * `compactbench sweep append-only --over strategies.amoro.every=1min..30min*8`

    * `compactbench sweep mine.toml --over strategies.x.every=10min..7d*12 \\`\
      `--over strategies.x.options.min-input-files=2,5,20`

    * `compactbench sweep append-only --over workload.rows_per_commit=80,800`

    **Keys**: `strategies.LABEL.every` is the interval of the first rule of a strategy,
    `strategies.LABEL.planner.NAME` a key of its planner, and `strategies.LABEL.options.NAME` one of the
    planner's `options`. All other keys are as for `--set`, within a
    strategy too (`strategies[LABEL].writer.commit_every`). Each strategy with such keys becomes a family with
    a member for each combination; the other strategies run as they are. For keys outside of strategies, each
    combination of values becomes a scenario with its own results and its own answer.

    **Values**: a list (A,B,C), or LOW..HIGH*COUNT: COUNT durations, sizes or numbers from LOW to HIGH, each
    larger than the one before by the same factor.

    The report has one curve for each family. To continue after an interruption, repeat the same command. Then
    `compactbench recommend results/sweep` chooses from what was simulated.
    `compactbench run` measures the strategies you choose: write them into a scenario.
    """
    out = out.absolute()
    base = load_scenario(scenario, overrides or ())
    conceal(base.secrets)
    scenarios = swept_scenarios(base, over)
    if coefficients:
        check_coefficients(coefficients, scenarios)
    words = [
        "sweep",
        scenario,
        *repeated("--set", overrides),
        *repeated("--over", over),
        *given("--coefficients", coefficients),
    ]
    options = Options(out, command=shlex.join(["compactbench", *words]), coefficients=coefficients)
    with locked(out):
        check_alone(scenarios, out)
        done = earlier_runs(scenarios, out, resume=True, mode="simulated", coefficients=coefficients)
        runs = plan_runs(scenarios, (), None, done, mode="simulated")
        made_runs = execute(runs, options, goes_on_with="the same command makes the others", quiet=quiet)
    _show(
        load_runs(*(folder for made in scenarios if (folder := out / made.name).is_dir())), out, quiet=quiet
    )
    if not all(run.finished for run in made_runs):
        raise typer.Exit(1)


def _show(runs: Sequence[RunResult], out: Path, *, quiet: bool) -> None:
    """Write the page, and print the front of each group of runs."""
    # What draws and computes takes a second to load: a shell that completes the command does not wait for it.
    from bench.cli.front_output import print_front
    from reports.data.group import run_groups
    from reports.page.render import render

    with doing("writing the report", quiet=quiet):
        page = render(runs, out / "report")
    for group in run_groups(runs):
        print_front(group)
    print_line(str(page))
