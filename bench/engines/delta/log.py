"""The transaction log of a Delta table: commits as JSON, and checkpoints as Parquet.

A new commit is read from the file that its version names, without a listing. A log read from the start is
listed once, so that a missing commit is not taken for the end. If the first versions are gone, the log is
read from a checkpoint: for the state of the table the last one, for its history the first that will do.

Source: Delta transaction log protocol, "Delta Log Entries", "Checkpoints", "Action Reconciliation".
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow.fs import FileInfo, FileSelector, FileType

from bench.engines.delta.actions import (
    CLUSTERING,
    CLUSTERING_DOMAIN,
    LOG_LINE,
    DomainMetadata,
    LogError,
    LogLine,
    Metadata,
    Protocol,
    checked,
)
from bench.engines.folders import file_sizes, file_system
from bench.errors import first_error

LOG_FOLDER = "_delta_log"

Fields = Mapping[str, Any]  # an action as it is in the log

# Names in a log: commit, checksum, and checkpoint in one part (V2 has a UUID) or in several.
_FILE = re.compile(r"(?P<version>\d{20})\.(?:json|crc|(?P<checkpoint>checkpoint\..+))", re.ASCII)
_WHOLE = re.compile(r"checkpoint\.(?:[^.]*-[^.]*\.)?parquet")
_PART = re.compile(r"checkpoint\.\d+\.(?P<count>\d+)\.parquet", re.ASCII)


@dataclass(frozen=True, slots=True)
class FileAction:
    """A file that a commit added or removed: the fields of its action in `log_file`.

    A data file added again with another deletion vector counts as another file (`key`).
    """

    fields: Fields
    log_file: str

    @property
    def path(self) -> str:
        """Relative to the table, decoded."""
        return unquote(self.fields["path"])

    @property
    def place(self) -> str:
        return f"{self.log_file}, action of {self.path}"

    @property
    def vector(self) -> Fields | None:
        return self.fields.get("deletionVector")

    @property
    def vector_place(self) -> str | None:
        """The encoded place of the deletion vector, None without one."""
        vector = self.vector
        return None if vector is None else f"{vector['storageType']}{vector['pathOrInlineDv']}"

    @property
    def vector_id(self) -> str | None:
        """The unique id of the deletion vector, as the protocol derives it; None without one."""
        vector = self.vector
        if vector is None:
            return None
        offset = vector.get("offset")
        return self.vector_place if offset is None else f"{self.vector_place}@{offset}"

    def renamed(self, names: Mapping[str, str]) -> "FileAction":
        """Replace the names of partition columns."""
        values = dict(self.fields.get("partitionValues") or {})
        named = {names.get(name, name): value for name, value in values.items()}
        return replace(self, fields={**self.fields, "partitionValues": named})

    @property
    def key(self) -> tuple[str, str | None]:
        return self.path, self.vector_id


@dataclass(frozen=True, slots=True)
class LogCommit:
    """One version. `metadata`, `protocol` and `clustering_columns` are None if it does not set them.

    `clustering_columns` (liquid clustering) have dots in nested names. `files_bytes` are the sizes of the log
    files written for the version: JSON, checksum, and a checkpoint if it has one. The checkpoint has
    `checkpointed_count` files and tombstones; None if they were not counted. One that `is_checkpoint` stands
    for all versions up to it: it adds all files, and removes those that left the table not long before.
    """

    version: int
    added: tuple[FileAction, ...]
    removed: tuple[FileAction, ...]
    info: Fields = field(default_factory=dict)
    metadata: Metadata | None = None
    protocol: Protocol | None = None
    clustering_columns: tuple[str, ...] | None = None
    files_bytes: tuple[int, ...] = ()
    checkpointed_count: int | None = None
    is_checkpoint: bool = False

    @property
    def operation(self) -> str:
        """Delta's own word for what was done, such as WRITE or OPTIMIZE."""
        return self.info.get("operation") or "unknown"

    @property
    def committed_ms(self) -> int | None:
        """Milliseconds since 1970."""
        in_commit: int | None = self.info.get("inCommitTimestamp")
        return self.info.get("timestamp") if in_commit is None else in_commit


def live_actions(commits: Iterable[LogCommit]) -> Collection[FileAction]:
    """The files live after the last commit; within a commit, removals go first ("Action Reconciliation")."""
    live: dict[tuple[str, str | None], FileAction] = {}
    for commit in commits:
        for action in commit.removed:
            live.pop(action.key, None)
        live.update((action.key, action) for action in commit.added)
    return live.values()


