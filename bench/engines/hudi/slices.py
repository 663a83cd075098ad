"""The files of the latest file slices of a Hudi table, from its listing and its timeline.

A log file belongs to the slice of the latest base file that was requested before the log file's own commit
completed; up to table version 6 it is named after the base file instead, or after the compaction that is to
make it. Files of writes that have not completed do not count, nor do file groups that were replaced.

Source: HoodieFileGroup and AbstractTableFileSystemView of Hudi 1.2.0, and the technical specification, "File
naming".
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from bench.engines.hudi.folder import METADATA_FOLDER, PARTITION_MARKER, Listing
from strategies.hudi.files import BaseFile, FileGroupId, LogFile

_BASE = re.compile(r"(?P<file_id>[^_.][^_]*)_[^_]+_(?P<instant>\d+)\.parquet", re.ASCII)
_LOG = re.compile(r"\.(?P<file_id>.+)_(?P<instant>\d+)\.log\.\d+(?:_\d+-\d+-\d+)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A base file or a log file, and the instant that wrote it."""

    path: str
    group: FileGroupId
    instant: str
    is_log: bool
    size_bytes: int


def stored_files(listing: Listing) -> Iterator[StoredFile]:
    """All base files and log files, live or not, by the markers of partitions.

    The metadata table has partitions of its own, in the metadata folder.
    """
    partitions = {
        path.rpartition("/")[0]
        for path in listing.sizes
        if path.endswith(PARTITION_MARKER) and not path.startswith(f"{METADATA_FOLDER}/")
    }
    for path, size_bytes in listing.sizes.items():
        partition, _, name = path.rpartition("/")
        found = _BASE.fullmatch(name) or _LOG.fullmatch(name)
        if found is not None and partition in partitions:
            group = FileGroupId(partition, found["file_id"])
            yield StoredFile(path, group, found["instant"], found.re is _LOG, size_bytes)


def latest_slices(
    files: Iterable[StoredFile],
    replaced: frozenset[FileGroupId],
    is_completed: Callable[[StoredFile], bool],
    completion_of: Callable[[str], str],
) -> list[StoredFile]:
    """The files of the latest slices. `completion_of` gives the time at which a completed instant ended."""
    by_group: dict[FileGroupId, list[StoredFile]] = {}
    for file in files:
        if file.group not in replaced and is_completed(file):
            by_group.setdefault(file.group, []).append(file)
    return [file for own in by_group.values() for file in _latest(own, completion_of)]


def _latest(files: Iterable[StoredFile], completion_of: Callable[[str], str]) -> Iterator[StoredFile]:
    """The base file of the latest slice of one group, if it has one, and the log files since."""
    files = list(files)
    base = max((file for file in files if not file.is_log), key=lambda file: file.instant, default=None)
    if base is not None:
        yield base
    for file in files:
        if file.is_log and (base is None or completion_of(file.instant) >= base.instant):
            yield file


def archived_instants(files: Iterable[StoredFile], active: Mapping[str, object]) -> frozenset[str]:
    """The instants that wrote files and are not in the active timeline."""
    return frozenset(file.instant for file in files if file.instant not in active)


def live_file(file: StoredFile, records: int | None) -> BaseFile | LogFile:
    """A file as planners see it; `records` is None if its commits are not known."""
    kind = LogFile if file.is_log else BaseFile
    group = file.group
    return kind(
        file.path, file.size_bytes, records or 0, group.partition, file_id=group.file_id,
        has_rows_count=records is not None,
    )  # fmt: skip
