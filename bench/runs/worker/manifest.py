"""The manifest of a run: what ran, on what, and everything that runs must share to be pooled."""

import hashlib
import os

from pydantic import JsonValue

from bench.engines.contract import EngineSettings
from bench.engines.format import EngineKind
from bench.engines.master import parse_master
from bench.engines.registry import FORMATS, engine_kind
from bench.replay.recorder import utc_now
from bench.results.records import Manifest, Mode
from bench.runs.jobs import RunJob
from bench.runs.settings import strategy_of
from bench.runs.worker import provenance
from bench.runs.worker.warm_up import planners_of
from bench.scenario.roles import COMPACTOR, cores_of, wanted_cores
from bench.scenario.scenario import Scenario
from bench.scenario.specs import StrategySpec, option_defaults, planner_text
from strategies.planner import traits_of
from workloads.change_log import ChangeLog
from workloads.partitioning import Partitioning


def _memory_bytes(scenario: Scenario) -> int:
    return scenario.resources.compactor.memory_bytes or scenario.spark.driver_memory_bytes


def _cores(mode: Mode, scenario: Scenario, settings: EngineSettings) -> int | None:
    if mode == "simulated":
        return settings.cores.compactor
    if settings.has_real_clock:
        is_one_process = FORMATS[scenario.table.format].engines.roles_are_threads
        return wanted_cores(scenario) if is_one_process else cores_of(scenario, COMPACTOR)
    return parse_master(scenario.spark.master).cores_on(os.cpu_count())


def manifest_of(job: RunJob, scenario: Scenario, settings: EngineSettings, log: ChangeLog | None) -> Manifest:
    """The manifest of a run that is about to start. It still contains secrets."""
    spec, kind = strategy_of(scenario, job.strategy), engine_kind(scenario.table.format, job.mode)
    table_format = FORMATS[scenario.table.format]
    return Manifest(
        run_id=job.run_id,
        suite_id=job.suite_id,
        started_utc=utc_now(),
        scenario=scenario.name,
        scenario_hash=scenario.hash,
        description=scenario.description,
        command=job.command,
        workload=scenario.workload_name,
        format=scenario.table.format,
        format_title=table_format.words.title,
        delete_words=table_format.words.deletes,
        mode=job.mode,
        strategy=spec.label,
        strategy_hash=spec.hash,
        strategy_summary=spec.summary,
        strategy_index=job.strategy_index,
        variant=scenario.variant.to_json() if scenario.variant else None,
        repetition=job.repetition,
        position=job.position,
        seed=scenario.seed,
        duration_ms=scenario.duration_ms,
        commit_interval_ms=scenario.commit_interval_ms,
        target_file_size_bytes=scenario.table.target_file_size_bytes,
        primary_probe=scenario.primary_probe.name,
        probe_every_ms=scenario.probe_every_ms,
        side_probe_every_ms=scenario.side_probe_every_ms,
        speed=scenario.speed,
        probe_phase=scenario.probe_phase,
        query_weights=scenario.query_weights,
        memory_bytes=_memory_bytes(scenario),
        cores=_cores(job.mode, scenario, settings),
        price_per_core_hour=scenario.prices.core_hour,
        price_per_gb_hour=scenario.prices.gb_hour,
        price_per_storage_gb_month=scenario.prices.storage_gb_month,
        price_per_1000_puts=scenario.prices.put_per_1000,
        price_per_1000_gets=scenario.prices.get_per_1000,
        currency=scenario.prices.currency,
        drops_versions=_drops_versions(scenario, spec),
        job_start_s=scenario.prices.job_start_ms / 1000,
        queries_per_h=scenario.prices.queries_per_hour,
        change_log_hash=f"{log.content_hash:x}" if log else _shape_hash(scenario),
        verify=job.verify,
        versions=provenance.versions(table_format, job.mode),
        machine=provenance.machine(job.load_before_suite),
        git=provenance.source(),
        options=_options(scenario, settings, kind),
        notes=provenance.notes(job.mode, scenario, settings.spark, settings.catalog),
        scenario_text=dict(scenario.resolved),
        dataset=provenance.dataset(scenario, spec),
        option_defaults=option_defaults(scenario.strategies),
    )


def _drops_versions(scenario: Scenario, spec: StrategySpec) -> bool | None:
    """Whether a rule on the table of a strategy drops old versions; None where a planner does not say."""
    rules = (*scenario.maintenance, *spec.strategy.rules)
    needs = [traits.needs for rule in rules if (traits := traits_of(rule.planner)).may_plan]
    if any(needed & FORMATS[scenario.table.format].engines.expiry_commands for needed in needs):
        return True
    return False if all(needs) else None


def _options(scenario: Scenario, settings: EngineSettings, kind: EngineKind) -> dict[str, JsonValue]:
    """The settings in force beyond the format's own defaults."""
    table = settings.table
    return {
        "table_properties": dict(table.properties),
        "target_file_size_bytes": table.target_file_size_bytes,
        "format_version": scenario.table.version,
        **scenario.table.own(),
        "files_per_commit": table.files_per_commit,
        **({"upsert_mode": table.upsert_mode} if scenario.workload.is_cdc else {}),
        **kind.options(settings),
        **({"warm_up": _warm_up(scenario)} if kind.is_measured else {}),
    }


def _warm_up(scenario: Scenario) -> JsonValue:
    """What every run of the scenario warms up with: another planner in its file changes it for all runs."""
    return {
        "rounds": scenario.warm_up_rounds,
        "planners": [planner_text(*pair) for pair in planners_of(scenario)],
    }


def _shape_hash(scenario: Scenario) -> str:
    """The hash of the commits' shapes, which replaces that of the change log if there is none.

    Like the change log, it does not depend on how the table is partitioned.
    """
    digest = hashlib.sha256()
    shape = scenario.workload.shape(
        scenario.seed, scenario.commits_count, scenario.commit_interval_ms, Partitioning()
    )
    for spec in shape:
        digest.update(repr(spec).encode())
    return digest.hexdigest()[:16]
