"""What a workload promises: commit specs without Spark, and the rows of one commit with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from workloads.keys import KeyChoice
from workloads.partitioning import Partitioning
from workloads.schema import ORDERS, Schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class DeleteShape:
    """The delete files a commit is expected to add to one partition, as Flink writes them.

    An equality delete stands for each key the commit has no row of yet, whether the table has one or
    not: in the partition of the row it replaces, or else in that of the new one. A position delete
    removes a row the commit itself wrote, where it changes a key again.
    """

    equality_rows: int = 0
    equality_files: int = 0
    position_rows: int = 0
    position_files: int = 0
    expected_bytes: int = 0

    @property
    def files(self) -> int:
        """Delete files of both kinds."""
        return self.equality_files + self.position_files


@dataclass(frozen=True, slots=True)
class PartitionShape:
    """What a commit is expected to add to one partition; "" where the table has none.

    `rows`, `files` and `expected_bytes` are of data files; a partition may get deletes alone.
    """

    partition: str
    rows: int
    files: int
    expected_bytes: int
    deletes: DeleteShape = DeleteShape()  # frozen, so that all may share it


@dataclass(frozen=True, slots=True)
class KeyShape:
    """Which keys a commit changes: the `new_count` ones from `population` + 1 on, and older ones.

    Older ones are chosen by `choice` among 1 to `population`, `changed_count` different ones expected.
    """

    population: int
    new_count: int
    changed_count: int
    choice: KeyChoice


@dataclass(frozen=True, slots=True)
class CommitSpec:
    """One commit of the stream, as far as it is known without making its rows.

    It becomes visible `at_ms` milliseconds after the stream began. Its rows, which are the changes it
    delivers, are numbered [`first_row`, `first_row` + `rows`) over the whole stream; `rows` is the sum
    of `inserts`, `updates` and `deletes`, and that without `deletes` the sum of the rows of
    `partitions`. They are counted as they are delivered: an update of a key that is not there is an
    update, though a table gains a row by it, and what is delivered twice counts twice. Index 0 is
    the initial load. `keys` is None where the commit only adds new ones.
    """

    index: int
    at_ms: int
    first_row: int
    rows: int
    inserts: int
    updates: int
    deletes: int
    writers: int
    is_initial: bool
    partitions: tuple[PartitionShape, ...]
    expected_bytes: int
    keys: KeyShape | None = None

    @property
    def at_s(self) -> float:
        """The same in seconds, as rates and windows of dates are reckoned."""
        return self.at_ms / 1000

    @property
    def files(self) -> int:
        """Data files the commit is expected to write."""
        return sum(partition.files for partition in self.partitions)

    @property
    def delete_files(self) -> int:
        """Delete files the commit is expected to write."""
        return sum(partition.deletes.files for partition in self.partitions)


def expected_files(rows: int, commit_rows: int, writers: int) -> int:
    """Files a partition gets that holds `rows` of a commit's rows, spread at random over the writers.

    Each writer that holds a row of the partition writes a file: their expected number, rounded.
    """
    busy = min(writers, commit_rows)
    miss: float = (1 - rows / commit_rows) ** (commit_rows / busy)
    return min(rows, max(1, round(busy * (1 - miss))))


def hashed_files(rows: int, writers: int) -> int:
    """Files a partition gets that holds `rows` rows of a commit, sent to the writers by hash of their keys.

    Each writer that gets one writes a file: their expected number, rounded.
    """
    miss: float = (1 - 1 / writers) ** rows
    return min(rows, round(writers * (1 - miss)))


class Workload(Protocol):
    """A seeded stream of commits. Its repr names everything its rows depend on besides the seed."""

    @property
    def schema(self) -> Schema:
        """The payload columns of its rows."""

    @property
    def is_cdc(self) -> bool:
        """Whether its rows are changes, of which the last one of each key holds (`workloads.fold`)."""

    def shape(
        self, seed: int, commits_count: int, commit_interval_ms: int, partitioning: Partitioning
    ) -> Iterator[CommitSpec]: ...

    def rows(
        self,
        spark: SparkSession,
        seed: int,
        spec: CommitSpec,
        commit_interval_ms: int,
        earlier: DataFrame | None = None,
    ) -> DataFrame:
        """The rows of one commit, in at most `spec.writers` partitions, by order of their number.

        They have the columns of `schema`, and those of changes `fold.CHANGE_FACTS` behind them; the
        initial load has no changes. `earlier` holds columns `fold.STATE_COLUMNS` of the stream's
        commits before this one (None: there is none): of each key all changes, or at least the last.
        """


def repr_of(workload: Any) -> str:
    """The repr of a workload's dataclass; `columns` stands in it only where they are not the 17.

    So streams from before there was a choice keep their names, and what is cached under them.
    """
    left_out = {"columns"} if workload.schema is ORDERS else set()
    named = (f.name for f in fields(workload) if f.repr and f.name not in left_out)
    values = ", ".join(f"{name}={getattr(workload, name)!r}" for name in named)
    return f"{type(workload).__qualname__}({values})"


@runtime_checkable
class Recorded(Protocol):
    """A workload whose changes were recorded, and may last longer than the scenario."""

    def left_out_rows(self, duration_ms: int) -> int:
        """How many changes come later than a stream of this length lasts."""


@runtime_checkable
class TargetSized(Protocol):
    """A workload that can load its table in files of about the table's target size."""

    def sized_for(self, target_file_size_bytes: int, seed: int, partitioning: Partitioning) -> Workload:
        """The same workload, with whatever follows from the target size filled in."""
