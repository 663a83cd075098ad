"""What the instants of a timeline say, whoever reads their files.

Source: HoodieCommitMetadata, HoodieCompactionPlan and HoodieRequestedReplaceMetadata of Hudi 1.2.0.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bench.engines.hudi.folder import InstantFiles
from strategies.hudi.commands import Command
from strategies.hudi.files import Action, FileGroupId, Instant, PendingGroups

Fields = Mapping[str, Any]

_BASE_SUFFIX = ".parquet"
_LOG_COMPACTION = "LOG_COMPACT"
# Services by the action of their pending instants; a replacecommit is a clustering in Hudi 0.x.
_PENDING = {
    "compaction": "compaction", "logcompaction": "logcompaction", "clustering": "clustering",
    "replacecommit": "clustering",
}  # fmt: skip
_SERVICES = {"COMPACT": "compaction", _LOG_COMPACTION: "logcompaction", "CLUSTER": "clustering"}
_COMMANDS = {
    "compaction": Command.COMPACTION, "logcompaction": Command.LOG_COMPACTION,
    "clustering": Command.CLUSTERING,
}  # fmt: skip
# Actions by what the timeline calls them, pending or completed. All others make no version that readers see.
ACTIONS: Mapping[str, Action] = {
    "commit": Action.COMMIT, "inflight": Action.COMMIT, "compaction": Action.COMMIT,
    "deltacommit": Action.DELTA_COMMIT, "logcompaction": Action.DELTA_COMMIT,
    "replacecommit": Action.REPLACE_COMMIT, "clustering": Action.REPLACE_COMMIT,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class PlanFacts:
    """The file groups that the plan of a table service names, and the partitions that it notes."""

    groups: frozenset[FileGroupId] = frozenset()
    missing_partitions: tuple[str, ...] | None = None


def service_of(each: InstantFiles, commit: Fields) -> str | None:
    """The table service that an instant is of; None for a write. `commit` is empty while it is pending."""
    if each.completed is None:
        return _PENDING.get(each.action)
    return _SERVICES.get(commit.get("operationType") or "")


def facts_of(plan: Fields) -> PlanFacts:
    """What a plan says."""
    missing = plan.get("missingSchedulePartitions")
    return PlanFacts(frozenset(_groups_in(plan)), None if missing is None else tuple(missing))


def pending_groups(plans: Iterable[tuple[InstantFiles, PlanFacts]]) -> PendingGroups:
    """The file groups in the plans of those instants that are pending, by table service."""
    by_service: dict[Command, frozenset[FileGroupId]] = {}
    for instant, plan in plans:
        service = None if instant.completed else _PENDING.get(instant.action)
        if service is not None and plan.groups:
            command = _COMMANDS[service]
            by_service[command] = by_service.get(command, frozenset()) | plan.groups
    return by_service


def _groups_in(plan: Fields) -> Iterator[FileGroupId]:
    slices: Iterable[Fields] = plan.get("operations") or (
        each for group in plan.get("inputGroups") or () for each in group["slices"]
    )
    return (FileGroupId(each["partitionPath"], each["fileId"]) for each in slices)


def instant_of(
    each: InstantFiles, commit: Fields, plan: PlanFacts, requested_at_ms: int, completed_at_ms: int | None
) -> Instant:
    """An instant of one of `ACTIONS` as planners see it."""
    return Instant(
        ACTIONS[each.action],
        requested_at_ms,
        completed_at_ms,
        frozenset(commit.get("partitionToWriteStats") or ()),
        plan.missing_partitions,
        is_log_compaction=each.action == "logcompaction" or commit.get("operationType") == _LOG_COMPACTION,
    )


def written_files(commit: Fields) -> Iterator[tuple[str, int, int]]:
    """The files that a commit wrote: path, bytes, and records, which in a log file may say "deleted"."""
    for stats in (commit.get("partitionToWriteStats") or {}).values():
        for each in stats:
            path = each["path"]
            records = each["numWrites"] + (0 if is_base(path) else each["numDeletes"])
            yield path, each["fileSizeInBytes"], records


def replaced_groups(commit: Fields) -> frozenset[FileGroupId]:
    """The file groups that a replacing commit, such as a clustering, took out of the table."""
    replaced = commit.get("partitionToReplaceFileIds") or {}
    return frozenset(FileGroupId(path, name) for path, names in replaced.items() for name in names)


def is_base(path: str) -> bool:
    """Whether a data file is a base file and not a log file."""
    return path.endswith(_BASE_SUFFIX)


def joined(partition: str, name: str) -> str:
    """The path of a file in a partition; the partition of a table that is not partitioned is empty."""
    return f"{partition}/{name}" if partition else name
