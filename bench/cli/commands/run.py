"""`compactbench run`: replay scenarios on real or simulated tables."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from bench.cli.answer_output import print_answers
from bench.cli.arguments import DEFAULT_OUT, ScenariosArgument, SetOption, given, repeated
from bench.cli.commands.show import print_rows
from bench.cli.commands.validate import few_repetitions
from bench.cli.completion import only_filters
from bench.cli.executing import execute, stopped_by_sigterm
from bench.cli.output import conceal, print_line, print_paragraph
from bench.cli.progress import SuiteProgress
from bench.errors import ScenarioError
from bench.results.folders import RunResult, load_runs
from bench.results.records import MANIFEST, Mode
from bench.results.remarks import absences
from bench.runs.preflight.checks import check_coefficients
from bench.runs.preflight.space import log_bytes, needed_bytes, results_bytes
from bench.runs.suite.cases import PlannedRun, plan_runs, repetitions_of
from bench.runs.suite.results_folder import earlier_runs, locked, mark_replaced, replaced_if_disturbed
from bench.runs.suite.suite import Options, drop_left
from bench.scenario.load import load_scenario
from bench.scenario.scenario import Scenario
from bench.scenario.schema import REPETITIONS_MAX
from bench.text import counted
from reports.data.group import run_groups


@stopped_by_sigterm()
def run(
    scenarios: ScenariosArgument,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="Where to write the results.")
    ] = DEFAULT_OUT,
    repetitions: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=REPETITIONS_MAX,
            metavar="N",
            help="Repetitions of each strategy, in place of the scenario's.",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="strategy=LABEL",
            autocompletion=only_filters,
            help="Run only this strategy, or with variant=LABEL only this variant; variant=base is the "
            "scenario as it is. May be repeated.",
        ),
    ] = None,
    overrides: SetOption = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Skip the runs that are already finished in --out.")
    ] = False,
    repeat_disturbed: Annotated[
        bool,
        typer.Option(
            "--repeat-disturbed",
            help="Like --resume, and also repeat the finished runs during which other processes used the "
            "machine. They are kept and marked as replaced, and their figures are not used.",
        ),
    ] = False,
    verify: Annotated[
        Literal["end", "each", "off"],
        typer.Option(
            help="When to compare the table's content with the stream: at the end of a run, after each "
            "compaction (which invalidates the timings), or never."
        ),
    ] = "end",
    keep_tables: Annotated[
        bool,
        typer.Option(
            "--keep-tables", help="Keep the table of each run: in the run's folder, or in your own catalog."
        ),
    ] = False,
    simulate: Annotated[
        bool,
        typer.Option(
            "--simulate", help="Use simulated tables: takes seconds, needs no Java; all times are modelled."
        ),
    ] = False,
    coefficients: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Cost coefficients of the simulation, in place of the shipped ones."
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print what would run.")] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Show no progress: only failures, warnings and the results.")
    ] = False,
) -> None:
    """Replay a scenario's stream into a table under each of its strategies; measure cost and effect.

    * `compactbench run quickstart`

    * `compactbench run quickstart --repetitions 5 --out results/today`

    * `compactbench run append-only --only strategy=every-10min`

    * `compactbench run my-table.toml --set workload.rows_per_commit=1000`

    * `compactbench run append-only --set 'spark."spark.sql.shuffle.partitions"=8'`

    * `compactbench run append-only --simulate --set duration=24h`

    A repetition runs every strategy once in each variant of the scenario, in an order drawn from its seed.
    `compare` and `report` compare the runs of a repetition in pairs.

    Each real run has its own process, Spark session and new table. Stop with Ctrl-C at any time and continue
    with `--resume`. `show`, `compare` and `report` read the results. To repeat a finished run, do not delete
    it: write the reason into a file `replaced.txt` in its folder, and `--resume`. For a first look, use
    `--simulate` or `--repetitions 1`.

    Simulated runs plan by the same rules as real ones, on tables with the files that the rules of the format
    give. Their times are modelled and never combined with measured ones. Each strategy is simulated once,
    since a repetition would be identical. `validate-model` compares simulations with real runs.
    """
    out = out.absolute()  # tables are named by URI
    if simulate:
        _refuse_with_simulate(keep_tables, verify)
    elif coefficients:
        problem = "only simulations use them: add --simulate"
        raise ScenarioError(problem, code="exclusive", path=f"--coefficients {coefficients}")
    mode: Mode = "simulated" if simulate else "real"
    loaded = _load(scenarios, overrides or ())
    if not simulate and verify == "each" and any(scenario.has_real_clock for scenario in loaded):
        problem = "other roles change the table during the check: use --verify end or off"
        raise ScenarioError(problem, code="exclusive", path='--verify each with clock = "real"')
    if coefficients:
        check_coefficients(coefficients, loaded)
    chosen = [_chosen(text) for text in only or ()]
    labels = [label for what, label in chosen if what == "strategy"]
    variants = [label for what, label in chosen if what == "variant"]

    def done_before() -> tuple[RunResult, ...]:
        done = earlier_runs(
            loaded, out,
            resume=resume or repeat_disturbed, mode=mode, coefficients=coefficients,
        )  # fmt: skip
        return tuple(map(replaced_if_disturbed, done)) if repeat_disturbed else done

    def planned(done: Sequence[RunResult]) -> tuple[PlannedRun, ...]:
        return plan_runs(
            loaded, labels, repetitions, done,
            only_variants=variants, mode=mode, invalidated_too=verify == "each",
        )  # fmt: skip

    if dry_run:
        _print_plan(planned(done_before()), loaded, repetitions, mode)
        return
    words = [  # that repeat these runs, without --out
        *scenarios,
        *repeated("--set", overrides),
        *repeated("--only", only),
        *given("--repetitions", repetitions),
        *(["--verify", verify] if verify != "end" else []),
        *(["--simulate"] if simulate else []),
        *given("--coefficients", coefficients),
    ]
    command = shlex.join(["compactbench", "run", *words])
    options = Options(out, verify, keep_tables, command, coefficients)
    with locked(out):
        done = done_before()
        runs = planned(done)
        if not runs and not _folders(loaded, out):
            problem = "no run matches all --only filters: remove one"
            raise ScenarioError(problem, code="no-runs", path=f"--only {', --only '.join(only or ())}")

        def prepare(progress: SuiteProgress) -> None:
            mark_replaced(done, runs)
            if mode == "real":
                drop_left(done, loaded, out, progress)

        results = execute(runs, options, goes_on_with="--resume runs the others", quiet=quiet, first=prepare)
    stored = load_runs(*_folders(loaded, out))
    of_mode = [run for run in stored if run.manifest.mode == mode]
    groups = run_groups(of_mode)
    print_rows(groups, absent=tuple(absences(of_mode)))
    print_answers(groups)
    if any(run.finished for run in stored):
        print_line(f"results in {out}; next: compactbench report {out}")
    else:
        print_line(f"no run in {out} has finished; next: read the log.txt of one, and repeat with --resume")
    if not all(result.finished for result in results):
        raise typer.Exit(1)


def _folders(scenarios: Sequence[Scenario], out: Path) -> list[Path]:
    """The folders of scenarios with runs: with `--only`, some may have none."""
    folders = [out / scenario.name for scenario in scenarios]
    return [folder for folder in folders if any(folder.glob(f"*/{MANIFEST}"))]


def _refuse_with_simulate(keep_tables: bool, verify: str) -> None:
    """Raises ScenarioError for an option that needs real tables."""
    reasons = {
        "--keep-tables": "a simulated table has no files to keep" if keep_tables else None,
        "--verify each": "a simulated table has no rows to check" if verify == "each" else None,
    }
    for option, reason in reasons.items():
        if reason:
            problem = f"{reason}: remove one of the options"
            raise ScenarioError(problem, code="exclusive", path=f"{option} and --simulate")


def _load(names_or_paths: Sequence[str], overrides: Sequence[str]) -> list[Scenario]:
    scenarios = [load_scenario(name, overrides) for name in names_or_paths]
    for scenario in scenarios:
        conceal(scenario.secrets)
    names = [scenario.name for scenario in scenarios]
    for name in names:
        if names.count(name) > 1:
            problem = "is named twice, and both would write into one folder: rename one of the files"
            raise ScenarioError(problem, code="taken", path=name)
    return scenarios


def _chosen(text: str) -> tuple[str, str]:
    what, _, label = text.partition("=")
    if what not in ("strategy", "variant") or not label:
        problem = "write --only strategy=LABEL or --only variant=LABEL"
        raise ScenarioError(problem, code="not-a-setting", path=f"--only {text}")
    return what, label


def _print_plan(
    planned: Sequence[PlannedRun], scenarios: Sequence[Scenario], repetitions: int | None, mode: Mode
) -> None:
    runs_bytes = [needed_bytes(planned_run) for planned_run in planned] if mode == "real" else []
    for number, planned_run in enumerate(planned, 1):
        scenario = planned_run.scenario
        space = f"{_gib(runs_bytes[number - 1])} of disk" if runs_bytes else mode
        print_paragraph(
            f"{number:3}. {scenario.name} {planned_run.spec.label} #{planned_run.repetition}: "
            f"{counted(scenario.commits_count, 'commit')}, {planned_run.spec.summary}; {space}",
            indent=" " * 5,
        )
    if runs_bytes:
        with_tables = f"with --keep-tables {_gib(results_bytes(planned, keep_tables=True))}"
        print_paragraph(
            f"disk: {_gib(max(runs_bytes))} at a time, since each run deletes its table; {with_tables}"
        )
        logs_bytes = log_bytes(planned)
        if logs_bytes:
            print_paragraph(f"disk of the cache: {_gib(logs_bytes)}, for the change log")
    for scenario in scenarios:
        few = few_repetitions(repetitions or repetitions_of(scenario, mode), mode)
        if few:
            print_paragraph(f"{scenario.name}, {few}")
    print_paragraph(f"{counted(len(planned), 'run')} planned; nothing was run")
    sys.stdout.flush()


def _gib(size_bytes: int) -> str:
    return f"up to {size_bytes / 2**30:.1f} GiB"
