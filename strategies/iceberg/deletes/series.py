"""Files in the order of a number, with the sums from any place on."""

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
    """The sums over files."""
    found = tuple(files)
    return FileSums(len(found), sum(f.size_bytes for f in found), sum(f.rows for f in found))


@dataclass(frozen=True, slots=True)
class Series(Generic[File]):
    """Files by number; the i-th of `bytes_from` and `rows_from` sums from i to the end."""

    files: tuple[File, ...]
    numbers: tuple[int, ...]
    bytes_from: tuple[int, ...]
    rows_from: tuple[int, ...]

    def sums_since(self, start: int) -> FileSums:
        """The sums from the `start`-th file on."""
        return FileSums(len(self.files) - start, self.bytes_from[start], self.rows_from[start])


def series_of(files: Iterable[File], number: Callable[[File], int]) -> Series[File]:
    """The files by their `number`; those of the same one stay in the order given."""
    ordered = tuple(sorted(files, key=number))
    return Series(
        ordered,
        tuple(map(number, ordered)),
        _sums_to_the_end([file.size_bytes for file in ordered]),
        _sums_to_the_end([file.rows for file in ordered]),
    )


def _sums_to_the_end(values: list[int]) -> tuple[int, ...]:
    return tuple(accumulate(reversed(values), initial=0))[::-1]
