"""The manifest of a run: what ran, on what, and everything that runs must share to be pooled."""

import hashlib

from pydantic import JsonValue

from bench.engines.contract import EngineSettings
from bench.engines.format import EngineKind
from bench.engines.registry import FORMATS, engine_kind
from bench.replay.recorder import utc_now
from bench.results.records import Manifest
from bench.runs import provenance
from bench.runs.jobs import RunJob
from bench.runs.settings import strategy_of
from bench.scenario.scenario import Scenario
from bench.scenario.specs import option_defaults
from workloads.change_log import ChangeLog


def _memory_bytes(scenario: Scenario) -> int:
    return scenario.resources.compactor.memory_bytes or scenario.spark.driver_memory_bytes


def manifest_of(job: RunJob, scenario: Scenario, settings: EngineSettings, log: ChangeLog | None) -> Manifest:
    """The manifest of a run that is about to start. It still contains secrets."""
    spec, kind = strategy_of(scenario, job.strategy), engine_kind(scenario.table.format, job.mode)
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
        mode=job.mode,
        strategy=spec.label,
        strategy_hash=spec.hash,
        strategy_summary=spec.summary,
        repetition=job.repetition,
        position=job.position,
        seed=scenario.seed,
        duration_ms=scenario.duration_ms,
        commit_interval_ms=scenario.commit_interval_ms,
        target_file_size_bytes=scenario.table.target_file_size_bytes,
        primary_probe=scenario.primary_probe.name,
        probe_every_ms=scenario.probe_every_ms,
        memory_bytes=_memory_bytes(scenario),
        price_per_gb_hour=scenario.prices.gb_hour,
        currency=scenario.prices.currency,
        request_price_s=scenario.prices.request_s,
        change_log_hash=f"{log.content_hash:x}" if log else _shape_hash(scenario),
        verify=job.verify,
        versions=provenance.versions(FORMATS[scenario.table.format], job.mode),
        machine=provenance.machine(),
        git=provenance.source(),
        options=_options(scenario, settings, kind),
        notes=provenance.notes(job.mode, scenario.workload, has_archive=bool(job.java_options)),
        scenario_text=dict(scenario.resolved),
        dataset=provenance.dataset(scenario, spec),
        option_defaults=option_defaults(scenario.strategies),
    )


def _options(scenario: Scenario, settings: EngineSettings, kind: EngineKind) -> dict[str, JsonValue]:
    """The settings in force beyond the format's own defaults."""
    table = settings.table
    return {
        "table_properties": dict(table.properties),
        "target_file_size_bytes": table.target_file_size_bytes,
        **scenario.table.keys.own(),
        "files_per_commit": table.files_per_commit,
        **({"upsert_mode": table.upsert_mode} if scenario.workload.is_cdc else {}),
        **kind.options(settings),
        **({"class_archive": bool(settings.spark.java_options)} if kind.is_measured else {}),
    }


def _shape_hash(scenario: Scenario) -> str:
    """The hash of the commits' shapes, which replaces that of the change log if there is none."""
    digest = hashlib.sha256()
    for spec in scenario.shape():
        digest.update(repr(spec).encode())
    return digest.hexdigest()[:16]
