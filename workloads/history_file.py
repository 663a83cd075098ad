"""The history of a table in one file: Parquet with a row for each file that was added or removed.

Paths, names and values of the table's rows are not in it, so that it can be handed on: files are numbers,
and bounds of keys are ranks. Texts of partitions are in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from workloads.recorded import Content, HistoryFacts, OwnCompactions, RecordedCommit, RecordedFile

SCHEMA_VERSION = 1
_METADATA = b"compactbench.history"
_START, _ADD, _REMOVE = "start", "add", "remove"
_WORDS = pa.dictionary(pa.int8(), pa.string())
_SCHEMA = pa.schema(
    {
        "commit": pa.int32(),  # from 1; 0 for the files at the start
        "event": _WORDS,
        "file": pa.int32(),
        "content": _WORDS,
        "bytes": pa.int64(),
        "rows": pa.int64(),
        "partition": pa.dictionary(pa.int32(), pa.string()),
        "target": pa.int32(),
        "sequence_number": pa.int64(),
        "key_low": pa.int32(),
        "key_high": pa.int32(),
        "file_group": pa.int32(),
        "new_rows": pa.int64(),
        "hit_rows": pa.int64(),
    }
)


@dataclass(frozen=True, slots=True)
class TableHistory:
    """The files at the start, and the commits since then in their order."""

    facts: HistoryFacts
    start: tuple[RecordedFile, ...]
    commits: tuple[RecordedCommit, ...]

    @property
    def files(self) -> Iterator[RecordedFile]:
        """All files that were ever in the table."""
        yield from self.start
        for commit in self.commits:
            yield from commit.added

    @property
    def stream(self) -> tuple[RecordedCommit, ...]:
        """The commits that are no compactions."""
        return tuple(commit for commit in self.commits if not commit.is_compaction)

    def live_after(self) -> Mapping[int, RecordedFile]:
        """The files after the last commit, by their ids. Raises ValueError if a commit removes another."""
        live = {file.id: file for file in self.start}
        for commit in self.commits:
            for file in commit.removed:
                if live.pop(file.id, None) is None:
                    raise ValueError(f"version {commit.version} removes a file that is not in the table")
            live.update((file.id, file) for file in commit.added)
        return live

    def with_volume(self, factor: float) -> TableHistory:
        """The history of a table with so many times the rows and bytes in each file."""

        def larger(files: tuple[RecordedFile, ...]) -> tuple[RecordedFile, ...]:
            return tuple(file.with_volume(factor) for file in files)

        commits = (
            replace(commit, added=larger(commit.added), removed=larger(commit.removed))
            for commit in self.commits
        )
        return replace(self, start=larger(self.start), commits=tuple(commits))

    def own_compactions(self, until_ms: int) -> OwnCompactions | None:
        """Those up to a time (milliseconds since 1970 UTC); None if there are none."""
        commits = [commit for commit in self.commits if commit.at_ms <= until_ms]
        compactions = [commit for commit in commits if commit.is_compaction]
        if not compactions:
            return None
        live = replace(self, commits=tuple(commits)).live_after().values()
        data_count = sum(file.is_data for file in live)
        return OwnCompactions(
            count=len(compactions),
            added_bytes=sum(file.size_bytes for commit in compactions for file in commit.added),
            data_files_end=data_count,
            delete_files_end=len(live) - data_count,
        )


def write_history(history: TableHistory, path: Path) -> None:
    """Raises OSError."""
    rows = [_row(0, _START, file) for file in history.start]
    for number, commit in enumerate(history.commits, start=1):
        rows += [_row(number, _REMOVE, file) for file in commit.removed]
        rows += [_row(number, _ADD, file) for file in commit.added]
    head = {
        "schema_version": SCHEMA_VERSION,
        **asdict(history.facts),
        "commits": [[c.at_ms, c.version, c.operation, c.is_compaction, c.wall_s] for c in history.commits],
    }
    columns: Iterable[tuple[Any, ...]] = zip(*rows, strict=True) if rows else ((),) * len(_SCHEMA)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, _SCHEMA, strict=True)]
    schema = _SCHEMA.with_metadata({_METADATA: json.dumps(head)})
    partial = path.with_name(f".{path.name}.partial")  # on a full disk an earlier history stays as it is
    try:
        pq.write_table(pa.table(arrays, schema=schema), partial, compression="zstd")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _row(commit: int, event: str, file: RecordedFile) -> tuple[Any, ...]:
    """Of a removed file only the id is needed."""
    if event == _REMOVE:
        return (commit, event, file.id, *(None,) * (len(_SCHEMA) - 3))
    low, high = file.keys or (None, None)
    target = file.targets[0] if file.targets else None
    return (
        commit, event, file.id, str(file.content), file.size_bytes, file.rows, file.partition, target,
        file.sequence_number, low, high, file.group, file.new_rows, file.hit_rows,
    )  # fmt: skip


def read_history(path: Path) -> TableHistory:
    """Raises ValueError, which names the file and the remedy."""
    remedy = "import the table again, with `compactbench import`"
    if not path.is_file():
        raise ValueError(f"history {path}: no such file; {remedy}")
    try:
        table = pq.ParquetFile(path).read()
        head = json.loads(table.schema.metadata[_METADATA])
        version = head["schema_version"]
        if version != SCHEMA_VERSION:
            raise ValueError(f"history {path}: has version {version} and not {SCHEMA_VERSION}; {remedy}")
        return _history(table, head)
    except (pa.ArrowException, OSError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"history {path}: is damaged ({type(error).__name__}: {error}); {remedy}") from error


def _history(table: pa.Table, head: dict[str, Any]) -> TableHistory:
    names = [field.name for field in fields(HistoryFacts)]
    facts = HistoryFacts(**{name: _frozen(head[name]) for name in names})
    columns = [table.column(name).to_pylist() for name in _SCHEMA.names]
    known: dict[int, RecordedFile] = {}
    added: dict[int, list[RecordedFile]] = {}
    removed: dict[int, list[RecordedFile]] = {}
    for commit, rows in groupby(zip(*columns, strict=True), key=lambda row: row[0]):
        for row in rows:
            if row[1] == _REMOVE:
                removed.setdefault(commit, []).append(known[row[2]])
            else:
                known[row[2]] = _file(*row[2:])
                added.setdefault(commit, []).append(known[row[2]])
    commits = tuple(
        RecordedCommit(
            at_ms, version, operation, is_compaction,
            tuple(added.get(number, ())), tuple(removed.get(number, ())), wall_s,
        )
        for number, (at_ms, version, operation, is_compaction, wall_s) in enumerate(head["commits"], start=1)
    )  # fmt: skip
    return TableHistory(facts, tuple(added.get(0, ())), commits)


def _file(
    id_: int, content: str, size_bytes: int, rows: int, partition: str, target: int | None, number: int,
    low: int | None, high: int | None, group: int | None, new_rows: int | None, hit_rows: int | None,
) -> RecordedFile:  # fmt: skip
    keys = None if low is None or high is None else (low, high)
    targets = () if target is None else (target,)
    return RecordedFile(
        id_, Content(content), size_bytes, rows, partition, targets, number, keys, group, new_rows, hit_rows
    )


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
