"""The contents of instants: commits and plans of a timeline.

Source: HoodieCommitMetadata, HoodieCompactionPlan and HoodieRequestedReplaceMetadata of Hudi 1.2.0.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bench.engines.contract import TAG_PROPERTY, Tag
from bench.engines.hudi.folder import InstantFiles
from strategies.hudi.commands import Command
from strategies.hudi.files import Action, FileGroupId, Instant, PendingGroups

Fields = Mapping[str, Any]

_BASE_SUFFIX = ".parquet"


# Table services by the operation type of their commits, and by the action of pending instants. In Hudi 0.x a
# replacecommit is a clustering.
SERVICES: Mapping[str, Command] = {
    "COMPACT": Command.COMPACTION, "LOG_COMPACT": Command.LOG_COMPACTION, "CLUSTER": Command.CLUSTERING,
}  # fmt: skip
_PENDING: Mapping[str, Command] = {
    "compaction": Command.COMPACTION, "logcompaction": Command.LOG_COMPACTION,
    "clustering": Command.CLUSTERING, "replacecommit": Command.CLUSTERING,
}  # fmt: skip
# Actions by their names in the timeline, pending or completed. Other names make no version that readers see.
ACTIONS: Mapping[str, Action] = {
    "commit": Action.COMMIT, "inflight": Action.COMMIT, "compaction": Action.COMMIT,
    "deltacommit": Action.DELTA_COMMIT, "logcompaction": Action.DELTA_COMMIT,
    "replacecommit": Action.REPLACE_COMMIT, "clustering": Action.REPLACE_COMMIT,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class PlanFacts:
    groups: frozenset[FileGroupId] = frozenset()
    missing_partitions: tuple[str, ...] | None = None


def service_of(instant: InstantFiles, commit: Fields) -> Command | None:
    """The table service of an instant; None for a write. `commit` is empty while it is pending."""
    if instant.completed is None:
        return _PENDING.get(instant.action)
    return SERVICES.get(str(commit.get("operationType")))


def facts_of(plan: Fields) -> PlanFacts:
    missing = plan.get("missingSchedulePartitions")
    return PlanFacts(frozenset(_groups_in(plan)), None if missing is None else tuple(missing))


def pending_groups(plans: Iterable[tuple[InstantFiles, PlanFacts]]) -> PendingGroups:
    """The file groups in plans of pending instants, by table service."""
    by_service: dict[Command, frozenset[FileGroupId]] = {}
    for instant, plan in plans:
        service = None if instant.completed else _PENDING.get(instant.action)
        if service is not None and plan.groups:
            by_service[service] = by_service.get(service, frozenset()) | plan.groups
    return by_service


def _groups_in(plan: Fields) -> Iterator[FileGroupId]:
    slices: Iterable[Fields] = plan.get("operations") or (
        merged for group in plan.get("inputGroups") or () for merged in group["slices"]
    )
    return (FileGroupId(merged["partitionPath"], merged["fileId"]) for merged in slices)


def instant_of(
    instant: InstantFiles, commit: Fields, plan: PlanFacts, requested_at_ms: int, completed_at_ms: int | None
) -> Instant:
    """An instant with one of `ACTIONS`, as planners see it."""
    return Instant(
        ACTIONS[instant.action],
        requested_at_ms,
        completed_at_ms,
        frozenset(commit.get("partitionToWriteStats") or ()),
        plan.missing_partitions,
        is_log_compaction=service_of(instant, commit) is Command.LOG_COMPACTION,
    )


def write_stats(commit: Fields) -> Iterator[tuple[str, Fields]]:
    """What a commit states of each file that it wrote, with the partition."""
    for partition, stats in (commit.get("partitionToWriteStats") or {}).items():
        for stat in stats:
            yield partition, stat


def written_files(commit: Fields) -> Iterator[tuple[str, int, int]]:
    """Path, bytes and records of the files that a commit wrote. A record of a log file may be a delete."""
    for _, stat in write_stats(commit):
        path = stat["path"]
        records = stat["numWrites"] + (0 if is_base(path) else stat["numDeletes"])
        yield path, stat["fileSizeInBytes"], records


def replaced_groups(commit: Fields) -> frozenset[FileGroupId]:
    """The file groups that a commit, such as a clustering's, replaced by others."""
    replaced = commit.get("partitionToReplaceFileIds") or {}
    return frozenset(FileGroupId(path, name) for path, names in replaced.items() for name in names)


def tag_of(commit: Fields) -> Tag | None:
    return Tag.parse((commit.get("extraMetadata") or {}).get(TAG_PROPERTY) or "")


def columns_of(commit: Fields) -> tuple[str, ...]:
    """The top-level columns; none if the commit does not store the schema."""
    schema = json.loads((commit.get("extraMetadata") or {}).get("schema") or "{}")
    return tuple(column["name"] for column in schema.get("fields", ()))


def is_base(path: str) -> bool:
    return path.endswith(_BASE_SUFFIX)


def joined(partition: str, name: str) -> str:
    """The partition of an unpartitioned table is empty."""
    return f"{partition}/{name}" if partition else name
