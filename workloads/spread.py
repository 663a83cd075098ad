"""How the rows of a commit, and its deletes, spread over partitions and files in whole numbers."""

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass

from workloads.commit import DeleteShape, PartitionShape, expected_files, hashed_files
from workloads.keys import KeyChoice
from workloads.partitioning import DAY_S, Shares
from workloads.schema import Schema

# A delete file's fixed part and bytes a row: Spark 3.5.8 with zstd, 1 to 100,000 rows (503 and 36,648
# bytes at 1 and 10,000 of order_id, drawn from 20 million; 1,404 and 17,709 of (file_path, pos), one
# path of 113 characters). Provisional: Iceberg's own writers add their schema to the footer.
_EQUALITY_FILE_BYTES, _EQUALITY_ROW_BYTES = 500, 3.6
_POSITION_FILE_BYTES, _POSITION_ROW_BYTES = 1_400, 1.6


def whole_parts(seed: int, stream: str, total: int, shares: Shares) -> dict[str, int]:
    """The expected number in each partition, rounded so that they sum to `total`; none of 0.

    The cumulative shares are rounded down after a shift drawn once per `stream`, so that over many
    commits a partition gets its share also where it expects less than one of each.
    """
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
    """Shares of several parts of a whole as its own, by the weight of each part; none without weight."""
    total = sum(weight for weight, _ in weighted)
    blend: dict[str, float] = {}
    for weight, shares in weighted:
        for partition, share in shares if weight > 0 else ():
            blend[partition] = blend.get(partition, 0.0) + share * weight / total
    return tuple(sorted(blend.items()))


@dataclass(slots=True)
class _Segment:
    """Keys [`first_key`, `end_key`) that were inserted on one day of the stream, and where their rows lie."""

    first_key: int
    end_key: int
    day: int
    shares: Shares


class KeyPartitions:
    """Where the rows of the keys inserted so far lie, in order of the keys."""

    def __init__(self) -> None:
        self._segments: list[_Segment] = []
        self._end_key = 1

    def add(self, keys: int, at_s: float, shares: Shares) -> None:
        """The next so many keys, of rows that spread by `shares`; those of a day are taken together."""
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
        """The expected share (0..1, sum 1) of each partition in the rows that `choice` hits."""
        population = self._end_key - 1
        return blended(
            *((choice.share(s.first_key, s.end_key, population), s.shares) for s in self._segments)
        )


def data_shapes(
    schema: Schema, seed: int, index: int, rows: int, writers: int, shares: Shares
) -> tuple[PartitionShape, ...]:
    """The partitions of commit `index`, which adds so many rows and removes none.

    Rows are dealt out evenly to the writers.
    """
    parts = whole_parts(seed, f"partitions/{index}", rows, shares)
    return tuple(
        _shape(schema, partition, count, expected_files(count, rows, writers), DeleteShape())
        for partition, count in parts.items()
    )


def change_shapes(
    schema: Schema,
    rows: Mapping[str, int],
    equality: Mapping[str, int],
    position: Mapping[str, int],
    writers: int,
) -> tuple[PartitionShape, ...]:
    """The partitions of a commit that adds and deletes so many rows in each, by their names.

    Changes go to the writers by the hash of their keys.
    """
    return tuple(
        _shape(
            schema,
            partition,
            rows.get(partition, 0),
            hashed_files(rows.get(partition, 0), writers),
            _delete_shape(equality.get(partition, 0), position.get(partition, 0), writers),
        )
        for partition in sorted({*rows, *equality, *position})
    )


def equality_bytes(rows: int, files: int = 1) -> float:
    """Expected bytes of equality-delete files that hold so many keys."""
    return files * _EQUALITY_FILE_BYTES + rows * _EQUALITY_ROW_BYTES


def position_bytes(rows: int, files: int = 1) -> float:
    """Expected bytes of position-delete files of one data file each."""
    return files * _POSITION_FILE_BYTES + rows * _POSITION_ROW_BYTES


def _shape(schema: Schema, partition: str, rows: int, files: int, deletes: DeleteShape) -> PartitionShape:
    size_bytes = schema.expected_bytes(rows, files) if rows else 0
    return PartitionShape(partition, rows, files, size_bytes, deletes)


def _delete_shape(equality_rows: int, position_rows: int, writers: int) -> DeleteShape:
    equality_files, position_files = (hashed_files(rows, writers) for rows in (equality_rows, position_rows))
    size_bytes = equality_bytes(equality_rows, equality_files) + position_bytes(position_rows, position_files)
    return DeleteShape(equality_rows, equality_files, position_rows, position_files, round(size_bytes))
