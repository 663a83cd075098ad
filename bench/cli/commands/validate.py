"""`compactbench validate`: check scenarios, and list what each would run."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

import typer

from bench.cli.arguments import ScenariosArgument, SetOption
from bench.cli.output import (
    FormatOption,
    conceal,
    print_error,
    print_json,
    print_paragraph,
    print_table,
)
from bench.engines.contract import CommitLayout
from bench.engines.keys import duration_text
from bench.engines.master import parse_master
from bench.engines.registry import FORMATS
from bench.errors import ScenarioError
from bench.results.arithmetic import sum_of_known
from bench.results.metrics import MIN_RUNS
from bench.results.records import Mode
from bench.runs.preflight.checks import check_supported
from bench.runs.settings import run_namespace
from bench.runs.suite.cases import cases, repetitions_of
from bench.scenario.adaptivity import least_cost
from bench.scenario.catalog import configured_catalog, has_shared_catalog
from bench.scenario.compaction_time import compaction_per_interval
from bench.scenario.load import load_scenario
from bench.scenario.scenario import Scenario
from bench.scenario.specs import rule_text
from bench.scenario.variants import BASE
from bench.text import counted, human_duration, human_ratio, pace_text, whole_percent
from workloads.commit import CommitSpec
from workloads.debezium import Debezium
from workloads.history import History

_EVEN = 0.995  # of the cost of the best fixed interval, above which adapting gains nothing worth a word


def validate(
    scenarios: ScenariosArgument,
    overrides: SetOption = None,
    simulate: Annotated[
        bool, typer.Option("--simulate", help="Check for `run --simulate`, which honours [resources].")
    ] = False,
    output: FormatOption = "table",
) -> None:
    """Check scenarios without running them, and list what each would run.

    * `compactbench validate quickstart`

    * `compactbench validate my-table.toml --set workload.rows_per_commit=1000`
    """
    mode: Mode = "simulated" if simulate else "real"
    summaries: list[dict[str, Any]] = []
    problems: list[ScenarioError] = []
    for name in scenarios:
        try:
            scenario = load_scenario(name, overrides or ())
            conceal(scenario.secrets)
            for within in (scenario, *scenario.variants):
                check_supported(within, mode, within.strategies)
            summaries.append(summary(scenario, mode))
        except ScenarioError as error:
            problems.append(error)
    if output == "json":
        print_json(summaries)
    else:
        for facts in summaries:
            _print_summary(facts)
    for problem in problems:
        print_error(problem)
    if problems:
        raise typer.Exit(ScenarioError.exit_code)


def summary(scenario: Scenario, mode: Mode = "real") -> dict[str, Any]:
    """What running `scenario` would do. Rows, files and bytes count the stream, before any compaction.

    Files are None if the format's layout of the stream is not known beforehand; bytes assume plain Parquet.
    Commits and files of a strategy differ from the stream's if its writer keeps rows back. `adaptive_cost` is
    the least cost of a policy that adapts (`bench.scenario.adaptivity`); None where that does not apply.
    `compaction_per_interval` is as `bench.scenario.compaction_time` says, and `interval_s` the interval in
    real seconds. `speed` is that of scenario time; None where a run does not wait for it.
    """
    repetitions = repetitions_of(scenario, mode)
    commits = [commit for commit in scenario.shape() if commit.rows]
    layouts = _layouts(scenario, commits)
    by_strategy = [(spec, _layouts(scenario, scenario.commits_of(spec))) for spec in scenario.strategies]
    workload = scenario.workload
    left_out = workload.left_out_rows(scenario.duration_ms) if isinstance(workload, Debezium | History) else 0
    return {
        "scenario": scenario.name,
        "hash": scenario.hash,
        "mode": mode,
        "runs": len(cases(scenario)) * repetitions,
        "repetitions": repetitions,
        "duration_s": scenario.duration_ms / 1000,
        "commits": len(commits),
        "rows": sum(commit.rows for commit in commits),
        "files": _files(layouts),
        "delete_files": sum_of_known(layout.delete_files_count for layout in layouts),
        "expected_bytes": sum(commit.expected_bytes for commit in commits),
        "left_out_rows": left_out,
        "adaptive_cost": _adaptive_cost(scenario, commits, layouts),
        "compaction_per_interval": compaction_per_interval(scenario, commits, layouts),
        "interval_s": scenario.commit_interval_ms / 1000 / scenario.speed,
        "speed": scenario.speed if scenario.has_real_clock and mode == "real" else None,
        "primary_probe": scenario.primary_probe.name,
        "probes": [probe.name for probe in scenario.probes],
        "strategies": [
            {
                "label": spec.label,
                "summary": spec.summary,
                "hash": spec.hash,
                "commits": len(own),
                "files": _files(own),
            }
            for spec, own in by_strategy
        ],
        "maintenance": [rule_text(rule) for rule in scenario.maintenance],
        "places": _places(scenario, mode),
        "variants": [
            {**within.variant.to_json(), "summary": str(within.variant), "places": _places(within, mode)}
            for within in scenario.variants
            if within.variant is not None
        ],
    }


def _places(scenario: Scenario, mode: Mode) -> dict[str, Any]:
    """The Spark master, and the scenario's own catalog and staging folder, or None; empty for simulations."""
    if mode == "simulated":
        return {}
    catalog = configured_catalog(scenario)
    own = {
        "name": catalog.name,
        "kind": catalog.properties.get("type") or catalog.properties.get("catalog-impl"),
        "namespace": f"{run_namespace(catalog.namespace, '')}<run id>",
    }
    return {
        "master": scenario.spark.master,
        "catalog": own if has_shared_catalog(scenario) else None,
        "staging": scenario.spark.staging,
    }


