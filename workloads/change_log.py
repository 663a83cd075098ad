"""The change log: a stream that is written once as Parquet, so that every run replays the same bytes."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workloads.commit import CommitSpec, Workload
from workloads.content import content
from workloads.fold import STATE_COLUMNS, Fold, change_columns, condense
from workloads.partitioning import Partitioning
from workloads.schema import ORDERS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEMA_VERSION = 2  # of manifest.json
GENERATOR_VERSION = 2  # increased whenever the same workload and seed generate different rows
MANIFEST = "manifest.json"
_KEY_LENGTH = 16
EARLIER_FILES_MAX = 64  # the maximum number of files that are read again to generate the next commit


class ChangeLogError(ValueError):
    """A change log on disk is damaged; the message names the file and the remedy."""


@dataclass(frozen=True, slots=True)
class LoggedFile:
    """A Parquet file of a commit; `name` is relative to the commit's folder."""

    name: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class LoggedCommit:
    """One commit of the stream as it was written: one file per writer with at least one row.

    `content_hash` is the hash of `workloads.content` over the columns of the log, or over their
    `change_columns` if the rows are changes.
    """

    index: int
    at_ms: int
    rows: int
    writers: int
    size_bytes: int
    files: tuple[LoggedFile, ...]
    content_hash: int


@dataclass(frozen=True, slots=True)
class ChangeLog:
    """A complete change log, with its commits in order of their index.

    With `is_cdc` the rows of all commits except the initial load (index 0) are changes. `columns` are the
    names of the payload columns.
    """

    folder: Path
    key: str
    commits: tuple[LoggedCommit, ...]
    is_cdc: bool = False
    columns: tuple[str, ...] = ORDERS.names

    @property
    def total_rows(self) -> int:
        return sum(commit.rows for commit in self.commits)

    @property
    def total_bytes(self) -> int:
        return sum(commit.size_bytes for commit in self.commits)

    @property
    def content_hash(self) -> int:
        return sum(commit.content_hash for commit in self.commits)

    def paths(self, commit: LoggedCommit) -> tuple[Path, ...]:
        """The files of one commit, in order of their rows; empty if it has no rows."""
        return _paths(self.folder, commit)

    def holds_changes(self, commit: LoggedCommit) -> bool:
        """Whether the rows of the commit are changes rather than plain orders."""
        return self.is_cdc and commit.index > 0

    def table_after(self, commits: Sequence[LoggedCommit]) -> tuple[Path, ...] | Fold:
        """What a table holds after these commits, the first ones of the stream: files, or their fold."""
        plain = self._all_paths(commit for commit in commits if not self.holds_changes(commit))
        changes = self._all_paths(commit for commit in commits if self.holds_changes(commit))
        return Fold(plain, changes) if self.is_cdc else plain

    def is_unchanged(self, commits: Sequence[LoggedCommit]) -> bool:
        """Whether the files of these commits still hold the rows that were written."""
        for are_changes, columns in ((False, self.columns), (True, change_columns(self.columns))):
            compared = [commit for commit in commits if self.holds_changes(commit) is are_changes]
            expected_hash = sum(commit.content_hash for commit in compared)
            if content(self._all_paths(compared), columns).hash != expected_hash:
                return False
        return True

    def _all_paths(self, commits: Iterable[LoggedCommit]) -> tuple[Path, ...]:
        return tuple(path for commit in commits for path in self.paths(commit))


def ensure_change_log(
    spark_factory: Callable[[], SparkSession],
    cache_folder: Path,
    workload: Workload,
    seed: int,
    commits_count: int,
    commit_interval_ms: int,
    progress: Callable[[int, int], None],
) -> ChangeLog:
    """The change log of a stream, read from `cache_folder` or written there if it is missing.

    `spark_factory` is called only to write. `progress` is called with (commits done, commits in total) after
    each commit written. A log appears under its name complete or not at all, even if this process is killed
    or another one writes the same log at the same time.

    Raises ChangeLogError if the log exists and is damaged.
    """
    parameters = _parameters(workload, seed, commits_count, commit_interval_ms)
    folder = _folder_of(cache_folder, parameters)
    if not (folder / MANIFEST).exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _work_folder(folder) as work:
            specs = tuple(workload.shape(seed, commits_count, commit_interval_ms, Partitioning()))
            spark, earlier = spark_factory(), _Earlier(work / "earlier")
            payload, commits = workload.schema.names, list[LoggedCommit]()
            for spec in specs:
                known = earlier.frame(spark) if workload.is_cdc else None
                rows = workload.rows(spark, seed, spec, commit_interval_ms, known)
                is_change = workload.is_cdc and not spec.is_initial
                columns = change_columns(payload) if is_change else payload
                commits.append(_write_commit(work, spec, rows, columns))
                if is_change:
                    earlier.add(_paths(work / "log", commits[-1]))
                progress(len(commits), len(specs))
            log = ChangeLog(folder, folder.name, tuple(commits), workload.is_cdc, payload)
            _write_manifest(work, log, parameters)
            _publish(work, folder)
    return open_change_log(folder)


@contextmanager
def _work_folder(folder: Path) -> Iterator[Path]:
    """A folder beside `folder`, removed in the end; first those that killed writers of any log have left."""
    for left in folder.parent.glob(f".{'[0-9a-f]' * _KEY_LENGTH}-*"):
        with suppress(OSError), _locked(left):  # unless its writer is at work
            shutil.rmtree(left)
    prefix = f".{folder.name}-"
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=prefix) as name, _locked(Path(name)):
        yield Path(name)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Raises BlockingIOError if another process has locked it; a lock ends with its process."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def find_change_log(
    cache_folder: Path, workload: Workload, seed: int, commits_count: int, commit_interval_ms: int
) -> ChangeLog | None:
    """The change log of a stream if `cache_folder` has it, None otherwise.

    Raises ChangeLogError if it is damaged.
    """
    folder = _folder_of(cache_folder, _parameters(workload, seed, commits_count, commit_interval_ms))
    return open_change_log(folder) if (folder / MANIFEST).exists() else None


