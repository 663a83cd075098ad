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
    """A live data file. `rows` counts physical rows, deleted ones included, as in its statistics.

    `clustering_provider` is "liquid" for a file that OPTIMIZE has clustered; None for one not clustered.
    """

    clustering_provider: str | None = None
    z_cube: ZCube | None = None


@dataclass(frozen=True, slots=True)
class DeletionVector(DeleteFile):
    """The deletion vector of one data file, at `offset` of a file that several vectors share.

    `rows` is its cardinality, and `size_bytes` its own size.
    """

    data_file: str = ""
    offset: int | None = None

    @property
    def key(self) -> str:
        """Delta's unique id of a vector, with the data file that it belongs to."""
        return f"{self.path}@{self.offset}#{self.data_file}"


def live_bytes(file: DeltaDataFile, vector: DeletionVector | None) -> int:
    """The bytes of a file in proportion to its live rows (AddFile.estLogicalFileSize)."""
    if vector is None or not file.rows:
        return file.size_bytes
    return int((file.rows - vector.rows) / file.rows * file.size_bytes)


@dataclass(frozen=True, slots=True)
class DeltaState(TableState):
    """`clustering_columns` are the columns of liquid clustering, in order."""

    data_files: Collection[DeltaDataFile] = ()
    delete_files: Collection[DeletionVector] = ()
    clustering_columns: tuple[str, ...] = ()
