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
class PartitionShape:
    """What a commit is expected to change in one partition; "" where the table has none.

    `rows` are added to it, and `expected_bytes` is their size as plain Parquet, in one file for each
    writer that holds any of them. `deleted_keys` counts the changes whose key has no row in the commit
    yet: a row that the table has of such a key must be deleted. The change counts in the partition of
    that row or, where there is none, in that of its own row. `superseded_rows` counts rows of this very
    commit that a later change of it updates or deletes. A partition may have rows to delete only.
    """

    partition: str
    rows: int
    expected_bytes: int
    deleted_keys: int = 0
    superseded_rows: int = 0

    @property
    def live_rows(self) -> int:
        """Added rows that are still live at the end of the commit.

        The two counts are rounded independently, so more rows may be superseded than there are.
        """
        return self.rows - min(self.rows, self.superseded_rows)


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
class Dated(Protocol):
    """A workload that knows where in the calendar of its rows' dates the stream begins."""

    @property
    def stream_epoch_ms(self) -> int | None:
        """Scenario time 0 in milliseconds since 1970 UTC; None where it is not known after all."""


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
