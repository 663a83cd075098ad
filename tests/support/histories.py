"""Histories of tables from what their tests vary."""

from contextlib import contextmanager
from dataclasses import replace

from bench.engines.contract import Batch, EngineSettings, TableSpec
from bench.engines.registry import FORMATS
from strategies.planner import consult
from workloads.history import History
from workloads.history_file import TableHistory, write_history
from workloads.recorded import Content, HistoryFacts, RecordedCommit, RecordedFile

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
    known = HistoryFacts(table_format, {}, 17, (), 128 * 2**20, times_ms[0], times_ms[-1])
    return TableHistory(replace(known, **facts), tuple(start), tuple(commits))


def written(folder, *commits, name="t", **facts):
    """The path of a history file."""
    path = folder / f"{name}.history.parquet"
    write_history(history(*commits, **facts), path)
    return path


@contextmanager
def replayed(recorded, folder, planner=None, after=(), **options):
    """A simulated table after all commits of a history; `options` are the workload's.

    The `planner` is asked after the commits with the indexes `after`.
    """
    path = folder / "replayed.history.parquet"
    write_history(recorded, path)
    workload = History(str(path), **options)
    kind = FORMATS[workload.facts.format].engines.simulated
    spec = TableSpec(
        recorded.facts.target_file_size_bytes, workload.partitioning, schema=workload.schema,
        stream_epoch_ms=workload.stream_epoch_ms,
    )  # fmt: skip
    with kind.open(EngineSettings(folder, spec)) as engine:
        engine.create()
        for commit_spec in workload.shape(1, len(recorded.commits), MINUTE_MS, workload.partitioning):
            at_ms = commit_spec.at_ms
            engine.commit(Batch(commit_spec, (), commit_spec.expected_bytes), at_ms)
            plan = consult(planner, engine.state(at_ms)).plan if commit_spec.index in after else None
            if plan is not None:
                outcome = engine.complete(engine.schedule(plan, at_ms, at_ms), at_ms)
                assert outcome.status == "ok", outcome.error
        yield engine


def described(files):
    """Live files without their names: kind, partition, bytes and rows of each."""
    return sorted((type(file).__name__, file.partition, file.size_bytes, file.rows) for file in files)


def live(engine):
    state = engine.state(0)
    return described([*state.data_files, *state.delete_files])
