"""The keys in the files of a commit."""

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from strategies.preview import even_share
from workloads.commit import CommitSpec, KeyShape

KeyRange = tuple[int, int]  # the lowest and the highest key, both inclusive

# Steps whose multiples, modulo 1, are spread evenly in two dimensions: 1/p and 1/p^2 with p^3 = p + 1
# (Roberts' R2 sequence).
_STEPS = (0.7548776662466927, 0.5698402909980532)


def meeting_count(wanted: KeyRange | None, keys: KeyRange | None, key_step: int, count: int) -> int:
    """How many of `count` files may hold a wanted key.

    `wanted` None is all keys. `keys` is the range of the first, and each next one is `key_step` higher; an
    unknown range (None) excludes nothing.
    """
    if wanted is None or keys is None:
        return count
    if not key_step:
        return count if wanted[0] <= keys[1] and keys[0] <= wanted[1] else 0
    first = max(0, -((keys[1] - wanted[0]) // key_step))  # the first file whose highest key is high enough
    last = min(count - 1, (wanted[1] - keys[0]) // key_step)
    return max(0, last - first + 1)


def ends_of_keys(keys: KeyRange | None, key_step: int, count: int) -> Iterator[KeyRange | None]:
    """The keys of the first and the last of `count` files, each `key_step` higher than the one before."""
    yield keys
    if keys is not None and key_step:
        distance = key_step * (count - 1)
        yield keys[0] + distance, keys[1] + distance


def span_of_ranges(ranges: Iterable[KeyRange | None]) -> KeyRange | None:
    """The range of all keys; None if any range is unknown, or there is none."""
    known = []
    for keys in ranges:
        if keys is None:
            return None
        known.append(keys)
    return (min(low for low, _ in known), max(high for _, high in known)) if known else None


@dataclass(frozen=True, slots=True)
class FileRun:
    """`count` files with `rows` rows each.

    `keys` are the keys of the first file, those of each next one are `key_step` higher; None means any.
    """

    count: int
    rows: int
    keys: KeyRange | None
    key_step: int = 0


def file_runs(spec: CommitSpec, rows: int, count: int) -> Iterator[FileRun]:
    """The `count` data files that a commit writes for `rows` rows of a partition, which share them evenly.

    Equal files are one run, except for those of a load: commits may hit the keys of some of its files more
    often than those of others.
    """
    if not count:
        return
    ranges = ranges_of_rows(spec, rows, count)
    step = ranges[1][0] - ranges[0][0] if count > 1 and ranges[0] and ranges[1] else 0
    if rows % count or spec.is_initial or (step and spec.rows % count):
        yield from (FileRun(1, even_share(rows, i, count), keys) for i, keys in enumerate(ranges))
    else:
        yield FileRun(count, rows // count, ranges[0], step)


def ranges_of_rows(spec: CommitSpec, rows: int, count: int) -> list[KeyRange | None]:
    """The key range of each of the `count` data files that a commit writes for `rows` rows of a partition.

    A commit with only new keys has them in row order, so each file continues where the previous one ends.
    Other rows go to the files by the hash of their keys, so that each has keys from the whole range.
    """
    if spec.keys is not None:
        old_share = spec.updates / max(1, spec.inserts + spec.updates)
        return [_drawn_range(spec.index, spec.keys, old_share, rows, count)] * count
    if spec.updates or spec.deletes:
        return [None] * count
    edges = [spec.first_row + spec.rows * index // count for index in range(count + 1)]
    return [(start + 1, end) for start, end in itertools.pairwise(edges)]


def range_of_deleted(index: int, keys: KeyShape, rows: int, count: int) -> KeyRange:
    """The key range of each of the `count` files that hold `rows` deleted keys of a partition."""
    old_share = keys.changed_count / max(1, keys.changed_count + keys.new_count)
    return _drawn_range(index, keys, old_share, rows, count)


def _drawn_range(index: int, keys: KeyShape, old_share: float, rows: int, count: int) -> KeyRange:
    """The key range of each of `count` files of commit `index` that together hold `rows` rows.

    It is drawn like that of n random keys, n being the rows of one file. The lowest of n is at the quantile
    1 - (1 - u)^(1/n) of all keys, and the highest of the others at v^(1 / (n - 1)) of what is above it; u and
    v are the commit's. So a file with many rows covers almost all keys, and one with a few rows does not.
    """
    n = math.ceil(rows / count)
    u, v = (index * step % 1 for step in _STEPS)
    lowest = 1 - (1 - u) ** (1 / n)
    highest = lowest + (1 - lowest) * v ** (1 / (n - 1)) if n > 1 else lowest
    return _key_at(lowest, keys, old_share), _key_at(highest, keys, old_share)


def _key_at(quantile: float, keys: KeyShape, old_share: float) -> int:
    """The key at a quantile of the old keys, which are `old_share` of all, followed by the new keys."""
    if quantile < old_share:
        return keys.choice.key_at(quantile / old_share, keys.population)
    above = (quantile - old_share) / (1 - old_share) if old_share < 1 else 0.0
    return min(keys.population + 1 + int(above * keys.new_count), keys.population + max(1, keys.new_count))
