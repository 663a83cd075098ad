"""Histories of tables from what their tests vary."""

from dataclasses import replace

from workloads.history_file import HistoryFacts, TableHistory, write_history
from workloads.recorded import Content, RecordedCommit, RecordedFile

START_MS = 1_800_000_000_000
MINUTE_MS = 60_000


def data(id_, rows=100, size_bytes=10_000, partition="", **fields):
    return RecordedFile(id_, Content.DATA, size_bytes, rows, partition, **fields)


def positions(id_, target, rows, partition=""):
    return RecordedFile(id_, Content.POSITION, 1_500, rows, partition, (target,))


def equality(id_, rows, partition=""):
    return RecordedFile(id_, Content.EQUALITY, 900, rows, partition)


def commit(minute, added=(), removed=(), *, is_compaction=False, operation="append"):
    at_ms = START_MS + minute * MINUTE_MS
    return RecordedCommit(at_ms, f"v{minute}", operation, is_compaction, tuple(added), tuple(removed))


def history(*commits, start=(), table_format="iceberg", **facts):
    times_ms = [one.at_ms for one in commits] or [START_MS]
    known = HistoryFacts(table_format, 2, 17, (), 128 * 2**20, times_ms[0], times_ms[-1])
    return TableHistory(replace(known, **facts), tuple(start), tuple(commits))


def written(folder, *commits, name="t", **facts):
    """The path of a history file."""
    path = folder / f"{name}.history.parquet"
    write_history(history(*commits, **facts), path)
    return path
