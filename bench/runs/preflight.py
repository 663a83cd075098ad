"""Everything that can be refused before a run starts: capabilities, resources, Java, jars, disk space."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench import runtime
from bench.engines.registry import FORMATS, engine_kind
from bench.errors import MissingRuntimeError, ScenarioError
from bench.results.records import Mode
from bench.runs.suite import PlannedRun
from bench.scenario.scenario import Scenario, check_real_resources
from strategies.never import Never
from strategies.plan import Capability
from strategies.state import GIB
from strategies.triggers import Trigger, interval_ms_of

SCRATCH_BYTES = 200_000_000  # Spark's own files, the content check's dump of a small table, logs
_ASKED_BY: Mapping[str, str] = {  # what in a scenario asks for it, where its name does not tell
    Capability.MERGE: "writer.upsert_mode",
    Capability.ROW_FILTER: "where",
}
_REMEDIES: Mapping[Mode, str] = {"real": "", "simulated": ". Change that, or run without --simulate"}


def check(planned: Sequence[PlannedRun], out: Path, *, keep_tables: bool) -> None:
    """Refuse what cannot work. Raises ScenarioError or MissingRuntimeError."""
    asked = {run.source.scenario.name: (run.source.scenario, run.mode) for run in planned}
    for scenario, mode in asked.values():
        check_asked(scenario, mode)
    real = [run for run in planned if run.mode == "real"]
    if real:
        _check_real(real, out, keep_tables=keep_tables)


def _check_real(planned: Sequence[PlannedRun], out: Path, *, keep_tables: bool) -> None:
    odd = sorted(set(str(out)) & set("%#?"))
    if odd:
        raise ScenarioError(
            f"{out}: table locations are URIs and cannot hold {' '.join(odd)}; choose another --out"
        )
    runtime.java_home()
    for table_format in {run.source.scenario.table.format for run in planned}:
        runtime.jars(table_format)
    _check_space(planned, out, keep_tables=keep_tables)


def check_asked(scenario: Scenario, mode: Mode) -> None:
    """Refuse writers, strategies or resources the engine of that mode cannot do. Raises ScenarioError."""
    if mode == "real":
        check_real_resources(scenario)
    for label, needs in scenario.needs().items():
        _check_needs(scenario, mode, f"strategy {label!r}", needs)
    _check_needs(scenario, mode, "maintenance", scenario.maintenance_needs())


def _check_needs(scenario: Scenario, mode: Mode, asking: str, needs: frozenset[str]) -> None:
    able = engine_kind(scenario.table.format, mode).capabilities
    missing = sorted(needs - able)
    if missing:
        asked_by = {**_ASKED_BY, **FORMATS[scenario.table.format].asked_by}
        needed = ", ".join(f"{name} ({asked_by[name]})" if name in asked_by else name for name in missing)
        raise ScenarioError(
            f"{scenario.name}: {asking} needs {needed}, which the {mode} {scenario.table.format} engine "
            f"cannot do; it can {', '.join(sorted(able))}{_REMEDIES[mode]}"
        )


def needed_bytes(run: PlannedRun) -> int:
    """About the most a run may put on disk: every version of the table that compaction leaves behind.

    Each firing of a trigger with a fixed interval is taken to rewrite the table as it stands then, any other
    trigger to fire at every commit.
    """
    scenario, rules = run.source.scenario, run.spec.strategy.rules
    specs, table_format = tuple(scenario.shape()), FORMATS[scenario.table.format]
    stream_bytes = sum(spec.expected_bytes for spec in specs)
    deletes_bytes = sum(table_format.layout(spec).delete_bytes for spec in specs)
    table_bytes = stream_bytes + deletes_bytes
    rounds = max((_rounds(rule.trigger, scenario) for rule in rules), default=0)
    rewritten_bytes = (
        table_bytes * (rounds + 1) // 2 if any(not isinstance(rule.planner, Never) for rule in rules) else 0
    )
    snapshots = scenario.commits_count + rounds
    kept_bytes = 2 * stream_bytes + table_bytes + rewritten_bytes
    return kept_bytes + snapshots * table_format.metadata_bytes_per_commit + SCRATCH_BYTES


def _rounds(trigger: Trigger, scenario: Scenario) -> int:
    interval_ms = interval_ms_of(trigger)
    return scenario.commits_count if interval_ms is None else scenario.duration_ms // interval_ms


def _check_space(planned: Sequence[PlannedRun], out: Path, *, keep_tables: bool) -> None:
    each = [needed_bytes(run) for run in planned]
    needed = sum(each) if keep_tables else max(each, default=0)
    free = shutil.disk_usage(out).free
    if free < needed:
        raise MissingRuntimeError(
            f"{out}: {free / GIB:.1f} GiB free, {needed / GIB:.1f} GiB may be needed; free some, choose "
            "another --out, or make the scenario smaller"
        )
