"""What a probe of a simulated table opens, updated with each commit.

Data files with the same partition, sequence number and key range have the same equality deletes, which are
therefore counted once for all of them; a position delete file applies to one data file.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from bench.engines.simulated.costs import Work
from strategies.iceberg.deletes.index import DeleteIndex, delete_index, index_deletes
from strategies.iceberg.deletes.ranked import FileSums
from strategies.iceberg.files import IcebergDataFile, IcebergDeleteFile, IcebergState, KeyBounds

_DeleteScope = tuple[str, int, KeyBounds | None]  # partition, data sequence number, key bounds
_NOTHING = FileSums()


@dataclass(slots=True)
class _FileClass:
    """Data files to which the same equality deletes apply, namely those that apply to `any_file`."""

    any_file: IcebergDataFile  # without a path, so that no position delete applies to it
    files_count: int = 0
    applied: FileSums = _NOTHING


class Scan:
    """Which delete files a reader of each data file opens (`DeleteIndex.applying_to`), and their sums.

    Adding a commit of the stream takes a time that does not depend on the number of delete files; after any
    other change everything is counted again.
    """

    def __init__(self) -> None:
        self._classes: dict[_DeleteScope, _FileClass] = {}
        self._positions: dict[str, FileSums] = {}  # by data file
        self._deletes_count = self._deletes_bytes = 0  # once per data file

    def add(self, data: Iterable[IcebergDataFile], deletes: Iterable[IcebergDeleteFile]) -> None:
        """Add a commit, whose files have a higher sequence number than all others."""
        index = index_deletes(deletes)
        if not index.is_empty:
            for file_class in self._classes.values():
                applied = _applied(index, file_class.any_file)
                file_class.applied += applied
                self._count(applied, file_class.files_count)
        for file in data:
            self._place(file, index)

    @classmethod
    def of(cls, state: IcebergState) -> "Scan":
        scan, index = cls(), delete_index(state)
        for file in state.data_files:
            scan._place(file, index)
        return scan

    def all(self, files_count: int, live_data_bytes: int) -> Work:
        """The work of scanning all data files, given their number and bytes."""
        return _work(files_count, live_data_bytes, self._deletes_count, self._deletes_bytes)

    def some(self, files: Iterable[IcebergDataFile]) -> Work:
        """The work of scanning these data files."""
        chosen = tuple(files)
        deletes = [self._classes[_scope(file)].applied for file in chosen]
        deletes += [self._positions.get(file.path, _NOTHING) for file in chosen]
        return _work(
            len(chosen), sum(file.size_bytes for file in chosen),
            sum(applied.files_count for applied in deletes), sum(applied.size_bytes for applied in deletes),
        )  # fmt: skip

    def _place(self, file: IcebergDataFile, index: DeleteIndex) -> None:
        """Add a data file, with the delete files of the index that apply to it."""
        scope = _scope(file)
        file_class = self._classes.get(scope)
        if file_class is None:
            unnamed = replace(file, path="")
            file_class = self._classes[scope] = _FileClass(unnamed, applied=_applied(index, unnamed))
        file_class.files_count += 1
        self._count(file_class.applied, 1)
        named = index.position_of_file.get(file.path)
        if named is not None:
            self._positions[file.path] = named.sums()
            self._count(self._positions[file.path], 1)

    def _count(self, applied: FileSums, files_count: int) -> None:
        self._deletes_count += applied.files_count * files_count
        self._deletes_bytes += applied.size_bytes * files_count


def _applied(index: DeleteIndex, file: IcebergDataFile) -> FileSums:
    applied = index.applying_to(file)
    return FileSums(applied.files_count, applied.size_bytes)


def _scope(file: IcebergDataFile) -> _DeleteScope:
    return file.partition, file.data_sequence_number, file.key_bounds


def _work(files_count: int, data_bytes: int, deletes_count: int, deletes_bytes: int) -> Work:
    return Work(
        files_count, deletes_count, read_bytes=data_bytes + deletes_bytes, delete_bytes=deletes_bytes,
        tasks_count=files_count,
    )  # fmt: skip
