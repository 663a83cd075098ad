"""The files of the latest file slices of a Hudi table, from its listing and its timeline.

A log file belongs to the slice of the latest base file that was requested before the log file's own commit
completed. Up to table version 6 it has the instant of the base file in its name, or of the compaction that
will write the base file. Files of incomplete writes and of replaced file groups do not count.

Source: HoodieFileGroup and AbstractTableFileSystemView of Hudi 1.2.0, and the technical specification, "File
naming".
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from bench.engines.hudi.folder import METADATA_FOLDER, PARTITION_MARKER, Listing
from strategies.grouping import by_key
from strategies.hudi.files import BaseFile, FileGroupId, LogFile

_BASE = re.compile(r"(?P<file_id>[^_.][^_]*)_[^_]+_(?P<instant>\d+)\.parquet", re.ASCII)
_LOG = re.compile(r"\.(?P<file_id>.+)_(?P<instant>\d+)\.log\.\d+(?:_\d+-\d+-\d+)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class StoredFile:
    path: str
    group: FileGroupId
    instant: str
    is_log: bool
    size_bytes: int


def stored_files(listing: Listing) -> Iterator[StoredFile]:
    """All base files and log files, live or not, in folders with a partition marker.

    The metadata folder has such folders too, of the metadata table, which are left out.
    """
    partitions = {
        path.rpartition("/")[0]
        for path in listing.sizes
        if path.endswith(PARTITION_MARKER) and not path.startswith(f"{METADATA_FOLDER}/")
    }
    for path, size_bytes in listing.sizes.items():
        file = stored_file(path, size_bytes)
        if file is not None and file.group.partition in partitions:
            yield file


def stored_file(path: str, size_bytes: int) -> StoredFile | None:
    """None if it is neither a base file nor a log file."""
    partition, _, name = path.rpartition("/")
    parts = _BASE.fullmatch(name) or _LOG.fullmatch(name)
    if parts is None:
        return None
    group = FileGroupId(partition, parts["file_id"])
    return StoredFile(path, group, parts["instant"], parts.re is _LOG, size_bytes)


def latest_slices(
    files: Iterable[StoredFile],
    replaced: frozenset[FileGroupId],
    is_completed: Callable[[StoredFile], bool],
    completion_of: Callable[[str], str],
) -> list[StoredFile]:
    """`completion_of` returns the completion time of an instant."""
    written = (file for file in files if file.group not in replaced and is_completed(file))
    by_group = by_key(written, lambda file: file.group)
    return [file for group in by_group.values() for file in _latest(group, completion_of)]


def _latest(files: list[StoredFile], completion_of: Callable[[str], str]) -> Iterator[StoredFile]:
    """The latest slice of one group: its base file, if there is one, and later log files."""
    base = max((file for file in files if not file.is_log), key=lambda file: file.instant, default=None)
    if base is not None:
        yield base
    for file in files:
        if file.is_log and (base is None or is_later(file, base, completion_of)):
            yield file


def is_later(log: StoredFile, base: StoredFile, completion_of: Callable[[str], str]) -> bool:
    """Whether a log file of the group of a base file is in the slice of that file, or in a later one."""
    return completion_of(log.instant) >= base.instant


def live_file(file: StoredFile, records: int | None) -> BaseFile | LogFile:
    """`records` is None if the commits of the file are not known."""
    kind = LogFile if file.is_log else BaseFile
    group = file.group
    return kind(
        file.path, file.size_bytes, records or 0, group.partition, file_id=group.file_id,
        has_rows_count=records is not None,
    )  # fmt: skip


def has_buckets(groups: Iterable[FileGroupId]) -> bool:
    """Whether a bucket index made these file groups, as no table stores its index.

    It numbers file groups within their partition.
    """
    numbers: dict[str, set[str]] = {}
    for group in groups:
        numbers.setdefault(group.partition, set()).add(group.file_id[:8])
    return bool(numbers) and all(
        f"{0:08}" in own and all(number.isdecimal() for number in own) for own in numbers.values()
    )
