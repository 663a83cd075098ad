"""Table state: what a planner may know of a table, and nothing else.

A state is a read-only view. Whoever keeps it (an engine's ledger) updates it incrementally;
`data_files` may therefore be a live view that is valid only until the next commit.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB


class DeleteKind(StrEnum):
    """What a delete file holds. Which data files it touches follows from sequence and partition."""

    EQUALITY = "equality"  # applies where data.sequence < delete.sequence (Iceberg spec, scan planning)
    POSITION = "position"  # applies where data.sequence <= delete.sequence
    DELETION_VECTOR = "deletion_vector"  # one data file each
    LOG = "log"  # Hudi: belongs to a file group


@dataclass(frozen=True, slots=True)
class KeyRange:
    """The keys a file may hold: values from `low` to `high`, both included, and null.

    The key column is the one that the table's equality deletes compare. Both bounds are None where one of
    them is not known. `nulls` says whether null may be among the keys, `values` whether anything else may.
    """

    low: Any
    high: Any
    nulls: bool = False
    values: bool = True

    def meets(self, other: "KeyRange | None") -> bool:
        """Whether a key can be in both; a range that is not known (None) may hold any.

        Source: Iceberg DeleteFileIndex.canContainEqDeletesForFile at 1.11.0.
        """
        if other is None or (self.nulls and other.nulls):
            return True
        return self.values and other.values and self._overlaps(other)

    def _overlaps(self, other: "KeyRange") -> bool:
        if self.low is None or other.low is None:
            return True
        return bool(self.low <= other.high and other.low <= self.high)


@dataclass(frozen=True, slots=True)
class DataFile:
    """A live data file.

    `partition` is a path such as "city=Oslo/day=2026-01-01", `%` and `/` in its values
    percent-encoded, null written `null` (and the text "null" `%6Eull`); it is "" without partitions.
    `split_offsets` are the bytes at which it may be cut for reading, one a Parquet row group; empty
    where unknown.
    """

    path: str
    size_bytes: int
    rows: int
    partition: str = ""
    sequence_number: int = 0
    spec_id: int = 0
    split_offsets: tuple[int, ...] = ()
    keys: KeyRange | None = None


@dataclass(frozen=True, slots=True)
class DeleteFile:
    """A live delete or log file, in the same partition notation as `DataFile`."""

    path: str
    kind: DeleteKind
    size_bytes: int
    rows: int
    partition: str = ""
    sequence_number: int = 0
    spec_id: int = 0
    referenced_data_file: str | None = None
    keys: KeyRange | None = None


def key_of(file: DataFile | DeleteFile) -> str:
    """What tells a live file from all others: its path, and for a deletion vector also whose it is.

    The vectors one task wrote share a Puffin file, each a blob of it for one data file.
    """
    if isinstance(file, DeleteFile) and file.kind is DeleteKind.DELETION_VECTOR:
        return f"{file.path}#{file.referenced_data_file}"
    return file.path


@dataclass(frozen=True, slots=True)
class PartitionStats:
    """Sums over one partition, kept incrementally."""

    files_count: int = 0
    size_bytes: int = 0
    rows: int = 0
    delete_files_count: int = 0
    delete_size_bytes: int = 0
    delete_rows: int = 0
    equality_files_count: int = 0  # of the delete files


@dataclass(frozen=True, slots=True)
class CommitSeen:
    """A commit of the stream, as the history keeps it."""

    at_ms: int
    files_count: int
    size_bytes: int
    rows: int


@dataclass(frozen=True, slots=True)
class CompactionSeen:
    """A finished compaction, as the history keeps it. `status` is ok, noop, vetoed or failed.

    `kind` is the plan's own. `scheduled_at_ms` is when it was decided, `at_ms` when it ended.
    """

    at_ms: int
    status: str
    reason: str
    files_removed_count: int
    files_added_count: int
    replaced_bytes: int
    added_bytes: int
    wall_s: float
    cpu_s: float
    kind: str = ""
    scheduled_at_ms: int | None = None


@dataclass(frozen=True, slots=True)
class PendingPlan:
    """A compaction scheduled and not yet complete; its input files must not be planned again.

    `paths` are the keys (`key_of`) of every file it names: rewritten, converted, or dropped deletes.
    """

    scheduled_at_ms: int
    due_at_ms: int
    reason: str
    paths: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class TableState:
    """A table as a planner sees it at `observed_at_ms`.

    Times are scenario milliseconds since the stream began. `commits` and `compactions` are bounded
    histories, oldest first; `commits_total_count` counts every commit of the stream so far.
    `spec_id` is the partition spec new files are written with, `version` the table version that this is the
    state of, None before the first. `probe_latency_s` is that of the last probe there was, which ran
    `probe_latency_age_ms` ago; both are None until one has run.
    """

    observed_at_ms: int
    target_file_size_bytes: int
    data_files: Collection[DataFile] = ()
    delete_files: Collection[DeleteFile] = ()
    partitions: Mapping[str, PartitionStats] = field(default_factory=lambda: MappingProxyType({}))
    commits_total_count: int = 0
    commits: tuple[CommitSeen, ...] = ()
    compactions: tuple[CompactionSeen, ...] = ()
    pending: tuple[PendingPlan, ...] = ()
    probe_rate_per_s: float = 0.0
    probe_latency_s: float | None = None
    properties: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    spec_id: int = 0
    version: str | None = None
    probe_latency_age_ms: int | None = None

    @property
    def size_bytes(self) -> int:
        """Bytes of all live data and delete files."""
        return sum(p.size_bytes + p.delete_size_bytes for p in self.partitions.values())
