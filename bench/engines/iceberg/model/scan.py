"""What a probe of a simulated table opens, updated with each commit."""

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator

from bench.engines.iceberg.model.files import keys_of
from bench.engines.simulated.key_ranges import meeting_count
from bench.engines.simulated.selection import Selection
from bench.results.values import ScanWork
from strategies.iceberg.deletes.index import DeleteIndex, delete_index, index_deletes
from strategies.iceberg.files import (
    DeleteKind,
    IcebergDataFile,
    IcebergDeleteFile,
    IcebergState,
    KeyBounds,
)
from strategies.series import Files, Run, runs_of


class _Bounds:
    """The key bounds of data files, to count the files that may share a key with a delete file."""

    def __init__(self, runs: Iterable[Run[IcebergDataFile]] = ()) -> None:
        bounds = [run.first.key_bounds for run in runs for _ in range(run.count)]
        self._lowers = sorted(keys.lower for keys in bounds if keys is not None)
        self._uppers = sorted(keys.upper for keys in bounds if keys is not None)
        self._unknown_count = len(bounds) - len(self._lowers)

    def add(self, run: Run[IcebergDataFile]) -> None:
        keys = run.first.key_bounds
        for _ in range(run.count):
            if keys is None:
                self._unknown_count += 1
            else:
                insort(self._lowers, keys.lower)
                insort(self._uppers, keys.upper)

    def meeting(self, keys: KeyBounds | None) -> int:
        """The number of files. Bounds that do not overlap the keys lie either above or below them."""
        if keys is None:
            return self._unknown_count + len(self._lowers)
        above_count = len(self._lowers) - bisect_right(self._lowers, keys.upper)
        below_count = bisect_left(self._uppers, keys.lower)
        return self._unknown_count + len(self._lowers) - above_count - below_count


class Scan:
    """What a query opens.

    A delete file counts once for each data file to which it applies (`DeleteIndex.applying_to`). Adding a
    commit of the stream takes a time that hardly depends on the number of files. After any other change of a
    table with deletes, everything is counted again.
    """

    def __init__(self, state: IcebergState, wanted: Selection) -> None:
        self._wanted = wanted
        self._files_count = self._data_bytes = self._deletes_count = self._deletes_bytes = self._rows = 0
        self._bounds: dict[str, _Bounds] = defaultdict(_Bounds)  # by partition, if the table has deletes
        self._has_deletes = bool(state.delete_files)
        index, members = delete_index(state), defaultdict[str, list[Run[IcebergDataFile]]](list)
        for run in self._opened(state.data_files, index):
            self._count(run, 1)
            if self._has_deletes:
                self._apply(run, index)
                members[run.first.partition].append(run)
        self._bounds.update((partition, _Bounds(runs)) for partition, runs in members.items())

    def work(self, manifests_count: int) -> ScanWork:
        """The work of a query of a table with so many manifests."""
        return ScanWork(
            self._files_count,
            self._deletes_count,
            self._data_bytes + self._deletes_bytes,
            manifests_count,
            self._rows,
            delete_bytes=self._deletes_bytes,
        )

    def add(self, data: Files[IcebergDataFile], deletes: Collection[IcebergDeleteFile]) -> None:
        """Add a commit to a table that had deletes before, or has none now.

        Its files have a higher sequence number than all others.
        """
        for delete in deletes:
            if delete.kind is DeleteKind.EQUALITY:
                older = self._bounds.values() if not delete.partition else [self._bounds[delete.partition]]
                count = sum(bounds.meeting(delete.key_bounds) for bounds in older)
                self._deletes_count += count
                self._deletes_bytes += count * delete.size_bytes
        index = index_deletes(deletes)
        for run in self._opened(data, index):
            self._count(run, 1)
            if self._has_deletes:
                self._apply(run, index)
                self._bounds[run.first.partition].add(run)

    def remove(self, data: Iterable[Run[IcebergDataFile]]) -> None:
        """Remove data files of a table without deletes."""
        for run in data:
            self._count(run, -1)

    def _opened(self, files: Iterable[IcebergDataFile], index: DeleteIndex) -> Iterator[Run[IcebergDataFile]]:
        """The runs with files that the query opens: with all files of each, if the table has deletes."""
        for run in runs_of(files, with_equal_keys=self._has_deletes):
            if self._has_deletes and not self._meeting_count(run):
                continue
            if index.position_of_file:
                yield from run.files()
            else:
                yield run

    def _meeting_count(self, run: Run[IcebergDataFile]) -> int:
        if not self._wanted.admits(run.first.partition):
            return 0
        return meeting_count(self._wanted.keys, keys_of(run.first), run.key_step, run.count)

    def _count(self, run: Run[IcebergDataFile], sign: int) -> None:
        count = sign * self._meeting_count(run)
        self._files_count += count
        self._data_bytes += count * run.first.size_bytes
        self._rows += count * run.first.rows

    def _apply(self, run: Run[IcebergDataFile], index: DeleteIndex) -> None:
        applied = index.applying_to(run.first)
        self._deletes_count += run.count * applied.files_count
        self._deletes_bytes += run.count * applied.size_bytes
