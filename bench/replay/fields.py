"""Fields shared by several kinds of records, typed so that mypy checks each record as a whole."""

from collections.abc import Collection, Iterable
from typing import Literal, TypedDict

from bench.engines.contract import Cost, Observation, QueryOutcome, Version, total_change
from bench.replay.recorder import utc_now

NAMED_PARTITIONS_MAX = 100  # that a record names

RecordRole = Literal["writer", "compactor", "maintainer", "reader", "runner"]


class CostFields(TypedDict):
    """What a step cost; None for what is not known."""

    wall_s: float
    cpu_s: float
    executor_cpu_s: float
    jit_cpu_s: float | None
    gc_cpu_s: float | None
    peak_rss_bytes: int | None
    peak_heap_bytes: int | None
    is_shared: bool
    requests: dict[str, int] | None


class Step(CostFields):
    """The fields of every record: when, who, which table version, and at what cost."""

    tick: int
    at_ms: int
    written_utc: str
    role: RecordRole
    version: str | None
    started_s: float
    ended_s: float


class TableFields(TypedDict):
    """The table at one version."""

    data_files_count: int
    delete_files_count: int
    delete_rows: int
    equality_files_count: int | None  # None where the format has no such files
    live_bytes: int
    rows: int
    storage_bytes: int
    metadata_storage_bytes: int
    oldest_delete_at_ms: int | None
    delete_bytes: dict[str, int] | None
    data_bytes_beside: dict[str, int] | None


class ScanFields(TypedDict):
    """What a query had to open; None for what its reader does not report."""

    files_count: int | None
    delete_files_count: int | None
    opened_bytes: int | None
    metadata_files_count: int | None


class CompactedFields(TypedDict):
    """The table before and after a compaction, and what its versions changed; delete files apart."""

    versions: list[str]
    files_before_count: int
    files_after_count: int
    delete_files_before_count: int
    delete_files_after_count: int
    delete_rows_after: int
    equality_files_after_count: int | None
    rows_before: int
    rows_after: int
    live_before_bytes: int
    live_after_bytes: int
    files_removed_count: int
    files_added_count: int
    delete_files_removed_count: int
    delete_files_added_count: int
    replaced_bytes: int
    added_bytes: int
    metadata_bytes: int
    metadata_files_count: int
    partitions: list[str] | None


def cost_fields(cost: Cost) -> CostFields:
    """The fields of a cost."""
    return CostFields(
        wall_s=cost.wall_s, cpu_s=cost.cpu_s, executor_cpu_s=cost.executor_cpu_s,
        jit_cpu_s=cost.jit_cpu_s, gc_cpu_s=cost.gc_cpu_s,
        peak_rss_bytes=cost.peak_rss_bytes, peak_heap_bytes=cost.peak_heap_bytes,
        is_shared=cost.is_shared,
        requests=None if cost.requests is None else dict(cost.requests),
    )  # fmt: skip


def step(tick: int, at_ms: int, role: RecordRole, version: str | None, started_s: float, cost: Cost) -> Step:
    """The fields of a step that has just ended; `started_s` is a time of the run's clock."""
    return {
        "tick": tick, "at_ms": at_ms, "written_utc": utc_now(), "role": role, "version": version,
        "started_s": started_s, "ended_s": started_s + cost.wall_s,
        **cost_fields(cost),
    }  # fmt: skip


def ids(versions: Iterable[Version]) -> list[str]:
    """The ids of versions; those that wrote only metadata have none."""
    return [version.id for version in versions if version.id is not None]


def table_fields(observed: Observation) -> TableFields:
    """The fields of an observed table."""
    beside, waiting = observed.data_bytes_beside, observed.delete_bytes
    return TableFields(
        data_files_count=observed.data_files_count,
        delete_files_count=observed.delete_files_count,
        delete_rows=observed.delete_rows,
        equality_files_count=observed.delete_counts.get("equality_files_count"),
        live_bytes=observed.live_bytes,
        rows=observed.rows,
        storage_bytes=observed.storage_bytes,
        metadata_storage_bytes=observed.metadata_storage_bytes,
        oldest_delete_at_ms=observed.oldest_delete_at_ms,
        delete_bytes=dict(waiting) if _is_short(waiting) else None,
        data_bytes_beside=dict(beside) if _is_short(beside) else None,
    )


def _is_short(partitions: Collection[str]) -> bool:
    """Whether partitions are few enough to be named in a record."""
    return len(partitions) <= NAMED_PARTITIONS_MAX


def scan_fields(outcome: QueryOutcome) -> ScanFields:
    """The fields of what a query's scans had to open."""
    work = outcome.work
    return ScanFields(
        files_count=work.files_count,
        delete_files_count=work.delete_files_count,
        opened_bytes=work.opened_bytes,
        metadata_files_count=work.metadata_files_count,
    )


def compacted_fields(
    before: Observation, after: Observation, versions: tuple[Version, ...]
) -> CompactedFields:
    """The fields of the table before and after a compaction, and of what the compaction changed."""
    change, rewritten = total_change(versions), _rewritten(after, versions)
    return CompactedFields(
        versions=ids(versions),
        files_before_count=before.data_files_count,
        files_after_count=after.data_files_count,
        delete_files_before_count=before.delete_files_count,
        delete_files_after_count=after.delete_files_count,
        delete_rows_after=after.delete_rows,
        equality_files_after_count=after.delete_counts.get("equality_files_count"),
        rows_before=before.rows,
        rows_after=after.rows,
        live_before_bytes=before.live_bytes,
        live_after_bytes=after.live_bytes,
        files_removed_count=change.files_removed_count,
        files_added_count=change.files_added_count,
        delete_files_removed_count=change.delete_files_removed_count,
        delete_files_added_count=change.delete_files_added_count,
        replaced_bytes=change.replaced_bytes,
        added_bytes=change.added_bytes,
        metadata_bytes=change.metadata_bytes,
        metadata_files_count=change.metadata_files_count,
        partitions=sorted(rewritten) if _is_short(rewritten) else None,
    )


def _rewritten(after: Observation, versions: tuple[Version, ...]) -> frozenset[str]:
    """The partitions in which versions replaced files.

    Where they do not tell, those in which files are gone since the last observation: nothing else runs then.
    """
    told = [version.rewritten for version in versions if version.rewritten is not None]
    if told and len(told) == len(versions):
        return frozenset[str]().union(*told)
    return after.rewritten