class DeltaLog:
    """The log of the table at `location`: a local path, or a URI that PyArrow can open."""

    def __init__(self, location: str) -> None:
        self._system, root = file_system(location)
        self.folder = f"{root.rstrip('/')}/{LOG_FOLDER}"

    def path_of(self, version: int) -> str:
        return f"{self.folder}/{version:020}.json"

    def modified_ms(self, version: int) -> int:
        """When the file of a commit was written, in milliseconds since 1970."""
        (info,) = self._system.get_file_info([self.path_of(version)])
        return (info.mtime_ns or 0) // 1_000_000

    def files_count(self, version: int) -> int | None:
        """The live files of a version by its checksum file ("Version Checksum File"); None without one."""
        try:
            with self._system.open_input_file(f"{self.path_of(version).removesuffix('.json')}.crc") as file:
                fields = json.loads(file.read())
        except (OSError, ValueError):
            return None
        count = fields.get("numFiles") if isinstance(fields, dict) else None
        return count if isinstance(count, int) else None

    def stored_bytes(self) -> tuple[int, int]:
        """The bytes of all files of the table, live or not, and the part of them in the log."""
        sizes = file_sizes(self._system, self.folder.removesuffix(f"/{LOG_FOLDER}"))
        of_log = sum(size for path, size in sizes.items() if path.startswith(f"{LOG_FOLDER}/"))
        return sum(sizes.values()), of_log

    def commits_after(self, version: int) -> Iterator[LogCommit]:
        """The commits after a version, in order; -1 is before the first one."""
        hidden = self._last_in_several_files()
        while (commit := self._commit(version + 1)) is not None:
            if commit.checkpointed_count == 0 and commit.version <= hidden:
                commit = replace(commit, checkpointed_count=None)
            yield commit
            version += 1

    def from_start(self, *, with_history: bool = False) -> Iterator[LogCommit]:
        """All commits; where there is a checkpoint, it stands for those up to it.

        By default that is the last checkpoint. `with_history` starts at version 0, or if commits have been
        deleted since then, at the first checkpoint after which none is missing. Raises LogError if the log
        is incomplete.
        """
        listed = self._listed()
        versions = _historic(listed) if with_history else sorted(listed, reverse=True)
        checkpoint = self._first_checkpoint(listed, versions)
        if checkpoint is not None:
            yield checkpoint
        version = -1 if checkpoint is None else checkpoint.version
        for commit in self.commits_after(version):
            yield commit
            version = commit.version
        if version == -1:
            raise LogError(f"{self.folder} has neither version 0 nor a complete checkpoint in Parquet")
        if version < max(listed):
            raise LogError(f"{self.path_of(version + 1)} is missing, but the log has version {max(listed)}")

    def _listed(self) -> Mapping[int, Sequence[FileInfo]]:
        versions: dict[int, list[FileInfo]] = {}
        for info in self._system.get_file_info(FileSelector(self.folder)):
            named = _FILE.fullmatch(info.base_name)
            if named and info.type is FileType.File:
                versions.setdefault(int(named["version"]), []).append(info)
        return versions

    def _commit(self, version: int) -> LogCommit | None:
        path = self.path_of(version)
        name = path.removesuffix(".json")
        try:
            with self._system.open_input_file(path) as file:
                text = file.read()
        except FileNotFoundError:
            return None
        lines = ((f"{path}, line {n}", line) for n, line in enumerate(text.splitlines(), 1) if line.strip())
        actions = [(path, checked(LOG_LINE.validate_json, line, place)) for place, line in lines]
        if not actions:
            raise LogError(f"{path} is empty")
        checkpoint = f"{name}.checkpoint.parquet"
        written = [
            info
            for info in self._system.get_file_info([f"{name}.crc", checkpoint])
            if info.type is FileType.File
        ]
        commit = _commit_of(version, actions, (len(text), *(info.size for info in written)))
        has_checkpoint = any(info.path == checkpoint for info in written)
        return replace(commit, checkpointed_count=self._files_in(checkpoint) if has_checkpoint else 0)

    def _last_in_several_files(self) -> int:
        """The version of the last checkpoint if it has parts or a UUID in its name; -1 if it has not.

        Such checkpoints are not looked for, so commits up to that version may have had one ("Last Checkpoint
        File").
        """
        try:
            with self._system.open_input_file(f"{self.folder}/_last_checkpoint") as file:
                fields = json.loads(file.read())
        except (OSError, ValueError):
            return -1
        if not isinstance(fields, dict) or fields.keys().isdisjoint({"parts", "v2Checkpoint"}):
            return -1
        version = fields.get("version")
        return version if isinstance(version, int) else -1

    def _files_in(self, checkpoint: str) -> int | None:
        """How many files and tombstones a checkpoint has, by its footer; None if that does not state it."""
        try:
            with self._system.open_input_file(checkpoint) as file:
                footer = pq.ParquetFile(file).metadata
        except (pa.ArrowException, OSError, UnicodeDecodeError):
            return None
        count = 0
        for number in range(footer.num_row_groups):
            group = footer.row_group(number)
            for column in map(group.column, range(group.num_columns)):
                if column.path_in_schema in ("add.path", "remove.path"):
                    if column.statistics is None or not column.statistics.has_null_count:
                        return None
                    count += group.num_rows - column.statistics.null_count
        return count

    def _first_checkpoint(
        self, listed: Mapping[int, Sequence[FileInfo]], versions: Iterable[int]
    ) -> LogCommit | None:
        """The complete checkpoint of the first version that has one; None if there is none."""
        for version in versions:
            parts = _complete(_checkpoints(listed[version]))
            if parts is not None:
                rows = [(part.path, row) for part in parts for row in self._checkpoint_rows(part.path)]
                own = self._commit(version)  # a checkpoint does not contain the commitInfo
                made = _commit_of(version, rows, ())
                return replace(made, info=own.info if own else {}, is_checkpoint=True)
        return None

    def _checkpoint_rows(self, path: str) -> Iterator[LogLine]:
        try:
            with self._system.open_input_file(path) as file:
                table = pq.ParquetFile(file).read()
            rows = table.to_pylist(maps_as_pydicts="strict")
        except (pa.ArrowException, KeyError, OSError, UnicodeDecodeError) as error:
            raise LogError(f"{path} is not a checkpoint of Delta: {first_error(error)}") from error
        for number, row in enumerate(rows):
            action = {name: fields for name, fields in row.items() if fields is not None}
            if "sidecar" in action:
                raise LogError(f"{path} has sidecar files, which are not supported")
            yield checked(LOG_LINE.validate_python, action, f"{path}, row {number}")


