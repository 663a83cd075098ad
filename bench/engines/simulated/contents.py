"""The live rows of each file of a simulated table, and the range of its keys."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.engines.simulated.key_ranges import KeyRange, ends_of_keys, meeting_count, span_of_ranges
from bench.engines.simulated.live_rows import LiveRows, Place
from bench.engines.simulated.recorded_rows import FileRows
from bench.engines.simulated.selection import Selection
from strategies.series import Run
from strategies.state import DataFile, DeleteFile
from workloads.commit import CommitSpec

Rows = Run[Any] | DeleteFile  # a run of files that readers take rows from: data files, or log files


@dataclass(slots=True)
class _Known:
    rows: int  # of each file, when it was written
    count: int  # of its files that are still in the table
    keys: KeyRange | None  # of the first file; those of each next one are `key_step` higher
    key_step: int
    partition: str
    file_bytes: int
    is_base: bool


@dataclass(slots=True)
class Opened:
    """How many files a query opens, with their bytes and rows."""

    files_count: int = 0
    size_bytes: int = 0
    rows: int = 0


class Contents:
    """Rows and keys of the files that readers take rows from, updated by every commit and rewrite.

    A commit touches the files that lose a whole number of expected rows to it, so rows and deletion vectors
    add up. The number of touched files is right if a commit hits many rows of each file, or few files. If it
    hits about one row in each, up to half more files are touched than by keys drawn at random (1 instead of 1
    - 1/e). Skipping by the partitions of changes is not modelled.
    """

    def __init__(self, rows: FileRows) -> None:
        self._rows = rows
        self._known: dict[str, _Known] = {}  # by origin
        self._left: dict[Place, int] = {}  # live rows as of the last commit, of files that have lost some
        # Runs added before the first commit of changes; None after it.
        self._unwatched: list[Run[Any]] | None = []
        self._opened: dict[Selection, Opened] = {}

    @property
    def live_rows(self) -> int:
        return self._rows.total

    def __contains__(self, run: Rows) -> bool:
        return run.origin in self._known

    def keys(self, run: Rows) -> tuple[KeyRange | None, int]:
        """The keys of the first file of a run, and by how much those of each next file are higher."""
        known = self._known[run.origin]
        if known.keys is None:
            return None, 0
        low, high = known.keys
        distance = known.key_step * run.start
        return (low + distance, high + distance), known.key_step

    def kept(self, runs: Iterable[Rows]) -> int:
        """The number of live rows in these files, which a rewrite writes."""
        return self._rows.kept(run for run in runs if run in self)

    def commit(self, spec: CommitSpec) -> Mapping[Place, tuple[int, int]]:
        """Apply a commit without its new files: for each file it touches, the live rows lost and left."""
        if any(shape.deleted_keys for shape in spec.partitions) and self._unwatched is not None:
            unwatched, self._unwatched = self._unwatched, None
            for run in unwatched:
                self._watch(run)
        self._rows.commit(spec)
        touched: dict[Place, tuple[int, int]] = {}
        for place, left in self._rows.fallen().items():
            before = self._left.get(place, self._known[place[0]].rows)
            touched[place], self._left[place] = (before - left, left), left
            self._rows.watch(place, left)
        return touched

    def losing(self, spec: CommitSpec, runs: Iterable[Run[Any]]) -> Mapping[Place, int]:
        """The files of these runs that would lose rows to a commit, with the live rows left in them."""
        if not isinstance(self._rows, LiveRows):
            raise TypeError("a generated stream hits rows by their keys")
        places = [(run.origin, run.start + offset) for run in runs for offset in range(run.count)]
        left = zip(places, self._rows.left_after(spec, places), strict=True)
        return {
            place: rows for place, rows in left if rows < self._left.get(place, self._known[place[0]].rows)
        }

    def opened(self, wanted: Selection, runs: Iterable[Run[Any]]) -> Opened:
        """What a query opens of the base files, which are in the live `runs`.

        It is kept up to date from then on.
        """
        opened = self._opened.get(wanted)
        if opened is None:
            opened = self._opened[wanted] = Opened()
            for run in runs:
                self._count(run, opened, wanted, 1)
        return opened

    def _count(self, run: Rows, opened: Opened, wanted: Selection, sign: int) -> None:
        known = self._known[run.origin]
        if known.is_base and wanted.admits(known.partition):
            count = sign * meeting_count(wanted.keys, *self.keys(run), run.count)
            opened.files_count += count
            opened.size_bytes += count * known.file_bytes
            opened.rows += count * known.rows

    def add(self, run: Run[Any], rows: int, keys: KeyRange | None, *, is_base: bool = True) -> None:
        """Add a run of files with `rows` rows each, that the last commit appended."""
        self._rows.add(run, rows, keys)
        self._keep(run, rows, keys, is_base)

    def replace(
        self,
        gone: Iterable[Rows],
        made: Sequence[DataFile],
        added_rows: int = 0,
        added_keys: Iterable[KeyRange | None] = (),
        *,
        is_base: bool = True,
    ) -> None:
        """Replace files by new ones with their live rows and `added_rows` of the last commit."""
        read = [run for run in gone if run in self]
        ends = (keys for run in read for keys in ends_of_keys(*self.keys(run), run.count))
        keys = span_of_ranges([*ends, *added_keys])
        self._rows.replace(read, [file for file in made if file.rows], added_rows)
        for run in read:
            self._forget(run)
        for file in made:
            if not file.rows:  # it has deletes only
                self._rows.add(file, 0)
            self._keep(file, file.rows, keys, is_base)

    def _keep(self, run: Run[Any], rows: int, keys: KeyRange | None, is_base: bool) -> None:
        self._known[run.origin] = _Known(
            rows, run.count, keys, run.key_step, run.first.partition, run.first.size_bytes, is_base
        )
        for wanted, opened in self._opened.items():
            self._count(run, opened, wanted, 1)
        live = self._rows.live(run.origin)
        if live < rows:
            self._left[run.origin, 0] = live
        if self._unwatched is None:
            self._watch(run)
        else:
            self._unwatched.append(run)

    def _watch(self, run: Run[Any]) -> None:
        if run.origin in self._known:
            for offset in range(run.start, run.start + run.count):
                place = run.origin, offset
                self._rows.watch(place, self._left.get(place, self._known[run.origin].rows))

    def _forget(self, run: Rows) -> None:
        known = self._known[run.origin]
        for wanted, opened in self._opened.items():
            self._count(run, opened, wanted, -1)
        known.count -= run.count
        if not known.count:
            del self._known[run.origin]
        for offset in range(run.start, run.start + run.count) if self._left else ():
            self._left.pop((run.origin, offset), None)
