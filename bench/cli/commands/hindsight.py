"""`compactbench hindsight`: what each strategy costs over the best schedule that was possible."""

import shlex
import shutil
from pathlib import Path

import typer

from bench.cli.answer_output import print_cautions
from bench.cli.arguments import (
    CoefficientsOption,
    KeyOption,
    OutOption,
    QuietOption,
    ScenarioArgument,
    given,
    repeated,
)
from bench.cli.executing import execute, stoppable, stopped_by_sigterm
from bench.cli.output import (
    FormatOption,
    conceal,
    print_json,
    print_line,
    print_paragraph,
    print_remark,
    print_tables,
)
from bench.cli.regret_output import regret_sentences, regret_table, regrets_json
from bench.cli.searching import (
    MOMENTS,
    MomentsOption,
    SchedulesOfOption,
    Search,
    best_schedules,
    rates_of,
    with_found,
)
from bench.engines.registry import FORMATS
from bench.engines.simulated.steps import Operation
from bench.errors import ScenarioError
from bench.hindsight.search import SCHEDULES_OF, hindsight_scenario, moments_of
from bench.results.best_schedules import write_best_schedules
from bench.results.folders import RunResult, load_runs
from bench.runs.preflight.checks import check_coefficients
from bench.runs.suite.cases import plan_runs
from bench.runs.suite.results_folder import locked, stored_runs
from bench.runs.suite.suite import Options
from bench.text import named_once
from reports.data.group import run_groups
from reports.verdicts.regrets import regrets_of

_COMMAND = ("compactbench", "hindsight")


@stopped_by_sigterm()
def hindsight(
    scenario: ScenarioArgument,
    overrides: KeyOption = None,
    most: MomentsOption = MOMENTS,
    schedules_of: SchedulesOfOption = None,
    out: OutOption = Path("results/hindsight"),
    coefficients: CoefficientsOption = None,
    output: FormatOption = "table",
    quiet: QuietOption = False,
) -> None:
    """Show how much more each strategy costs than the best schedule, found in hindsight.

    * `compactbench hindsight append-only`

    * `compactbench hindsight mine.toml --set prices.queries_per_hour=40`

    A schedule is a choice of the moments at which one of the scenario's planners compacts. The best schedule
    minimises the CPU of commits, compactions and queries together; dynamic programming finds it. A
    strategy's distance from it is the most that a better trigger could save. Costs after the end of the
    stream do not count. All costs are modelled, in the steady state (`jvm = "warm"`) and without maintenance;
    compactions take no scenario time.

    If the stream has more ticks (commits) than `--moments`, only evenly spaced ticks are searched. The last
    row of the table is then a lower bound on the extra CPU of any schedule. The bound is only approximate if
    the effect of a compaction depends on earlier ones.

    Each best schedule is stored as a simulated strategy `hindsight-RATE` (RATE in queries per hour) with the
    trigger `at`. `compactbench report` shows it in the tables and in the charts over time, and shows the
    figures of this command next to the front of cost and latency. The next search of the scenario replaces
    the stored runs.
    """
    out = out.absolute()
    base, left_out = hindsight_scenario(scenario, overrides or ())
    conceal(base.secrets)
    if left_out:
        print_remark(f"left out of the search, and of all costs: {named_once(left_out)}")
    if coefficients:
        check_coefficients(coefficients, [base])
    asked = Search(rates_of(base), most, tuple(schedules_of or ()), coefficients)
    words = [
        scenario,
        *repeated("--set", overrides),
        *repeated(SCHEDULES_OF, schedules_of),
        "--moments", str(most),
        *given("--coefficients", coefficients),
    ]  # fmt: skip
    options = Options(out, command=shlex.join([*_COMMAND, *words]), coefficients=coefficients)
    folder = out / base.name
    with locked(out):
        earlier = _earlier_runs(folder)
        with stoppable("the same command begins the search again"):
            schedules = best_schedules(base, asked, quiet=quiet)
        for run in earlier:
            shutil.rmtree(run.folder)
        write_best_schedules(folder, schedules)
        planned = plan_runs([with_found(base, schedules)], (), None, (), mode="simulated")
        runs = execute(planned, options, goes_on_with="the same command makes them again", quiet=quiet)
        if not all(run.finished for run in runs):
            raise typer.Exit(1)
        runs = load_runs(folder)
    regrets = [one for found in schedules.found if (one := regrets_of(found, runs)) is not None]
    if not regrets:
        raise ScenarioError("no commit has rows: choose a longer duration", code="empty", path=base.file)
    if output == "json":
        print_json({"scenario": base.name, "rates": regrets_json(regrets, base.commit_interval_ms)})
        return
    columns, lines = regret_table(regrets)
    title = f"{base.name} ({base.table.format}, simulated): extra CPU over that of the best schedule found"
    print_tables([(title, columns, lines)])
    commits = FORMATS[base.table.format].engines.estimates(coefficients).operations[Operation.COMMIT]
    for sentence in regret_sentences(
        regrets, base.commits_count, len(moments_of(base.commits_count, most)), base.commit_interval_ms,
        has_checkpoints="s_per_checkpoint" in commits.driver, has_query_rates=base.query_weights is not None,
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
