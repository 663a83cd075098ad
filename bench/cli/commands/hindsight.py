"""`compactbench hindsight`: what each strategy costs over the best schedule that was possible."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.progress import Progress

from bench.cli.caution_output import print_cautions_of_runs
from bench.cli.executing import execute, stopped_by_sigterm
from bench.cli.output import (
    ERR,
    FormatOption,
    conceal,
    print_json,
    print_line,
    print_paragraph,
    print_remark,
    print_tables,
)
from bench.cli.progress import SuiteProgress
from bench.cli.regrets import Regrets, regret_sentences, regret_table, regrets_json
from bench.errors import ScenarioError
from bench.hindsight.search import (
    Best,
    Searched,
    best_schedules,
    floor_cpu_s,
    hindsight_scenario,
    moments,
    planner_of,
    search,
    searched_specs,
    with_schedules,
)
from bench.results.folders import RunResult, load_runs
from bench.runs.preflight.checks import check_coefficients
from bench.runs.suite.cases import plan_runs
from bench.runs.suite.results_folder import earlier_runs, locked
from bench.runs.suite.suite import Options, run_suite
from bench.scenario.scenario import Scenario
from reports.verdicts.model_errors import QUERIES_PER_H, cpu_with_queries_s

_MOMENTS = 120


@stopped_by_sigterm()
def hindsight(
    scenario: Annotated[
        str, typer.Argument(metavar="SCENARIO", help="A shipped scenario, or a path to a .toml file.")
    ],
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Override a key of the scenario. May be repeated."),
    ] = None,
    most: Annotated[
        int,
        typer.Option(
            "--moments",
            metavar="N",
            min=1,
            help="Search schedules that compact at N of the ticks at most; each takes one more simulation.",
        ),
    ] = _MOMENTS,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="The results folder.")] = Path(
        "results/hindsight"
    ),
    coefficients: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Coefficients of the cost model.")
    ] = None,
    output: FormatOption = "table",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
) -> None:
    """Say what each strategy costs over the best schedule, which only hindsight knows.

    * `compactbench hindsight append-only`

    * `compactbench hindsight mine.toml --set prices.queries_per_hour=40`

    The best schedule has the least CPU of commits, compactions and queries that any choice of moments for
    one of the scenario's planners can have, found by dynamic programming. So it says how much a better
    trigger could gain at most. All costs are modelled, in the steady state (`jvm = "warm"`) and without
    maintenance; compactions take no scenario time.

    With more ticks than `--moments`, the answer has a bound that no schedule undercuts.

    The runs that are stored have the best schedules as strategies `hindsight-RATE`, with the trigger `at`:
    `compactbench report` draws them beside the others.
    """
    out = out.absolute()
    base = hindsight_scenario(scenario, overrides or ())
    conceal(base.secrets)
    if coefficients:
        check_coefficients(coefficients, [base])
    ends = moments(base.commits_count, most)
    searched = _searched(base, coefficients, ends, quiet=quiet)
    found = [_best(base, best_schedules(base, searched, ends, rate), coefficients) for rate in _rates(base)]
    made = with_schedules(base, {one.label: one for one in found})
    runs = _simulated(made, scenario, out, coefficients, quiet=quiet)
    if runs is None:
        raise typer.Exit(1)
    regrets = [_regrets(base, searched, one, runs) for one in found]
    if output == "json":
        print_json({"scenario": base.name, "rates": regrets_json(regrets, base.commit_interval_ms)})
        return
    columns, lines = regret_table(regrets)
    title = f"{base.name} ({base.table.format}, simulated): extra CPU over that of the best schedule"
    print_tables([(title, columns, lines)])
    for sentence in regret_sentences(regrets, base.commits_count, len(ends), base.commit_interval_ms):
        print_paragraph(sentence)
    print_cautions_of_runs(runs)
    print_line(f"results in {out}; next: compactbench report {out}")


def _rates(scenario: Scenario) -> tuple[float, ...]:
    """Those of the published tables, or the scenario's own."""
    own = scenario.prices.queries_per_hour
    return (own,) if own else tuple(map(float, QUERIES_PER_H))


def _searched(
    scenario: Scenario, coefficients: Path | None, ends: Sequence[int], *, quiet: bool
) -> list[Searched]:
    """Raises the error of `search` if it can search no planner; otherwise says which ones it cannot."""
    specs, made, errors = searched_specs(scenario), list[Searched](), list[ScenarioError]()
    with Progress(console=ERR, transient=True, disable=quiet or not ERR.is_terminal) as progress:
        task = progress.add_task("searching schedules", total=len(specs) * (len(ends) + 1))
        for spec in specs:
            try:
                made.append(search(scenario, spec, coefficients, ends, lambda: progress.advance(task)))
            except ScenarioError as error:
                errors.append(error)
    if not made:
        raise errors[0]
    for problem in errors:
        print_remark(f"no schedules of {problem}")
    return made


def _best(scenario: Scenario, tried: Sequence[Best], coefficients: Path | None) -> Best:
    """The cheapest one of some schedules, simulated."""
    if len(tried) == 1:
        return tried[0]
    made = with_schedules(scenario, {one.tried_label: one for one in tried})
    labels = [spec.label for spec in made.strategies[len(scenario.strategies) :]]
    runs = plan_runs([made], labels, None, (), mode="simulated")
    with TemporaryDirectory(prefix="compactbench-") as folder, SuiteProgress(runs, ERR, quiet=True) as quiet:
        stored = run_suite(runs, Options(Path(folder), coefficients=coefficients), quiet) and load_runs(
            Path(folder)
        )
    cpu_s = {run.manifest.strategy: cpu_with_queries_s(run, tried[0].queries_per_h) for run in stored}
    return min(tried, key=lambda one: cpu_s.get(one.tried_label) or one.schedule.cpu_s)


def _simulated(
    scenario: Scenario, named: str, out: Path, coefficients: Path | None, *, quiet: bool
) -> Sequence[RunResult] | None:
    """The runs of all strategies; None if one failed."""
    options = Options(
        out, command=shlex.join(["compactbench", "hindsight", named]), coefficients=coefficients
    )
    with locked(out):
        done = earlier_runs([scenario], out, resume=True, mode="simulated")
        runs = plan_runs([scenario], (), None, done, mode="simulated")
        made = execute(runs, options, goes_on_with="the same command makes the others", quiet=quiet)
    return load_runs(out / scenario.name) if all(run.finished for run in made) else None


def _regrets(
    scenario: Scenario, searched: Sequence[Searched], best: Best, runs: Sequence[RunResult]
) -> Regrets:
    every = {run.manifest.strategy: cpu_with_queries_s(run, best.queries_per_h) for run in runs}
    cpu_s = {strategy: cost for strategy, cost in every.items() if cost is not None}
    planners = {planner_of(one.spec) for one in searched}
    own = [spec.label for spec in scenario.strategies if planner_of(spec) in planners and spec.label in cpu_s]
    best_own = min(own, key=cpu_s.__getitem__)
    best_cpu_s = cpu_s.get(best.label, best.schedule.cpu_s)  # without a compaction it has no run of its own
    return Regrets(
        best,
        floor_cpu_s(scenario, searched, best.queries_per_h),
        best_cpu_s,
        {spec.label: cpu_s.get(spec.label) for spec in scenario.strategies},
        cheaper=best_own if cpu_s[best_own] < best_cpu_s else None,
    )
