"""A stream of synthetic rows with about the files of an imported table, so that policies can run for real."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, median

from bench.engines.existing import Importing
from bench.engines.format import Format, SizeModel
from bench.engines.keys import duration_ms_text
from bench.errors import ScenarioError
from bench.importing.new_scenario import Stream, stream_text
from bench.importing.row_count import rows_of_file
from bench.importing.scenario import one_line, own_times, planners_for
from bench.importing.time_grid import TimeGrid, replay_grid
from bench.text import counted, human_duration
from workloads.history import change_of, nearest_width, ticks_of
from workloads.history_file import TableHistory
from workloads.recorded import Content, RecordedChange, RecordedCommit, RecordedFile
from workloads.schema import SCHEMAS

_REWRITES_MAX = 0.1  # of the rows that commits add, for these rows to be taken as those of the stream
_LOAD = 10  # times the rows of a commit, from which the first one is a load
_FEW_PARTITIONS = 2
_MERGE_ON_READ = "merge-on-read"


@dataclass(frozen=True, slots=True)
class StandIn:
    """`rows` are the changes of each tick, from 1 on. A typical commit has `files_count` of `file_bytes`.

    `overhead` is how much larger its files are than as parts of a merged file, over that at full scale.
    """

    stream: Stream
    rows: tuple[int, ...]
    files_count: int
    file_bytes: int
    overhead: float

    @property
    def commits_count(self) -> int:
        return sum(map(bool, self.rows))


def stand_in(
    history: TableHistory, grid: TimeGrid, scale: float, table_format: Format, table: str
) -> StandIn:
    """A stand-in for `table`, with `scale` times its bytes in as many files.

    Rows follow from bytes, because the orders table of the nearest width has rows of another size. Raises
    ScenarioError if the history does not tell which rows the stream added and changed.
    """
    if history.facts.target_file_size_bytes * scale < 1:
        raise ScenarioError("leaves a target file size of 0 bytes", code="out-of-range", path="--scale")
    facts, width = history.facts, nearest_width(history.facts.columns_count)
    size_of = table_format.engines.size_model(SCHEMAS[width])
    start, stream = _loaded(history)
    rows = {file.id: file.rows for file in history.files if file.is_data}
    changes = [change_of(commit, facts.hit_share or 0.0, rows) for commit in stream]
    written = [[file for file in change.added if file.is_data] for change in changes]
    _check(history, changes, written, table)
    files_count = max(1, round(fmean(len(files) for files in written if files)))
    sized = [_rows_in(size_of, files, scale) for files in written]
    inserts = _insert_share(changes, written)
    ticks = dict(
        zip(ticks_of((one.at_ms for one in stream), facts.from_ms, grid.interval_ms), sized, strict=True)
    )
    typical_rows = round(median(filter(None, sized)))
    partitioning, partitions = _partitions(history, written)
    made = Stream(
        facts.format, grid.interval_ms, typical_rows,
        files_per_commit=max(1, round(files_count / partitions)),  # each writer writes to all partitions
        initial_rows=_rows_in(size_of, start, scale) or (None if inserts == 1 else 1),
        initial_files=len(start),
        insert_share=inserts,
        upsert_mode=_upsert_mode(history, table_format),
        commits=grid.ticks_count,
        target_file_size_bytes=round(facts.target_file_size_bytes * scale),
        table_keys=facts.table_keys,
        columns=width,
        partitioning=partitioning, buckets=partitions if partitioning == "bucket" else None,
    )  # fmt: skip
    file_bytes = size_of(typical_rows, files_count) // files_count
    rows_of_ticks = tuple(ticks.get(tick, 0) for tick in range(1, grid.ticks_count + 1))
    full_rows = sum(_rows_in(size_of, files, 1.0) for files in written) / sum(map(len, written))
    overhead = _overhead(size_of, typical_rows / files_count) / _overhead(size_of, full_rows)
    return StandIn(made, rows_of_ticks, files_count, file_bytes, overhead)


def _overhead(size_of: SizeModel, rows: float) -> float:
    """The bytes of a row in a file of so many rows, over those in a file of a thousand times as many."""
    few, many = max(1, round(rows)), max(1, round(1000 * rows))
    return size_of(few, 1) / few / (size_of(many, 1) / many)


def _loaded(history: TableHistory) -> tuple[Sequence[RecordedFile], Sequence[RecordedCommit]]:
    """The data files at the start, and the commits of the stream.

    A first commit that fills an empty table with far more rows than the others add is no part of the stream.
    """
    start = [file for file in history.start if file.is_data]
    stream = history.stream
    added = [[file for file in commit.added if file.is_data] for commit in stream]
    counts = [sum(file.rows for file in files) for files in added]
    if not start and len(stream) > 1 and counts[0] > _LOAD * median(counts[1:]):
        return added[0], stream[1:]
    return start, stream


def _check(
    history: TableHistory,
    changes: Sequence[RecordedChange],
    written: Sequence[Sequence[RecordedFile]],
    table: str,
) -> None:
    added = sum(file.rows for files in written for file in files)
    removed = [(sum(file.rows for file in change.removed), any(change.added)) for change in changes]
    rewritten = sum(rows for rows, is_replaced in removed if is_replaced)
    dropped = sum(rows for rows, is_replaced in removed if not is_replaced)
    reason = None
    if any(file.group is not None for file in history.files):
        reason = "which rows go to which of Hudi's file groups follows from its index"
    elif not added:
        reason = "no commit adds data files, so there is no stream to imitate"
    elif rewritten > _REWRITES_MAX * added:
        reason = "its commits copy files to change rows, and do not record how many rows they changed"
    elif dropped > _REWRITES_MAX * added:
        reason = "its commits remove whole files, as retention does"
    if reason is not None:
        raise ScenarioError(
            f"{table} cannot be imitated: {reason}; to measure policies on a stream that is like its own, "
            "describe that to `compactbench init`",
            code="unsupported",
            path="--stand-in",
        )


def _rows_in(size_of: SizeModel, files: Sequence[RecordedFile], scale: float) -> int:
    """The rows that have `scale` times the bytes of these files, at least one for each."""
    return sum(rows_of_file(scale * file.size_bytes, size_of) for file in files)


def _insert_share(changes: Sequence[RecordedChange], written: Sequence[Sequence[RecordedFile]]) -> float:
    """What is deleted without a new row in its place counts as an update too: a stream has few deletes."""
    added = sum(file.rows for files in written for file in files)
    return max(0.0, 1 - sum(change.deleted_rows for change in changes) / added)


def _upsert_mode(history: TableHistory, table_format: Format) -> str | None:
    """Merge on read, if the table has deletions by position; None is the default of the format."""
    by_position = any(file.content in (Content.POSITION, Content.VECTOR) for file in history.files)
    by_key = any(file.content is Content.EQUALITY for file in history.files)
    is_known = _MERGE_ON_READ in table_format.writer.upsert_modes
    return _MERGE_ON_READ if by_position and is_known and not by_key else None


def _partitions(history: TableHistory, written: Sequence[Sequence[RecordedFile]]) -> tuple[str, int]:
    """How the stand-in is partitioned, and to how many partitions a commit writes.

    By day if a commit of the table writes to one or two partitions, otherwise by bucket.
    """
    if not history.facts.partition_columns:
        return "none", 1
    count = round(median(len({file.partition for file in files}) for files in written if files))
    return ("day", 1) if count <= _FEW_PARTITIONS else ("bucket", count)


def stand_in_text(
    one: StandIn, history: TableHistory, imports: Importing, table: str, file: Path, trace: Path
) -> str:
    """A scenario file with the policies and the probes' cadence of the table's own scenario, on its stand-in.

    `trace` has the rows of each commit, and is next to `file`.
    """
    stream, grid = one.stream, replay_grid(history)
    facts = replace(history.facts, target_file_size_bytes=stream.target_file_size_bytes)
    commits, files = counted(one.commits_count, "commit"), counted(one.files_count, "file")
    span = human_duration(grid.duration_ms / 1000)
    planners = planners_for(replace(history, facts=facts), imports)
    return stream_text(
        stream, grid, planners, imports, facts.table_keys, file,
        stand_in=one_line(table), trace=trace.name, commits=commits,
        description=f"{commits} of {stream.changes_text} (median) in about {files} each, in {span}.",
        probe_every=duration_ms_text(grid.probe_every_ms),
        own_times=own_times(history, grid),
    )  # fmt: skip


def trace_text(one: StandIn) -> str:
    """A file for `workloads.trace`: the rows of each tick, at its beginning."""
    interval_s = one.stream.commit_interval_ms / 1000
    lines = (f"{tick * interval_s:.3f},{rows}" for tick, rows in enumerate(one.rows) if rows)
    return "\n".join(["time,rows", *lines, ""])
