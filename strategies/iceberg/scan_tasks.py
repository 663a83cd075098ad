"""How an engine splits files and combines the pieces into scan task groups."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from strategies.iceberg.deletes.index import Applied
from strategies.iceberg.files import IcebergDataFile
from strategies.iceberg.packing import pack
from strategies.java_values import parse_int
from strategies.preview import ScanTaskGroup
from strategies.series import Run

_LOOKBACK_PROPERTY, _DEFAULT_LOOKBACK = "read.split.planning-lookback", 10  # TableProperties at 1.11.0


@dataclass(frozen=True, slots=True)
class FileScan:
    """A run of data files with the delete files that apply to each of them."""

    run: Run[IcebergDataFile]
    deletes: Applied

    @property
    def file(self) -> IcebergDataFile:
        return self.run.first

    @property
    def count(self) -> int:
        return self.run.count

    def slice(self, begin: int, end: int) -> "FileScan":
        return FileScan(self.run.slice(begin, end), self.deletes)


@dataclass(frozen=True, slots=True)
class _Pieces:
    """`count` equal pieces of files; the figures are those of each."""

    input_bytes: int
    rows: int
    weight_bytes: int
    count: int = 1

    def slice(self, begin: int, end: int) -> "_Pieces":
        return replace(self, count=end - begin)


def lookback_of(properties: Mapping[str, str]) -> int:
    """How many task groups a reader of a table with these properties keeps open while packing."""
    text = properties.get(_LOOKBACK_PROPERTY)
    return _DEFAULT_LOOKBACK if text is None else parse_int(text)


def scan_task_groups(scans: Iterable[FileScan], split_bytes: int, lookback: int) -> tuple[ScanTaskGroup, ...]:
    """The scan task groups that read the files, in the order the engine creates them.

    The weight of a piece is its own bytes plus the bytes of every delete file that applies to its data file,
    so many deletes lead to many small tasks. Six files of 100 MiB at a split size of 512 MiB become tasks of
    500 and 100 MiB. Source: Iceberg TableScanUtil.planTaskGroups at 1.11.0 with a file-open cost of 0.
    """
    pieces = (piece for scan in scans for piece in _pieces(scan, split_bytes))
    bins = pack(pieces, lambda piece: piece.weight_bytes, split_bytes, lookback, largest_first=True)
    return tuple(_task(packed) for packed in bins)


def _task(pieces: Sequence[_Pieces]) -> ScanTaskGroup:
    return ScanTaskGroup(sum(p.count * p.input_bytes for p in pieces), sum(p.count * p.rows for p in pieces))


def _pieces(scan: FileScan, split_bytes: int) -> Iterable[_Pieces]:
    file = scan.file
    cuts = _cuts(file, split_bytes)
    if len(cuts) == 2:
        size_bytes = cuts[1] - cuts[0]
        return [_Pieces(size_bytes, file.rows, size_bytes + scan.deletes.size_bytes, scan.count)]
    pieces = []
    for start, end in pairwise(cuts):
        rows = _rows_before(end, file, cuts[0]) - _rows_before(start, file, cuts[0])
        pieces.append(_Pieces(end - start, rows, end - start + scan.deletes.size_bytes))
    return pieces * scan.count


def _cuts(file: IcebergDataFile, split_bytes: int) -> Sequence[int]:
    """The offsets at which `file` is split, with its start and end; it starts at its first row group.

    Source: BaseContentScanTask.split and BaseFile.hasWellDefinedOffsets at 1.11.0.
    """
    offsets = file.split_offsets
    usable = bool(offsets) and offsets[-1] < file.size_bytes
    if usable and all(left < right for left, right in pairwise(offsets)):
        return (*offsets, file.size_bytes)
    return (*range(0, file.size_bytes, split_bytes), file.size_bytes)


def _rows_before(position: int, file: IcebergDataFile, start: int) -> int:
    return file.rows * (position - start) // (file.size_bytes - start)