def open_change_log(folder: Path) -> ChangeLog:
    """Raises ChangeLogError if a file is missing or of another size, or if the manifest cannot be parsed."""
    file = folder / MANIFEST
    try:
        manifest = json.loads(file.read_text(encoding="utf-8"))
        if manifest["schema_version"] != SCHEMA_VERSION:
            raise ValueError(f"schema_version={manifest['schema_version']}, expected {SCHEMA_VERSION}")
        commits = tuple(_commit_of(record) for record in manifest["commits"])
        # Older manifests lack these two keys.
        is_cdc, columns = bool(manifest.get("is_cdc", False)), manifest.get("columns", ORDERS.names)
        log = ChangeLog(folder, str(manifest["key"]), commits, is_cdc, tuple(columns))
    except (OSError, KeyError, TypeError, ValueError) as cause:
        raise _damaged(file, f"cannot be parsed ({cause!r})") from cause
    for commit in log.commits:
        for path, expected in zip(log.paths(commit), commit.files, strict=True):
            if not path.is_file():
                raise _damaged(path, "is missing")
            if path.stat().st_size != expected.size_bytes:
                raise _damaged(path, f"has {path.stat().st_size} bytes instead of {expected.size_bytes}")
    return log


def _parameters(workload: Workload, seed: int, commits_count: int, commit_interval_ms: int) -> dict[str, Any]:
    """Everything that the rows and hashes depend on: Faker generates the words and DuckDB the hashes."""
    return {
        "generator_version": GENERATOR_VERSION,
        "workload": repr(workload),
        "seed": seed,
        "commits_count": commits_count,
        "commit_interval_ms": commit_interval_ms,
        "faker": version("faker"),
        "duckdb": version("duckdb"),
    }


def _folder_of(cache_folder: Path, parameters: Mapping[str, Any]) -> Path:
    """The folder of a change log, whose name is its key."""
    key = hashlib.sha256(json.dumps(parameters, sort_keys=True).encode()).hexdigest()[:_KEY_LENGTH]
    return cache_folder.resolve() / key


class _Earlier:
    """The changes written so far, as needed to generate the next commit.

    They are condensed into few files, or commit n would read the files of all n - 1 commits before it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._paths: tuple[Path, ...] = ()
        self._condensed_count = 0

    def frame(self, spark: SparkSession) -> DataFrame | None:
        """All changes of each key, or at least the last one; None before the first change."""
        if not self._paths:
            return None
        return spark.read.parquet(*map(str, self._paths)).select(*STATE_COLUMNS)

    def add(self, paths: Sequence[Path]) -> None:
        self._paths += tuple(paths)
        if len(self._paths) > EARLIER_FILES_MAX:
            self._folder.mkdir(exist_ok=True)
            self._condensed_count += 1
            target = self._folder / f"{self._condensed_count}.parquet"
            condense(self._paths, target)
            self._paths = (target,)


def _write_commit(work: Path, spec: CommitSpec, rows: DataFrame, columns: Sequence[str]) -> LoggedCommit:
    files: tuple[LoggedFile, ...] = ()
    paths: list[Path] = []
    if spec.rows:
        scratch, target = work / "spark", work / "log" / _commit_folder(spec.index)
        target.mkdir(parents=True)
        rows.write.options(compression="zstd", maxRecordsPerFile=0).parquet(str(scratch))
        for number, part in enumerate(sorted(scratch.glob("part-*.parquet"))):
            paths.append(part.rename(target / f"part-{number:05}.parquet"))
        shutil.rmtree(scratch)
        files = tuple(LoggedFile(path.name, path.stat().st_size) for path in paths)
    written = content(paths, columns)
    size_bytes = sum(file.size_bytes for file in files)
    return LoggedCommit(spec.index, spec.at_ms, written.rows, spec.writers, size_bytes, files, written.hash)


def _write_manifest(work: Path, log: ChangeLog, parameters: Mapping[str, Any]) -> None:
    manifest = {
        "schema_version": SCHEMA_VERSION,
        "key": log.key,
        "is_cdc": log.is_cdc,
        "columns": log.columns,
        "parameters": parameters,
        "rows": log.total_rows,
        "size_bytes": log.total_bytes,
        "content_hash": log.content_hash,
        "commits": [asdict(commit) for commit in log.commits],
    }
    file = work / "log" / MANIFEST
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(manifest, indent=1), encoding="utf-8")


def _publish(work: Path, folder: Path) -> None:
    """Rename the finished log into place, replacing an unfinished folder if there is one."""
    if folder.exists() and not (folder / MANIFEST).exists():
        shutil.rmtree(folder)
    try:
        (work / "log").rename(folder)
    except OSError:
        # Another process may have published the same rows first; anything else is an error.
        if not (folder / MANIFEST).exists():
            raise


def _commit_of(record: Mapping[str, Any]) -> LoggedCommit:
    return LoggedCommit(**{**record, "files": tuple(LoggedFile(**file) for file in record["files"])})


def _damaged(path: Path, what: str) -> ChangeLogError:
    folder = path.parent if path.name == MANIFEST else path.parent.parent
    return ChangeLogError(f"change log {path} {what}: delete the folder {folder}; it will be regenerated")


def _paths(folder: Path, commit: LoggedCommit) -> tuple[Path, ...]:
    return tuple(folder / _commit_folder(commit.index) / file.name for file in commit.files)


def _commit_folder(index: int) -> str:
    return f"commit-{index:05}"
