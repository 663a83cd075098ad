"""What an Iceberg table's state has beyond that of every format."""

from collections.abc import Collection
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from strategies.plan import PlanError
from strategies.state import DataFile, DeleteFile, TableState


class DeleteKind(StrEnum):
    """What a delete file holds. Which data files it applies to follows from sequence number and partition."""

    EQUALITY = "equality"  # applies where data.sequence < delete.sequence (Iceberg spec, scan planning)
    POSITION = "position"  # applies where data.sequence <= delete.sequence
    DELETION_VECTOR = "deletion_vector"  # applies to the one data file it references


@dataclass(frozen=True, slots=True)
class KeyBounds:
    """Bounds of the keys a file may hold: from `lower` to `upper`, both included, and null.

    The key column is the one that the table's equality deletes compare. Both bounds are None where one of
    them is not known. `nulls` says whether null may be among the keys, `values` whether anything else may.
    """

    lower: Any
    upper: Any
    nulls: bool = False
    values: bool = True

    def meets(self, other: "KeyBounds | None") -> bool:
        """Whether a key can be in both; bounds that are not known (None) exclude none.

        Source: Iceberg DeleteFileIndex.canContainEqDeletesForFile at 1.11.0.
        """
        if other is None or (self.nulls and other.nulls):
            return True
        return self.values and other.values and self._overlaps(other)

    def _overlaps(self, other: "KeyBounds") -> bool:
        if self.lower is None or other.lower is None:
            return True
        return bool(self.lower <= other.upper and other.lower <= self.upper)


@dataclass(frozen=True, slots=True)
class IcebergDataFile(DataFile):
    """A live data file. `spec_id` is the partition spec it was written with.

    `split_offsets` are the bytes at which it may be cut for reading, one a Parquet row group; empty
    where unknown.
    """

    data_sequence_number: int = 0
    spec_id: int = 0
    split_offsets: tuple[int, ...] = ()
    key_bounds: KeyBounds | None = None


@dataclass(frozen=True, slots=True)
class IcebergDeleteFile(DeleteFile):
    """A live delete file. `referenced_data_file` is the one data file it is for, None where it is for more.

    The deletion vectors that one task wrote share a Puffin file, each a blob of it; their `size_bytes` are
    those of the blob.
    """

    kind: DeleteKind = field(kw_only=True)
    data_sequence_number: int = 0
    spec_id: int = 0
    referenced_data_file: str | None = None
    key_bounds: KeyBounds | None = None

    @property
    def key(self) -> str:
        """The path, and of a deletion vector also the data file it is for."""
        if self.kind is DeleteKind.DELETION_VECTOR:
            return f"{self.path}#{self.referenced_data_file}"
        return self.path


@dataclass(frozen=True, slots=True)
class IcebergState(TableState):
    """An Iceberg table. `spec_id` is the partition spec new files are written with."""

    data_files: Collection[IcebergDataFile] = ()
    delete_files: Collection[IcebergDeleteFile] = ()
    spec_id: int = 0


def iceberg_state(state: TableState) -> IcebergState:
    """The state as that of an Iceberg table.

    Raises PlanError where it is of another format's table, which no planner of Iceberg can plan for.
    """
    if not isinstance(state, IcebergState):
        raise PlanError(
            f"the table's state is a {type(state).__name__}, no IcebergState: a planner of Iceberg can only "
            "plan for Iceberg tables"
        )
    return state
