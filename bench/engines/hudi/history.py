"""The history of a Hudi table, from its timeline and one listing of its files.

Every write states the size of its files, and how many rows of each it inserted, updated and deleted, also
after it was archived. So cleaning and archiving hide nothing, except in tables of version 6, whose archived
instants are not read. Which files a write replaces follows from the rules of file slices
(`bench.engines.hudi.slices`).

Source: HoodieWriteStat, HoodieAppendHandle and HoodieMergeHandle of Hudi 1.2.0.
"""

import itertools
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from bench.engines.existing import no_commits
from bench.engines.hudi.existing_state import DEFAULT_MAX_FILE_BYTES, StateReading
from bench.engines.hudi.history_hits import with_known_hits
from bench.engines.hudi.packing import DEFAULT_ROW_BYTES
from bench.engines.hudi.slices import StoredFile, has_buckets, is_later, latest_slices, stored_file
from bench.engines.hudi.table_keys import METADATA_TABLE, has_metadata_table, partition_columns
from bench.engines.hudi.timeline import (
    SERVICES,
    Fields,
    columns_of,
    is_base,
    joined,
    replaced_groups,
    tag_of,
    write_stats,
    written_files,
)
from bench.engines.hudi.timeline_files import TimelineFiles, Write
from bench.errors import ScenarioError
from bench.text import counted
from strategies.hudi.commands import Command
from strategies.hudi.files import FileGroupId
from workloads.history_file import TableHistory
from workloads.recorded import Content, HistoryFacts, RecordedCommit, RecordedFile

_OWN_COLUMNS = "_hoodie_"
_ALL = 0.995  # 100 %, when it is rounded


def read_history(
    reading: StateReading, files: TimelineFiles, properties: Mapping[str, str], since_ms: int | None
) -> TableHistory:
    """The writes of a table, from `since_ms` (see `StateReading.ms_of`) on if it is given.

    Raises ScenarioError if there are none, or if the files in the listing are not those that they left.
    """
    writes = _writes(reading, files.archived())
    table = _Table(reading, writes)
    applied = [table.apply(write) for write in writes]
    more_count = _check(table, reading, files.place)
    commits, share = with_known_hits([one.commit for one in applied])
    gap = max((number for number, one in enumerate(applied, start=1) if not one.is_complete), default=0)
    early = sum(since_ms is not None and commit.at_ms < since_ms for commit in commits)
    first = max(gap, early)
    kept = tuple(commit for commit in commits[first:] if commit.added or commit.removed)
    if not kept:
        if early > gap:
            raise no_commits(commits[-1].at_ms, files.place)
        problem = "has no commit of which all files are known: import it again after some more commits"
        raise ScenarioError(problem, code="empty", path=files.place)
    facts = HistoryFacts(
        format="hudi",
        table_keys={
            "index": "bucket" if table.has_buckets else "simple",
            **({f'properties."{METADATA_TABLE}"': "true"} if has_metadata_table(properties) else {}),
        },
        columns_count=_columns_count(writes),
        partition_columns=partition_columns(properties),
        target_file_size_bytes=DEFAULT_MAX_FILE_BYTES,
        from_ms=kept[0].at_ms,
        until_ms=kept[-1].at_ms,
    )
    start = TableHistory(facts, table.start, tuple(commits[:first])).live_after().values()
    notes = [*_notes(table, files, properties, commits[gap - 1].version if gap else None, share)]
    if more_count:
        notes.append(f"{counted(more_count, 'file')} in the folder that no write states are left out")
    return TableHistory(replace(facts, notes=tuple(notes)), tuple(start), kept)


def _writes(reading: StateReading, archived: Mapping[str, Write]) -> list[Write]:
    """In the order of completion; those that only a savepoint keeps in the timeline are left out."""
    known = {**archived, **{write.requested: write for write in reading.writes}}
    start = min([*archived, reading.start])
    writes = (write for write in known.values() if write.requested >= start)
    return sorted(writes, key=lambda write: (write.completed, write.requested))


@dataclass(frozen=True, slots=True)
class _Placed:
    file: StoredFile
    recorded: RecordedFile


@dataclass(frozen=True, slots=True)
class _Applied:
    """A write; it is complete if all files that it replaces are known."""

    commit: RecordedCommit
    is_complete: bool


