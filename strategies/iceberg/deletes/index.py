"""Which delete files apply to a data file, in sums: answers take logarithmic time, no pair is stored."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from strategies.iceberg.deletes.keyed_files import KeyedFiles
from strategies.iceberg.deletes.series import FileSums, Series, series_of
from strategies.state import DataFile, DeleteFile, DeleteKind

_Scope = tuple[int, str]  # partition spec and partition


@dataclass(frozen=True, slots=True)
class Applied:
    """The delete files that apply to one data file.

    `file_scoped_rows` counts only what is known to hit that file: rows of delete files that name it. Equality
    deletes, and position deletes of a whole partition, add nothing to it.
    """

    files_count: int = 0
    size_bytes: int = 0
    file_scoped_rows: int = 0


@dataclass(frozen=True, slots=True)
class DeleteIndex:
    """The delete files of a table, by what they may apply to. Made by `index_deletes`."""

    everywhere: KeyedFiles[DeleteFile]  # equality deletes written without partitions
    equality: Mapping[_Scope, KeyedFiles[DeleteFile]]
    position: Mapping[_Scope, Series[DeleteFile]]
    position_of_file: Mapping[str, Series[DeleteFile]]
    vectors: Mapping[str, DeleteFile]

    @property
    def is_empty(self) -> bool:
        """Whether there is no delete file at all."""
        scoped = self.equality or self.position or self.position_of_file or self.vectors
        return not scoped and self.everywhere.is_empty

    def applying_to(self, file: DataFile) -> Applied:
        """The delete files a reader of `file` has to open.

        Equality deletes must be newer than the file, position deletes not older. Those without a
        partition reach every file; otherwise partition and spec must be the same, or the delete file
        names the data file. Equality deletes whose keys cannot meet the file's are left out. A deletion
        vector stands for all position deletes of its file.

        Source: Iceberg DeleteFileIndex at 1.11.0; table spec, scan planning.
        """
        found = self.equality_of(file)
        vector = self.vectors.get(file.path)
        if vector is not None:
            found, file_scoped_rows = found + FileSums(1, vector.size_bytes), vector.rows
        else:
            own = not_older(self.position_of_file.get(file.path, _NONE), file)
            scoped = not_older(self.position.get((file.spec_id, file.partition), _NONE), file)
            found, file_scoped_rows = found + scoped + own, own.rows
        return Applied(found.files_count, found.size_bytes, file_scoped_rows)

    def equality_of(self, file: DataFile) -> FileSums:
        """The equality delete files among them."""
        scoped = self.equality.get((file.spec_id, file.partition), _NO_KEYS)
        return sum(
            (deletes.meeting(file.sequence_number, file.keys) for deletes in (self.everywhere, scoped)),
            FileSums(),
        )


def not_older(deletes: Series[DeleteFile], file: DataFile) -> FileSums:
    """The sums of those that are not older than `file`."""
    return deletes.sums_since(bisect_left(deletes.numbers, file.sequence_number))


def index_deletes(delete_files: Iterable[DeleteFile]) -> DeleteIndex:
    """Index delete files. The `size_bytes` of a deletion vector are those of its blob, not of its file.

    Raises ValueError when a delete file is a log, when a deletion vector names no data file, or when two
    name the same.
    """
    equality: dict[_Scope | None, list[DeleteFile]] = defaultdict(list)
    position: dict[_Scope, list[DeleteFile]] = defaultdict(list)
    position_of_file: dict[str, list[DeleteFile]] = defaultdict(list)
    vectors: dict[str, DeleteFile] = {}
    for delete in delete_files:
        scope, named = (delete.spec_id, delete.partition), delete.referenced_data_file
        if delete.kind is DeleteKind.EQUALITY:
            equality[scope if delete.partition else None].append(delete)
        elif delete.kind is DeleteKind.LOG:
            raise ValueError(f"{delete.path} is a log file: only delete files of Iceberg have an index")
        elif named is None and delete.kind is DeleteKind.DELETION_VECTOR:
            raise ValueError(f"deletion vector {delete.path} does not name its data file")
        elif named is None:
            position[scope].append(delete)
        elif delete.kind is DeleteKind.POSITION:
            position_of_file[named].append(delete)
        elif vectors.setdefault(named, delete) is not delete:
            raise ValueError(f"{named} has two deletion vectors; one is the most there can be")
    return DeleteIndex(
        everywhere=_keyed(equality.pop(None, [])),
        equality={scope: _keyed(deletes) for scope, deletes in equality.items() if scope is not None},
        position={scope: _series(deletes) for scope, deletes in position.items()},
        position_of_file={path: _series(deletes) for path, deletes in position_of_file.items()},
        vectors=vectors,
    )


def _sequence_number(file: DataFile | DeleteFile) -> int:
    return file.sequence_number


def _keyed(deletes: Iterable[DeleteFile]) -> KeyedFiles[DeleteFile]:
    return KeyedFiles(deletes, _sequence_number)


def _series(deletes: Iterable[DeleteFile]) -> Series[DeleteFile]:
    return series_of(deletes, _sequence_number)


_NONE, _NO_KEYS = _series([]), _keyed([])
