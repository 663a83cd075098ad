"""The history of an existing table as a stream: its commits, with the files that it had."""

from __future__ import annotations

import hashlib
import math
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, ClassVar

from workloads.commit import CommitSpec, PartitionShape, check
from workloads.history_file import TableHistory, read_history
from workloads.partitioning import Partitioning
from workloads.recorded import (
    Content,
    HistoryFacts,
    OwnCompactions,
    RecordedChange,
    RecordedCommit,
    RecordedFile,
)
from workloads.schema import SCHEMAS, Schema
from workloads.undo import without_compactions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_VOLUME_MIN, _VOLUME_MAX = 0.01, 100
_BINS = 4  # of sizes of files, for each doubling of their rows


@dataclass(frozen=True, slots=True)
class History:
    """Recorded table: replays the commits of one of your tables, which `compactbench import` wrote to `path`.

    Each commit adds, removes and deletes what it did in the table, at the first tick from its time on that
    has no other commit. The compactions in the history are left out, and whatever removed their output
    removes what they compacted; with `undo_compactions` = false they are replayed as commits. A share
    `hit_share` (0..1) of the keys in equality deletes deletes a row, by default as many as the history tells;
    if it does not tell, the share has to be given. With `volume` = 1.5 each file of table and stream has half
    as many rows and bytes again, at the same times. The repr contains a hash of the content instead of the
    path. A recorded table can only be simulated.

    Raises ValueError, which names the file and the remedy.
    """

    path: str = field(repr=False)
    undo_compactions: bool = True
    hit_share: float | None = None
    volume: float = 1.0
    content_sha256: str = field(init=False)
    _history: TableHistory = field(init=False, repr=False, compare=False)
    _changes: tuple[tuple[int, RecordedChange], ...] = field(init=False, repr=False, compare=False)
    _start: RecordedChange = field(init=False, repr=False, compare=False)
    _schema: Schema = field(init=False, repr=False, compare=False)
    moves_rows: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.hit_share is not None:
            check("hit_share", self.hit_share, 0 <= self.hit_share <= 1, "in [0, 1]")
        check(
            "volume",
            self.volume,
            _VOLUME_MIN <= self.volume <= _VOLUME_MAX,
            f"in [{_VOLUME_MIN}, {_VOLUME_MAX}]",
        )
        path = Path(self.path)
        history = read_history(path)
        if self.volume != 1:
            history = history.with_volume(self.volume)
        share = history.facts.hit_share if self.hit_share is None else self.hit_share
        has_keys = any(file.content is Content.EQUALITY for file in history.files)
        if self.hit_share is not None and not has_keys:
            raise ValueError(
                f"hit_share={self.hit_share} has no effect: the history has no equality deletes; leave it out"
            )
        if share is None and has_keys:
            raise ValueError(
                "hit_share is missing: no compaction in the history tells how many keys of equality deletes "
                "delete a row; set it, from 0 if the stream only inserts to 1 if it only updates and deletes"
            )
        stream = list(without_compactions(history.commits) if self.undo_compactions else history.commits)
        first = RecordedCommit(0, "", "start", False, history.start, ())
        rows = {file.id: file.rows for file in history.files if file.is_data}
        start, *changes = _followed([change_of(commit, share or 0.0, rows) for commit in (first, *stream)])
        values = {
            "content_sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            "_history": history,
            "_start": start,
            "_changes": tuple(zip((commit.at_ms for commit in stream), changes, strict=True)),
            "_schema": schema_of(history),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def schema(self) -> Schema:
        return self._schema

    @property
    def facts(self) -> HistoryFacts:
        return self._history.facts

    @property
    def stream_epoch_ms(self) -> int:
        return self._history.facts.from_ms

    @property
    def partitioning(self) -> Partitioning:
        return Partitioning("recorded", recorded_columns=self._history.facts.partition_columns)

    @property
    def is_cdc(self) -> bool:
        return any(
            change.removed or change.deleted_rows or any(file.hit_rows for file in change.added)
            for _, change in self._changes
        )

    def shape(
        self, seed: int, commits_count: int, commit_interval_ms: int, partitioning: Partitioning
    ) -> Iterator[CommitSpec]:
        first_row = 0
        if self._start.added:
            yield _spec(0, 0, first_row, self._start)
            first_row += sum(file.rows for file in self._start.added if file.is_data)
        times_ms = (at_ms for at_ms, _ in self._changes)
        ticks = ticks_of(times_ms, self._history.facts.from_ms, commit_interval_ms)
        placed = dict(zip(ticks, (change for _, change in self._changes), strict=True))
        for index in range(1, commits_count + 1):
            at_ms, change = index * commit_interval_ms, placed.get(index)
            if change is None:
                yield CommitSpec(index, at_ms, first_row, 0, 0, 0, 0, 1, ())
            else:
                spec = _spec(index, at_ms, first_row, change)
                yield spec
                first_row += spec.rows

    def left_out_rows(self, duration_ms: int) -> int:
        """How many changes come after the end of a stream of this length."""
        from_ms = self._history.facts.from_ms
        later = (change for at_ms, change in self._changes if at_ms > from_ms + duration_ms)
        return sum(_rows_of(change) for change in later)

    def own_compactions(self, duration_ms: int) -> OwnCompactions | None:
        """What the table's own compactions did in this time.

        None if there are none, if they are replayed, or if they compacted files of other sizes.
        """
        if not self.undo_compactions or self.volume != 1:
            return None
        return self._history.own_compactions(self._history.facts.from_ms + duration_ms)

    def rows(
        self, spark: SparkSession, seed: int, spec: CommitSpec, commit_interval_ms: int,
        earlier: DataFrame | None = None,
    ) -> DataFrame:  # fmt: skip
        raise NotImplementedError("a history has files and no rows: it is only simulated")


def ticks_of(times_ms: Iterable[int], from_ms: int, interval_ms: int) -> Iterator[int]:
    """The tick of each commit, in the order of the commits: the first one from its time on that is free."""
    last = 0
    for at_ms in times_ms:
        last = max(last + 1, math.ceil((at_ms - from_ms) / interval_ms))
        yield last


def change_of(commit: RecordedCommit, hit_share: float, rows: Mapping[int, int]) -> RecordedChange:
    """`rows` are the rows of each data file of the history, by its id.

    A delete file may replace another one of the same data file and contain its positions, as merge-on-read in
    Spark does; only the additional ones are new deletions.
    """
    hits, partition_hits = defaultdict[int, float](float), defaultdict[str, float](float)
    replaced = Counter[int]()
    deletes = tuple(file for file in commit.removed if not file.is_data and file.group is None)
    for file in deletes:
        replaced.update(dict.fromkeys(file.targets[:1], file.rows))
    for file in commit.added:
        if file.content is Content.EQUALITY:
            partition_hits[file.partition] += file.rows * hit_share
        elif file.content in (Content.POSITION, Content.VECTOR):
            new_rows = max(0, file.rows - sum(replaced[target] for target in file.targets))
            all_rows = sum(rows.get(target, 0) for target in file.targets)
            for target in file.targets:
                hits[target] += new_rows * rows.get(target, 0) / max(1, all_rows)
            if not file.targets:
                partition_hits[file.partition] += new_rows
    removed = tuple(file for file in commit.removed if file.is_data or file.group is not None)
    return RecordedChange(commit.operation, commit.added, removed, deletes, dict(hits), dict(partition_hits))


def _followed(changes: Iterable[RecordedChange]) -> list[RecordedChange]:
    """The changes, with those of their files of which later ones remove or hit rows."""
    changes = list(changes)
    hit = frozenset(id_ for change in changes for id_ in change.hits)
    named = hit | {file.id for change in changes for file in change.removed if file.group is None}
    return [
        replace(change, followed=named.intersection(file.id for file in change.added)) for change in changes
    ]


def _rows_of(change: RecordedChange) -> int:
    """The rows that a commit adds or deletes, at least one: what it says of no row is a change as well."""
    added = sum(file.rows for file in change.added if file.is_data or file.content is Content.LOG)
    return max(1, added + round(change.deleted_rows))


def _spec(index: int, at_ms: int, first_row: int, change: RecordedChange) -> CommitSpec:
    rows, size_bytes, deleted = Counter[str](), Counter[str](), Counter[str]()
    for file in change.added:
        size_bytes[file.partition] += file.size_bytes
        rows[file.partition] += file.rows if file.is_data or file.content is Content.LOG else 0
    for partition, hit_rows in change.partition_hits.items():
        deleted[partition] += round(hit_rows)
    inserts, all_rows = rows.total(), _rows_of(change)
    partitions = tuple(
        PartitionShape(name, rows[name], size_bytes[name], deleted[name])
        for name in sorted({*size_bytes, *deleted})
    )
    writers = max(1, sum(file.is_data for file in change.added))
    return CommitSpec(
        index, at_ms, first_row, all_rows, inserts, 0, all_rows - inserts, writers, partitions,
        recorded=change,
    )  # fmt: skip


def schema_of(history: TableHistory) -> Schema:
    """The columns of the standard table that is closest in width, with the sizes of the history's own files.

    Between its sizes and beyond them, files grow as those of the standard table do.
    """
    standard = SCHEMAS[nearest_width(history.facts.columns_count)]
    points = _sizes(history.files)
    if not points:
        return replace(standard, of_table=True)
    ratios = [(rows, size_bytes / standard.expected_bytes(rows)) for rows, size_bytes in points]
    grid = sorted({*(rows for rows, _ in standard.measured_bytes), *(rows for rows, _ in points)})
    sizes, highest = [], 0
    for rows in grid:
        highest = max(highest + 1, round(standard.expected_bytes(rows) * _between(ratios, rows)))
        sizes.append((rows, highest))
    return replace(standard, measured_bytes=tuple(sizes), of_table=True)


def nearest_width(columns_count: int) -> int:
    """The number of columns of the standard table that is closest, by its ratio."""
    return min(SCHEMAS, key=lambda width: abs(math.log(width / max(1, columns_count))))


def _sizes(files: Iterable[RecordedFile]) -> list[tuple[int, float]]:
    """Median rows and bytes of data files of about the same number of rows, ascending."""
    bins: dict[int, list[RecordedFile]] = defaultdict(list)
    for file in files:
        if file.is_data and file.rows > 0:
            bins[round(_BINS * math.log2(file.rows))].append(file)
    return [
        (round(median(file.rows for file in alike)), median(file.size_bytes for file in alike))
        for _, alike in sorted(bins.items())
    ]


def _between(points: Sequence[tuple[int, float]], rows: int) -> float:
    """The value at a number of rows, on a logarithmic scale; that of the nearest point beyond the points."""
    end = bisect_left(points, (rows, -math.inf))
    if end == 0 or end == len(points):
        return points[min(end, len(points) - 1)][1]
    (low, at_low), (high, at_high) = points[end - 1], points[end]
    return at_low + (at_high - at_low) * math.log(rows / low) / math.log(high / low)
