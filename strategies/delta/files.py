"""The state of a Delta table: what it has beyond the state that all formats share."""

from collections.abc import Collection
from dataclasses import dataclass

from strategies.state import DataFile, DeleteFile, TableState


@dataclass(frozen=True, slots=True)
class ZCube:
    """The Z-cube that liquid clustering has put a file into (tags ZCUBE_ID and ZCUBE_ZORDER_BY).

    `columns` are those it was clustered by. Files of one cube share its id.
    """

    id: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DeltaDataFile(DataFile):
    """A live data file. `rows` are physical rows, deleted ones included, as in its statistics.

    Without statistics the number of rows is not known.
    `clustering_provider` is what has clustered it, "liquid" for OPTIMIZE; None for other files.
    """

    clustering_provider: str | None = None
    z_cube: ZCube | None = None


@dataclass(frozen=True, slots=True)
class DeletionVector(DeleteFile):
    """The deletion vector of one data file. `rows` is its cardinality.

    Several vectors share a file, each from its own `offset`; `size_bytes` are those of this vector alone.
    """

    data_file: str = ""
    offset: int | None = None

    @property
    def key(self) -> str:
        """What Delta calls the unique id of a vector, with the data file that it belongs to."""
        return f"{self.path}@{self.offset}#{self.data_file}"


def live_bytes(file: DeltaDataFile, vector: DeletionVector | None) -> int:
    """The bytes of a file in proportion to its live rows (AddFile.estLogicalFileSize)."""
    if vector is None or not file.rows:
        return file.size_bytes
    return int((file.rows - vector.rows) / file.rows * file.size_bytes)


@dataclass(frozen=True, slots=True)
class DeltaState(TableState):
    """The state of a Delta table. `clustering_columns` are those of liquid clustering, in order."""

    data_files: Collection[DeltaDataFile] = ()
    delete_files: Collection[DeletionVector] = ()
    clustering_columns: tuple[str, ...] = ()
