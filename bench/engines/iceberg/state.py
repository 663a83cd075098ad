"""The state of an Iceberg table, read from its metadata by PyIceberg, once per snapshot.

Manifests never change once they are written, so each is read once and cached while a snapshot lists it.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import MappingProxyType

from pyiceberg.io import FileIO
from pyiceberg.manifest import ManifestContent, ManifestFile, read_manifest_list
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Snapshot
from pyiceberg.types import NestedField

from bench.engines.contract import TAG_PROPERTY, Tag, Version, metadata_change
from bench.engines.iceberg.avro_files import WholeAvroFile
from bench.engines.iceberg.ledger import iceberg_ledger
from bench.engines.iceberg.manifests import LiveFile, ManifestFiles, files_of, key_column
from bench.engines.iceberg.table_files import data_folder, metadata_folder
from bench.engines.ledger import TableReading
from bench.errors import ScenarioError
from bench.results.values import Change, CommitWork, MaintenanceWork
from strategies.iceberg.files import IcebergState
from strategies.state import MIB

TARGET_FILE_SIZE = "write.target-file-size-bytes"
_CAUSE_LENGTH_MAX = 200  # characters: a decoder may quote the damaged bytes
DEFAULT_TARGET_BYTES = 512 * MIB  # WRITE_TARGET_FILE_SIZE_BYTES_DEFAULT of Iceberg's TableProperties


class LiveFiles:
    """The live files of a table's snapshots with their key bounds. Each manifest is read once and cached.

    The equality deletes determine the key column. When it changes, every manifest is read again. After the
    last equality delete has gone the column is kept, so that the next delete changes nothing.

    `snapshot_times_ms` maps snapshot ids to scenario times, which files get as their `added_at_ms`.
    """

    def __init__(self, snapshot_times_ms: Mapping[int, int] = MappingProxyType({})) -> None:
        self._snapshot_times_ms = snapshot_times_ms
        self._manifests: dict[str, ManifestFiles] = {}
        self._key: NestedField | None = None

    def read(self, table: Table, snapshot: Snapshot | None) -> Iterator[LiveFile]:
        """The files that are live in `snapshot`; none without a snapshot."""
        manifests = manifests_of(snapshot, table.io) if snapshot else []
        deletes = self._read([m for m in manifests if m.content is ManifestContent.DELETES], table)
        compared = frozenset(ids for manifest in deletes.values() for ids in manifest.equality_ids)
        key = key_column(compared, table.schema()) if compared else self._key
        if key != self._key:
            self._key, self._manifests = key, {}
        else:
            self._manifests.update(deletes)
        self._manifests = self._read(manifests, table)
        return (file for manifest in self._manifests.values() for file in manifest.files)

    def _read(self, manifests: Iterable[ManifestFile], table: Table) -> dict[str, ManifestFiles]:
        read = {}
        for m in manifests:
            with decoding(m.manifest_path):
                read[m.manifest_path] = self._manifests.get(m.manifest_path) or files_of(
                    m, table, self._key, self._snapshot_times_ms
                )
        return read


def manifests_of(snapshot: Snapshot, io: FileIO) -> list[ManifestFile]:
    """The manifests that a snapshot lists. Raises ScenarioError if the list is damaged."""
    with decoding(snapshot.manifest_list):
        return list(read_manifest_list(WholeAvroFile(io.new_input(snapshot.manifest_list))))


@contextmanager
def decoding(path: str) -> Iterator[None]:
    """Names a file whose content is not what the block expects."""
    try:
        yield
    except OSError:
        raise
    except Exception as error:  # PyIceberg raises EOFError, zlib.error, MemoryError and others
        cause = f"{type(error).__name__}: {error}"[:_CAUSE_LENGTH_MAX]
        problem = f"cannot be decoded ({cause}); check the table with its own engine"
        raise ScenarioError(problem, code="damaged", path=path) from error


class IcebergReader:
    """Reads a table's metadata repeatedly, each time only what is new.

    `stored_bytes` returns the bytes of all files in a folder, given a FileIO that reads it.
    """

    def __init__(self, load: Callable[[], Table], stored_bytes: Callable[[str, FileIO], int]) -> None:
        self._load, self._stored_bytes = load, stored_bytes
        self._files = LiveFiles()
        self._seen_snapshots: set[int] = set()
        self._live_snapshots: set[int] = set()  # of the last reading
        self._seen_metadata: set[str] = set()
        self._snapshot_times: list[tuple[int, int]] = []  # scenario time, and milliseconds since 1970

    def read(self, at_ms: int) -> TableReading:
        """Raises FileNotFoundError if another process deletes what it reads; it can be called again, then."""
        table = self._load()
        files = self._files.read(table, table.current_snapshot())
        new = [s for s in table.metadata.snapshots if s.snapshot_id not in self._seen_snapshots]
        expired_count = len(self._live_snapshots - {s.snapshot_id for s in table.metadata.snapshots})
        fresh = self._fresh_metadata(table)
        versions = _versions(new, fresh, table.io)
        reading = TableReading(
            live={file.key: file for file in files},
            versions=_with_expired(versions, expired_count),
            data_bytes=self._stored_bytes(data_folder(table.location(), table.properties), table.io),
            metadata_bytes=self._stored_bytes(metadata_folder(table.location(), table.properties), table.io),
        )
        self._seen_metadata.update(path for _, path in fresh)
        self._seen_snapshots.update(s.snapshot_id for s in new)
        self._live_snapshots = {s.snapshot_id for s in table.metadata.snapshots}
        self._snapshot_times += [(at_ms, s.timestamp_ms) for s in new]
        return reading

    def first_kept_ms(self, keep_from_ms: int) -> int:
        """The real commit time of the first snapshot that is kept by scenario time."""
        newer = [time_ms for at_ms, time_ms in self._snapshot_times if at_ms >= keep_from_ms]
        return min(newer, default=self._snapshot_times[-1][1] if self._snapshot_times else 0)

    def _fresh_metadata(self, table: Table) -> list[tuple[int, str]]:
        """When the table metadata files were written that no earlier reading has seen, and their paths."""
        log = [(entry.timestamp_ms, entry.metadata_file) for entry in table.metadata.metadata_log]
        log.append((table.metadata.last_updated_ms, table.metadata_location))
        return [(time_ms, path) for time_ms, path in dict.fromkeys(log) if path not in self._seen_metadata]


def _versions(
    snapshots: Iterable[Snapshot], metadata_files: Iterable[tuple[int, str]], io: FileIO
) -> tuple[Version, ...]:
    """A version for each snapshot, and one for each table metadata file that has no snapshot.

    Each commit writes one table metadata file. Its bytes belong to the commit's first snapshot.
    """
    left, versions = deque(metadata_files), list[Version]()
    for snapshot in snapshots:
        while left and left[0][0] < snapshot.timestamp_ms:
            versions.append(_metadata_version(left.popleft()[1], io))
        written = [left.popleft()[1]] if left else []
        versions.append(_snapshot_version(snapshot, written, io))
    versions += [_metadata_version(path, io) for _, path in left]
    return tuple(versions)


def _with_expired(versions: tuple[Version, ...], count: int) -> tuple[Version, ...]:
    """Assigns snapshots that are gone to the last version that only wrote metadata."""
    if not count:
        return versions
    last = max((n for n, version in enumerate(versions) if version.id is None), default=None)
    work = MaintenanceWork(expired_versions_count=count)
    return tuple(replace(v, maintenance=work) if n == last else v for n, v in enumerate(versions))


def table_state(table: Table, snapshot: Snapshot | None, now_ms: int) -> IcebergState:
    """An existing table as a planner sees it: the files that are live in `snapshot`, none without one.

    Its stream began with the oldest snapshot in the metadata, and `now_ms` (epoch) is the time of the
    evaluation. Files have the time of the snapshot that added them, None if it has expired. The history
    is empty, since metadata does not say what a compaction cost. Nothing but metadata is read. Raises
    ValueError if the target file size is not a number or a file is listed twice.
    """
    target_bytes = target_bytes_of(table.properties)
    first_ms = min((s.timestamp_ms for s in table.metadata.snapshots), default=now_ms)
    times_ms = {s.snapshot_id: s.timestamp_ms - first_ms for s in table.metadata.snapshots}
    ledger = iceberg_ledger(target_bytes, table.properties, table.spec().spec_id, stream_epoch_ms=first_ms)
    ledger.add(LiveFiles(times_ms).read(table, snapshot), at_ms=None)
    ledger.version = str(snapshot.snapshot_id) if snapshot else None
    return ledger.state(max(now_ms - first_ms, 0))


def target_bytes_of(properties: Mapping[str, str]) -> int:
    value = properties.get(TARGET_FILE_SIZE)
    if value is None:
        return DEFAULT_TARGET_BYTES
    try:
        target_bytes = int(value)
    except ValueError as error:
        raise ValueError(f"table property {TARGET_FILE_SIZE} = {value!r} is not a number of bytes") from error
    if target_bytes < 1:
        raise ValueError(f"table property {TARGET_FILE_SIZE} = {value!r} must be at least one byte")
    return target_bytes


def matching_paths(table: Table, snapshot: Snapshot, where: str) -> frozenset[str]:
    """The data files of `snapshot` that may hold rows matching `where`, by their partitions and bounds.

    Raises ValueError if PyIceberg cannot evaluate the filter, or the table has equality deletes.
    """
    # Column names are case-insensitive, as in Spark.
    scan = table.scan(row_filter=where, snapshot_id=snapshot.snapshot_id, case_sensitive=False)
    return frozenset(task.file.file_path for task in scan.plan_files())


def _snapshot_version(snapshot: Snapshot, metadata_files: Sequence[str], io: FileIO) -> Version:
    """A snapshot as a version: its own counters, and the bytes of the metadata written for it.

    The counters are from the snapshot summary (Iceberg's SnapshotSummary), which omits zeros.
    """
    summary = snapshot.summary.additional_properties if snapshot.summary else {}
    operation = snapshot.summary.operation.value if snapshot.summary else "unknown"
    written_bytes = [*_snapshot_metadata_bytes(snapshot, io), *_existing_bytes(metadata_files, io)]
    change = Change(
        files_added_count=int(summary.get("added-data-files", 0)),
        files_removed_count=int(summary.get("deleted-data-files", 0)),
        delete_files_added_count=int(summary.get("added-delete-files", 0)),
        delete_files_removed_count=int(summary.get("removed-delete-files", 0)),
        added_bytes=int(summary.get("added-files-size", 0)),
        replaced_bytes=int(summary.get("removed-files-size", 0)),
        metadata_bytes=sum(written_bytes),
        metadata_files_count=len(written_bytes),
        added_rows=int(summary.get("added-records", 0)),
        replaced_rows=int(summary.get("deleted-records", 0)),
        added_delete_rows=int(summary.get("added-position-deletes", 0))
        + int(summary.get("added-equality-deletes", 0)),
    )
    tag = Tag.parse(summary.get(TAG_PROPERTY, ""))
    partitions = summary.get("changed-partition-count")
    work = CommitWork(partitions_count=None if partitions is None else int(partitions))
    return Version(
        str(snapshot.snapshot_id), operation, change, tag, work=work,
        application=summary.get("app-id"), application_name=summary.get("app-name"),
    )  # fmt: skip


def _metadata_version(path: str, io: FileIO) -> Version:
    """The version of a command without a snapshot, such as snapshot expiry."""
    written_bytes = _existing_bytes([path], io)
    return Version(None, "metadata", metadata_change(sum(written_bytes), len(written_bytes)))


def _snapshot_metadata_bytes(snapshot: Snapshot, io: FileIO) -> list[int]:
    """The sizes of the manifest list and of the manifests that a snapshot wrote."""
    listed = manifests_of(snapshot, io)
    own = [m.manifest_length for m in listed if m.added_snapshot_id == snapshot.snapshot_id]
    return [*own, *_existing_bytes([snapshot.manifest_list], io)]


def _existing_bytes(paths: Iterable[str], io: FileIO) -> list[int]:
    """The sizes of the files that still exist."""
    inputs = [io.new_input(path) for path in paths]
    return [len(file) for file in inputs if file.exists()]
