"""Append-only stream: each commit inserts new orders."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from workloads import orders
from workloads.arrival import Arrival, Constant
from workloads.commit import CommitSpec, check, check_counts
from workloads.dates import DateWindow
from workloads.partitioning import Partitioning
from workloads.schema import ColumnCount, Schema, schema_of
from workloads.spread import data_shapes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Append:
    """Append-only stream: inserts `rows_per_commit` rows on average, written by `files_per_commit` tasks.

    `arrival` says how traffic varies over time. With `rows_per_file` the number of tasks follows it: a commit
    is written by a task for every so many rows, and by at most `files_per_commit`. A share `late_share`
    (0..1) of the rows is dated up to `late_by_s` before the interval of its commit. With `initial_rows` > 0
    the stream starts from a table of that many rows, loaded as commit 0 by `initial_files` tasks and dated
    within one interval. `columns` is the number of columns of the table (`workloads.schema`).

    Raises ValueError, which names the field and its value.
    """

    rows_per_commit: int
    files_per_commit: int
    arrival: Arrival = field(default_factory=Constant)
    late_share: float = 0.0
    late_by_s: float = 86_400.0
    initial_rows: int = 0
    initial_files: int = 1
    columns: ColumnCount = 17
    rows_per_file: int | None = None
    stream_epoch_ms: ClassVar[int] = orders.EPOCH_MS
    is_cdc: ClassVar[bool] = False
    moves_rows: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_counts(self, rows_per_commit=1, files_per_commit=1, initial_rows=0, initial_files=1)
        check("late_share", self.late_share, 0 <= self.late_share <= 1, "in [0, 1]")
        is_delay = self.late_by_s > 0 and math.isfinite(self.late_by_s)
        check("late_by_s", self.late_by_s, is_delay, "> 0 and finite")
        if self.rows_per_file is not None:
            check_counts(self, rows_per_file=1)
        schema_of(self.columns)

    def shape(
        self, seed: int, commits_count: int, commit_interval_ms: int, partitioning: Partitioning
    ) -> Iterator[CommitSpec]:
        first_row = 0
        for index in range(0 if self.initial_rows else 1, commits_count + 1):
            from_ms, at_ms = (index - 1) * commit_interval_ms, index * commit_interval_ms
            rows, writers = self.initial_rows, self.initial_files
            if index > 0:
                rows = self.arrival.rows(index, from_ms, at_ms, self.rows_per_commit, f"{seed}/arrival")
                writers = self._writers(rows)
            shares = partitioning.shares(seed, self._dates(from_ms, at_ms))
            shapes = data_shapes(self.schema, seed, index, rows, writers, shares)
            yield CommitSpec(index, at_ms, first_row, rows, rows, 0, 0, writers, shapes)
            first_row += rows

    def _writers(self, rows: int) -> int:
        if self.rows_per_file is None:
            return self.files_per_commit
        return max(1, min(self.files_per_commit, math.ceil(rows / self.rows_per_file)))

    @property
    def schema(self) -> Schema:
        return schema_of(self.columns, self.late_share > 0)

    def rows(
        self, spark: SparkSession, seed: int, spec: CommitSpec, commit_interval_ms: int,
        earlier: DataFrame | None = None,
    ) -> DataFrame:  # fmt: skip
        dates = self._dates(spec.at_ms - commit_interval_ms, spec.at_ms)
        block = orders.RowBlock(spec.first_row, spec.rows, spec.writers, dates, self.schema)
        return orders.rows(spark, seed, block)

    def _dates(self, from_ms: int, to_ms: int) -> DateWindow:
        return DateWindow(from_ms / 1000, to_ms / 1000, self.late_share, self.late_by_s)
