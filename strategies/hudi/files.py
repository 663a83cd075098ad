"""The state of a Hudi table: what it has beyond the state that all formats share."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from strategies.grouping import by_key
from strategies.hudi.commands import Command
from strategies.state import DataFile, DeleteFile, TableState


class FileGroupId(NamedTuple):
    """A file group: its partition path, as Hudi has it, and its file id."""

    partition: str
    file_id: str


PendingGroups = Mapping[Command, frozenset[FileGroupId]]


@dataclass(frozen=True, slots=True)
class BaseFile(DataFile):
    """The base file of a file slice. `partition` is Hudi's own partition path, such as "2026/01/01"."""

    file_id: str = ""

    @property
    def group(self) -> FileGroupId:
        return FileGroupId(self.partition, self.file_id)


@dataclass(frozen=True, slots=True)
class LogFile(DeleteFile):
    """A log file of a file slice, which readers merge with the base file. `rows` are its records.

    Besides updates and deletes it may hold new rows. `partition` is as in `BaseFile`, `has_rows_count` as in
    `DataFile`.
    """

    file_id: str = ""
    has_rows_count: bool = field(default=True, kw_only=True)

    @property
    def group(self) -> FileGroupId:
        return FileGroupId(self.partition, self.file_id)


@dataclass(frozen=True, slots=True)
class FileSlice:
    """What readers merge: a base file, which a file group without one lacks, and log files."""

    group: FileGroupId
    base: BaseFile | None
    logs: tuple[LogFile, ...]

    @property
    def base_bytes(self) -> int:
        return 0 if self.base is None else self.base.size_bytes

    @property
    def log_bytes(self) -> int:
        """The size of all log files. Hudi ignores negative sizes, which stand for unknown ones."""
        return sum(max(0, log.size_bytes) for log in self.logs)


class Action(StrEnum):
    """The actions of a timeline that decide on compactions. A log compaction ends as a delta commit."""

    COMMIT = "commit"  # a compaction, but on a COPY_ON_WRITE table a commit of the stream
    DELTA_COMMIT = "deltacommit"
    REPLACE_COMMIT = "replacecommit"  # of a clustering


@dataclass(frozen=True, slots=True)
class Instant:
    """An instant of the timeline, in scenario milliseconds. It is pending while it has not completed.

    A step of the stream is over when the next one begins, so what has completed at the time of a request has
    completed before it. `partitions` are the ones it wrote. `missing_partitions` are the ones that the plan
    of a compaction or clustering noted for the next plan; None if noting is off.
    """

    action: Action
    requested_at_ms: int
    completed_at_ms: int | None
    partitions: frozenset[str] = frozenset()
    missing_partitions: tuple[str, ...] | None = None
    is_log_compaction: bool = False

    @property
    def is_pending(self) -> bool:
        return self.completed_at_ms is None

    def completed_after(self, at_ms: int) -> bool:
        return self.completed_at_ms is not None and self.completed_at_ms > at_ms


@dataclass(frozen=True, slots=True)
class HudiState(TableState):
    """The state of a Hudi table. `delete_files` are its log files.

    `timeline` has the latest instants in the order in which they were requested. `pending_groups` are the
    file groups in plans that have not been executed, by table service.
    """

    data_files: Collection[BaseFile] = ()
    delete_files: Collection[LogFile] = ()
    timeline: tuple[Instant, ...] = ()
    pending_groups: PendingGroups = field(default_factory=lambda: MappingProxyType({}))

    @property
    def file_slices(self) -> Mapping[FileGroupId, FileSlice]:
        """The latest slice of each file group, in the order of partitions and file ids.

        The slice of a group with a pending plan still has what that plan will replace.
        """
        bases = self.derived(_bases, self.data_files)
        logs = self.derived(_logs, self.delete_files)
        groups = sorted({*bases, *logs})
        return {group: FileSlice(group, bases.get(group), logs.get(group, ())) for group in groups}

    def free_slices(self, service: Command) -> list[FileSlice]:
        """The latest slices that a service may plan for, in the order of partitions and file ids."""
        busy = busy_groups(self.pending_groups, service)
        return [file_slice for group, file_slice in self.file_slices.items() if group not in busy]


def busy_groups(pending: PendingGroups, service: Command) -> frozenset[FileGroupId]:
    """The file groups that pending plans keep a service from planning for.

    A pending log compaction does not keep a group out of a compaction; any other pending plan keeps it out of
    every service (HoodieCompactionPlanGenerator.filterLogCompactionOperations of Hudi 1.2.0).
    """
    ignored = Command.LOG_COMPACTION if service is Command.COMPACTION else None
    return frozenset[FileGroupId]().union(
        *(groups for planned_by, groups in pending.items() if planned_by is not ignored)
    )


def _bases(files: Iterable[BaseFile]) -> Mapping[FileGroupId, BaseFile]:
    return {file.group: file for file in files}


def _logs(files: Iterable[LogFile]) -> Mapping[FileGroupId, tuple[LogFile, ...]]:
    return {group: tuple(logs) for group, logs in by_key(files, lambda file: file.group).items()}


def last_completed(timeline: Iterable[Instant], action: Action) -> Instant | None:
    """The last completed instant of an action, by the time of its request; None without one."""
    completed = [instant for instant in timeline if instant.action is action and not instant.is_pending]
    return completed[-1] if completed else None
