"""The transaction log of a Delta table: commits as JSON, and checkpoints as Parquet.

Only files whose names follow from the version are opened, so that reading a new commit takes one file and no
listing. From the start, the log is listed once, since a commit that is missing must not pass for the end. A
table whose first versions are gone is read from its last checkpoint.

Source: Delta transaction log protocol, "Delta Log Entries", "Checkpoints", "Action Reconciliation".
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow.fs import FileInfo, FileSelector, FileSystem, FileType, LocalFileSystem

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
from bench.errors import first_error

LOG_FOLDER = "_delta_log"

Fields = Mapping[str, Any]  # an action as it is in the log

# What a version has in the log: its commit, its checksum, and its checkpoint in one part or in several. The
# second version of checkpoints has a UUID in their names.
_FILE = re.compile(r"(?P<version>\d{20})\.(?:json|crc|(?P<checkpoint>checkpoint\..+))", re.ASCII)
_WHOLE = re.compile(r"checkpoint\.(?:[^.]*-[^.]*\.)?parquet")
_PART = re.compile(r"checkpoint\.\d+\.(?P<count>\d+)\.parquet", re.ASCII)


@dataclass(frozen=True, slots=True)
class FileAction:
    """A file that a commit added or removed; `fields` are its action, and `log_file` is where that was read.

    The same file added again with another deletion vector is another file to the log.
    """

    fields: Fields
    log_file: str

    @property
    def path(self) -> str:
        """The path relative to the table, which the log encodes as a URI."""
        return unquote(self.fields["path"])

    @property
    def place(self) -> str:
        """Where the action is, in words."""
        return f"{self.log_file}, action of {self.path}"

    @property
    def vector(self) -> Fields | None:
        """The descriptor of its deletion vector; None if it has none."""
        return self.fields.get("deletionVector")

    @property
    def vector_place(self) -> str | None:
        """Where its deletion vector is stored, as the log encodes it."""
        vector = self.vector
        return None if vector is None else f"{vector['storageType']}{vector['pathOrInlineDv']}"

    @property
    def vector_id(self) -> str | None:
        """The unique id of its deletion vector, as the protocol derives it."""
        vector = self.vector
        if vector is None:
            return None
        offset = vector.get("offset")
        return self.vector_place if offset is None else f"{self.vector_place}@{offset}"

    def renamed(self, names: Mapping[str, str]) -> "FileAction":
        """The action with the names of partition columns replaced."""
        values = dict(self.fields.get("partitionValues") or {})
        named = {names.get(name, name): value for name, value in values.items()}
        return replace(self, fields={**self.fields, "partitionValues": named})

    @property
    def key(self) -> tuple[str, str | None]:
        """What makes it unique among the files of a version."""
        return self.path, self.vector_id


@dataclass(frozen=True, slots=True)
class LogCommit:
    """One version: what it added and removed, and what was recorded about it.

    `log_file` is where it was read. `metadata` is its `metaData` action, None if it changed none, `protocol`
    what a reader has to know from then on, None if that stays. `clustering_columns` are those of liquid
    clustering, nested ones with dots; None if it set none. `files_bytes` are the sizes of the log files that
    it wrote: its JSON, its checksum, and a checkpoint if one was made of it.
    """

    version: int
    log_file: str
    added: tuple[FileAction, ...]
    removed: tuple[FileAction, ...]
    info: Fields = field(default_factory=dict)
    metadata: Metadata | None = None
    protocol: Protocol | None = None
    clustering_columns: tuple[str, ...] | None = None
    files_bytes: tuple[int, ...] = ()

    @property
    def operation(self) -> str:
        """Delta's own word for what was done, such as WRITE or OPTIMIZE."""
        return self.info.get("operation") or "unknown"

    @property
    def committed_ms(self) -> int | None:
        """When it was committed, in milliseconds since 1970; None if the log does not say."""
        in_commit: int | None = self.info.get("inCommitTimestamp")
        return self.info.get("timestamp") if in_commit is None else in_commit


def live_actions(commits: Iterable[LogCommit]) -> Collection[FileAction]:
    """The files that are live after all these commits, removals of each first ("Action Reconciliation")."""
    live: dict[tuple[str, str | None], FileAction] = {}
    for commit in commits:
        for action in commit.removed:
            live.pop(action.key, None)
        live.update((action.key, action) for action in commit.added)
    return live.values()


