"""The transaction log of a Delta table: commits as JSON, and checkpoints as Parquet.

Only files whose names follow from the version are opened, so that reading a new commit takes one file and no
listing. A table whose first versions are gone is read from its last checkpoint.

Source: Delta transaction log protocol, "Delta Log Entries", "Checkpoints", "Action Reconciliation".
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import unquote

import pyarrow.parquet as pq
from pyarrow.fs import FileInfo, FileSelector, FileSystem, FileType, LocalFileSystem

LOG_FOLDER = "_delta_log"

Fields = Mapping[str, Any]  # an action as it is in the log


@dataclass(frozen=True, slots=True)
class FileAction:
    """A file that a commit added or removed; `fields` are its action.

    The same file added again with another deletion vector is another file to the log.
    """

    fields: Fields

    @property
    def path(self) -> str:
        """The path relative to the table, which the log encodes as a URI."""
        return unquote(self.fields["path"])

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
        return FileAction({**self.fields, "partitionValues": named})

    @property
    def key(self) -> tuple[str, str | None]:
        """What makes it unique among the files of a version."""
        return self.path, self.vector_id


@dataclass(frozen=True, slots=True)
class LogCommit:
    """One version: what it added and removed, and what was recorded about it.

    `metadata` is its `metaData` action, None if it changed none. `domains` are the configurations of metadata
    domains that it set, `reader_features` the table features that a reader has to know from then on.
    `files_bytes` are the sizes of the log files that it wrote: its JSON, its checksum, and a checkpoint if
    one was made of it.
    """

    version: int
    added: tuple[FileAction, ...]
    removed: tuple[FileAction, ...]
    info: Fields = field(default_factory=dict)
    metadata: Fields | None = None
    domains: Mapping[str, Fields] = field(default_factory=dict)
    reader_features: tuple[str, ...] = ()
    files_bytes: tuple[int, ...] = ()

    @property
    def operation(self) -> str:
        """Delta's own word for what was done, such as WRITE or OPTIMIZE."""
        return str(self.info.get("operation", "unknown"))

    @property
    def committed_ms(self) -> int | None:
        """When it was committed, in milliseconds since 1970; None if the log does not say."""
        time_ms = self.info.get("inCommitTimestamp", self.info.get("timestamp"))
        return None if time_ms is None else int(time_ms)


def live_actions(commits: Iterable[LogCommit]) -> Collection[FileAction]:
    """The files that are live after all these commits, removals of each first ("Action Reconciliation")."""
    live: dict[tuple[str, str | None], FileAction] = {}
    for commit in commits:
        for action in commit.removed:
            live.pop(action.key, None)
        live.update((action.key, action) for action in commit.added)
    return live.values()


class LogError(ValueError):
    """The log is damaged, or uses a feature that this reader does not understand."""


class DeltaLog:
    """The log of the table at a location: a local path, or a URI of a file system that PyArrow knows."""

    def __init__(self, location: str) -> None:
        self._system, root = _resolved(location)
        self.folder = f"{root.rstrip('/')}/{LOG_FOLDER}"

    def exists(self) -> bool:
        """Whether there is a log at all."""
        return self._info(self.folder).type is FileType.Directory

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
        checkpoint = self._last_checkpoint()
        if checkpoint is None and self._commit(0) is None:
            raise LogError(f"{self.folder}: has neither version 0 nor a checkpoint that can be read")
        if checkpoint is not None:
            yield checkpoint
        yield from self.commits_after(-1 if checkpoint is None else checkpoint.version)

    def _commit(self, version: int) -> LogCommit | None:
        path = self.path_of(version)
        name = path.removesuffix(".json")
        try:
            with self._system.open_input_file(path) as file:
                text = file.read()
        except FileNotFoundError:
            return None
        try:
            actions = [json.loads(line) for line in text.splitlines() if line.strip()]
        except ValueError as error:
            raise LogError(f"{path}: is not a commit of Delta ({error})") from error
        others = self._system.get_file_info([f"{name}.crc", f"{name}.checkpoint.parquet"])
        sizes = (len(text), *(info.size for info in others if info.type is FileType.File))
        return _commit_of(version, actions, sizes)

    def _last_checkpoint(self) -> LogCommit | None:
        """The newest complete checkpoint; None if there is none. Raises LogError on one of another kind."""
        listed = self._system.get_file_info(FileSelector(self.folder))
        found: dict[int, list[FileInfo]] = {}
        for info in listed:
            head, _, rest = info.base_name.partition(".")
            if rest.startswith("checkpoint.") and head.isdecimal():
                found.setdefault(int(head), []).append(info)
        for version in sorted(found, reverse=True):
            parts = _complete(found[version])
            if parts is not None:
                rows = (row for part in parts for row in self._checkpoint_rows(part.path))
                own = self._commit(version)  # a checkpoint does not say when and by what it was committed
                return replace(_commit_of(version, rows, ()), info=own.info if own else {})
        return None

    def _checkpoint_rows(self, path: str) -> Iterator[Fields]:
        table = pq.read_table(path, filesystem=self._system)
        if "sidecar" in table.column_names and table["sidecar"].null_count < table.num_rows:
            raise LogError(f"{path}: is a checkpoint with sidecar files, which cannot be read")
        for row in table.to_pylist(maps_as_pydicts="strict"):
            yield {name: action for name, action in row.items() if action is not None}

    def _info(self, path: str) -> FileInfo:
        return self._system.get_file_info(path)


def _resolved(location: str) -> tuple[FileSystem, str]:
    if "://" not in location:
        return LocalFileSystem(), location
    system, path = FileSystem.from_uri(location)
    return system, str(path)


def _complete(parts: list[FileInfo]) -> list[FileInfo] | None:
    """The files of a checkpoint in one part or in several; None if one is missing or its kind is unknown.

    Their names are V.checkpoint.parquet, V.checkpoint.I.N.parquet for part I of N, and, in the second version
    of checkpoints, V.checkpoint.UUID.parquet or .json.
    """
    for info in parts:
        words = info.base_name.split(".")
        if len(words) == 3 or (len(words) == 4 and words[3] == "parquet" and "-" in words[2]):
            return [info]
        if len(words) == 5 and words[3].isdecimal():
            of_count = [p for p in parts if p.base_name.split(".")[3:4] == [words[3]]]
            if len(of_count) == int(words[3]):
                return of_count
    return None


def _commit_of(version: int, actions: Iterable[Fields], files_bytes: tuple[int, ...]) -> LogCommit:
    added, removed, domains = list[FileAction](), list[FileAction](), dict[str, Fields]()
    info, metadata, features = dict[str, Any](), None, tuple[str, ...]()
    for action in actions:
        for name, fields in action.items():
            match name:
                case "add":
                    added.append(FileAction(fields))
                case "remove":
                    removed.append(FileAction(fields))
                case "commitInfo":
                    info = fields
                case "metaData":
                    metadata = fields
                case "protocol":
                    features = tuple(fields.get("readerFeatures") or ())
                case "domainMetadata":
                    removed_domain = fields.get("removed", False)
                    domains[fields["domain"]] = {} if removed_domain else json.loads(fields["configuration"])
    return LogCommit(version, tuple(added), tuple(removed), info, metadata, domains, features, files_bytes)
