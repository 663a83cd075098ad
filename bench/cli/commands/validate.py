"""`compactbench validate`: whether scenarios are sound, and what running them would mean."""

from typing import Annotated, Any

import typer

from bench.cli.output import Format, FormatOption, conceal, print_json, print_line, print_table
from bench.engines.registry import FORMATS
from bench.errors import ScenarioError
from bench.keys import duration_text
from bench.results.records import Mode
from bench.runs.preflight import check_asked
from bench.runs.suite import repetitions_of
from bench.scenario.scenario import Scenario, load_scenario
from workloads.commit import Recorded

ScenariosArgument = Annotated[
    list[str],
    typer.Argument(metavar="SCENARIO...", help="Paths to .toml files, or names of shipped scenarios."),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Override a key, e.g. table.target_file_size=8MiB or "
        "'strategies[every-10min].writer.files_per_commit=4'. May be repeated.",
    ),
]


def validate(
    scenarios: ScenariosArgument,
    overrides: SetOption = None,
    simulate: Annotated[
        bool, typer.Option("--simulate", help="For `run --simulate`, which honours [resources].")
    ] = False,
    output: FormatOption = Format.TABLE,
) -> None:
    """Check scenarios without running them, and say what each would run.

    * `compactbench validate quickstart`

    * `compactbench validate my-table.toml --set repetitions=5 --set workload.rows_per_commit=1000`
    """
    mode: Mode = "simulated" if simulate else "real"
    meanings, problems = [], []
    for name in scenarios:
        try:
            scenario = load_scenario(name, overrides or ())
            conceal(scenario.secrets)
            check_asked(scenario, mode)
        except ScenarioError as error:
            problems.append(str(error))
            continue
        meanings.append(meaning(scenario, mode))
    if output is Format.JSON:
        print_json(meanings)
    else:
        for told in meanings:
            _print_meaning(told)
    if problems:
        raise ScenarioError("\n".join(problems))


def meaning(scenario: Scenario, mode: Mode = "real") -> dict[str, Any]:
    """What running `scenario` would mean; rows, files and bytes are of the stream each run replays.

    Files are those the table's format makes of the stream; bytes are those of its rows as plain Parquet.
    """
    repetitions = repetitions_of(scenario, mode)
    commits = list(scenario.shape())
    layouts = [FORMATS[scenario.table.format].layout(commit) for commit in commits]
    return {
        "scenario": scenario.name,
        "hash": scenario.hash,
        "runs": len(scenario.strategies) * repetitions,
        "repetitions": repetitions,
        "duration_s": scenario.duration_ms / 1000,
        "commits": len(commits),
        "rows": sum(commit.rows for commit in commits),
        "files": sum(layout.data_files_count for layout in layouts),
        "delete_files": sum(layout.delete_files_count for layout in layouts),
        "expected_bytes": sum(commit.expected_bytes for commit in commits),
        "left_out_rows": _left_out_rows(scenario),
        "primary_probe": scenario.primary_probe.name,
        "probes": [probe.name for probe in scenario.probes],
        "strategies": [
            {"label": spec.label, "summary": spec.summary, "hash": spec.hash} for spec in scenario.strategies
        ],
    }


def _left_out_rows(scenario: Scenario) -> int:
    """Recorded changes that come after the scenario has ended."""
    workload = scenario.workload
    return workload.left_out_rows(scenario.duration_ms) if isinstance(workload, Recorded) else 0


def _print_meaning(told: dict[str, Any]) -> None:
    strategies, duration = told["strategies"], duration_text(told["duration_s"])
    deletes = f" and {told['delete_files']:,} delete files" if told["delete_files"] else ""
    print_line(
        f"{told['scenario']}: ok. {told['runs']} runs ({len(strategies)} strategies x {told['repetitions']} "
        f"repetitions), each {told['commits']} commits over {duration} of scenario time: "
        f"{told['rows']:,} rows in {told['files']:,} files{deletes}, "
        f"about {told['expected_bytes'] / 1e6:,.1f} MB. "
        f"Probes: {', '.join(told['probes'])}; primary {told['primary_probe']}."
    )
    if told["left_out_rows"]:
        changes = f"{told['left_out_rows']:,} recorded changes come after duration = {duration}"
        print_line(f"Left out: {changes}, which is counted from the first one.")
    print_table(["strategy", "what it does"], [(s["label"], s["summary"]) for s in strategies])
