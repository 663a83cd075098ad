"""The files of a simulated Delta table."""

import math
from collections.abc import Iterable

from bench.engines.simulated.costs import Coefficients
from bench.engines.simulated.key_ranges import FileRun
from bench.engines.simulated.recorded_rows import recorded_path
from strategies.delta.clustering import PROVIDER
from strategies.delta.files import DeletionVector, DeltaDataFile, ZCube
from strategies.series import Run, Series
from workloads.recorded import RecordedFile
from workloads.schema import Schema

_NAMES = "part-{:08}.parquet"
_CONTAINER_ROWS = 2**16
_CONTAINER_BYTES_MAX = 2**13  # above 4,096 rows a container is a bitmap of all its rows
_ROW_BYTES = 2
_HEADER_BYTES = 24  # magic number, number of bitmaps, and the header of one bitmap with its key
_CONTAINER_HEADER_BYTES = 8

# Each vector in a file has a length and a checksum around it; a version byte comes first.
_FRAME_BYTES = 8
_FIRST_OFFSET = 1


class FileMaker:
    """Makes the files of one table, each with a unique name."""

    def __init__(self, schema: Schema, coefficients: Coefficients, codec: str) -> None:
        self._schema, self._coefficients, self._codec = schema, coefficients, codec
        self._next = 1

    def data_files(self, files: FileRun, partition: str) -> Run[DeltaDataFile]:
        """Files of a commit, in one run."""
        first = self.data_file(files.rows, partition)
        if files.count == 1:
            return first
        number, self._next = self._next - 1, self._next + files.count - 1
        return Series(first, files.count, _NAMES, number, files.key_step)

    def data_file(
        self, rows: int, partition: str, cube: ZCube | None = None, size_ratio: float = 1.0
    ) -> DeltaDataFile:
        """`size_ratio` is its size over that of such files on average."""
        return DeltaDataFile(
            _NAMES.format(self._number()),
            round(self._coefficients.table_bytes(self._schema, rows, codec=self._codec) * size_ratio),
            rows,
            partition,
            clustering_provider=None if cube is None else PROVIDER,
            z_cube=cube,
        )

    def recorded(self, file: RecordedFile) -> DeltaDataFile:
        """A data file of an imported table."""
        return DeltaDataFile(recorded_path(file.id), file.size_bytes, file.rows, file.partition)

    def cube(self, columns: tuple[str, ...]) -> ZCube:
        return ZCube(f"cube-{self._number():08}", columns)

    def _number(self) -> int:
        self._next += 1
        return self._next - 1

    def vectors(self, deleted: Iterable[tuple[DeltaDataFile, int, int]]) -> list[DeletionVector]:
        """A vector for each data file, with its number of deleted rows and its bytes, all in one file.

        Delta writes one such file per task of a commit, and starts another one after 2 MiB.
        """
        path, offset, vectors = f"deletion_vector_{self._number():08}.bin", _FIRST_OFFSET, []
        for file, rows, size_bytes in deleted:
            vectors.append(
                DeletionVector(path, size_bytes, rows, file.partition, data_file=file.path, offset=offset)
            )
            offset += size_bytes + _FRAME_BYTES
        return vectors


def vector_file_bytes(vectors: Iterable[DeletionVector]) -> int:
    return _FIRST_OFFSET + sum(vector.size_bytes + _FRAME_BYTES for vector in vectors)


def vector_bytes(deleted_rows: int, file_rows: int) -> int:
    """The bytes of a vector whose rows are spread evenly over a data file, without runs of deleted rows.

    500 of 1,000 rows take 24 + 8 + 500 x 2 = 1,032, as measured. Source: RoaringBitmapArray in its portable
    format, delta-spark 3.3.2.
    """
    containers = min(deleted_rows, math.ceil(file_rows / _CONTAINER_ROWS))
    if not containers:
        return _HEADER_BYTES
    rows_bytes = min(_CONTAINER_BYTES_MAX, math.ceil(deleted_rows / containers * _ROW_BYTES))
    return _HEADER_BYTES + containers * (_CONTAINER_HEADER_BYTES + rows_bytes)
