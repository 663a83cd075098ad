"""The state of a Delta table, updated from its log: each commit is read once."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from bench.engines.contract import Tag, Version, change_of, metadata_change
from bench.engines.delta.actions import NAMES, STATS, LogError, checked
from bench.engines.delta.log import DeltaLog, FileAction, LogCommit
from bench.engines.ledger import TableReading
from bench.results.values import CommitWork, MaintenanceWork
from strategies.delta.files import DeletionVector, DeltaDataFile, ZCube
from strategies.partitions import path_of

LiveFile = DeltaDataFile | DeletionVector


class DeltaReader:
    """Reads a table's log repeatedly, each time only the new commits."""

    def __init__(self, location: str) -> None:
        self._log = DeltaLog(location)
        self._version = -1
        self._files: dict[tuple[str, str | None], tuple[LiveFile, ...]] = {}
        self._live: dict[str, LiveFile] = {}
        self._removals_ms: list[tuple[int, int]] = []  # scenario time, and milliseconds since 1970

    def read(self, at_ms: int) -> TableReading:
        versions = list[Version]()
        for commit in self._log.commits_after(self._version):
            versions.append(self._apply(commit))
            removed_ms = {file.fields.get("deletionTimestamp") for file in commit.removed}
            self._removals_ms += [(at_ms, real_ms) for real_ms in removed_ms if real_ms is not None]
            self._version = commit.version
        all_bytes, log_bytes = self._log.stored_bytes()
        return TableReading(self._live, tuple(versions), all_bytes - log_bytes, log_bytes)

    def delete_before_ms(self, keep_from_ms: int) -> int:
        """The real time before which VACUUM deletes, for a retention from `keep_from_ms` of scenario time."""
        kept_ms = [real_ms for at_ms, real_ms in self._removals_ms if at_ms >= keep_from_ms]
        if kept_ms:
            return min(kept_ms)
        return max((real_ms for _, real_ms in self._removals_ms), default=0) + 1

    @property
    def next_version_path(self) -> str:
        return self._log.path_of(self._version + 1)

    def _apply(self, commit: LogCommit) -> Version:
        """Removed files go first: one commit may remove a file and add it with another vector."""
        removed = [file for action in commit.removed for file in self._files.pop(action.key, ())]
        new = {action.key: live_files(action) for action in commit.added}
        self._files |= new
        added = [file for files in new.values() for file in files]
        for file in removed:
            del self._live[file.key]
        self._live |= {file.key: file for file in added}
        return version_of(commit, removed, added)


def version_of(commit: LogCommit, removed: Iterable[LiveFile], added: Iterable[LiveFile]) -> Version:
    """A data file that is removed and added with another vector counts as neither removed nor added."""
    before, after = {file.key: file for file in removed}, {file.key: file for file in added}
    removed = [file for key, file in before.items() if key not in after]
    added = [file for key, file in after.items() if key not in before]
    written = metadata_change(sum(commit.files_bytes), len(commit.files_bytes))
    change = change_of(added, removed) + written
    rewritten = frozenset(file.partition for file in removed)
    work = CommitWork(
        partitions_count=len({file.partition for file in added}),
        checkpointed_files_count=commit.checkpointed_count,
    )
    deleted = (commit.info.get("operationMetrics") or {}).get("numDeletedFiles")  # by VACUUM
    maintenance = MaintenanceWork(deleted_files_count=None if deleted is None else int(deleted))
    return Version(
        str(commit.version), commit.operation, change, tag_of(commit), rewritten, work=work,
        maintenance=maintenance,
    )  # fmt: skip


def tag_of(commit: LogCommit) -> Tag | None:
    """An automatic compaction has the tag of the commit that it followed, which is left out."""
    if str((commit.info.get("operationParameters") or {}).get("auto", "false")).lower() == "true":
        return None
    return Tag.parse(commit.info.get("userMetadata") or "")


def live_files(action: FileAction, columns: Sequence[str] = ()) -> tuple[LiveFile, ...]:
    """The data file that an action added, and its deletion vector if there is one.

    `columns` are the table's partition columns in order. Without them the order is that of the log.
    """
    fields = action.fields
    partition = path_of(_pairs(fields.get("partitionValues"), columns))
    rows = _rows_of(action)
    data = DeltaDataFile(
        action.path, fields["size"], rows or 0, partition,
        has_rows_count=rows is not None,
        clustering_provider=fields.get("clusteringProvider"),
        z_cube=_z_cube(action),
    )  # fmt: skip
    vector, place = action.vector, action.vector_place
    if vector is None or place is None:
        return (data,)
    deleted_rows: int = vector["cardinality"]
    if rows is not None and deleted_rows > rows:
        raise LogError(f"{action.place} is damaged: its vector deletes {deleted_rows} of {rows} rows")
    return data, DeletionVector(
        place, vector["sizeInBytes"], deleted_rows, partition,
        data_file=action.path, offset=vector.get("offset"),
    )  # fmt: skip


def _pairs(values: Any, columns: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    """An empty string is null (protocol, "Partition Value Serialization")."""
    by_name = dict(values or {})
    for name in sorted(by_name, key=columns.index) if by_name.keys() <= set(columns) else by_name:
        yield name, by_name[name] or None


def _rows_of(action: FileAction) -> int | None:
    """The rows by the file's statistics, deleted rows included; None without statistics."""
    text, parsed = action.fields.get("stats"), action.fields.get("stats_parsed")
    stats = checked(STATS.validate_json, text, f"{action.place}, stats") if text else parsed or {}
    rows: int | None = stats.get("numRecords")
    return rows


def _z_cube(action: FileAction) -> ZCube | None:
    tags = action.fields.get("tags") or {}
    cube = tags.get("ZCUBE_ID")
    if cube is None:
        return None
    columns = checked(
        NAMES.validate_json, tags.get("ZCUBE_ZORDER_BY") or "[]", f"{action.place}, ZCUBE_ZORDER_BY"
    )
    return ZCube(cube, tuple(columns))