def _places_text(places: Mapping[str, Any]) -> str:
    """Where runs execute and write, if not on this machine alone."""
    sentences = []
    master = parse_master(places["master"])
    if master.kind != "local":
        sentences.append(f"Runs on {master.text}.")
    here = {"catalog": ("tables", "[catalog]"), "staging": ("change logs and dumps", "spark.staging")}
    unshared = [words for key, words in here.items() if not places[key]]
    if master.kind == "cluster" and unshared:
        what, keys = (", ".join(words) for words in zip(*unshared, strict=True))
        sentences.append(
            f"In folders of this machine, which all executors must share: {what}. To put these elsewhere, "
            f"set {keys}."
        )
    if catalog := places["catalog"]:
        kind = f" ({catalog['kind']})" if catalog["kind"] else ""
        sentences.append(
            f"Each run creates its tables in the catalog {catalog['name']}{kind}, in its own namespace "
            f"{catalog['namespace']} (in lower case), which it drops at its end."
        )
    if places["staging"]:
        sentences.append(f"Files that driver and executors exchange are staged in {places['staging']}.")
    return " ".join(sentences)


def _layouts(scenario: Scenario, commits: Iterable[CommitSpec]) -> list[CommitLayout]:
    layout, settings = FORMATS[scenario.table.format].writer.layout, scenario.spark.settings
    return [
        CommitLayout.of_recorded(commit.recorded) if commit.recorded else layout(commit, settings)
        for commit in commits
    ]


def _files(layouts: Iterable[CommitLayout]) -> int | None:
    return sum_of_known(layout.data_files_count for layout in layouts)


def _adaptive_cost(
    scenario: Scenario, commits: Sequence[CommitSpec], layouts: Sequence[CommitLayout]
) -> float | None:
    """None also for a stream that updates or deletes rows, whose queries pay for more than waiting files."""
    files: list[float] = [0] * scenario.commits_count
    for commit, layout in zip(commits, layouts, strict=True):
        if scenario.workload.is_cdc or layout.data_files_count is None:
            return None
        if not commit.is_initial:
            files[commit.index - 1] = layout.data_files_count
    return least_cost(files, scenario.query_weights or (1.0,) * scenario.commits_count)


def _range(strategies: Sequence[Mapping[str, Any]], key: str, noun: str) -> str:
    """The count of all strategies, or "LEAST to MOST"."""
    counts = [strategy[key] for strategy in strategies]
    least, most = min(counts), max(counts)
    return counted(most, noun) if least == most else f"{least:,} to {counted(most, noun)}"


