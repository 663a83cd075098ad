"""What a probe of a simulated table opens, kept from commit to commit.

Files of one partition, sequence number and key range have the same equality deletes, so these are counted
once for all of them; a position delete file is for one data file.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from bench.engines.simulated.costs import Work
from strategies.iceberg.deletes.index import DeleteIndex, delete_index, index_deletes
from strategies.iceberg.deletes.series import FileSums
from strategies.iceberg.files import IcebergDataFile, IcebergDeleteFile, IcebergState, KeyBounds

_KEY = re.compile(r"\border_id\s*(?:=\s*(\d+)|between\s+(\d+)\s+and\s+(\d+))", re.IGNORECASE)
_Kind = tuple[str, int, KeyBounds | None]  # partition, data sequence number, key bounds
_NOTHING = FileSums()


@dataclass(slots=True)
class _Alike:
    """Data files that the same equality deletes apply to, which are those of `any_file`."""

    any_file: IcebergDataFile  # under no path, so that no position delete names it
    files_count: int = 0
    applied: FileSums = _NOTHING


class Scan:
    """Which delete files a reader of each data file opens (`DeleteIndex.applying_to`), and their sums.

    A commit of the stream is added in time that does not depend on the delete files there are; after any
    other change all is counted anew.
    """

    def __init__(self) -> None:
        self._alike: dict[_Kind, _Alike] = {}
        self._positions: dict[str, FileSums] = {}  # by data file
        self._deletes_count = self._deletes_bytes = 0  # once per data file

    def add(self, data: Iterable[IcebergDataFile], deletes: Iterable[IcebergDeleteFile]) -> None:
        """A commit whose files have a sequence number above all others."""
        index = index_deletes(deletes)
        if not index.is_empty:
            for alike in self._alike.values():
                found = _applied(index, alike.any_file)
                alike.applied += found
                self._count(found, alike.files_count)
        for file in data:
            self._place(file, index)

    @classmethod
    def of(cls, state: IcebergState) -> "Scan":
        """A table as it stands."""
        scan, index = cls(), delete_index(state)
        for file in state.data_files:
            scan._place(file, index)
        return scan

    def all(self, files_count: int, live_data_bytes: int) -> Work:
        """What a scan of all so many data files opens."""
        return _work(files_count, live_data_bytes, self._deletes_count, self._deletes_bytes)

    def some(self, files: Iterable[IcebergDataFile]) -> Work:
        """What a scan of these data files opens."""
        chosen = tuple(files)
        found = [self._alike[_kind(file)].applied for file in chosen]
        found += [self._positions.get(file.path, _NOTHING) for file in chosen]
        return _work(
            len(chosen), sum(file.size_bytes for file in chosen),
            sum(applied.files_count for applied in found), sum(applied.size_bytes for applied in found),
        )  # fmt: skip

    def _place(self, file: IcebergDataFile, index: DeleteIndex) -> None:
        """One more data file, with those of the index that apply to it."""
        kind = _kind(file)
        alike = self._alike.get(kind)
        if alike is None:
            unnamed = replace(file, path="")
            alike = self._alike[kind] = _Alike(unnamed, applied=_applied(index, unnamed))
        alike.files_count += 1
        self._count(alike.applied, 1)
        named = index.position_of_file.get(file.path)
        if named is not None:
            self._positions[file.path] = named.sums_since(0)
            self._count(self._positions[file.path], 1)

    def _count(self, applied: FileSums, files_count: int) -> None:
        self._deletes_count += applied.files_count * files_count
        self._deletes_bytes += applied.size_bytes * files_count


def wanted_keys(sql: str) -> KeyBounds | None:
    """The keys a probe asks for by one `order_id = n` or `BETWEEN n AND m`; None for all.

    A probe that names several is taken to open every file: they may be joined by OR.
    """
    named = _KEY.findall(sql)
    if len(named) != 1:
        return None
    numbers = [int(number) for number in named[0] if number]
    return KeyBounds(numbers[0], numbers[-1])


def _applied(index: DeleteIndex, file: IcebergDataFile) -> FileSums:
    applied = index.applying_to(file)
    return FileSums(applied.files_count, applied.size_bytes)


def _kind(file: IcebergDataFile) -> _Kind:
    return file.partition, file.data_sequence_number, file.key_bounds


def _work(files_count: int, data_bytes: int, deletes_count: int, deletes_bytes: int) -> Work:
    return Work(
        files_count, deletes_count, read_bytes=data_bytes + deletes_bytes, delete_bytes=deletes_bytes,
        tasks_count=files_count,
    )  # fmt: skip
