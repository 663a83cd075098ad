"""The files that writers of a simulated Hudi table make."""

import itertools

from bench.engines.hudi.model.coefficients import HudiCoefficients
from bench.engines.hudi.model.log_bytes import log_file_bytes
from strategies.hudi.files import BaseFile, FileGroupId, LogFile
from workloads.schema import Schema


class FileMaker:
    """Makes the files of one table, each with a unique name."""

    def __init__(self, schema: Schema, coefficients: HudiCoefficients) -> None:
        self._schema, self._coefficients = schema, coefficients
        self._numbers = itertools.count(1)

    def group(self, partition: str) -> FileGroupId:
        """A new file group."""
        return FileGroupId(partition, f"group-{next(self._numbers):06}")

    def base(self, group: FileGroupId, rows: int) -> BaseFile:
        """A base file with so many rows."""
        name = f"{group.file_id}_{next(self._numbers):06}.parquet"
        size_bytes = self._coefficients.table_bytes(self._schema, rows)
        return BaseFile(_path(group, name), size_bytes, rows, group.partition, file_id=group.file_id)

    def log(self, group: FileGroupId, rows: int, deletes: int) -> LogFile:
        """A log file with so many new versions of rows, which also says that so many keys are deleted."""
        size_bytes = log_file_bytes(self._schema, rows, deletes)
        name = f".{group.file_id}_{next(self._numbers):06}.log"
        path = _path(group, name)
        return LogFile(path, size_bytes, rows + deletes, group.partition, file_id=group.file_id)


def _path(group: FileGroupId, name: str) -> str:
    return f"{group.partition}/{name}" if group.partition else name
