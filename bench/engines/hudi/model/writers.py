"""Which file groups the rows of a commit go to, by the index of the table.

With a bucket index the hash of a key decides, whatever the files hold. Otherwise changed rows go to the group
that has them, and new ones to small base files and then to new groups.

Source: UpsertPartitioner and SparkUpsertDeltaCommitPartitioner of Hudi 1.2.0.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from bench.engines.hudi.model.groups import Group
from bench.engines.hudi.packing import Packing
from strategies.hudi.files import FileGroupId
from strategies.preview import even_share
from workloads.spread import hashed_writers


@dataclass(frozen=True, slots=True)
class PartitionChanges:
    """What a commit changes in one partition.

    Of its distinct `keys` so many have a new row that is `live` at its end; the others are deleted.
    """

    partition: str
    keys: int
    live: int


@dataclass(frozen=True, slots=True)
class Share:
    """What of a commit goes to one file group; None is a new one, for which there is no name yet.

    `inserted` rows are new to it. `updated` rows and `deleted` keys are changes, which a MERGE_ON_READ table
    puts into log files; with a bucket index they may be of keys that it does not have.
    """

    group: FileGroupId | None
    inserted: int = 0
    updated: int = 0
    deleted: int = 0


def by_bucket(changes: PartitionChanges, buckets: int, index: int) -> Iterator[tuple[int, int, int]]:
    """The buckets that a commit hits, each with its live rows and deleted keys.

    Few keys do not hit all of them; which ones changes with the `index` of the commit.
    """
    hit = hashed_writers(changes.keys, buckets)
    for number in range(hit):
        keys, live = even_share(changes.keys, number, hit), even_share(changes.live, number, hit)
        yield (index + number) % buckets, live, max(0, keys - live)


def by_place(
    changes: PartitionChanges, lost: Mapping[FileGroupId, int], groups: Mapping[FileGroupId, Group],
    packing: Packing, row_bytes: int, *, is_merge_on_read: bool,
) -> list[Share]:  # fmt: skip
    """The shares of a commit: what groups lose of their rows is changed in them, and the rest is new.

    `groups` are those of the partition that may get new rows.
    A new row counts as `row_bytes` (see `RowBytes`). On a MERGE_ON_READ table new rows go to one small base
    file of the partition, the smallest, and to none with log files; on the other type to all small ones.
    """
    changed = sum(lost.values())
    inserted = min(changes.live, max(0, changes.keys - changed))
    updated = min(changed, changes.live - inserted)
    shares, before = dict[FileGroupId, Share](), 0
    for group, rows in lost.items():
        until = before + rows
        own = updated * until // changed - updated * before // changed
        shares[group], before = Share(group, 0, own, rows - own), until
    new = list[Share]()
    for into, rows in _packed(inserted, groups, packing, row_bytes, is_merge_on_read):
        if into is None:
            new.append(Share(None, rows))
        else:
            shares[into] = replace(shares.get(into, Share(into)), inserted=rows)
    return [*shares.values(), *new]


def _packed(
    rows: int, groups: Mapping[FileGroupId, Group], packing: Packing, row_bytes: int, is_merge_on_read: bool
) -> Iterator[tuple[FileGroupId | None, int]]:
    """New rows by group: first what small base files have room for, then new groups."""
    bases = [(group.base.size_bytes, each) for each, group in groups.items()
             if group.base is not None and not (is_merge_on_read and group.logs)]  # fmt: skip
    small = sorted(base for base in bases if base[0] < packing.small_file_bytes)
    for size_bytes, each in small[:1] if is_merge_on_read else small:
        fitting = min(rows, (packing.max_file_bytes - size_bytes) // row_bytes)
        if fitting > 0:
            rows -= fitting
            yield each, fitting
    per_file = packing.split_rows or math.ceil(packing.max_file_bytes / row_bytes)
    while rows:
        yield None, min(rows, per_file)
        rows -= min(rows, per_file)