def _adaptivity(cost: float | None) -> str | None:
    """How much a policy that adapts can gain at most; None where that is nothing, or not known."""
    if cost is None or cost > _EVEN:
        return None
    return (
        "Files or queries do not arrive evenly. A policy that adapts to that can cost no less than "
        f"{whole_percent(cost)} of the best fixed interval, in compactions and slower queries together; at "
        f"the same query latency, its compactions can take no less than {whole_percent(cost**2)} of the CPU. "
        "This is the limit in a simple model (docs/scenarios.md) and no forecast."
    )


def _pace(facts: Mapping[str, Any]) -> str:
    if facts["speed"] is None:
        return "A run does not wait for scenario time: each commit follows the previous one immediately."
    lasts = human_duration(facts["duration_s"] / facts["speed"])
    return f"By a real clock {pace_text(facts['speed'])}, so the stream of a run takes {lasts}."


def _compaction_time(shares: tuple[float, float] | None, interval_s: float) -> str | None:
    """Compaction time over commit interval; None where that is not known."""
    if shares is None:
        return None
    of_one, of_all = map(human_ratio, shares)
    return (
        f"Compaction time over commit interval ({human_duration(interval_s)}): {of_one} for the files of one "
        f"commit, {of_all} for all files of the stream, by the simulator's coefficients and without deletes. "
        "The longer a compaction takes, the more commits it meets, and the more often it or a commit loses."
    )


def few_repetitions(count: int, mode: Mode) -> str | None:
    """A remark that intervals need more repetitions; None if there are enough or the mode has no noise."""
    if mode == "simulated" or count >= MIN_RUNS:
        return None
    return f"{counted(count, 'repetition')}: values only, no intervals; --repetitions {MIN_RUNS} gives them"


def _print_summary(facts: dict[str, Any]) -> None:
    strategies, duration = facts["strategies"], duration_text(facts["duration_s"])
    variants = [counted(1 + len(facts["variants"]), "variant")] if facts["variants"] else []
    of_strategies = "1 strategy" if len(strategies) == 1 else f"{len(strategies)} strategies"
    matrix = " x ".join((of_strategies, *variants, counted(facts["repetitions"], "repetition")))
    if facts["runs"] < len(strategies) * (1 + len(facts["variants"])) * facts["repetitions"]:
        matrix += ", less what variants leave out"
    deletes = f" and {counted(facts['delete_files'], 'delete file')}" if facts["delete_files"] else ""
    files = "" if facts["files"] is None else f" in {_range(strategies, 'files', 'file')}{deletes}"
    print_paragraph(
        f"{facts['scenario']}: ok. {counted(facts['runs'], 'run')} ({matrix}), each with "
        f"{_range(strategies, 'commits', 'commit')} over {duration} of scenario time: "
        f"{counted(facts['rows'], 'row')}{files}, "
        f"about {facts['expected_bytes'] / 1e6:,.1f} MB as Parquet, before any compaction. "
        f"{_pace(facts)} "
        f"Probes: {', '.join(facts['probes'])}; the primary one is {facts['primary_probe']}."
    )
    if facts["places"] and (places := _places_text(facts["places"])):
        print_paragraph(places)
    for variant in facts["variants"]:
        if variant["places"] != facts["places"] and (places := _places_text(variant["places"])):
            print_paragraph(f"Variant {variant['label']}: {places}")
    if ratio := _compaction_time(facts["compaction_per_interval"], facts["interval_s"]):
        print_paragraph(ratio)
    if gain := _adaptivity(facts["adaptive_cost"]):
        print_paragraph(gain)
    if few := few_repetitions(facts["repetitions"], facts["mode"]):
        print_paragraph(f"{few}.")
    if facts["left_out_rows"]:
        changes = counted(facts["left_out_rows"], "recorded change")
        print_paragraph(f"Left out: {changes} after duration = {duration}, which starts at the first change.")
    for rule in facts["maintenance"]:
        print_paragraph(f"Maintenance of every strategy's table: {rule}.")
    print_table(["strategy", "what it does"], [(s["label"], s["summary"]) for s in strategies])
    if facts["variants"]:
        lines = [(BASE, "the scenario as it is"), *((v["label"], v["summary"]) for v in facts["variants"])]
        print_table(["variant", "what it sets"], lines)
