"""The files of the latest file slices of a Hudi table, from its listing and its timeline.

A log file belongs to the slice of the latest base file that was requested before the log file's own commit
completed. Up to table version 6 it has the instant of the base file in its name, or of the compaction that
will write the base file. Files of incomplete writes and of replaced file groups do not count.

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
        partition, _, name = path.rpartition("/")
        parts = _BASE.fullmatch(name) or _LOG.fullmatch(name)
        if parts is not None and partition in partitions:
            group = FileGroupId(partition, parts["file_id"])
            yield StoredFile(path, group, parts["instant"], parts.re is _LOG, size_bytes)


def latest_slices(
    files: Iterable[StoredFile],
    replaced: frozenset[FileGroupId],
    is_completed: Callable[[StoredFile], bool],
    completion_of: Callable[[str], str],
) -> list[StoredFile]:
    """`completion_of` returns the completion time of an instant."""
    by_group: dict[FileGroupId, list[StoredFile]] = {}
    for file in files:
        if file.group not in replaced and is_completed(file):
            by_group.setdefault(file.group, []).append(file)
    return [file for group in by_group.values() for file in _latest(group, completion_of)]


def _latest(files: list[StoredFile], completion_of: Callable[[str], str]) -> Iterator[StoredFile]:
    """The latest slice of one group: its base file, if there is one, and later log files."""
    base = max((file for file in files if not file.is_log), key=lambda file: file.instant, default=None)
    if base is not None:
        yield base
    for file in files:
        if file.is_log and (base is None or completion_of(file.instant) >= base.instant):
            yield file


def archived_instants(files: Iterable[StoredFile], active: Mapping[str, object]) -> frozenset[str]:
    return frozenset(file.instant for file in files if file.instant not in active)


def live_file(file: StoredFile, records: int | None) -> BaseFile | LogFile:
    """`records` is None if the commits of the file are not known."""
    kind = LogFile if file.is_log else BaseFile
    group = file.group
    return kind(
        file.path, file.size_bytes, records or 0, group.partition, file_id=group.file_id,
        has_rows_count=records is not None,
    )  # fmt: skip
