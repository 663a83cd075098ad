"""Files in the order of a key, with running sums."""

from collections.abc import Callable, Iterable
from itertools import accumulate
from operator import attrgetter
from typing import Any, Generic, NamedTuple, TypeVar

from strategies.iceberg.files import IcebergDataFile, IcebergDeleteFile

_SIZE_BYTES, _ROWS = attrgetter("size_bytes"), attrgetter("rows")

File = TypeVar("File", IcebergDataFile, IcebergDeleteFile)


class FileSums(NamedTuple):
    """How many files, their bytes, and their rows."""

    files_count: int = 0
    size_bytes: int = 0
    rows: int = 0

    def __add__(self, other: "FileSums") -> "FileSums":  # type: ignore[override]
        return FileSums(
            self.files_count + other.files_count, self.size_bytes + other.size_bytes, self.rows + other.rows
        )

    def __sub__(self, other: "FileSums") -> "FileSums":
        return FileSums(
            self.files_count - other.files_count, self.size_bytes - other.size_bytes, self.rows - other.rows
        )


NO_FILES = FileSums()


def sums_of(files: Iterable[File]) -> FileSums:
    summed = tuple(files)
    return FileSums(len(summed), sum(f.size_bytes for f in summed), sum(f.rows for f in summed))


class Ranked(Generic[File]):
    """Files in ascending order of a key; files of equal keys keep their order. `keys` can be bisected."""

    __slots__ = ("_bytes", "_rows", "files", "keys")
    _bytes: list[int]
    _rows: list[int]

    def __init__(self, files: Iterable[File] = (), key: Callable[[File], Any] = lambda file: 0) -> None:
        self.files: list[File] = sorted(files, key=key)
        self.keys: list[Any] = list(map(key, self.files))
        if len(self.files) == 1:  # as most delete files of one data file are
            (file,) = self.files
            self._bytes, self._rows = [0, file.size_bytes], [0, file.rows]
        else:
            self._bytes = list(accumulate(map(_SIZE_BYTES, self.files), initial=0))
            self._rows = list(accumulate(map(_ROWS, self.files), initial=0))

    def sums(self, start: int = 0, end: int | None = None) -> FileSums:
        """The sums of `files[start:end]`."""
        last = len(self.files) if end is None else end
        return FileSums(
            last - start, self._bytes[last] - self._bytes[start], self._rows[last] - self._rows[start]
        )
