"""The delete files that apply to at least one of several data files, without visiting pairs.

Within a scope (partition spec and partition) position deletes apply by data sequence number alone. A position
delete that applies to any file of the scope also applies to its oldest file, so the result is all position
deletes from one number on. The same holds for equality deletes if the keys of all of them overlap the keys of
the oldest file. Otherwise each equality delete is looked up in an index of the data files older than it.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from strategies.iceberg.deletes.index import DeleteIndex, sequence_number
from strategies.iceberg.deletes.keyed_files import KeyedFiles
from strategies.iceberg.deletes.ranked import NO_FILES, FileSums, Ranked
from strategies.iceberg.files import IcebergDataFile, IcebergDeleteFile

_Part = tuple[Ranked[IcebergDeleteFile], int]  # the delete files from this index on apply


class DeleteSet:
    """The delete files that apply to at least one of the data files added, each counted once.

    Add each data file once. A deletion vector replaces all position deletes of its data file; it is in `keys`
    but not in the sums. The sums count all rows of a position delete file, whichever data files they are for.
    """

    def __init__(self, index: DeleteIndex, files: Iterable[IcebergDataFile] = ()) -> None:
        self._index, self._has_deletes = index, not index.is_empty
        self._files: dict[tuple[int, str], list[IcebergDataFile]] = defaultdict(list)  # by spec and partition
        self._oldest: dict[tuple[int, str], int] = {}  # lowest number of a file without a vector
        self._named: list[_Part] = []
        self._vectors: list[IcebergDeleteFile] = []
        for file in files:
            self.add(file)

    def add(self, file: IcebergDataFile) -> None:
        if not self._has_deletes:
            return
        scope, number = (file.spec_id, file.partition), file.data_sequence_number
        self._files[scope].append(file)
        vector, named = self._index.vectors.get(file.path), self._index.position_of_file.get(file.path)
        if vector is not None:
            self._vectors.append(vector)
            return
        self._oldest[scope] = min(self._oldest.get(scope, number), number)
        if named is not None:
            self._named.append((named, bisect_left(named.keys, number)))

    @property
    def equality(self) -> FileSums:
        return _sums(self._equality())

    @property
    def position(self) -> FileSums:
        return _sums(self._position())

    @property
    def position_files(self) -> Iterator[IcebergDeleteFile]:
        return _files(self._position())

    @property
    def keys(self) -> frozenset[str]:
        """The `key` of every delete file that applies, deletion vectors included."""
        applying = _files(chain(self._equality(), self._position()))
        return frozenset(delete.key for delete in chain(applying, self._vectors))

    def _equality(self) -> Iterator[_Part]:
        for scope, files in self._files.items():
            scoped = self._index.equality.get(scope)
            if scoped is not None:
                yield from _meeting_any(scoped, files)
        if self._files and not self._index.everywhere.is_empty:
            yield from _meeting_any(self._index.everywhere, [*chain.from_iterable(self._files.values())])

    def _position(self) -> Iterator[_Part]:
        yield from self._named
        for scope, oldest in self._oldest.items():
            scoped = self._index.position.get(scope)
            if scoped is not None:
                yield scoped, bisect_left(scoped.keys, oldest)


def _meeting_any(deletes: KeyedFiles[IcebergDeleteFile], files: Sequence[IcebergDataFile]) -> Iterable[_Part]:
    """The equality deletes among `deletes` that apply to any of the files."""
    oldest = min(files, key=sequence_number)
    number = oldest.data_sequence_number
    if deletes.meeting(number, oldest.key_bounds) == deletes.meeting(number, None):
        return deletes.above(number)
    # Numbers are negated: the data files older than a delete are the ones above its negated number.
    older = KeyedFiles(files, lambda file: -file.data_sequence_number)
    applying = (
        delete
        for delete in _files(deletes.above(number))
        if older.meeting(-delete.data_sequence_number, delete.key_bounds).files_count
    )
    return [(Ranked(applying, sequence_number), 0)]


def _sums(parts: Iterable[_Part]) -> FileSums:
    return sum((deletes.sums(start) for deletes, start in parts), NO_FILES)


def _files(parts: Iterable[_Part]) -> Iterator[IcebergDeleteFile]:
    return (delete for deletes, start in parts for delete in deletes.files[start:])
