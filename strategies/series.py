"""Series: equal files of one commit, kept as one value.

A table that is committed to every minute for a month has a million files, but only as many kinds of them as
commits. What holds for one file of a series holds for all, so a planner that walks the `runs_of` a state's
files weighs each kind once. A plain file is a run too, of length 1: the same code plans for both.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import fields
from typing import Any, Generic, TypeAlias, TypeVar, overload

from strategies.state import DataFile

File = TypeVar("File", bound=DataFile)


class Series(Generic[File]):
    """`count` files of one commit in one partition, which differ in nothing but path and key bounds.

    File i has the path `names.format(number + i)`, and its key bounds are `key_step` x i above those of
    `first`. A slice of a series is a series too: `origin` is the key of the first file of the whole series,
    and `start` the place of the slice in it.
    """

    __slots__ = ("_files", "count", "first", "key_step", "names", "number", "origin", "start")

    def __init__(
        self, first: File, count: int, names: str, number: int, key_step: int = 0,
        origin: str | None = None, start: int = 0,
    ) -> None:  # fmt: skip
        self.first: File = first
        self.count, self.names, self.number, self.key_step = count, names, number, key_step
        self.origin, self.start = first.key if origin is None else origin, start
        self._files: Sequence[File] | None = None

    def files(self) -> Sequence[File]:
        """The files themselves, made when they are first needed."""
        if self._files is None:
            alike = self._alike()
            others = (self._file(index, alike) for index in range(1, self.count))
            self._files = [self.first, *others]
        return self._files

    def slice(self, begin: int, end: int) -> "Series[File]":
        """The files [`begin`, `end`)."""
        if begin == 0 and end == self.count:
            return self
        files = None if self._files is None else self._files[begin:end]
        part = Series(
            files[0] if files else self._at(begin), end - begin, self.names, self.number + begin,
            self.key_step, self.origin, self.start + begin,
        )  # fmt: skip
        part._files = files
        return part

    def _at(self, index: int) -> File:
        return self._file(index, self._alike()) if index else self.first

    def _alike(self) -> dict[str, Any]:
        return {field.name: getattr(self.first, field.name) for field in fields(self.first)}

    def _file(self, index: int, alike: dict[str, Any]) -> File:
        """A file after the first one, given the fields of that one. `replace` would take twice as long."""
        values = {**alike, "path": self.names.format(self.number + index)}
        if self.key_step and values.get("key_bounds") is not None:
            values["key_bounds"] = values["key_bounds"].moved(self.key_step * index)
        return type(self.first)(**values)


Run: TypeAlias = File | Series[File]


class Files(Sequence[File]):
    """Files given as runs; a series is expanded when its files are needed."""

    __slots__ = ("_count", "runs")

    def __init__(self, runs: Iterable[Run[File]]) -> None:
        self.runs: tuple[Run[File], ...] = tuple(runs)
        self._count = sum(run.count for run in self.runs)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[File]:
        return (file for run in self.runs for file in run.files())

    @overload
    def __getitem__(self, place: int) -> File: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[File]: ...
    def __getitem__(self, place: int | slice) -> File | Sequence[File]:
        return tuple(self)[place]


def files_of(runs: Sequence[DataFile | Series[Any]]) -> Sequence[DataFile]:
    """The files of runs; a tuple if each is a plain file."""
    if any(isinstance(run, Series) for run in runs):
        return Files(runs)
    return tuple(run.first for run in runs)


def runs_of(files: Iterable[File], *, with_equal_keys: bool = False) -> Iterator[Run[File]]:
    """The runs of a collection of files: of a live view the series as they were written.

    `with_equal_keys` cuts a series whose files have different key bounds into runs of one file each.
    """
    runs: Iterable[Run[File]] = getattr(files, "runs", files)
    for run in runs:
        if with_equal_keys and run.key_step:
            yield from (run.slice(index, index + 1) for index in range(run.count))
        else:
            yield run


def size_of(files: Collection[File]) -> int:
    """The total bytes of files."""
    return sum(run.count * run.first.size_bytes for run in runs_of(files))


def rows_of(files: Iterable[Any]) -> int:
    """The total rows of files, or of runs of files."""
    return sum(run.count * run.first.rows for run in runs_of(files))