class DeltaLog:
    """The log of the table at a location: a local path, or a URI of a file system that PyArrow knows."""

    def __init__(self, location: str) -> None:
        self._system, root = _resolved(location)
        self.folder = f"{root.rstrip('/')}/{LOG_FOLDER}"

    def is_there(self) -> bool:
        """Whether there is anything under the name of the log."""
        return self._type() is not FileType.NotFound

    def is_folder(self) -> bool:
        """Whether there is a log that can be listed."""
        return self._type() is FileType.Directory

    def path_of(self, version: int) -> str:
        """The file of a commit."""
        return f"{self.folder}/{version:020}.json"

    def stored_bytes(self) -> tuple[int, int]:
        """The bytes of all files of the table, live or not, and of those the bytes of its log.

        Hadoop's checksums, which only its local file system writes, and hides, do not count.
        """
        root = self.folder.removesuffix(LOG_FOLDER)
        listed = self._system.get_file_info(FileSelector(root, recursive=True))
        files = [
            info
            for info in listed
            if info.type is FileType.File
            and not (info.base_name.startswith(".") and info.base_name.endswith(".crc"))
        ]
        of_log = (info.size for info in files if info.path.startswith(f"{self.folder}/"))
        return sum(info.size for info in files), sum(of_log)

    def commits_after(self, version: int) -> Iterator[LogCommit]:
        """The commits after a version, in order, as far as there are any; -1 is before the first one."""
        while (commit := self._commit(version + 1)) is not None:
            yield commit
            version += 1

    def from_start(self) -> Iterator[LogCommit]:
        """What makes up the table now: all commits or, where the first are gone, a checkpoint and the rest.

        A checkpoint counts as one commit that adds all its files. Raises LogError if neither is complete.
        """
        listed = self._listed()
        checkpoint = self._last_checkpoint(listed)
        if checkpoint is not None:
            yield checkpoint
        version = -1 if checkpoint is None else checkpoint.version
        for commit in self.commits_after(version):
            yield commit
            version = commit.version
        if version == -1:
            raise LogError(f"{self.folder}: has no version 0, and {_why_unreadable(listed)}")
        if version < max(listed):
            raise LogError(
                f"{self.path_of(version + 1)}: is missing, although the log goes on to version {max(listed)}"
            )

    def _listed(self) -> Mapping[int, Sequence[FileInfo]]:
        """The files of the log by version."""
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
        others = self._system.get_file_info([f"{name}.crc", f"{name}.checkpoint.parquet"])
        sizes = (len(text), *(info.size for info in others if info.type is FileType.File))
        return _commit_of(version, path, actions, sizes)

    def _last_checkpoint(self, listed: Mapping[int, Sequence[FileInfo]]) -> LogCommit | None:
        """The newest complete checkpoint; None if there is none. Raises LogError on one of another kind."""
        for version in sorted(listed, reverse=True):
            parts = _complete(_checkpoints(listed[version]))
            if parts is not None:
                first = parts[0].path
                rows = [(part.path, row) for part in parts for row in self._checkpoint_rows(part.path)]
                own = self._commit(version)  # a checkpoint does not say when and by what it was committed
                commit = _commit_of(version, first, rows, ())
                if commit.metadata is None or commit.protocol is None:
                    missing = "metaData" if commit.metadata is None else "protocol"
                    raise LogError(f"{first}: is not a whole checkpoint of Delta: it has no action {missing}")
                return replace(commit, info=own.info if own else {})
        return None

    def _checkpoint_rows(self, path: str) -> Iterator[LogLine]:
        try:
            with self._system.open_input_file(path) as file:
                table = pq.ParquetFile(file).read()
            rows = table.to_pylist(maps_as_pydicts="strict")
        except (pa.ArrowException, KeyError, OSError) as error:
            raise LogError(f"{path}: is not a checkpoint of Delta ({first_error(error)})") from error
        for number, row in enumerate(rows):
            action = {name: fields for name, fields in row.items() if fields is not None}
            if "sidecar" in action:
                raise LogError(f"{path}: is a checkpoint with sidecar files, which cannot be read")
            yield checked(LOG_LINE.validate_python, action, f"{path}, row {number}")

    def _type(self) -> FileType:
        return self._system.get_file_info(self.folder).type


def _resolved(location: str) -> tuple[FileSystem, str]:
    if "://" not in location:
        return LocalFileSystem(), location
    system, path = FileSystem.from_uri(location)
    return system, str(path)


def _checkpoints(files: Iterable[FileInfo]) -> Mapping[str, FileInfo]:
    """The files of the checkpoints of one version, by their names without the version."""
    named = ((_FILE.fullmatch(info.base_name), info) for info in files)
    return {name["checkpoint"]: info for name, info in named if name and name["checkpoint"]}


def _complete(files: Mapping[str, FileInfo]) -> Sequence[FileInfo] | None:
    """The files of a checkpoint in one part or in several; None if none is complete and in Parquet."""
    whole = next((info for name, info in sorted(files.items()) if _WHOLE.fullmatch(name)), None)
    if whole is not None:
        return [whole]
    parts: dict[int, list[FileInfo]] = {}
    for name, info in sorted(files.items()):
        if part := _PART.fullmatch(name):
            parts.setdefault(int(part["count"]), []).append(info)
    return next((found for count, found in parts.items() if len(found) == count), None)


def _why_unreadable(listed: Mapping[int, Sequence[FileInfo]]) -> str:
    """Why a log without version 0 has no checkpoint that can be read."""
    for version in sorted(listed, reverse=True):
        for name, info in _checkpoints(listed[version]).items():
            part = _PART.fullmatch(name)
            why = (
                f"is one of {int(part['count'])} parts, not all of which are there"
                if part
                else "is not in Parquet"
            )
            return f"its checkpoint {info.base_name} {why}"
    return "no checkpoint"


def _commit_of(
    version: int, log_file: str, actions: Iterable[tuple[str, LogLine]], files_bytes: tuple[int, ...]
) -> LogCommit:
    """The commit that actions make up, each with the file that it was read from."""
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
        version, log_file, tuple(added), tuple(removed), last.get("commitInfo") or {}, last.get("metaData"),
        last.get("protocol"), clustering, files_bytes,
    )  # fmt: skip


def _clustering_columns(domain: DomainMetadata, path: str) -> tuple[str, ...]:
    if domain.get("removed"):
        return ()
    place = f"{path}: the configuration of {CLUSTERING_DOMAIN}"
    clustering = checked(CLUSTERING.validate_json, domain.get("configuration"), place)
    return tuple(".".join(column) for column in clustering["clusteringColumns"])
