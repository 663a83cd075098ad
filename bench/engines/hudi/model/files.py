"""The files of a simulated Hudi table.

A log record with a row has all columns in uncompressed Avro, and Hudi's own columns, whose size is constant.
A delete has little more than the key. Sizes are measured with Hudi 1.2.0 by linear regression on log files of
12 to 150 records, 126 files with 17 columns and 23 with each other number.
"""

import itertools
from collections.abc import Mapping

from bench.engines.hudi.model.coefficients import HudiCoefficients
from strategies.hudi.files import BaseFile, FileGroupId, LogFile
from workloads.schema import Schema

# By the number of columns: the bytes of a file without rows (its header has the schema), and bytes per row.
_SIZES: Mapping[int, tuple[int, int]] = {3: (1_750, 144), 7: (2_240, 169), 17: (3_700, 233), 40: (6_870, 715)}
_DELETE_BYTES = 25  # with 17 columns 14, where deletes were fewest


class FileMaker:
    """Makes the files of one table, each with a unique name."""

    def __init__(self, schema: Schema, coefficients: HudiCoefficients, codec: str) -> None:
        self._schema, self._coefficients, self._codec = schema, coefficients, codec
        self._numbers = itertools.count(1)

    def group(self, partition: str) -> FileGroupId:
        return FileGroupId(partition, f"group-{next(self._numbers):06}")

    def base(self, group: FileGroupId, rows: int, size_ratio: float = 1.0) -> BaseFile:
        """`size_ratio` is its size over that of such files on average."""
        name = f"{group.file_id}_{next(self._numbers):06}.parquet"
        size_bytes = round(self._coefficients.table_bytes(self._schema, rows, codec=self._codec) * size_ratio)
        return BaseFile(_path(group, name), size_bytes, rows, group.partition, file_id=group.file_id)

    def log(self, group: FileGroupId, rows: int, deletes: int, size_ratio: float = 1.0) -> LogFile:
        """A log file with new versions of rows, and deletes of keys."""
        size_bytes = round(log_file_bytes(self._schema, rows, deletes) * size_ratio)
        name = f".{group.file_id}_{next(self._numbers):06}.log"
        path = _path(group, name)
        return LogFile(path, size_bytes, rows + deletes, group.partition, file_id=group.file_id)


def log_file_bytes(schema: Schema, rows: int, deletes: int) -> int:
    fixed_bytes, row_bytes = _SIZES[len(schema.columns)]
    return fixed_bytes + row_bytes * rows + _DELETE_BYTES * deletes


def _path(group: FileGroupId, name: str) -> str:
    return f"{group.partition}/{name}" if group.partition else name