class _Table:
    """The files of a table, as its writes leave them. `start` are those from before the first write."""

    def __init__(self, reading: StateReading, writes: Sequence[Write]) -> None:
        self._ms_of, self._ids = reading.ms_of, itertools.count()
        self._completions = {write.requested: write.completed for write in writes}
        self._sizes = Counter[str]()  # as of now: in version 6 several commits may append to a log file
        self.has_logs = self.has_appended = False
        written = {path for write in writes for path, _, _ in written_files(write.commit)}
        before = min(self._completions, default="")
        older = [file for file in reading.stored if file.path not in written and file.instant < before]
        files = latest_slices(older, frozenset(), lambda file: True, self._completion_of)
        groups = {file.group for file in files} | {group for write in writes for group in _groups_of(write)}
        self.has_buckets = has_buckets(groups)
        self._numbers = {group: number for number, group in enumerate(sorted(groups))}
        self._live = defaultdict[FileGroupId, list[_Placed]](list)
        row_bytes = _row_bytes(writes)
        for file in sorted(files, key=lambda file: (file.group, file.is_log, file.instant, file.path)):
            self._live[file.group].append(self._before(file, row_bytes[file.is_log]))
        self.start = tuple(placed.recorded for placed in self._placed)

    @property
    def _placed(self) -> Iterator[_Placed]:
        return itertools.chain.from_iterable(self._live.values())

    @property
    def live_bytes(self) -> Mapping[str, int]:
        """By path."""
        sizes = Counter[str]()
        for placed in self._placed:
            sizes[placed.file.path] += placed.recorded.size_bytes
        return sizes

    def apply(self, write: Write) -> _Applied:
        operation = str(write.commit.get("operationType") or write.action)
        added, removed, is_complete = list[RecordedFile](), list[RecordedFile](), True
        for group in sorted(replaced_groups(write.commit)):
            gone = self._live.pop(group, [])
            is_complete &= bool(gone)
            removed += (placed.recorded for placed in gone)
        for partition, stat in write_stats(write.commit):
            file = stored_file(stat["path"], stat["fileSizeInBytes"])
            if file is None:
                continue
            slice_ = self._live[file.group]
            if not file.is_log:
                gone = [old for old in slice_ if not self._is_later(old.file, file)]
                is_complete &= _names_all(stat, partition, gone)
                removed += (placed.recorded for placed in gone)
                slice_[:] = [old for old in slice_ if self._is_later(old.file, file)]
            slice_.append(_Placed(file, self._written(file, stat, operation, slice_)))
            added.append(slice_[-1].recorded)
        requested_ms, at_ms = self._ms_of(write.requested), self._ms_of(write.completed)
        commit = RecordedCommit(
            at_ms, write.requested, operation, _is_compaction(write), tuple(added), tuple(removed),
            (at_ms - requested_ms) / 1000 if at_ms > requested_ms else None,
        )  # fmt: skip
        return _Applied(commit, is_complete)

    def _is_later(self, old: StoredFile, base: StoredFile) -> bool:
        return old.is_log and is_later(old, base, self._completion_of)

    def _completion_of(self, instant: str) -> str:
        return self._completions.get(instant, instant)

    def _before(self, file: StoredFile, row_bytes: float) -> _Placed:
        content = Content.LOG if file.is_log else Content.DATA
        return _Placed(
            file,
            RecordedFile(
                next(self._ids), content, file.size_bytes, round(file.size_bytes / row_bytes),
                file.group.partition, group=self._numbers[file.group],
            ),
        )  # fmt: skip

    def _written(
        self, file: StoredFile, stat: Fields, operation: str, before: Sequence[_Placed]
    ) -> RecordedFile:
        """A log file is for the base file of its slice. Merging log files or file slices changes no row."""
        counts = ("numInserts", "numUpdateWrites", "numDeletes")
        inserts, updates, deletes = (stat.get(name) or 0 for name in counts)
        match SERVICES.get(operation):
            case Command.COMPACTION | Command.LOG_COMPACTION:
                new_rows = hit_rows = 0
            case Command.CLUSTERING:
                new_rows, hit_rows = stat["numWrites"], 0
            case _:
                new_rows, hit_rows = inserts + updates, updates + deletes
        rows = stat["numWrites"] + (deletes if file.is_log else 0)
        self.has_logs |= file.is_log
        self.has_appended |= file.path in self._sizes
        size_bytes = file.size_bytes - self._sizes[file.path]
        self._sizes[file.path] += size_bytes
        base = next((old.recorded.id for old in before if not old.file.is_log), None)
        return RecordedFile(
            next(self._ids),
            Content.LOG if file.is_log else Content.DATA,
            size_bytes,
            rows,
            file.group.partition,
            targets=() if base is None else (base,),
            group=self._numbers[file.group],
            new_rows=new_rows,
            hit_rows=hit_rows,
        )


