"""Which delete files apply to any of several data files, each counted once.

Delete files of one scope apply by sequence number alone, so whatever applies to one file of it applies
to the oldest too: per scope the answer is everything from one number on. No pair is looked at.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from strategies.delete_index import DeleteIndex, Series
from strategies.state import DataFile, DeltaFile

_Part = tuple[Series, int]  # the delete files of a series from this place on


@dataclass(frozen=True, slots=True)
class FileSums:
    """How many files, their bytes, and their rows."""

    files_count: int = 0
    size_bytes: int = 0
    rows: int = 0

    def __add__(self, other: "FileSums") -> "FileSums":
        return FileSums(
            self.files_count + other.files_count, self.size_bytes + other.size_bytes, self.rows + other.rows
        )


NO_FILES = FileSums()


def sums_of(files: Iterable[DataFile]) -> FileSums:
    """The sums over data files."""
    found = tuple(files)
    return FileSums(len(found), sum(f.size_bytes for f in found), sum(f.rows for f in found))


class Reach:
    """The delete files that apply to at least one of the data files added.

    Each data file is to be added once. Deletion vectors are not among the answers, and position deletes
    they replace are. A position delete file counts with all its rows, whichever files they are in.
    """

    def __init__(self, index: DeleteIndex, files: Iterable[DataFile] = ()) -> None:
        self._index = index
        self._oldest: dict[tuple[int, str], int] = {}  # lowest sequence number of a spec and partition
        self._named: list[_Part] = []
        for file in files:
            self.add(file)

    def add(self, file: DataFile) -> None:
        """Take one more data file in."""
        scope, number = (file.spec_id, file.partition), file.sequence_number
        self._oldest[scope] = min(self._oldest.get(scope, number), number)
        named = self._index.position_of_file.get(file.path)
        if named is not None:
            self._named.append((named, bisect_left(named.sequence_numbers, number)))

    @property
    def equality(self) -> FileSums:
        """Sums of the equality delete files."""
        return _sums(self._equality())

    @property
    def position(self) -> FileSums:
        """Sums of the position delete files."""
        return _sums(self._position())

    @property
    def position_files(self) -> Iterator[DeltaFile]:
        """The position delete files."""
        return _files(self._position())

    @property
    def paths(self) -> frozenset[str]:
        """The paths of them all."""
        parts = (*self._equality(), *self._position())
        return frozenset(delta.path for delta in _files(parts))

    def _equality(self) -> Iterator[_Part]:
        for scope, oldest in self._oldest.items():
            scoped = self._index.equality.get(scope)
            if scoped is not None:
                yield scoped, bisect_right(scoped.sequence_numbers, oldest)
        if self._oldest:
            everywhere = self._index.everywhere
            yield everywhere, bisect_right(everywhere.sequence_numbers, min(self._oldest.values()))

    def _position(self) -> Iterator[_Part]:
        yield from self._named
        for scope, oldest in self._oldest.items():
            scoped = self._index.position.get(scope)
            if scoped is not None:
                yield scoped, bisect_left(scoped.sequence_numbers, oldest)


def _sums(parts: Iterable[_Part]) -> FileSums:
    return sum((FileSums(*series.sums_since(start)) for series, start in parts), NO_FILES)


def _files(parts: Iterable[_Part]) -> Iterator[DeltaFile]:
    return (delta for series, start in parts for delta in series.files[start:])
