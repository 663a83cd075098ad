"""Records and runs in one line each, for tests that compute figures by hand."""

from pathlib import Path
from typing import Any

from nested import record
from result_builder import manifest

from bench.results.folders import RunResult
from bench.results.records import (
    CommitRecord,
    CompactionRecord,
    ContentRecord,
    DecisionRecord,
    MaintenanceRecord,
    ObserveRecord,
    QueryRecord,
    RunRecord,
    SpeedRecord,
)
from bench.results.tables import Records, RunRecords

_STEP: dict[str, Any] = {"tick": 1, "at_ms": 60_000, "written_utc": "2026-01-05T09:00:00Z"}


def commit(**fields: Any) -> CommitRecord:
    return record(CommitRecord, **_STEP | {"rows": 1} | fields)


def query(wall_s: float = 1.0, **fields: Any) -> QueryRecord:
    """The settled primary probe."""
    opened = dict.fromkeys(("files_count", "delete_files_count", "opened_bytes", "metadata_files_count"), 0)
    probe = {"probe": "first-order", "primary": True, "when": "settled", "wall_s": wall_s}
    return record(QueryRecord, **_STEP | probe | opened | fields)


def observed(**fields: Any) -> ObserveRecord:
    table = dict.fromkeys(("data_files_count", "live_bytes", "storage_bytes"), 1)
    return record(ObserveRecord, **_STEP | table | {"after": "commit", "metadata_storage_bytes": 0} | fields)


def compaction(**fields: Any) -> CompactionRecord:
    planned = {"reason": "scheduled", "actions": ["compact(all partitions)"], "scheduled_at_ms": 60_000}
    table = {"before_data_files_count": 8, "after_data_files_count": 1}
    live = {"before_live_bytes": 1, "after_live_bytes": 1}
    return record(CompactionRecord, **_STEP | planned | table | live | fields)


def speed(wall_s: float) -> SpeedRecord:
    return record(SpeedRecord, **_STEP, wall_s=wall_s)


def maintenance(**fields: Any) -> MaintenanceRecord:
    return record(MaintenanceRecord, **_STEP | {"command": "rewrite_manifests()"} | fields)


def decision(**fields: Any) -> DecisionRecord:
    rule = {"strategy": "never", "rule": 0, "trigger": "every", "planner": "iceberg.rewrite_data_files"}
    return record(DecisionRecord, **_STEP | rule | {"status": "not_due"} | fields)


def truth(status: str = "equal") -> ContentRecord:
    content = {"expected_rows": 1, "found_rows": 1, "expected_hash": "a", "found_hash": "a"}
    return record(ContentRecord, **_STEP, status=status, **content)


def end(status: str = "finished", **fields: Any) -> RunRecord:
    return record(RunRecord, **_STEP | {"status": status} | fields)


def queries(*records: QueryRecord) -> Records[QueryRecord]:
    return RunRecords.listed(records).of(QueryRecord)


def run(*records: Any, strategy: str = "never", repetition: int = 1, **changes: Any) -> RunResult:
    """A run with these records; `changes` are fields of its manifest."""
    made = manifest(strategy, repetition, **changes)
    return RunResult(Path(made.run_id), made, RunRecords.listed(records))
