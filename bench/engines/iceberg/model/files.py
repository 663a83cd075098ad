"""The files that writers of a simulated table make: their rows, keys and sizes.

The number of files of each kind follows from how Flink's writers lay out a commit (`flink_writer`). They
get changes by the hash of the key, so each file of such a commit has keys from the whole range.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence

from bench.engines.iceberg.model.delete_bytes import equality_bytes, position_bytes
from bench.engines.iceberg.model.flink_writer import partition_files
from bench.engines.iceberg.table_keys import DEFAULT_CODEC
from bench.engines.simulated.costs import Coefficients
from bench.engines.simulated.key_ranges import (
    FileRun,
    KeyRange,
    ends_of_keys,
    file_runs,
    range_of_deleted,
    span_of_ranges,
)
from bench.engines.simulated.recorded_rows import recorded_path
from strategies.iceberg.files import DeleteKind, IcebergDataFile, IcebergDeleteFile, KeyBounds
from strategies.preview import even_share
from strategies.series import Run, Series
from strategies.state import MIB
from workloads.commit import CommitSpec, PartitionShape
from workloads.recorded import Content, RecordedFile
from workloads.schema import Schema

_NAMES = "data/{:08}.parquet"
ROW_GROUP_BYTES = 128 * MIB  # write.parquet.row-group-size-bytes; readers can split a file there
KINDS = {
    Content.EQUALITY: DeleteKind.EQUALITY, Content.POSITION: DeleteKind.POSITION,
    Content.VECTOR: DeleteKind.DELETION_VECTOR,
}  # fmt: skip


class FileMaker:
    """Makes the files of one table, each with a unique name.

    `files_per_commit` None means the number of writers that each commit specifies.
    """

    def __init__(
        self,
        schema: Schema,
        coefficients: Coefficients,
        files_per_commit: int | None,
        codec: str = DEFAULT_CODEC,
    ) -> None:
        self._schema, self._coefficients, self._writers = schema, coefficients, files_per_commit
        self._codec = codec
        self._next = 1

    def data_file(
        self, rows: int, partition: str, keys: KeyBounds | None, sequence_number: int, size_ratio: float = 1.0
    ) -> IcebergDataFile:
        """`size_ratio` is its size over that of such files on average."""
        size_bytes = round(self._coefficients.table_bytes(self._schema, rows, codec=self._codec) * size_ratio)
        return _data_file(_NAMES.format(self._number()), size_bytes, rows, partition, sequence_number, keys)

    def recorded(self, file: RecordedFile, sequence_number: int) -> IcebergDataFile:
        """A data file of an imported table."""
        keys = bounds_of(file.keys)
        return _data_file(
            recorded_path(file.id), file.size_bytes, file.rows, file.partition, sequence_number, keys
        )

    def recorded_deletes(
        self, file: RecordedFile, sequence_number: int, data_file: str | None
    ) -> IcebergDeleteFile:
        """A delete file of an imported table; `data_file` is the only one that it applies to, or None."""
        return IcebergDeleteFile(
            recorded_path(file.id), file.size_bytes, file.rows, file.partition, sequence_number,
            referenced_data_file=data_file, key_bounds=bounds_of(file.keys), kind=KINDS[file.content],
        )  # fmt: skip

    def position_deletes(self, file: IcebergDataFile, rows: int, sequence_number: int) -> IcebergDeleteFile:
        """A delete file for rows of one data file, next to it and named after it, as in Amoro."""
        path = f"{file.path.removesuffix('.parquet')}-delete-{self._number():08}.parquet"
        return self._position_deletes(path, file, rows, sequence_number)

    def written_deletes(self, file: IcebergDataFile, rows: int, sequence_number: int) -> IcebergDeleteFile:
        """A delete file for rows of one data file, as writers name it."""
        return self._position_deletes(self._path("-deletes"), file, rows, sequence_number)

    def commit(
        self, spec: CommitSpec, sequence_number: int
    ) -> tuple[list[tuple[Run[IcebergDataFile], int]], list[IcebergDeleteFile]]:
        """Data files in runs, with the rows of each file that outlive the commit, and delete files."""
        data: list[tuple[Run[IcebergDataFile], int]] = []
        deletes: list[IcebergDeleteFile] = []
        counts_by_partition = partition_files(spec, self._writers or spec.writers)
        for shape, counts in zip(spec.partitions, counts_by_partition, strict=True):
            runs = self.new_files(spec, shape.partition, shape.rows, counts.data_count, sequence_number)
            deletes += self._equality_deletes(shape, spec, counts.equality_count, sequence_number)
            if shape.rows == shape.live_rows:
                data += [(run, run.first.rows) for run in runs]
                continue
            files = [run.slice(i, i + 1) for run in runs for i in range(run.count)]
            deleted = _own_deleted(shape, [run.first.rows for run in files], counts.position_count)
            for run, rows in zip(files, deleted, strict=True):
                data.append((run.first, run.first.rows - rows))
                if rows:
                    deletes.append(self.written_deletes(run.first, rows, sequence_number))
        return data, deletes

    def new_files(
        self, spec: CommitSpec, partition: str, rows: int, count: int, sequence_number: int
    ) -> list[Run[IcebergDataFile]]:
        """`count` data files for `rows` rows that a commit adds to a partition, in runs."""
        return [self._data_files(files, partition, sequence_number) for files in file_runs(spec, rows, count)]

    def _data_files(self, files: FileRun, partition: str, sequence_number: int) -> Run[IcebergDataFile]:
        first = self.data_file(files.rows, partition, bounds_of(files.keys), sequence_number)
        if files.count == 1:
            return first
        number, self._next = self._next - 1, self._next + files.count - 1
        return Series(first, files.count, _NAMES, number, files.key_step)

    def _equality_deletes(
        self, shape: PartitionShape, spec: CommitSpec, count: int, number: int
    ) -> Iterator[IcebergDeleteFile]:
        rows = shape.deleted_keys
        keys = range_of_deleted(spec.index, spec.keys, rows, count) if spec.keys and rows else None
        for index in range(count):
            own_rows, path = even_share(rows, index, count), self._path("-deletes")
            yield IcebergDeleteFile(
                path, round(equality_bytes(own_rows)), own_rows, shape.partition, number,
                key_bounds=bounds_of(keys), kind=DeleteKind.EQUALITY,
            )  # fmt: skip

    def _position_deletes(
        self, path: str, file: IcebergDataFile, rows: int, sequence_number: int
    ) -> IcebergDeleteFile:
        return IcebergDeleteFile(
            path, round(position_bytes(rows)), rows, file.partition, sequence_number,
            referenced_data_file=file.path, kind=DeleteKind.POSITION,
        )  # fmt: skip

    def _path(self, suffix: str) -> str:
        return f"data/{self._number():08}{suffix}.parquet"

    def _number(self) -> int:
        self._next += 1
        return self._next - 1


def _data_file(
    path: str, size_bytes: int, rows: int, partition: str, sequence_number: int, keys: KeyBounds | None
) -> IcebergDataFile:
    offsets = tuple(range(4, max(5, size_bytes), ROW_GROUP_BYTES))
    return IcebergDataFile(
        path, size_bytes, rows, partition, sequence_number, split_offsets=offsets, key_bounds=keys
    )


def keys_of(file: IcebergDataFile) -> KeyRange | None:
    """The lowest and the highest key of a file; None if unknown."""
    bounds = file.key_bounds
    return (bounds.lower, bounds.upper) if bounds else None


def span_of(runs: Iterable[Run[IcebergDataFile]]) -> KeyBounds | None:
    """The range of the keys of all files; None if any is unknown."""
    ends = (ends_of_keys(keys_of(run.first), run.key_step, run.count) for run in runs)
    return bounds_of(span_of_ranges(itertools.chain.from_iterable(ends)))


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


def bounds_of(keys: KeyRange | None) -> KeyBounds | None:
    return None if keys is None else KeyBounds(*keys)
