"""The files that writers of a simulated Delta table make."""

import itertools
from collections.abc import Iterable

from bench.engines.delta.model.vectors import FIRST_OFFSET, FRAME_BYTES, vector_bytes
from bench.engines.simulated.costs import Coefficients
from strategies.delta.clustering import PROVIDER
from strategies.delta.files import DeletionVector, DeltaDataFile, ZCube
from workloads.schema import Schema


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
        path, offset, made = f"deletion_vector_{next(self._numbers):08}.bin", FIRST_OFFSET, []
        for file, rows in deleted:
            size_bytes = vector_bytes(rows, file.rows)
            made.append(
                DeletionVector(path, size_bytes, rows, file.partition, data_file=file.path, offset=offset)
            )
            offset += size_bytes + FRAME_BYTES
        return made


def vector_file_bytes(vectors: Iterable[DeletionVector]) -> int:
    """The bytes of the file that holds these vectors."""
    return FIRST_OFFSET + sum(vector.size_bytes + FRAME_BYTES for vector in vectors)
