"""The history of a Delta table, from its log alone.

A data file whose deletion vector changes is removed and added again in the log. Here it stays, and only the
vector is replaced. Source: Delta transaction log protocol, "Add File and Remove File", "Deletion Vectors".
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from bench.engines.delta.description import Description, description_of
from bench.engines.delta.log import DeltaLog, FileAction, LogCommit, live_actions
from bench.engines.delta.state import LiveFile, live_files, tag_of
from bench.engines.existing import no_commits
from bench.errors import ScenarioError
from bench.text import counted, human_bytes, named_once
from strategies.delta.files import DeletionVector, DeltaDataFile
from workloads.history_file import TableHistory
from workloads.recorded import Content, HistoryFacts, RecordedCommit, RecordedFile

# If no file of a table has statistics. Sizes of merged files do not depend on it: they add up by bytes.
_BYTES_PER_ROW = 100
_SPARK = {"Apache-Spark", "Databricks-Runtime"}  # as commits name it in engineInfo

_Files = list[RecordedFile]


def read_history(log: DeltaLog, since_ms: int | None) -> TableHistory:
    """All commits that the log still has, from `since_ms` (epoch) on if it is given.

    Raises ScenarioError if there are none, or if files in the log contradict each other; LogError.
    """
    commits = list(log.from_start(with_history=True))
    times_ms = [commit.committed_ms or log.modified_ms(commit.version) for commit in commits]
    recorded_ms = {place: times_ms[place] for place, one in enumerate(commits) if not one.is_checkpoint}
    first = next((n for n, at_ms in recorded_ms.items() if since_ms is None or at_ms >= since_ms), None)
    if first is None:
        raise no_commits(max(recorded_ms.values(), default=None), log.folder)
    table = description_of(commits, log.folder)
    added = [[_files_of(action, table) for action in commit.added] for commit in commits]
    files = _Numbered(_rows_per_byte(file for made in added for file, *_ in made))
    changes = [files.changed_by(commit, made) for commit, made in zip(commits, added, strict=True)]
    start = {file.id: file for new, _ in changes[:first] for file in new}
    for _, gone in changes[:first]:
        for file in gone:
            del start[file.id]
    recorded = [
        _recorded(commit, at_ms, *change)
        for commit, at_ms, change in zip(commits[first:], times_ms[first:], changes[first:], strict=True)
        if any(change)
    ]
    facts = HistoryFacts(
        format="delta",
        table_keys={},
        columns_count=len(table.schema["fields"]),
        partition_columns=table.partition_columns,
        target_file_size_bytes=table.target_bytes,
        from_ms=recorded[0].at_ms if recorded else times_ms[first],
        until_ms=recorded[-1].at_ms if recorded else times_ms[first],
        notes=tuple(_notes(commits, table, files.estimated_count)),
    )
    history = TableHistory(facts, tuple(start.values()), tuple(recorded))
    _check(history, commits, table, log)
    return history


def _files_of(action: FileAction, table: Description) -> tuple[LiveFile, ...]:
    return live_files(action.renamed(table.logical_names), table.partition_columns)


def _rows_per_byte(files: Iterable[LiveFile]) -> float:
    """How many rows a file of unknown rows has for its bytes: as many as the others."""
    rows = size_bytes = 0
    for file in files:
        if isinstance(file, DeltaDataFile) and file.has_rows_count:
            rows += file.rows
            size_bytes += file.size_bytes
    return rows / size_bytes if rows and size_bytes else 1 / _BYTES_PER_ROW


@dataclass(frozen=True, slots=True)
class _Live:
    file: RecordedFile
    vector: RecordedFile | None
    vector_id: str | None

    @property
    def files(self) -> _Files:
        return [self.file] if self.vector is None else [self.file, self.vector]

    @property
    def deleted_rows(self) -> int:
        return 0 if self.vector is None else self.vector.rows


class _Numbered:
    """The files of commits, which are given in order, by numbers of their own."""

    def __init__(self, rows_per_byte: float) -> None:
        self._rows_per_byte = rows_per_byte
        self._live: dict[str, _Live] = {}  # by path
        self._count = 0
        self.estimated_count = 0  # the files whose rows the log does not state

    def changed_by(self, commit: LogCommit, added: Sequence[tuple[LiveFile, ...]]) -> tuple[_Files, _Files]:
        """The files that a commit added and removed; `added` are the files of its actions of that name."""
        paths = dict.fromkeys(action.path for action in (*commit.removed, *commit.added))
        before = {path: self._live[path] for path in paths if path in self._live}
        for action in commit.removed:
            live = self._live.get(action.path)
            if live is not None and live.vector_id == action.vector_id:
                del self._live[action.path]
        for action, files in zip(commit.added, added, strict=True):
            self._live[action.path] = self._added(action, files, before.get(action.path))
        old = {file.id: file for live in before.values() for file in live.files}
        new = {file.id: file for path in paths if path in self._live for file in self._live[path].files}
        return (
            [file for id_, file in new.items() if id_ not in old],
            [file for id_, file in old.items() if id_ not in new],
        )

    def _added(self, action: FileAction, files: Sequence[LiveFile], old: _Live | None) -> _Live:
        """A file that gets back deleted rows, by RESTORE, counts as another file with the same rows."""
        data, *vectors = files
        if old is not None and old.deleted_rows <= sum(vector.rows for vector in vectors):
            if old.vector_id == action.vector_id:
                return old
            file = old.file
        else:
            file = self._numbered(data, Content.DATA)
        for vector in vectors:
            made = replace(self._numbered(vector, Content.VECTOR), targets=(file.id,))
            return _Live(file, made, action.vector_id)
        return _Live(file, None, None)

    def _numbered(self, file: LiveFile, content: Content) -> RecordedFile:
        rows = file.rows
        if isinstance(file, DeltaDataFile) and not file.has_rows_count:
            rows = round(file.size_bytes * self._rows_per_byte)
            self.estimated_count += 1
        self._count += 1
        return RecordedFile(self._count - 1, content, file.size_bytes, rows, file.partition)


def _recorded(commit: LogCommit, at_ms: int, added: _Files, removed: _Files) -> RecordedCommit:
    took_ms = (commit.info.get("operationMetrics") or {}).get("executionTimeMs")
    if _engine(commit) not in (*_SPARK, ""):  # another engine's seconds say nothing of Spark's
        took_ms = None
    return RecordedCommit(
        at_ms, str(commit.version), commit.operation, _is_compaction(commit), tuple(added), tuple(removed),
        None if took_ms is None else int(took_ms) / 1000,
    )  # fmt: skip


def _engine(commit: LogCommit) -> str:
    """The name of what committed, such as Apache-Spark or delta-rs; empty if it is not known."""
    return str(commit.info.get("engineInfo") or "").partition("/")[0].partition(":")[0]


def _is_compaction(commit: LogCommit) -> bool:
    """Commits of our own have a tag."""
    tag = tag_of(commit)
    if tag is not None:
        return not tag.is_of_writer
    return all(action.fields.get("dataChange") is False for action in (*commit.added, *commit.removed))


def _check(history: TableHistory, commits: Sequence[LogCommit], table: Description, log: DeltaLog) -> None:
    """Compare the files at the end with those that are live by the log, and with its last checksum.

    Raises ScenarioError.
    """
    live = (file for action in live_actions(commits) for file in _files_of(action, table))
    wanted = Counter((isinstance(file, DeletionVector), file.partition, file.size_bytes) for file in live)
    left = history.live_after().values()
    if wanted != Counter((not file.is_data, file.partition, file.size_bytes) for file in left):
        raise ScenarioError(
            f"its commits leave {len(left)} files and vectors, but {wanted.total()} are live by its actions: "
            "check the table with its own engine",
            code="damaged",
            path=log.folder,
        )
    stated, found = log.files_count(commits[-1].version), sum(file.is_data for file in left)
    if stated is not None and stated != found:
        raise ScenarioError(
            f"its commits leave {counted(found, 'data file')}, but the checksum of version "
            f"{commits[-1].version} states {stated}: check the table with its own engine",
            code="damaged",
            path=log.folder,
        )


def _notes(commits: Sequence[LogCommit], table: Description, estimated_count: int) -> Iterator[str]:
    first = commits[0]
    if first.is_checkpoint:
        yield (
            f"the log has been cleaned up before version {first.version + 1}: what was committed until then "
            "is part of the table at the start"
        )
        yield from _tombstones(first)
    engines = {_engine(commit) for commit in commits if not commit.is_checkpoint}
    if others := sorted(engines - {*_SPARK, ""}):
        yield f"{named_once(others)} wrote to it, too: the seconds of the cost model are those of Spark"
    untimed_count = sum(commit.committed_ms is None for commit in commits if not commit.is_checkpoint)
    if untimed_count:
        yield f"{counted(untimed_count, 'commit')} of unknown time: that of the log file is taken"
    if estimated_count:
        yield f"the rows of {counted(estimated_count, 'file')} without statistics are estimated by bytes"
    described = [commit.metadata for commit in commits if commit.metadata is not None]
    if len({metadata["schemaString"] for metadata in described}) > 1:
        yield "the columns have changed: merged files have sizes between those of old and of new columns"
    if len({tuple(metadata["partitionColumns"]) for metadata in described}) > 1:
        yield "the partition columns have changed: files are merged with those of the same partition path"
    if table.clustering_columns:
        columns = ", ".join(table.clustering_columns)
        yield f"the table is clustered by {columns}, of which the replay does nothing"


def _tombstones(checkpoint: LogCommit) -> Iterator[str]:
    """What a checkpoint tells of files that had left the table; a file with a new vector had not."""
    live = {action.path for action in checkpoint.added}
    gone: Mapping[str, FileAction] = {a.path: a for a in checkpoint.removed if a.path not in live}
    sizes = [action.fields.get("size") for action in gone.values()]
    times_ms = [action.fields.get("deletionTimestamp") for action in gone.values()]
    if gone:
        known, dated = [size for size in sizes if size is not None], [t for t in times_ms if t is not None]
        more = "at least " if len(known) < len(sizes) else ""
        since = f" since {_day(min(dated))}" if dated else ""
        yield (
            f"{counted(len(gone), 'file')} of {more}{human_bytes(sum(known))} had left the table "
            f"by then{since}: of how many rows, and in which commits, is not known"
        )


def _day(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).date().isoformat()
