"""The files that writers of a simulated Delta table make."""

import itertools
import math
from collections.abc import Iterable

from bench.engines.simulated.costs import Coefficients
from strategies.delta.clustering import PROVIDER
from strategies.delta.files import DeletionVector, DeltaDataFile, ZCube
from workloads.schema import Schema

_CONTAINER_ROWS = 2**16
_CONTAINER_BYTES_MAX = 2**13  # above 4,096 rows a container is a bitmap of all its rows
_ROW_BYTES = 2
_HEADER_BYTES = 24  # magic number, number of bitmaps, and the header of one bitmap with its key
_CONTAINER_HEADER_BYTES = 8

# Around each vector in its file are its length and its checksum, and before the first one a version byte.
_FRAME_BYTES = 8
_FIRST_OFFSET = 1


class FileMaker:
    """Makes the files of one table, each with a unique name."""

    def __init__(self, schema: Schema, coefficients: Coefficients) -> None:
        self._schema, self._coefficients = schema, coefficients
        self._numbers = itertools.count(1)

    def data_file(self, rows: int, partition: str, cube: ZCube | None = None) -> DeltaDataFile:
        """A data file with so many rows, in a Z-cube if liquid clustering makes it."""
        return DeltaDataFile(
            f"part-{next(self._numbers):08}.parquet",
            self._coefficients.table_bytes(self._schema, rows),
            rows,
            partition,
            clustering_provider=None if cube is None else PROVIDER,
            z_cube=cube,
        )

    def cube(self, columns: tuple[str, ...]) -> ZCube:
        """A new Z-cube."""
        return ZCube(f"cube-{next(self._numbers):08}", columns)

    def vectors(self, deleted: Iterable[tuple[DeltaDataFile, int]]) -> list[DeletionVector]:
        """A vector for each data file, with the number of its deleted rows; one file holds all of them.

        Delta writes a file for each task of a commit, and begins another one after 2 MiB.
        """
        path, offset, made = f"deletion_vector_{next(self._numbers):08}.bin", _FIRST_OFFSET, []
        for file, rows in deleted:
            size_bytes = vector_bytes(rows, file.rows)
            made.append(
                DeletionVector(path, size_bytes, rows, file.partition, data_file=file.path, offset=offset)
            )
            offset += size_bytes + _FRAME_BYTES
        return made


def vector_file_bytes(vectors: Iterable[DeletionVector]) -> int:
    """The bytes of the file that holds these vectors."""
    return _FIRST_OFFSET + sum(vector.size_bytes + _FRAME_BYTES for vector in vectors)


def vector_bytes(deleted_rows: int, file_rows: int) -> int:
    """The bytes of a vector whose rows are spread over a data file.

    500 rows of a file of 1,000 take 24 + 8 + 500 x 2 = 1,032, as measured. Runs of deleted rows, which take
    less, do not occur in it. Source: RoaringBitmapArray in its portable format, delta-spark 3.3.2.
    """
    containers = min(deleted_rows, math.ceil(file_rows / _CONTAINER_ROWS))
    if not containers:
        return _HEADER_BYTES
    rows_bytes = min(_CONTAINER_BYTES_MAX, math.ceil(deleted_rows / containers * _ROW_BYTES))
    return _HEADER_BYTES + containers * (_CONTAINER_HEADER_BYTES + rows_bytes)
