"""The distribution of a commit's rows to file groups by the index of the table.

A bucket index goes by the hash of a key. Otherwise changed rows go to the group that has them, and new rows
to small base files and then to new groups.

Source: UpsertPartitioner, SparkUpsertDeltaCommitPartitioner and AverageRecordSizeEstimator of Hudi 1.2.0.
"""

import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from bench.engines.hudi.model.groups import Group
from bench.engines.hudi.packing import Packing
from strategies.hudi.files import BaseFile, FileGroupId, LogFile
from strategies.preview import even_share
from workloads.spread import hashed_writers

_COMMITS = 5  # _hoodie.record.size.estimator.max.commits


@dataclass(frozen=True, slots=True)
class PartitionChanges:
    """The distinct `keys` of a commit in one partition; only `live` of them have a row after it.

    Without new keys, only updates of deleted keys add rows.
    """

    partition: str
    keys: int
    live: int
    has_new_keys: bool


@dataclass(frozen=True, slots=True)
class Share:
    """The part of a commit for one file group; None is a new group.

    A MERGE_ON_READ table puts `updated` rows and `deleted` keys into log files. With a bucket index these may
    include keys that the group does not have.
    """

    group: FileGroupId | None
    inserted: int = 0
    updated: int = 0
    deleted: int = 0


def by_bucket(changes: PartitionChanges, buckets: int, index: int) -> Iterator[tuple[int, int, int]]:
    """The buckets that a commit hits, each with its live rows and deleted keys.

    A few keys do not hit all buckets; the commit's `index` determines which.
    """
    hit_count = hashed_writers(changes.keys, buckets)
    for number in range(hit_count):
        keys = even_share(changes.keys, number, hit_count)
        live = even_share(changes.live, number, hit_count)
        yield (index + number) % buckets, live, max(0, keys - live)


def by_place(
    changes: PartitionChanges, lost: Mapping[FileGroupId, int], groups: Mapping[FileGroupId, Group],
    packing: Packing, row_bytes: int, *, groups_count: int, is_merge_on_read: bool,
) -> list[Share]:  # fmt: skip
    """The shares of a commit: rows that a group loses are changed in it, and the remaining rows are new.

    `groups_count` is the number of all groups of the partition. `groups` have small base files and may get
    new rows, each of `row_bytes` (see `RowBytes`). On a MERGE_ON_READ table these go to the smallest base
    file without log files; on a COPY_ON_WRITE table to all.
    """
    changed = sum(lost.values())
    inserted = min(changes.live, max(0, changes.keys - changed))
    if lost and not changes.has_new_keys and inserted <= groups_count:
        inserted = 0  # each group loses a whole number of rows; the parts that are left are no new rows
    updated = changes.live - inserted
    shares, before = dict[FileGroupId, Share](), 0
    for group, rows in lost.items():
        until = before + rows
        own = updated * until // changed - updated * before // changed
        shares[group], before = Share(group, 0, own, max(0, rows - own)), until
    new = list[Share]()
    for into, rows in packed(inserted, groups, packing, row_bytes, is_merge_on_read=is_merge_on_read):
        if into is None:
            new.append(Share(None, rows))
        else:
            shares[into] = replace(shares.get(into, Share(into)), inserted=rows)
    return [*shares.values(), *new]


def packed(
    rows: int,
    groups: Mapping[FileGroupId, Group],
    packing: Packing,
    row_bytes: int,
    *,
    is_merge_on_read: bool,
) -> Iterator[tuple[FileGroupId | None, int]]:
    """New rows by group: first in the free space of small base files, then in new groups."""
    small = sorted(
        (group.base.size_bytes, id_)
        for id_, group in groups.items()
        if group.base is not None and not (is_merge_on_read and group.logs)
    )
    for size_bytes, id_ in small[:1] if is_merge_on_read else small:
        fitting = min(rows, (packing.max_file_bytes - size_bytes) // row_bytes)
        if fitting > 0:
            rows -= fitting
            yield id_, fitting
    per_file = packing.split_rows or math.ceil(packing.max_file_bytes / row_bytes)
    while rows:
        yield None, min(rows, per_file)
        rows -= min(rows, per_file)


class RowBytes:
    """Hudi's estimate of the size of a row when it packs new rows into base files.

    It is the average of the newest of the last five commits whose base files together are not small. Commits,
    delta commits and compactions count, in the order of completion.
    """

    def __init__(self, packing: Packing) -> None:
        self._packing = packing
        self._written: deque[tuple[int, int]] = deque(maxlen=_COMMITS)  # bytes and rows of each, newest first

    def note(self, files: Iterable[BaseFile | LogFile]) -> None:
        bases = [file for file in files if isinstance(file, BaseFile)]
        self._written.appendleft((sum(base.size_bytes for base in bases), sum(base.rows for base in bases)))

    @property
    def estimate(self) -> int:
        """Bytes per row, at least 1."""
        for size_bytes, rows in self._written:
            if size_bytes > self._packing.small_file_bytes and rows:
                return math.ceil(size_bytes / rows)
        return self._packing.first_row_bytes
