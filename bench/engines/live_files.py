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
        return isinstance(path, str) and self._run_at(path) is not None

    def __getitem__(self, path: str) -> Data:
        run = self._run_at(path)
        if run is None:
            raise KeyError(path)
        return run.first

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
        runs: list[Run[Data]] = []
        for named in runs_of(files):
            run: Run[Data] | None = named if isinstance(named, Series) else self._run_at(named.path)  # type: ignore[assignment]
            if run is None:
                raise KeyError(named.first.path)
            last = runs[-1] if runs else None
            if last is not None and last.origin == run.origin and last.start + last.count == run.start:
                runs[-1] = self._slice(run.origin, last.start, run.start + run.count)
            else:
                runs.append(run)
        return runs

    def expanded(self, run: Run[Data]) -> Iterable[Data]:
        """The files of a live run, which can be found by their paths from now on."""
        if isinstance(run, Series) and run.origin not in self._expanded:
            self._expanded.add(run.origin)
            for piece in self._entries[run.origin]:
                for offset, file in enumerate(piece.files(), piece.start):
                    self._places[file.path] = run.origin, offset
        return run.files()

    def _run_at(self, path: str) -> Run[Data] | None:
        """The run of the one file with this path; None if it is not live or was never expanded."""
        place = self._places.get(path)
        if place is not None:
            return self.at(*place)
        entry = self._entries.get(path)
        if entry is None or entry[0].start:
            return None
        return entry[0].slice(0, 1)

    def place(self, path: str) -> tuple[str, int]:
        """The origin of the run that a file was added with, and its place in that run."""
        run = self._run_at(path)
        if run is None:
            raise KeyError(path)
        return run.origin, run.start

    def at(self, origin: str, start: int) -> Run[Data]:
        """The run of one live file at a place of the run that it was added with."""
        return self._slice(origin, start, start + 1)

    def _slice(self, origin: str, start: int, end: int) -> Run[Data]:
        live = next(
            run for run in self._entries[origin] if run.start <= start and end <= run.start + run.count
        )
        return live.slice(start - live.start, end - live.start)


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
