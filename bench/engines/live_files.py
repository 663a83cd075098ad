"""The live data files of a table in the order in which they were added, kept by series."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Generic, TypeVar

from strategies.series import Run, Series, runs_of
from strategies.state import DataFile

Data = TypeVar("Data", bound=DataFile)


class LiveFiles(Mapping[str, Data]):
    """Files by path. Adding or removing a run takes constant time, whatever its length.

    What is left of a series after some of its files were removed keeps its place in the order.
    """

    def __init__(self) -> None:
        self._entries: dict[str, tuple[Run[Data], ...]] = {}  # by origin
        self._places: dict[str, tuple[str, int]] = {}  # origin and offset, by the path of an expanded file
        self._expanded: set[str] = set()  # the origins of series with places
        self._count = 0
        self._view = FileView(self)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[str]:
        return (file.path for file in self._view)

    def __contains__(self, path: object) -> bool:
        try:
            self.place(str(path))
        except KeyError:
            return False
        return True

    def __getitem__(self, path: str) -> Data:
        return self.at(*self.place(path)).first

    def values(self) -> "FileView[Data]":  # type: ignore[override]
        """Always the same object: states cache what they derive from files by its identity."""
        return self._view

    @property
    def runs(self) -> Iterator[Run[Data]]:
        return (run for entry in self._entries.values() for run in entry)

    def add(self, run: Run[Data]) -> None:
        """Raises ValueError if a file with the key of the run is live already."""
        if run.origin in self._entries:
            raise ValueError(f"{run.origin} is already in the table")
        self._entries[run.origin] = (run,)
        self._count += run.count

    def remove(self, run: Run[Data]) -> None:
        """Remove a run, which may be a part of a series. Raises KeyError if it is not live."""
        entry = self._entries[run.origin]
        live = next((live for live in entry if _contains(live, run)), None)
        if live is None:
            raise KeyError(run.first.path)
        start = run.start - live.start
        pieces = [live.slice(0, start)] if start else []
        if start + run.count < live.count:
            pieces.append(live.slice(start + run.count, live.count))
        left = tuple(piece for old in entry for piece in (pieces if old is live else (old,)))
        self._count -= run.count
        if run.origin in self._expanded:
            for file in (live if run.count == live.count else run).files():
                del self._places[file.path]
        if left:
            self._entries[run.origin] = left
        else:
            del self._entries[run.origin]
            self._expanded.discard(run.origin)

    def count_of(self, origin: str) -> int:
        """How many files are left of the run that was added with this origin."""
        return sum(run.count for run in self._entries.get(origin, ()))

    def holds(self, run: Run[Data]) -> bool:
        """Whether all files of a run are live."""
        return any(_contains(live, run) for live in self._entries.get(run.origin, ()))

    def located(self, files: Iterable[DataFile]) -> list[Run[Data]]:
        """The runs that hold these files; files that follow each other in a series become one run.

        Raises KeyError for a file that is not live.
        """
        found: list[tuple[str, int, int]] = []  # origin, start and end
        for run in runs_of(files):
            origin, start = (run.origin, run.start) if isinstance(run, Series) else self.place(run.path)
            if found and found[-1][0] == origin and found[-1][2] == start:
                found[-1] = origin, found[-1][1], start + run.count
            else:
                found.append((origin, start, start + run.count))
        return [self._slice(*place) for place in found]

    def expanded(self, run: Run[Data]) -> Iterable[Data]:
        """The files of a live run, which can be found by their paths from now on."""
        if isinstance(run, Series) and run.origin not in self._expanded:
            self._expanded.add(run.origin)
            for piece in self._entries[run.origin]:
                for offset, file in enumerate(piece.files(), piece.start):
                    self._places[file.path] = run.origin, offset
        return run.files()

    def place(self, path: str) -> tuple[str, int]:
        """The origin of the run that a file was added with, and its place in that run.

        Raises KeyError if it is not live. A file of a series is known by its path once that was expanded.
        """
        known = self._places.get(path)
        if known is not None:
            return known
        if self._entries[path][0].start:
            raise KeyError(path)
        return path, 0

    def at(self, origin: str, start: int) -> Run[Data]:
        """The run of one live file at a place of the run that it was added with."""
        return self._slice(origin, start, start + 1)

    def _slice(self, origin: str, start: int, end: int) -> Run[Data]:
        for live in self._entries[origin]:
            if live.start <= start and end <= live.start + live.count:
                return live.slice(start - live.start, end - live.start)
        raise KeyError(origin)


class FileView(Collection[Data], Generic[Data]):
    """The files of a table as planners see them."""

    def __init__(self, files: LiveFiles[Data]) -> None:
        self._files = files

    def __len__(self) -> int:
        return len(self._files)

    def __iter__(self) -> Iterator[Data]:
        for run in self._files.runs:
            if isinstance(run, Series):
                yield from self._files.expanded(run)
            else:
                yield run

    def __contains__(self, file: object) -> bool:
        return isinstance(file, DataFile) and self._files.get(file.path) == file

    @property
    def runs(self) -> Iterator[Run[Data]]:
        return self._files.runs


def _contains(live: Run[Data], run: Run[Data]) -> bool:
    return live.start <= run.start and run.start + run.count <= live.start + live.count
