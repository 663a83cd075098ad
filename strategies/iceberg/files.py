"""The state of an Iceberg table: what it has beyond the state that all formats share."""

from collections.abc import Collection
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from strategies.state import DataFile, DeleteFile, Place, TableState


class DeleteKind(StrEnum):
    """The content of a delete file; `strategies.iceberg.deletes` states which data files it applies to."""

    EQUALITY = "equality"  # applies where data.sequence < delete.sequence (Iceberg spec, scan planning)
    POSITION = "position"  # applies where data.sequence <= delete.sequence
    DELETION_VECTOR = "deletion_vector"  # applies to the one data file it references


@dataclass(frozen=True, slots=True)
class KeyBounds:
    """Lower and upper bounds, both inclusive, of the key column in a file.

    The key column is the one that the table's equality deletes compare. If one bound is unknown, both are
    None. `nulls` says whether the column may contain null, `values` whether it may contain anything else.
    """

    lower: Any
    upper: Any
    nulls: bool = False
    values: bool = True

    def meets(self, other: "KeyBounds | None") -> bool:
        """Whether a key can be in both files; unknown bounds (None) exclude nothing.

        Source: Iceberg DeleteFileIndex.canContainEqDeletesForFile at 1.11.0.
        """
        if other is None or (self.nulls and other.nulls):
            return True
        return self.values and other.values and self._overlaps(other)

    def moved(self, distance: int) -> "KeyBounds":
        """The bounds of whole numbers that are higher by a distance."""
        return KeyBounds(self.lower + distance, self.upper + distance, self.nulls, self.values)

    def _overlaps(self, other: "KeyBounds") -> bool:
        if self.lower is None or other.lower is None:
            return True
        return bool(self.lower <= other.upper and other.lower <= self.upper)


@dataclass(frozen=True, slots=True)
class IcebergDataFile(DataFile):
    """A live data file, written with partition spec `spec_id`.

    `split_offsets` are the byte offsets at which a reader may split it, one per Parquet row group; empty if
    unknown.
    """

    data_sequence_number: int = 0
    spec_id: int = 0
    split_offsets: tuple[int, ...] = ()
    key_bounds: KeyBounds | None = None

    @property
    def place(self) -> Place:
        return self.partition, self.spec_id


@dataclass(frozen=True, slots=True)
class IcebergDeleteFile(DeleteFile):
    """A live delete file. `referenced_data_file` is the data file it is scoped to; None if it is not.

    Deletion vectors written by one task share a Puffin file, in which each is a blob; the `size_bytes` of a
    vector is the size of its blob.
    """

    kind: DeleteKind = field(kw_only=True)
    data_sequence_number: int = 0
    spec_id: int = 0
    referenced_data_file: str | None = None
    key_bounds: KeyBounds | None = None

    @property
    def key(self) -> str:
        """The path; for a deletion vector also the data file, because several vectors share a path."""
        if self.kind is DeleteKind.DELETION_VECTOR:
            return f"{self.path}#{self.referenced_data_file}"
        return self.path


@dataclass(frozen=True, slots=True)
class IcebergState(TableState):
    """`spec_id` is the partition spec that new files are written with."""

    data_files: Collection[IcebergDataFile] = ()
    delete_files: Collection[IcebergDeleteFile] = ()
    spec_id: int = 0