def _historic(listed: Mapping[int, Sequence[FileInfo]]) -> Sequence[int]:
    """The versions whose checkpoint is followed by all later commits; none if all commits are there."""
    first = max(listed, default=-1) + 1
    while any(info.base_name == f"{first - 1:020}.json" for info in listed.get(first - 1, ())):
        first -= 1
    return sorted(version for version in listed if version >= first - 1) if first else ()


def _checkpoints(files: Iterable[FileInfo]) -> Mapping[str, FileInfo]:
    """The checkpoint files of one version, by their names without the version."""
    named = ((_FILE.fullmatch(info.base_name), info) for info in files)
    return {name["checkpoint"]: info for name, info in named if name and name["checkpoint"]}


def _complete(files: Mapping[str, FileInfo]) -> Sequence[FileInfo] | None:
    """The files of a checkpoint, in one part or in several; None if none in Parquet is complete."""
    whole = next((info for name, info in sorted(files.items()) if _WHOLE.fullmatch(name)), None)
    if whole is not None:
        return [whole]
    parts: dict[int, list[FileInfo]] = {}
    for name, info in sorted(files.items()):
        if part := _PART.fullmatch(name):
            parts.setdefault(int(part["count"]), []).append(info)
    return next((files for count, files in parts.items() if len(files) == count), None)


def _commit_of(
    version: int, actions: Iterable[tuple[str, LogLine]], files_bytes: tuple[int, ...]
) -> LogCommit:
    """`actions` come with the file that each was read from."""
    added, removed, last = list[FileAction](), list[FileAction](), LogLine()
    clustering: tuple[str, ...] | None = None
    for path, action in actions:
        if "add" in action:
            added.append(FileAction(action["add"], path))
        if "remove" in action:
            removed.append(FileAction(action["remove"], path))
        if "domainMetadata" in action and action["domainMetadata"]["domain"] == CLUSTERING_DOMAIN:
            clustering = _clustering_columns(action["domainMetadata"], path)
        last |= action
    return LogCommit(
        version, tuple(added), tuple(removed), last.get("commitInfo") or {}, last.get("metaData"),
        last.get("protocol"), clustering, files_bytes,
    )  # fmt: skip


def _clustering_columns(domain: DomainMetadata, path: str) -> tuple[str, ...]:
    if domain.get("removed"):
        return ()
    place = f"{path}: the configuration of {CLUSTERING_DOMAIN}"
    clustering = checked(CLUSTERING.validate_json, domain.get("configuration"), place)
    return tuple(".".join(column) for column in clustering["clusteringColumns"])
