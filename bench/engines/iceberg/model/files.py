"""The files that writers of a simulated table make: their rows, keys and sizes.

The number of files of each kind follows from how Flink's writers lay out a commit (`flink_writer`). They
get changes by the hash of the key, so each file of such a commit has keys from the whole range.
"""

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from bench.engines.iceberg.model.delete_bytes import equality_bytes, position_bytes
from bench.engines.iceberg.model.flink_writer import partition_files
from bench.engines.simulated.costs import Coefficients
from strategies.iceberg.files import DeleteKind, IcebergDataFile, IcebergDeleteFile, KeyBounds
from strategies.preview import even_share
from strategies.state import MIB
from workloads.commit import CommitSpec, KeyShape, PartitionShape
from workloads.schema import Schema

ROW_GROUP_BYTES = 128 * MIB  # write.parquet.row-group-size-bytes; readers can split a file there
# Steps whose multiples, modulo 1, are spread evenly in two dimensions: 1/p and 1/p^2 with p^3 = p + 1
# (Roberts' R2 sequence).
_STEPS = (0.7548776662466927, 0.5698402909980532)


class FileMaker:
    """Makes the files of one table, each with a unique name.

    `files_per_commit` None means the number of writers that each commit specifies.
    """

    def __init__(self, schema: Schema, coefficients: Coefficients, files_per_commit: int | None) -> None:
        self._schema, self._coefficients, self._writers = schema, coefficients, files_per_commit
        self._numbers = itertools.count(1)

    def data_file(
        self, rows: int, partition: str, keys: KeyBounds | None, sequence_number: int
    ) -> IcebergDataFile:
        """A data file with so many rows."""
        size_bytes = table_bytes(self._schema, self._coefficients, rows)
        offsets = tuple(range(4, max(5, size_bytes), ROW_GROUP_BYTES))
        return IcebergDataFile(
            self._path(), size_bytes, rows, partition, sequence_number, split_offsets=offsets, key_bounds=keys
        )

    def position_deletes(self, file: IcebergDataFile, rows: int, sequence_number: int) -> IcebergDeleteFile:
        """A delete file for rows of one data file, next to it and named after it, as in Amoro."""
        path = f"{file.path.removesuffix('.parquet')}-delete-{next(self._numbers):08}.parquet"
        return self._position_deletes(path, file, rows, sequence_number)

    def commit(
        self, spec: CommitSpec, sequence_number: int
    ) -> tuple[list[tuple[IcebergDataFile, int]], list[IcebergDeleteFile]]:
        """The data files a commit adds, each with the rows that outlive the commit, and its delete files."""
        data: list[tuple[IcebergDataFile, int]] = []
        deletes: list[IcebergDeleteFile] = []
        counts_by_partition = partition_files(spec, self._writers or spec.writers)
        for shape, counts in zip(spec.partitions, counts_by_partition, strict=True):
            files = list(self._data_files(shape, spec, counts.data_count, sequence_number))
            deleted = _own_deleted(shape, [file.rows for file in files], counts.position_count)
            deletes += self._equality_deletes(shape, spec, counts.equality_count, sequence_number)
            for file, rows in zip(files, deleted, strict=True):
                data.append((file, file.rows - rows))
                if rows:
                    path = self._path("-deletes")
                    deletes.append(self._position_deletes(path, file, rows, sequence_number))
        return data, deletes

    def _data_files(
        self, shape: PartitionShape, spec: CommitSpec, count: int, number: int
    ) -> Iterator[IcebergDataFile]:
        """The data files of one partition, with its rows distributed evenly."""
        ranges = _row_ranges(spec, shape.rows, count) if count else []
        for index, keys in enumerate(ranges):
            yield self.data_file(even_share(shape.rows, index, count), shape.partition, keys, number)

    def _equality_deletes(
        self, shape: PartitionShape, spec: CommitSpec, count: int, number: int
    ) -> Iterator[IcebergDeleteFile]:
        rows = shape.deleted_keys
        keys = _deleted_range(spec.index, spec.keys, rows, count) if spec.keys and rows else None
        for index in range(count):
            own_rows, path = even_share(rows, index, count), self._path("-deletes")
            yield IcebergDeleteFile(
                path, round(equality_bytes(own_rows)), own_rows, shape.partition, number,
                key_bounds=keys, kind=DeleteKind.EQUALITY,
            )  # fmt: skip

    def _position_deletes(
        self, path: str, file: IcebergDataFile, rows: int, sequence_number: int
    ) -> IcebergDeleteFile:
        return IcebergDeleteFile(
            path, round(position_bytes(rows)), rows, file.partition, sequence_number,
            referenced_data_file=file.path, kind=DeleteKind.POSITION,
        )  # fmt: skip

    def _path(self, suffix: str = "") -> str:
        return str(PurePosixPath("data") / f"{next(self._numbers):08}{suffix}.parquet")


