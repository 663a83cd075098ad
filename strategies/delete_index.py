"""Which delete files apply to a data file, in sums: answers take logarithmic time, no pair is stored."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate

from strategies.state import DataFile, DeltaFile, DeltaKind

_Scope = tuple[int, str]  # partition spec and partition


@dataclass(frozen=True, slots=True)
class Applied:
    """The delete files that apply to one data file.

    `own_rows` counts only what is known to hit that file: rows of delete files that name it. Equality
    deletes, and position deletes of a whole partition, add nothing to it.
    """

    files_count: int = 0
    size_bytes: int = 0
    own_rows: int = 0

    def __add__(self, other: "Applied") -> "Applied":
        return Applied(
            self.files_count + other.files_count,
            self.size_bytes + other.size_bytes,
            self.own_rows + other.own_rows,
        )


_NOTHING = Applied()


@dataclass(frozen=True, slots=True)
class Series:
    """Delete files by sequence number; the i-th of `bytes_from` and `rows_from` sums from i to the end."""

    files: tuple[DeltaFile, ...]
    sequence_numbers: tuple[int, ...]
    bytes_from: tuple[int, ...]
    rows_from: tuple[int, ...]

    def sums_since(self, index: int) -> tuple[int, int, int]:
        """Files, bytes and rows from the `index`-th on."""
        return len(self.files) - index, self.bytes_from[index], self.rows_from[index]

    def since(self, index: int, own: bool = False) -> Applied:
        """What applies to a data file from the `index`-th on."""
        files_count, size_bytes, rows = self.sums_since(index)
        return Applied(files_count, size_bytes, rows if own else 0)


@dataclass(frozen=True, slots=True)
class DeleteIndex:
    """The delete files of a table, by what they may apply to. Made by `index_deletes`."""

    everywhere: Series  # equality deletes written without partitions
    equality: Mapping[_Scope, Series]
    position: Mapping[_Scope, Series]
    position_of_file: Mapping[str, Series]
    vectors: Mapping[str, DeltaFile]

    @property
    def is_empty(self) -> bool:
        """Whether there is no delete file at all."""
        scoped = self.equality or self.position or self.position_of_file or self.vectors
        return not scoped and not self.everywhere.files

    def applying_to(self, file: DataFile) -> Applied:
        """The delete files a reader of `file` has to open.

        Equality deletes must be newer than the file, position deletes not older. Those without a
        partition reach every file; otherwise partition and spec must be the same, or the delete file
        names the data file. A deletion vector stands for all position deletes of its file.

        An upper bound: Iceberg also skips equality deletes whose column bounds miss the file's, which a
        table state does not tell. Source: Iceberg DeleteFileIndex at 1.11.0; table spec, scan planning.
        """
        scope = (file.spec_id, file.partition)
        found = _newer(self.everywhere, file) + _newer(self.equality.get(scope, _EMPTY), file)
        vector = self.vectors.get(file.path)
        if vector is not None:
            return found + Applied(1, vector.size_bytes, vector.rows)
        own = self.position_of_file.get(file.path, _EMPTY)
        return found + _not_older(self.position.get(scope, _EMPTY), file) + _not_older(own, file, own=True)


def index_deletes(delta_files: Iterable[DeltaFile]) -> DeleteIndex:
    """Index delete files. The `size_bytes` of a deletion vector are those of its blob, not of its file.

    Raises ValueError when a delta file is a log, when a deletion vector names no data file, or when two
    name the same.
    """
    equality: dict[_Scope | None, list[DeltaFile]] = defaultdict(list)
    position: dict[_Scope, list[DeltaFile]] = defaultdict(list)
    position_of_file: dict[str, list[DeltaFile]] = defaultdict(list)
    vectors: dict[str, DeltaFile] = {}
    for delta in delta_files:
        scope, named = (delta.spec_id, delta.partition), delta.referenced_data_file
        if delta.kind is DeltaKind.EQUALITY:
            equality[scope if delta.partition else None].append(delta)
        elif delta.kind is DeltaKind.LOG:
            raise ValueError(f"{delta.path} is a log file: only delete files of Iceberg have an index")
        elif named is None and delta.kind is DeltaKind.DELETION_VECTOR:
            raise ValueError(f"deletion vector {delta.path} does not name its data file")
        elif named is None:
            position[scope].append(delta)
        elif delta.kind is DeltaKind.POSITION:
            position_of_file[named].append(delta)
        elif vectors.setdefault(named, delta) is not delta:
            raise ValueError(f"{named} has two deletion vectors; one is the most there can be")
    return DeleteIndex(
        everywhere=_series(equality.pop(None, [])),
        equality={scope: _series(deltas) for scope, deltas in equality.items() if scope is not None},
        position={scope: _series(deltas) for scope, deltas in position.items()},
        position_of_file={path: _series(deltas) for path, deltas in position_of_file.items()},
        vectors=vectors,
    )


def _newer(series: Series, file: DataFile) -> Applied:
    return series.since(bisect_right(series.sequence_numbers, file.sequence_number))


def _not_older(series: Series, file: DataFile, own: bool = False) -> Applied:
    return series.since(bisect_left(series.sequence_numbers, file.sequence_number), own)


def _series(deltas: list[DeltaFile]) -> Series:
    ordered = sorted(deltas, key=lambda delta: delta.sequence_number)
    return Series(
        tuple(ordered),
        tuple(delta.sequence_number for delta in ordered),
        _sums_to_the_end([delta.size_bytes for delta in ordered]),
        _sums_to_the_end([delta.rows for delta in ordered]),
    )


def _sums_to_the_end(values: list[int]) -> tuple[int, ...]:
    return tuple(accumulate(reversed(values), initial=0))[::-1]


_EMPTY = _series([])
