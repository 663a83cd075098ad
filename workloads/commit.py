"""The contract of a workload: commit specs, which need no Spark, and the rows of a commit, which do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from workloads.keys import KeyChoice
from workloads.partitioning import Partitioning
from workloads.recorded import RecordedChange
from workloads.schema import Schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


# Limits of one commit, including the initial load. In 17 columns so many rows are 2.1 TB, 16,000 files of
# 128 MiB; an hour of such commits, one a minute, are a million files: about 1 GB of memory in a simulation.
ROWS_MAX = 10**11
FILES_MAX = 100_000  # written at once


@dataclass(frozen=True, slots=True)
class PartitionShape:
    """What a commit is expected to change in one partition ("" in an unpartitioned table).

    `rows` are added, and `expected_bytes` is their size as plain Parquet, in one file for each writer that
    holds any of them. `deleted_keys` counts the first change of each key in the commit: if the table has a
    row of that key, the row must be deleted. Such a change counts in the partition of the old row, or in that
    of its new row if there is no old one. `superseded_rows` counts rows of the commit that a later change of
    the same commit updates or deletes. A partition may have deleted keys only.
    """

    partition: str
    rows: int
    expected_bytes: int
    deleted_keys: int = 0
    superseded_rows: int = 0

    @property
    def live_rows(self) -> int:
        """Added rows that are still live at the end of the commit.

        Both counts are rounded independently, so more rows may be superseded than added.
        """
        return self.rows - min(self.rows, self.superseded_rows)


@dataclass(frozen=True, slots=True)
class KeyShape:
    """Which keys a commit changes: `new_count` new ones from `population` + 1 on, and existing ones.

    `choice` selects the existing ones among 1 to `population`; `changed_count` distinct ones are expected.
    """

    population: int
    new_count: int
    changed_count: int
    choice: KeyChoice


@dataclass(frozen=True, slots=True)
class CommitSpec:
    """One commit of the stream, as far as it is known without generating its rows.

    It becomes visible `at_ms` milliseconds after the stream began. Its rows, which are the changes it
    delivers, are numbered [`first_row`, `first_row` + `rows`) over the whole stream. `rows` is the sum of
    `inserts`, `updates` and `deletes`; the rows of `partitions` sum to `inserts` + `updates`. Changes count
    as delivered: an update of a key that does not exist is an update, although it adds a row to the table,
    and a change delivered twice counts twice. `keys` is None if the commit only adds new ones.

    A commit of an imported table has its files in `recorded`; its updates count as inserts and deletes.
    """

    index: int
    at_ms: int
    first_row: int
    rows: int
    inserts: int
    updates: int
    deletes: int
    writers: int
    partitions: tuple[PartitionShape, ...]
    keys: KeyShape | None = None
    recorded: RecordedChange | None = None

    @property
    def is_initial(self) -> bool:
        return self.index == 0

    @property
    def expected_bytes(self) -> int:
        return sum(shape.expected_bytes for shape in self.partitions)

    def without_rows(self) -> CommitSpec:
        """The commit at a tick at which nothing is committed."""
        return replace(self, rows=0, inserts=0, updates=0, deletes=0, partitions=(), keys=None)

    @classmethod
    def together(cls, specs: Sequence[CommitSpec]) -> CommitSpec:
        """Merge successive append-only commits into one at the time of the last, by the most writers of any.

        Its expected size is the sum of theirs, an overestimate: the merged commit writes fewer, larger files.
        """
        rows, size_bytes = Counter[str](), Counter[str]()
        for shape in (shape for spec in specs for shape in spec.partitions):
            rows[shape.partition] += shape.rows
            size_bytes[shape.partition] += shape.expected_bytes
        return replace(
            specs[-1],
            first_row=specs[0].first_row,
            rows=sum(spec.rows for spec in specs),
            inserts=sum(spec.inserts for spec in specs),
            writers=max(spec.writers for spec in specs),
            partitions=tuple(PartitionShape(name, rows[name], size_bytes[name]) for name in sorted(rows)),
        )


class Workload(Protocol):
    """A seeded stream of commits. Its repr contains everything that its rows depend on besides the seed."""

    @property
    def schema(self) -> Schema:
        """The payload columns of its rows."""

    @property
    def is_cdc(self) -> bool:
        """Whether its rows are changes; the last one of each key is valid (`workloads.fold`)."""

    @property
    def moves_rows(self) -> bool:
        """Whether a change may give an order another city or day, so that its row changes partition."""

    @property
    def stream_epoch_ms(self) -> int | None:
        """Scenario time 0 in milliseconds since 1970 UTC; None if it is unknown."""

    def shape(
        self, seed: int, commits_count: int, commit_interval_ms: int, partitioning: Partitioning
    ) -> Iterator[CommitSpec]:
        """The initial load as commit 0 if there is one, then the commits 1 to `commits_count`.

        Commit i is at i x `commit_interval_ms`. Commits without rows are included. A shorter stream is a
        prefix of a longer one.
        """

    def rows(
        self, spark: SparkSession, seed: int, spec: CommitSpec, commit_interval_ms: int,
        earlier: DataFrame | None = None,
    ) -> DataFrame:  # fmt: skip
        """The rows of one commit in order of their numbers, in at most `spec.writers` Spark partitions.

        They have the columns of `schema`. Changes also have `fold.CHANGE_FACTS` after them; the rows of the
        initial load are not changes. `earlier` has the columns `fold.STATE_COLUMNS` of all changes before
        this commit, or at least of the last change of each key; None if there are none.
        """


def check(name: str, value: object, holds: bool, rule: str) -> None:
    if not holds:
        raise ValueError(f"{name}={value} must be {rule}")


def check_counts(workload: object, **least: int) -> None:
    """Raise ValueError for a field, a count of rows or files, that is too low, or too high for one commit."""
    for name, minimum in least.items():
        count = getattr(workload, name)
        check(name, count, count >= minimum, f">= {minimum}")
        if "rows" in name:
            rule = f"<= {ROWS_MAX}, about 2 TB in one commit: make the scenario smaller"
            check(name, count, count <= ROWS_MAX, rule)
        else:
            rule = f"<= {FILES_MAX}: each file is a task of Spark, whose driver keeps track of all at once"
            check(name, count, count <= FILES_MAX, rule)
