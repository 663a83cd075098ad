"""The state of an Iceberg table, read by PyIceberg from its metadata, one read per snapshot.

Manifests never change once written, so each is kept as long as a snapshot names it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from pyiceberg.io import FileIO
from pyiceberg.manifest import ManifestContent, ManifestFile
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Snapshot
from pyiceberg.types import NestedField

from bench.engines.contract import Change
from bench.engines.iceberg.keys import key_column
from bench.engines.iceberg.ledger import iceberg_ledger
from bench.engines.iceberg.manifests import LiveFile, ManifestFiles, files_of
from strategies.iceberg.files import IcebergState
from strategies.state import MIB

TARGET_FILE_SIZE = "write.target-file-size-bytes"
DEFAULT_TARGET_BYTES = 512 * MIB  # WRITE_TARGET_FILE_SIZE_BYTES_DEFAULT of Iceberg's TableProperties


@dataclass(frozen=True, slots=True)
class Reading:
    """The live files by key, and what the snapshots since the reading before did.

    `version` is the id of the current snapshot, None where there is none.
    """

    live: dict[str, LiveFile]
    version: int | None
    change: Change
    location: str
    snapshot_times_ms: tuple[int, ...]  # of the new snapshots, in order


class LiveFiles:
    """The files of a table's snapshots with their key bounds; each manifest is read once, and then kept.

    Which column is the key the equality deletes tell. When it turns out to be another one, every manifest is
    read again; where the last of them has gone it stays, so that the next one changes nothing.

    `snapshot_times_ms` are scenario times by snapshot id, which data files get as their `added_at_ms`.
    """

    def __init__(self, snapshot_times_ms: Mapping[int, int] = MappingProxyType({})) -> None:
        self._snapshot_times_ms = snapshot_times_ms
        self._manifests: dict[str, ManifestFiles] = {}
        self._key: NestedField | None = None

    def read(self, table: Table, snapshot: Snapshot | None) -> Iterator[LiveFile]:
        """The files live in `snapshot`, none without one."""
        manifests = snapshot.manifests(table.io) if snapshot else []
        deletes = self._read([m for m in manifests if m.content is ManifestContent.DELETES], table)
        compared = frozenset(ids for found in deletes.values() for ids in found.equality_ids)
        key = key_column(compared, table.schema()) if compared else self._key
        if key != self._key:
            self._key, self._manifests = key, {}
        else:
            self._manifests.update(deletes)
        self._manifests = self._read(manifests, table)
        return (file for found in self._manifests.values() for file in found.files)

    def _read(self, manifests: Iterable[ManifestFile], table: Table) -> dict[str, ManifestFiles]:
        known = self._manifests
        return {
            m.manifest_path: known.get(m.manifest_path)
            or files_of(m, table, self._key, self._snapshot_times_ms)
            for m in manifests
        }


class IcebergReader:
    """Reads a table's metadata again and again, and only what is new of it."""

    def __init__(self, load: Callable[[], Table]) -> None:
        self._load = load
        self._files = LiveFiles()
        self._seen_snapshots: set[int] = set()
        self._seen_metadata: set[str] = set()

    def read(self) -> Reading:
        """The table as its catalog shows it now."""
        table = self._load()
        snapshot = table.current_snapshot()
        files = self._files.read(table, snapshot)
        new = [s for s in table.metadata.snapshots if s.snapshot_id not in self._seen_snapshots]
        self._seen_snapshots.update(s.snapshot_id for s in new)
        return Reading(
            live={file.key: file for file in files},
            version=snapshot.snapshot_id if snapshot else None,
            change=self._change(new, table),
            location=table.location(),
            snapshot_times_ms=tuple(s.timestamp_ms for s in new),
        )

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
            delete_files_added_count=_summed(snapshots, "added-delete-files"),
            delete_files_removed_count=_summed(snapshots, "removed-delete-files"),
            added_bytes=_summed(snapshots, "added-files-size"),
            replaced_bytes=_summed(snapshots, "removed-files-size"),
            metadata_bytes=sum(written_bytes),
            metadata_files_count=len(written_bytes),
        )


def table_state(table: Table, snapshot: Snapshot | None, now_ms: int) -> IcebergState:
    """A table that is already there as a planner sees it: the files live in `snapshot`, none without one.

    Its stream began with the oldest snapshot the metadata knows, and `now_ms` (epoch) is the time of
    the evaluation. Data files have the time of the snapshot that added them, None where it has expired. The
    history is empty: metadata does not tell what a compaction cost. Nothing but metadata is opened. Raises
    ValueError when the target file size is no number or a file is listed twice.
    """
    target_bytes = int(table.properties.get(TARGET_FILE_SIZE, DEFAULT_TARGET_BYTES))
    first_ms = min((s.timestamp_ms for s in table.metadata.snapshots), default=now_ms)
    times_ms = {s.snapshot_id: s.timestamp_ms - first_ms for s in table.metadata.snapshots}
    ledger = iceberg_ledger(target_bytes, table.properties, table.spec().spec_id, stream_epoch_ms=first_ms)
    ledger.add(LiveFiles(times_ms).read(table, snapshot), at_ms=None)
    ledger.version = snapshot.snapshot_id if snapshot else None
    return ledger.state(max(now_ms - first_ms, 0))


def matching_paths(table: Table, snapshot: Snapshot, where: str) -> frozenset[str]:
    """The data files of `snapshot` that may hold rows of `where`, as partitions and bounds tell.

    Raises ValueError when PyIceberg cannot read the filter, or the table holds equality deletes.
    """
    # Names without regard to case, as Spark has them.
    scan = table.scan(row_filter=where, snapshot_id=snapshot.snapshot_id, case_sensitive=False)
    return frozenset(task.file.file_path for task in scan.plan_files())


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
