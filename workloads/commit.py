"""What a workload promises: commit specs without Spark, and the rows of one commit with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from workloads.partitioning import Partitioning

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class PartitionShape:
    """What a commit is expected to add to one partition; "" where the table has none."""

    partition: str
    rows: int
    files: int
    expected_bytes: int


@dataclass(frozen=True, slots=True)
class CommitSpec:
    """One commit of the stream, as far as it is known without making its rows.

    It becomes visible at `at_s` seconds after the stream began. Its rows are numbered
    [`first_row`, `first_row` + `rows`) over the whole stream; `rows` is the sum of `inserts`,
    `updates` and `deletes`, and of the rows of `partitions`. Index 0 is the initial load.
    """

    index: int
    at_s: float
    first_row: int
    rows: int
    inserts: int
    updates: int
    deletes: int
    writers: int
    is_initial: bool
    partitions: tuple[PartitionShape, ...]
    expected_bytes: int

    @property
    def files(self) -> int:
        """Data files the commit is expected to write."""
        return sum(partition.files for partition in self.partitions)


def expected_files(rows: int, commit_rows: int, writers: int) -> int:
    """Files a partition gets that holds `rows` of a commit's rows, spread at random over the writers.

    Each writer that holds a row of the partition writes a file: their expected number, rounded.
    """
    busy = min(writers, commit_rows)
    miss: float = (1 - rows / commit_rows) ** (commit_rows / busy)
    return min(rows, max(1, round(busy * (1 - miss))))


class Workload(Protocol):
    """A seeded stream of commits. Its repr names everything its rows depend on besides the seed."""

    def shape(
        self, seed: int, commits_count: int, commit_interval_s: float, partitioning: Partitioning
    ) -> Iterator[CommitSpec]: ...

    def rows(
        self, spark: SparkSession, seed: int, spec: CommitSpec, commit_interval_s: float
    ) -> DataFrame: ...
