"""Files sorted by a number, with the sums from any place to the end."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import accumulate
from typing import Generic, TypeVar

from strategies.iceberg.files import IcebergDataFile, IcebergDeleteFile

File = TypeVar("File", IcebergDataFile, IcebergDeleteFile)


@dataclass(frozen=True, slots=True)
class FileSums:
    """How many files, their bytes, and their rows."""

    files_count: int = 0
    size_bytes: int = 0
    rows: int = 0

    def __add__(self, other: "FileSums") -> "FileSums":
        return self._with(other, 1)

    def __sub__(self, other: "FileSums") -> "FileSums":
        return self._with(other, -1)

    def _with(self, other: "FileSums", sign: int) -> "FileSums":
        return FileSums(
            self.files_count + sign * other.files_count,
            self.size_bytes + sign * other.size_bytes,
            self.rows + sign * other.rows,
        )


NO_FILES = FileSums()


def sums_of(files: Iterable[IcebergDataFile | IcebergDeleteFile]) -> FileSums:
    """The sums over the files given."""
    summed = tuple(files)
    return FileSums(len(summed), sum(f.size_bytes for f in summed), sum(f.rows for f in summed))


@dataclass(frozen=True, slots=True)
class Series(Generic[File]):
    """Files in ascending order of their number; `bytes_from[i]` and `rows_from[i]` sum from i to the end."""

    files: tuple[File, ...]
    numbers: tuple[int, ...]
    bytes_from: tuple[int, ...]
    rows_from: tuple[int, ...]

    def sums_since(self, start: int) -> FileSums:
        """The sums from file `start`, counted from 0, to the end."""
        return FileSums(len(self.files) - start, self.bytes_from[start], self.rows_from[start])


def series_of(files: Iterable[File], number: Callable[[File], int]) -> Series[File]:
    """The files sorted by their `number`; files of equal number keep the order given."""
    ordered = tuple(sorted(files, key=number))
    return Series(
        ordered,
        tuple(map(number, ordered)),
        _sums_to_the_end([file.size_bytes for file in ordered]),
        _sums_to_the_end([file.rows for file in ordered]),
    )


def _sums_to_the_end(values: list[int]) -> tuple[int, ...]:
    return tuple(accumulate(reversed(values), initial=0))[::-1]