def _groups_of(write: Write) -> Iterator[FileGroupId]:
    files = (stored_file(path, size_bytes) for path, size_bytes, _ in written_files(write.commit))
    return (file.group for file in files if file is not None)


def _names_all(stat: Fields, partition: str, gone: Collection[_Placed]) -> bool:
    """Whether the files that a new base file replaces are all that its write names and counts."""
    base, logs_count = stat.get("prevBaseFile"), stat.get("totalLogFilesCompacted") or 0
    paths = {placed.file.path for placed in gone}
    is_base_known = not base or joined(partition, base) in paths
    return is_base_known and logs_count <= sum(placed.file.is_log for placed in gone)


def _is_compaction(write: Write) -> bool:
    tag = tag_of(write.commit)
    is_by_compactor = tag is not None and not tag.is_of_writer
    return is_by_compactor or write.commit.get("operationType") in SERVICES


def _row_bytes(writes: Iterable[Write]) -> Mapping[bool, float]:
    """The mean bytes of a row in base files (False), and of a record in log files (True)."""
    size_bytes, rows = Counter[bool](), Counter[bool]()
    for write in writes:
        for path, own_bytes, own_rows in written_files(write.commit):
            size_bytes[not is_base(path)] += own_bytes
            rows[not is_base(path)] += own_rows
    return {key: size_bytes[key] / rows[key] if rows[key] else DEFAULT_ROW_BYTES for key in (False, True)}


def _check(table: _Table, reading: StateReading, place: str) -> int:
    """Compare the files that the writes leave with those of the latest file slices in the folder.

    Returns how many there are beyond them, such as those of a rollback. Raises ScenarioError if others lack.
    """
    stated, listed = table.live_bytes, {file.path: file.size_bytes for file in reading.live()}
    for path, size_bytes in stated.items():
        if listed.get(path) != size_bytes:
            found = f"has {listed[path]:,}" if path in listed else "is not"
            raise ScenarioError(
                f"{path} has {size_bytes:,} bytes by the timeline, and {found} in the folder: check the "
                "table with its own engine",
                code="damaged",
                path=place,
            )
    return len(listed) - len(stated)


def _columns_count(writes: Sequence[Write]) -> int:
    columns = next(filter(None, (columns_of(write.commit) for write in reversed(writes))), ())
    return sum(not name.startswith(_OWN_COLUMNS) for name in columns)


def _notes(
    table: _Table, files: TimelineFiles, properties: Mapping[str, str], gap: str | None, share: float | None
) -> Iterator[str]:
    """`gap` is the last instant that replaced files which are not known."""
    if properties.get("hoodie.table.timeline.timezone", "LOCAL").upper() != "UTC":
        yield "times are as on the clock of the writer, whose time zone the table does not record"
    if files.is_early:
        yield "archived instants of a table of version 6 are not read"
    if gap is not None:
        yield f"the history begins after instant {gap}, which replaced files that have been cleaned since"
    if table.start:
        yield (
            f"{counted(len(table.start), 'file')} are older than the first write that is known: their rows "
            "are estimated from their sizes"
        )
    if table.has_appended:
        yield "a log file that several writes appended to counts as one file for each of them"
    if share is not None and share < _ALL:
        yield f"{share:.0%} of the records in log files changed a row, by the rows that compactions kept"
    if share is None and table.has_buckets and table.has_logs:
        yield (
            "with a bucket index a write does not state which records of log files are new rows, and no "
            "compaction tells: all are taken to change a row"
        )
