"""`compactbench hindsight`: what each strategy costs over the best schedule that was possible."""

import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from bench.cli.answer_output import print_cautions
from bench.cli.arguments import ScenarioArgument
from bench.cli.executing import execute, stopped_by_sigterm
from bench.cli.output import (
    ERR,
    EXIT_INTERRUPTED,
    FormatOption,
    conceal,
    print_json,
    print_line,
    print_paragraph,
    print_remark,
    print_tables,
    without_secrets,
)
from bench.cli.regret_output import regret_sentences, regret_table, regrets_json
from bench.cli.regrets import cheapest_simulated, regrets_of
from bench.errors import ScenarioError
from bench.hindsight.search import (
    Searched,
    candidates,
    hindsight_scenario,
    moments_of,
    search,
    searched_specs,
    with_schedules,
)
from bench.results.folders import RunResult, load_runs
from bench.runs.preflight.checks import check_coefficients
from bench.runs.suite.cases import plan_runs
from bench.runs.suite.results_folder import locked, stored_runs
from bench.runs.suite.suite import Options
from bench.scenario.scenario import Scenario
from bench.text import named_once
from reports.data.group import run_groups
from reports.verdicts.query_load import QUERIES_PER_H

_MOMENTS = 120
_COMMAND = ("compactbench", "hindsight")


@stopped_by_sigterm()
def hindsight(
    scenario: ScenarioArgument,
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

    The best schedule has the least CPU of commits, compactions and queries that a choice of moments for one
    of the scenario's planners can have, found by dynamic programming. So it says how much a better trigger
    could gain. What comes after the end of the stream counts for nothing. All costs are modelled, in the
    steady state (`jvm = "warm"`) and without maintenance; compactions take no scenario time.

    With more ticks than `--moments`, the answer has a bound below which no schedule is, unless compactions
    depend on each other.

    The runs that are stored have the best schedules as strategies `hindsight-RATE`, with the trigger `at`:
    `compactbench report` draws them beside the others. The next search of the scenario replaces them.
    """
    out = out.absolute()
    base, left_out = hindsight_scenario(scenario, overrides or ())
    conceal(base.secrets)
    if left_out:
        print_remark(f"left out of the search, and of all costs: {named_once(left_out)}")
    if coefficients:
        check_coefficients(coefficients, [base])
    words = [scenario, *(word for text in overrides or () for word in ("--set", without_secrets(text)))]
    options = Options(
        out, command=shlex.join([*_COMMAND, *words, "--moments", str(most)]), coefficients=coefficients
    )
    moments = moments_of(base.commits_count, most)
    with locked(out):
        earlier = _earlier_runs(out / base.name)
        try:
            searched = _searched(base, coefficients, moments, quiet=quiet)
            found = [
                cheapest_simulated(base, candidates(base, searched, moments, rate), coefficients)
                for rate in _rates(base)
            ]
        except KeyboardInterrupt:
            ERR.print("stopped; the same command begins the search again", highlight=False)
            raise typer.Exit(EXIT_INTERRUPTED) from None
        for run in earlier:
            shutil.rmtree(run.folder)
        made = with_schedules(base, {one.label: one for one in found})
        planned = plan_runs([made], (), None, (), mode="simulated")
        runs = execute(planned, options, goes_on_with="the same command makes them again", quiet=quiet)
        if not all(run.finished for run in runs):
            raise typer.Exit(1)
        runs = load_runs(out / base.name)
    regrets = [regrets_of(base, searched, one, runs) for one in found]
    if output == "json":
        print_json({"scenario": base.name, "rates": regrets_json(regrets, base.commit_interval_ms)})
        return
    columns, lines = regret_table(regrets)
    title = f"{base.name} ({base.table.format}, simulated): extra CPU over that of the best schedule found"
    print_tables([(title, columns, lines)])
    for sentence in regret_sentences(
        regrets, base.commits_count, len(moments), base.commit_interval_ms,
        has_checkpoints=base.table.format == "delta", has_query_rates=base.query_weights is not None,
    ):  # fmt: skip
        print_paragraph(sentence)
    for group in run_groups(runs):
        print_cautions(group)
    print_line(f"results in {out}; next: compactbench report {out}")


def _earlier_runs(folder: Path) -> tuple[RunResult, ...]:
    """What this command has stored for the scenario before, which it replaces.

    Raises ScenarioError if there are other runs.
    """
    runs = stored_runs(folder)
    own = " ".join(_COMMAND)
    if any(not run.manifest.command.startswith(own) or run.manifest.mode == "real" for run in runs):
        raise ScenarioError("has runs of other commands: choose another --out", code="has-runs", path=folder)
    return runs


def _rates(scenario: Scenario) -> tuple[float, ...]:
    """Those of the published tables, or the scenario's own."""
    own = scenario.prices.queries_per_hour
    return tuple(map(float, QUERIES_PER_H)) if own is None else (own,)


def _searched(
    scenario: Scenario, coefficients: Path | None, moments: Sequence[int], *, quiet: bool
) -> list[Searched]:
    """Raises the error of `search` if it can search no planner; otherwise says which ones it cannot."""
    specs, made, errors = searched_specs(scenario), list[Searched](), list[ScenarioError]()
    with Progress(console=ERR, transient=True, disable=quiet or not ERR.is_terminal) as progress:
        task = progress.add_task("searching schedules", total=len(specs) * (len(moments) + 1))
        for spec in specs:
            try:
                made.append(search(scenario, spec, coefficients, moments, lambda: progress.advance(task)))
            except ScenarioError as error:
                errors.append(error)
    if not made:
        raise errors[0]
    for problem in errors:
        print_remark(f"no schedules of {problem}")
    return made
