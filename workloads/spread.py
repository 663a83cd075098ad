"""Distribution of a commit's rows and deletes over partitions and writers, in whole numbers."""

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass

from workloads.commit import PartitionShape
from workloads.keys import KeyChoice
from workloads.partitioning import DAY_S, Shares
from workloads.schema import Schema


def whole_parts(seed: int, stream: str, total: int, shares: Shares) -> dict[str, int]:
    """The expected number in each partition, rounded so that they sum to `total`; zeros are left out.

    The cumulative counts are rounded down after adding a shift drawn once per `stream`. So a partition gets
    its share over many commits, even if less than one row per commit is expected. The name of the stream is
    part of the seed, so each stream is rounded independently.
    """
    if len(shares) == 1:  # without a generator, which takes longer than all the rest
        return {shares[0][0]: total} if total else {}
    shift = random.Random(f"{seed}/{stream}").random()  # noqa: S311 - reproducible, not secret
    parts: dict[str, int] = {}
    cumulative, before = 0.0, 0
    for number, (partition, share) in enumerate(shares, start=1):
        cumulative += share
        until = total if number == len(shares) else min(total, math.floor(cumulative * total + shift))
        if until > before:
            parts[partition] = until - before
            before = until
    return parts


def blended(*weighted: tuple[float, Shares]) -> Shares:
    """The weighted mean of the distributions; empty if no weight is positive."""
    total = sum(weight for weight, _ in weighted)
    blend: dict[str, float] = {}
    for weight, shares in weighted:
        for partition, share in shares if weight > 0 else ():
            blend[partition] = blend.get(partition, 0.0) + share * weight / total
    return tuple(sorted(blend.items()))


@dataclass(slots=True)
class _Segment:
    """Keys [`first_key`, `end_key`), inserted on one day of the stream, and where their rows are."""

    first_key: int
    end_key: int
    day: int
    shares: Shares


class KeyPartitions:
    """The distribution over partitions of the rows inserted so far, by ranges of keys."""

    def __init__(self) -> None:
        self._segments: list[_Segment] = []
        self._end_key = 1

    def add(self, keys: int, at_s: float, shares: Shares) -> None:
        """Add the next `keys` keys, whose rows are distributed by `shares`; keys of one day are merged."""
        first_key, day = self._end_key, math.ceil(at_s / DAY_S)
        self._end_key += keys
        last = self._segments[-1] if self._segments else None
        if last is not None and last.shares == shares:
            last.end_key = self._end_key
        elif last is not None and last.day == day:
            last.shares = blended((last.end_key - last.first_key, last.shares), (keys, shares))
            last.end_key = self._end_key
        elif keys:
            self._segments.append(_Segment(first_key, self._end_key, day, shares))

    def shares(self, choice: KeyChoice) -> Shares:
        """The expected share (0..1, sum 1) of each partition among the rows that `choice` hits."""
        population = self._end_key - 1
        return blended(
            *((choice.share(s.first_key, s.end_key, population), s.shares) for s in self._segments)
        )


def dealt_writers(rows: int, commit_rows: int, writers: int) -> int:
    """The number of writers with any of a partition's `rows`, if rows are split evenly and at random.

    It is the expected number, rounded; at least one if there is a row.
    """
    if not rows:
        return 0
    busy = min(writers, commit_rows)
    miss: float = (1 - rows / commit_rows) ** (commit_rows / busy)
    return min(rows, max(1, round(busy * (1 - miss))))


def hashed_writers(rows: int, writers: int) -> int:
    """The number of writers with any of `rows` rows, if each row goes to a writer by the hash of its key.

    It is the expected number, rounded.
    """
    miss: float = (1 - 1 / writers) ** rows
    return min(rows, round(writers * (1 - miss)))


def data_shapes(
    schema: Schema, seed: int, index: int, rows: int, writers: int, shares: Shares
) -> tuple[PartitionShape, ...]:
    """The partitions of commit `index`, which adds `rows` rows and deletes none.

    The rows are split evenly over the writers.
    """
    parts = whole_parts(seed, f"partitions/{index}", rows, shares)
    return tuple(
        PartitionShape(partition, count, _parquet_bytes(schema, count, dealt_writers(count, rows, writers)))
        for partition, count in parts.items()
    )


def change_shapes(
    schema: Schema,
    rows: Mapping[str, int],
    deleted_keys: Mapping[str, int],
    superseded_rows: Mapping[str, int],
    writers: int,
) -> tuple[PartitionShape, ...]:
    """The partitions of a commit of changes; every count is given by partition (see `PartitionShape`).

    The size in Parquet assumes that rows go to writers by the hash of their key, as they must for the changes
    of a key to stay in order.
    """
    return tuple(
        PartitionShape(
            partition,
            rows.get(partition, 0),
            _parquet_bytes(schema, rows.get(partition, 0), hashed_writers(rows.get(partition, 0), writers)),
            deleted_keys.get(partition, 0),
            superseded_rows.get(partition, 0),
        )
        for partition in sorted({*rows, *deleted_keys, *superseded_rows})
    )


def _parquet_bytes(schema: Schema, rows: int, files: int) -> int:
    return schema.expected_bytes(rows, files) if rows else 0
