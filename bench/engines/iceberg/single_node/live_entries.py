"""The live manifest entries of a table of format version 2, each manifest read once."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from pyiceberg.io import FileIO
from pyiceberg.manifest import DataFile, DataFileContent, ManifestEntry, ManifestFile
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Snapshot
from pyiceberg.typedef import Record


@dataclass(frozen=True)
class LiveEntries:
    """The entries of a snapshot that are not deleted, by the location of their file."""

    snapshot: Snapshot
    by_manifest: tuple[tuple[ManifestFile, Mapping[str, ManifestEntry]], ...]

    @cached_property
    def data(self) -> Mapping[str, ManifestEntry]:
        return {path: entry for path, entry in self._all() if not is_delete(entry.data_file)}

    @cached_property
    def deletes(self) -> Mapping[str, ManifestEntry]:
        return {path: entry for path, entry in self._all() if is_delete(entry.data_file)}

    def _all(self) -> Iterator[tuple[str, ManifestEntry]]:
        for _, entries in self.by_manifest:
            yield from entries.items()


class EntryReader:
    """Reads the live entries of a table; keeps those of the manifests of the last snapshot it has read."""

    def __init__(self) -> None:
        self._manifests: dict[str, Mapping[str, ManifestEntry]] = {}

    def read(self, table: Table) -> LiveEntries:
        """The entries of the table as it was loaded. Raises ValueError without a snapshot."""
        snapshot = table.current_snapshot()
        if snapshot is None:
            raise ValueError("the table has no snapshot")
        manifests = snapshot.manifests(table.io)
        self._manifests = {
            m.manifest_path: self._manifests.get(m.manifest_path) or _entries(m, table.io) for m in manifests
        }
        return LiveEntries(snapshot, tuple((m, self._manifests[m.manifest_path]) for m in manifests))


def _entries(manifest: ManifestFile, io: FileIO) -> Mapping[str, ManifestEntry]:
    """PyIceberg fills in the sequence numbers that entries inherit from their manifest."""
    live = manifest.fetch_manifest_entry(io, discard_deleted=True)
    return {entry.data_file.file_path: entry for entry in live}


def is_delete(file: DataFile) -> bool:
    return content_of(file) is not DataFileContent.DATA


def content_of(file: DataFile) -> DataFileContent:
    return DataFileContent(file.content)


def sequence_number(entry: ManifestEntry) -> int:
    """The data sequence number, which each entry of format version 2 has once it is read."""
    if entry.sequence_number is None:
        raise ValueError(f"{entry.data_file.file_path} has no data sequence number")
    return entry.sequence_number


def scope_of(file: DataFile) -> tuple[int, Record]:
    """The partition spec and the partition, within which partitioned deletes apply."""
    return file.spec_id, file.partition
