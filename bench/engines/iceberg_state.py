"""The state of an Iceberg table, read by PyIceberg from its metadata, one read per snapshot.

Manifests never change once written, so each is read once and kept as long as a snapshot names it.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pyiceberg.io import FileIO
from pyiceberg.manifest import DataFile as IcebergFile
from pyiceberg.manifest import DataFileContent, FileFormat, ManifestEntry, ManifestFile
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Snapshot

from bench.engines.base import Change
from strategies.state import DataFile, DeltaFile, DeltaKind

LiveFile = DataFile | DeltaFile


@dataclass(frozen=True, slots=True)
class Reading:
    """The live files by path, and what the snapshots since the reading before did."""

    live: dict[str, LiveFile]
    change: Change
    location: str
    snapshot_times_ms: tuple[int, ...]  # of the new snapshots, in order


class IcebergReader:
    """Reads a table's metadata again and again, and only what is new of it."""

    def __init__(self, load: Callable[[], Table]) -> None:
        self._load = load
        self._manifests: dict[str, tuple[LiveFile, ...]] = {}
        self._seen_snapshots: set[int] = set()
        self._seen_metadata: set[str] = set()

    def read(self) -> Reading:
        """The table as its catalog shows it now."""
        table = self._load()
        snapshot = table.current_snapshot()
        manifests = snapshot.manifests(table.io) if snapshot else []
        self._manifests = {m.manifest_path: self._files_of(m, table) for m in manifests}
        new = [s for s in table.metadata.snapshots if s.snapshot_id not in self._seen_snapshots]
        self._seen_snapshots.update(s.snapshot_id for s in new)
        return Reading(
            live={file.path: file for files in self._manifests.values() for file in files},
            change=self._change(new, table),
            location=table.location(),
            snapshot_times_ms=tuple(s.timestamp_ms for s in new),
        )

    def _files_of(self, manifest: ManifestFile, table: Table) -> tuple[LiveFile, ...]:
        known = self._manifests.get(manifest.manifest_path)
        if known is not None:
            return known
        spec = table.specs()[manifest.partition_spec_id]
        entries = manifest.fetch_manifest_entry(table.io, discard_deleted=True)
        return tuple(_live_file(entry, spec) for entry in entries)

    def _change(self, snapshots: list[Snapshot], table: Table) -> Change:
        written_bytes = [size for s in snapshots for size in _snapshot_metadata_bytes(s, table.io)]
        log = [entry.metadata_file for entry in table.metadata.metadata_log] + [table.metadata_location]
        fresh = [path for path in dict.fromkeys(log) if path not in self._seen_metadata]
        self._seen_metadata.update(fresh)
        written_bytes += _existing_bytes(fresh, table.io)
        return Change(
            snapshots_count=len(snapshots),
            files_added_count=_summed(snapshots, "added-data-files"),
            files_removed_count=_summed(snapshots, "deleted-data-files"),
            delta_files_added_count=_summed(snapshots, "added-delete-files"),
            delta_files_removed_count=_summed(snapshots, "removed-delete-files"),
            added_bytes=_summed(snapshots, "added-files-size"),
            removed_bytes=_summed(snapshots, "removed-files-size"),
            metadata_bytes=sum(written_bytes),
            metadata_files_count=len(written_bytes),
        )


def _summed(snapshots: Iterable[Snapshot], key: str) -> int:
    """A counter of the snapshot summaries (Iceberg's SnapshotSummary), which leave out zeros."""
    return sum(int(s.summary.additional_properties.get(key, 0)) for s in snapshots if s.summary)


def _snapshot_metadata_bytes(snapshot: Snapshot, io: FileIO) -> list[int]:
    """Sizes of the manifest list and of the manifests a snapshot wrote."""
    own = [m.manifest_length for m in snapshot.manifests(io) if m.added_snapshot_id == snapshot.snapshot_id]
    return [*own, *_existing_bytes([snapshot.manifest_list], io)]


def _existing_bytes(paths: Iterable[str], io: FileIO) -> list[int]:
    """Sizes of files that may have been deleted again since."""
    inputs = [io.new_input(path) for path in paths]
    return [len(file) for file in inputs if file.exists()]


def quoted(value: object) -> str:
    """A partition value in a partition's text: the slash, which separates there, is percent-encoded."""
    return str(value).replace("%", "%25").replace("/", "%2F")


def _live_file(entry: ManifestEntry, spec: PartitionSpec) -> LiveFile:
    file = entry.data_file
    partition = "/".join(
        f"{field.name}={quoted(file.partition[index])}" for index, field in enumerate(spec.fields)
    )
    sequence_number = entry.sequence_number or 0
    if file.content is DataFileContent.DATA:
        return DataFile(
            file.file_path,
            file.file_size_in_bytes,
            file.record_count,
            partition,
            sequence_number,
            spec.spec_id,
        )
    return DeltaFile(
        file.file_path, _delta_kind(file), file.file_size_in_bytes, file.record_count, partition,
        sequence_number, spec.spec_id,
    )  # fmt: skip


def _delta_kind(file: IcebergFile) -> DeltaKind:
    if file.content is DataFileContent.EQUALITY_DELETES:
        return DeltaKind.EQUALITY
    return DeltaKind.DELETION_VECTOR if file.file_format == FileFormat.PUFFIN else DeltaKind.POSITION
