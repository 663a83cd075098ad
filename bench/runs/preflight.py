"""What is checked before a run starts: capabilities, resources, Java, jars and disk space."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench import runtime
from bench.engines.registry import ENGINES
from bench.errors import MissingRuntimeError, ScenarioError
from bench.results.records import Mode
from bench.runs.suite import PlannedRun
from bench.scenario.scenario import Scenario, check_real_resources
from strategies.plan import Capability
from strategies.state import GIB
from strategies.triggers import Every

METADATA_PER_SNAPSHOT_BYTES = 100_000  # measured: 20 to 80 KB of manifests and table metadata a snapshot
SCRATCH_BYTES = 200_000_000  # Spark's own files, the content check's dump of a small table, logs
_ASKED_BY = {  # what in a scenario asks for it, where its name does not tell
    Capability.MERGE: "writer.upsert_mode",
    Capability.VECTORS: "table.format_version",
    Capability.ROW_FILTER: "where",
}
_REMEDIES: Mapping[Mode, str] = {"real": "", "simulated": ". Change that, or run without --simulate"}


def check(planned: Sequence[PlannedRun], out: Path, *, keep_tables: bool) -> None:
    """Raises ScenarioError or MissingRuntimeError for anything that could not work."""
    scenarios = {run.source.scenario.name: (run.source.scenario, run.mode) for run in planned}
    for scenario, mode in scenarios.values():
        check_supported(scenario, mode)
    real = [run for run in planned if run.mode == "real"]
    if real:
        _check_real(real, out, keep_tables=keep_tables)


def _check_real(planned: Sequence[PlannedRun], out: Path, *, keep_tables: bool) -> None:
    reserved = sorted(set(str(out)) & set("%#?"))
    if reserved:
        raise ScenarioError(
            f"{out}: table locations are URIs and cannot contain {' '.join(reserved)}; choose another --out"
        )
    runtime.java_home()
    for table_format in {run.source.scenario.table.format for run in planned}:
        runtime.jars(table_format)
    _check_space(planned, out, keep_tables=keep_tables)


def check_supported(scenario: Scenario, mode: Mode) -> None:
    """Raises ScenarioError for writers, strategies or resources that the engine does not support."""
    if mode == "real":
        check_real_resources(scenario)
    able = ENGINES[scenario.table.format, mode].capabilities
    for label, needs in scenario.needs().items():
        missing = sorted(needs - able)
        if missing:
            needed, remedy = ", ".join(map(_asked, missing)), _REMEDIES[mode]
            raise ScenarioError(
                f"{scenario.name}: strategy {label!r} needs {needed}, which the {mode} "
                f"{scenario.table.format} engine cannot do; it can {', '.join(sorted(able))}{remedy}"
            )


def _asked(capability: Capability) -> str:
    key = _ASKED_BY.get(capability)
    return f"{capability} ({key})" if key else capability


def needed_bytes(run: PlannedRun) -> int:
    """An upper estimate of the disk space of a run: every version of the table that compaction leaves behind.

    Each round of an `every` trigger is taken to rewrite the table as it stands then, any other trigger
    to fire at every commit.
    """
    scenario = run.source.scenario
    specs, layout = tuple(scenario.shape()), ENGINES[scenario.table.format, run.mode].layout
    stream_bytes = sum(spec.expected_bytes for spec in specs)
    deletes_bytes = sum(layout(spec).delete_bytes for spec in specs)
    table_bytes = stream_bytes + deletes_bytes
    rounds = max((_rounds(rule.trigger, scenario) for rule in run.spec.strategy.rules), default=0)
    rewritten_bytes = table_bytes * (rounds + 1) // 2 if run.spec.strategy.needs() else 0
    snapshots = scenario.commits_count + rounds
    kept_bytes = 2 * stream_bytes + table_bytes + rewritten_bytes
    return kept_bytes + snapshots * METADATA_PER_SNAPSHOT_BYTES + SCRATCH_BYTES


def _rounds(trigger: object, scenario: Scenario) -> int:
    if isinstance(trigger, Every):
        return int(scenario.duration_ms // trigger.interval_ms)
    return scenario.commits_count


def _check_space(planned: Sequence[PlannedRun], out: Path, *, keep_tables: bool) -> None:
    each = [needed_bytes(run) for run in planned]
    needed = sum(each) if keep_tables else max(each, default=0)
    free = shutil.disk_usage(out).free
    if free < needed:
        raise MissingRuntimeError(
            f"{out}: {free / GIB:.1f} GiB free, but {needed / GIB:.1f} GiB may be needed; free some space, "
            "choose another --out, or make the scenario smaller"
        )