def table_bytes(schema: Schema, coefficients: Coefficients, rows: int, files: int = 1) -> int:
    """The bytes of data files: plain Parquet of the same rows, and what the format adds to each file."""
    return schema.expected_bytes(rows, files) + files * coefficients.data.file_bytes


def keys_of(file: IcebergDataFile) -> tuple[int, int] | None:
    """The lowest and the highest key of a file; None if they are not known."""
    bounds = file.key_bounds
    return (bounds.lower, bounds.upper) if bounds else None


def span_of(files: Iterable[IcebergDataFile]) -> KeyBounds | None:
    """The range of the keys of all files; None if that of any file is not known."""
    ranges = [file.key_bounds for file in files]
    known = [keys for keys in ranges if keys is not None]
    if len(known) < len(ranges) or not known:
        return None
    return KeyBounds(min(keys.lower for keys in known), max(keys.upper for keys in known))


def _own_deleted(shape: PartitionShape, rows: Sequence[int], count: int) -> list[int]:
    """How many rows of each data file the commit itself deletes again, all in its first `count` files.

    They are in more files if the first ones hold too few rows.
    """
    deleted = shape.rows - shape.live_rows
    while sum(rows[:count]) < deleted:
        count += 1
    before = list(itertools.accumulate(rows[:count], initial=0))
    shares = [deleted * end // max(1, before[-1]) for end in before]
    return [end - start for start, end in itertools.pairwise(shares)] + [0] * (len(rows) - count)


def _row_ranges(spec: CommitSpec, rows: int, count: int) -> list[KeyBounds | None]:
    """The key range of each data file of a partition.

    A commit of new keys alone has them in row order, so each file continues where the previous one ends.
    """
    if spec.keys is not None:
        old_share = spec.updates / max(1, spec.inserts + spec.updates)
        return [_drawn_range(spec.index, spec.keys, old_share, rows, count)] * count
    if spec.updates or spec.deletes:
        return [None] * count
    edges = [spec.first_row + spec.rows * index // count for index in range(count + 1)]
    return [KeyBounds(start + 1, end) for start, end in itertools.pairwise(edges)]


def _deleted_range(index: int, keys: KeyShape, rows: int, count: int) -> KeyBounds:
    """The key range of each equality delete file of a partition."""
    old_share = keys.changed_count / max(1, keys.changed_count + keys.new_count)
    return _drawn_range(index, keys, old_share, rows, count)


def _drawn_range(index: int, keys: KeyShape, old_share: float, rows: int, count: int) -> KeyBounds:
    """The key range of each of `count` files of commit `index` that together hold `rows` rows.

    It is drawn like that of n random keys, n being the rows of one file. The lowest of n is at the quantile
    1 - (1 - u)^(1/n) of all keys, and the highest of the others at v^(1 / (n - 1)) of what is above it; u and
    v are the commit's. So a file with many rows covers almost all keys, and one with a few rows does not.
    """
    n = math.ceil(rows / count)
    u, v = (index * step % 1 for step in _STEPS)
    lowest = 1 - (1 - u) ** (1 / n)
    highest = lowest + (1 - lowest) * v ** (1 / (n - 1)) if n > 1 else lowest
    return KeyBounds(_key_at(lowest, keys, old_share), _key_at(highest, keys, old_share))


def _key_at(quantile: float, keys: KeyShape, old_share: float) -> int:
    """The key at a quantile; the old keys make up `old_share` of them, and the new ones are above."""
    if quantile < old_share:
        return keys.choice.key_at(quantile / old_share, keys.population)
    above = (quantile - old_share) / (1 - old_share) if old_share < 1 else 0.0
    return min(keys.population + 1 + int(above * keys.new_count), keys.population + max(1, keys.new_count))
