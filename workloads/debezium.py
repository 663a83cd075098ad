"""Recorded changes: replay of Debezium events of a table with the columns of `orders`."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cache, reduce
from itertools import count, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import pyarrow as pa
import pyarrow.parquet as pq

from workloads.commit import CommitSpec, PartitionShape, check_counts
from workloads.dates import DateWindow
from workloads.debezium_events import Events, digest, event_files, read_events
from workloads.fold import CHANGE_FACTS, change_columns
from workloads.partitioning import DAY_S, Partitioning
from workloads.schema import ORDERS, Schema
from workloads.spread import change_shapes, whole_parts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_EPOCH = date(1970, 1, 1)
_FILE_NUMBERS = count()  # of the files written for Spark


@dataclass(frozen=True, slots=True)
class Debezium:
    """Recorded CDC stream: replays the Debezium events at `path`, a JSON-lines or Parquet file or a folder.

    An event has before, after, op (c, u, d, r) and ts_ms, and may be wrapped in a message with its schema.
    Rows have the 17 columns of `orders` by name; a missing column is NULL. Files are read in order of their
    names, and events arrive in order of their lines. The events of op r before the first c, u or d are the
    snapshot that the stream starts from, loaded by `initial_files` tasks. A commit, written by
    `files_per_commit` tasks, contains the events whose ts_ms is in its interval, counted from the first
    change. A late event, with a ts_ms below an earlier one's, arrives together with the event before it. All
    events are held in memory. The repr contains a hash of the content instead of the path.

    Raises ValueError, which names the file, the line and the remedy.
    """

    path: str = field(repr=False)
    files_per_commit: int = 1
    initial_files: int = 1
    content_sha256: str = field(init=False)
    _events: Events = field(init=False, repr=False, compare=False)
    schema: ClassVar[Schema] = ORDERS
    is_cdc: ClassVar[bool] = True
    moves_rows: ClassVar[bool] = True  # assumed: whether any event does is unknown until it is read

    def __post_init__(self) -> None:
        check_counts(self, files_per_commit=1, initial_files=1)
        files = event_files(Path(self.path))
        object.__setattr__(self, "content_sha256", digest(files))
        object.__setattr__(self, "_events", read_events(files, self.content_sha256))

    @property
    def stream_epoch_ms(self) -> int | None:
        """When the first change was recorded, in milliseconds since 1970 UTC; None if there is no change."""
        return self._events.first_ms

    def shape(
        self, seed: int, commits_count: int, commit_interval_ms: int, partitioning: Partitioning
    ) -> Iterator[CommitSpec]:
        """Counts per partition are exact, except for buckets: their totals are spread evenly.

        The bucket of a key is computed by Spark.
        """
        for index in range(0 if self._events.snapshot_rows else 1, commits_count + 1):
            first, end = self._rows_of(index, commit_interval_ms)
            events = self._events.table.slice(first, end - first)
            ops = Counter(events["op"].to_pylist())
            writers = self.files_per_commit if index else self.initial_files
            yield CommitSpec(
                index=index, at_ms=index * commit_interval_ms, first_row=first, rows=end - first,
                inserts=ops["I"], updates=ops["U"], deletes=ops["D"], writers=writers,
                partitions=_shapes(seed, index, events, writers, partitioning),
            )  # fmt: skip

    def left_out_rows(self, duration_ms: int) -> int:
        """How many changes come after the end of a stream of this length."""
        _, end = self._rows_of(1, duration_ms)
        return len(self._events.arrived_ms) - end

    def rows(
        self, spark: SparkSession, seed: int, spec: CommitSpec, commit_interval_ms: int,
        earlier: DataFrame | None = None,
    ) -> DataFrame:  # fmt: skip
        """The events of a commit in order of arrival; `earlier` is not used, since events have old rows."""
        columns = self.schema.names if spec.is_initial else change_columns(self.schema.names)
        events = self._events.table.slice(spec.first_row, spec.rows).select(columns)
        parts = max(1, min(spec.writers, spec.rows))
        cuts = [spec.rows * number // parts for number in range(parts + 1)]
        frames = []
        for start, end in pairwise(cuts):
            file = _scratch() / f"{next(_FILE_NUMBERS)}.parquet"
            pq.write_table(events.slice(start, end - start), file)
            frames.append(spark.read.parquet(str(file)).coalesce(1))
        return reduce(lambda first, second: first.union(second), frames)

    def _rows_of(self, index: int, interval_ms: int) -> tuple[int, int]:
        """The positions of the first event of a commit, and after its last event."""
        snapshot = self._events.snapshot_rows
        if index == 0:
            return 0, snapshot
        edges_ms = (interval_ms * edge for edge in (index - 1, index))
        first, end = (bisect_left(self._events.arrived_ms, edge, lo=snapshot) for edge in edges_ms)
        return first, end


@cache
def _scratch() -> Path:
    """A folder for the files that Spark reads, deleted when this process exits."""
    folder = Path(tempfile.mkdtemp(prefix="compactbench-debezium-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _shapes(
    seed: int, index: int, events: pa.Table, writers: int, partitioning: Partitioning
) -> tuple[PartitionShape, ...]:
    added, deleted_keys, superseded = Counter[str](), Counter[str](), Counter[str]()
    touched: dict[int, str | None] = {}  # keys of this commit and the partition of their row; None: deleted
    columns = ("order_id", "op", "user_city", "order_date", *CHANGE_FACTS[3:])
    for key, op, city, date_ms, existed, old_city, old_date_ms in zip(
        *(events[name].to_pylist() for name in columns), strict=True
    ):
        partition, replaced = _partition(partitioning, city, date_ms), touched.get(key)
        if replaced is not None:
            superseded[replaced] += 1
        elif key not in touched and existed:
            deleted_keys[_partition(partitioning, old_city, old_date_ms)] += 1
        elif index > 0:
            deleted_keys[partition] += 1
        touched[key] = None if op == "D" else partition
        if op != "D":
            added[partition] += 1
    if partitioning.by == "bucket":
        shares = partitioning.shares(seed, DateWindow(0, 1))
        return change_shapes(
            ORDERS,
            whole_parts(seed, f"partitions/{index}", added.total(), shares),
            whole_parts(seed, f"equality/{index}", deleted_keys.total(), shares),
            whole_parts(seed, f"position/{index}", superseded.total(), shares),
            writers,
        )
    return change_shapes(ORDERS, added, deleted_keys, superseded, writers)


def _partition(partitioning: Partitioning, city: str | None, date_ms: int | None) -> str:
    """The partition of a row, as named by `Partitioning.shares`; "" for buckets, which Spark computes."""
    if partitioning.by == "city":
        return f"{partitioning.column}={'null' if city is None else _encoded(city)}"
    if partitioning.by == "day":
        day = "null" if date_ms is None else _EPOCH + timedelta(days=date_ms // (DAY_S * 1000))
        return f"{partitioning.column}={day}"
    return ""


def _encoded(text: str) -> str:
    """A text as the value in a partition path (`strategies.partitions`), in which `null` is null."""
    return "%6Eull" if text == "null" else text.replace("%", "%25").replace("/", "%2F")
