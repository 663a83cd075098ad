"""An index of delete files, which sums up the ones that apply to a data file in logarithmic time."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from operator import attrgetter

from strategies.iceberg.deletes.keyed_files import KeyedFiles
from strategies.iceberg.deletes.ranked import FileSums, Ranked
from strategies.iceberg.files import DeleteKind, IcebergDataFile, IcebergDeleteFile, IcebergState
from strategies.state import StateError

_Scope = tuple[int, str]  # partition spec and partition

# The data sequence number, by which deletes and data files are compared in age.
sequence_number = attrgetter("data_sequence_number")

_NONE = Ranked[IcebergDeleteFile]()
_NO_KEYS = KeyedFiles[IcebergDeleteFile]()


@dataclass(frozen=True, slots=True)
class Applied:
    """Sums over the delete files that apply to one data file.

    `file_scoped_rows` counts rows of file-scoped deletes only, which are known to delete from this file.
    Equality deletes and position deletes of a whole partition do not count.
    """

    files_count: int = 0
    size_bytes: int = 0
    file_scoped_rows: int = 0
    rows: int = 0


_NO_DELETES = Applied()


@dataclass(frozen=True, slots=True)
class DeleteIndex:
    """The delete files of a table, by scope. Built by `index_deletes`."""

    everywhere: KeyedFiles[IcebergDeleteFile]  # equality deletes of unpartitioned specs: global deletes
    equality: Mapping[_Scope, KeyedFiles[IcebergDeleteFile]]
    position: Mapping[_Scope, Ranked[IcebergDeleteFile]]
    position_of_file: Mapping[str, Ranked[IcebergDeleteFile]]
    vectors: Mapping[str, IcebergDeleteFile]

    @property
    def is_empty(self) -> bool:
        scoped = self.equality or self.position or self.position_of_file or self.vectors
        return not scoped and self.everywhere.is_empty

    def applying_to(self, file: IcebergDataFile) -> Applied:
        """The delete files that a reader of `file` has to open."""
        if self.is_empty:
            return _NO_DELETES
        applied = self.equality_of(file)
        vector = self.vectors.get(file.path)
        if vector is not None:
            applied, file_scoped_rows = applied + FileSums(1, vector.size_bytes, vector.rows), vector.rows
        else:
            file_scoped = not_older(self.position_of_file.get(file.path, _NONE), file)
            of_partition = not_older(self.position.get((file.spec_id, file.partition), _NONE), file)
            applied, file_scoped_rows = applied + of_partition + file_scoped, file_scoped.rows
        return Applied(applied.files_count, applied.size_bytes, file_scoped_rows, applied.rows)

    def equality_of(self, file: IcebergDataFile) -> FileSums:
        scoped = self.equality.get((file.spec_id, file.partition), _NO_KEYS)
        number, keys = file.data_sequence_number, file.key_bounds
        return self.everywhere.meeting(number, keys) + scoped.meeting(number, keys)


_EMPTY = DeleteIndex(_NO_KEYS, {}, {}, {}, {})


def not_older(deletes: Ranked[IcebergDeleteFile], file: IcebergDataFile) -> FileSums:
    """The sums of the deletes that are not older than `file`, as position deletes must be."""
    return deletes.sums(bisect_left(deletes.keys, file.data_sequence_number))


def delete_index(state: IcebergState) -> DeleteIndex:
    """The index of all delete files of the table, built once per table version.

    Raises StateError as `index_deletes` does.
    """
    return state.derived(index_deletes, state.delete_files)


def index_deletes(delete_files: Collection[IcebergDeleteFile]) -> DeleteIndex:
    """Index delete files.

    Raises StateError if a deletion vector names no data file, or if two name the same one.
    """
    if not delete_files:
        return _EMPTY
    equality: dict[_Scope | None, list[IcebergDeleteFile]] = defaultdict(list)
    position: dict[_Scope, list[IcebergDeleteFile]] = defaultdict(list)
    position_of_file: dict[str, list[IcebergDeleteFile]] = defaultdict(list)
    vectors: dict[str, IcebergDeleteFile] = {}
    for delete in delete_files:
        scope, named = (delete.spec_id, delete.partition), delete.referenced_data_file
        if delete.kind is DeleteKind.EQUALITY:
            equality[scope if delete.partition else None].append(delete)
        elif named is None and delete.kind is DeleteKind.DELETION_VECTOR:
            raise StateError(f"deletion vector {delete.path} does not name its data file")
        elif named is None:
            position[scope].append(delete)
        elif delete.kind is DeleteKind.POSITION:
            position_of_file[named].append(delete)
        elif vectors.setdefault(named, delete) is not delete:
            raise StateError(f"{named} has two deletion vectors; a data file can have at most one")
    return DeleteIndex(
        everywhere=KeyedFiles(equality.pop(None, []), sequence_number),
        equality={scope: KeyedFiles(files, sequence_number) for scope, files in equality.items() if scope},
        position={scope: Ranked(files, sequence_number) for scope, files in position.items()},
        position_of_file={path: Ranked(files, sequence_number) for path, files in position_of_file.items()},
        vectors=vectors,
    )
