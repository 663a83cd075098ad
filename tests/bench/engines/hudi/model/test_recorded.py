"""Histories of Hudi tables, replayed in simulated ones."""

from dataclasses import replace

import pytest
from engine_streams import execute, plan
from hudi_folders import HudiFolder
from hudi_simulations import make
from upsert_commits import commit_specs

from bench.engines.existing import TableAddress
from bench.engines.hudi.existing_table import import_history, open_existing
from strategies.hudi.commands import Command
from strategies.plan import Native
from strategies.state import MIB
from workloads.history import History
from workloads.history_file import TableHistory, write_history
from workloads.recorded import Content, HistoryFacts, RecordedCommit, RecordedFile

MINUTE_MS = 60_000
COMPACTION = plan(Native(Command.COMPACTION, {"strategy": "UnBounded"}))
LOG_COMPACTION = plan(Native(Command.LOG_COMPACTION, {}, {"hoodie.log.compaction.blocks.threshold": "2"}))
CLUSTERING = plan(Native(Command.CLUSTERING, {}))


def base(id_, group, rows, new_rows=None, hit_rows=0, size_bytes=None, partition=""):
    """A base file of 10 bytes a row, by default one with new rows only."""
    size_bytes = 10 * rows if size_bytes is None else size_bytes
    new_rows = rows if new_rows is None else new_rows
    return RecordedFile(
        id_, Content.DATA, size_bytes, rows, partition, group=group, new_rows=new_rows, hit_rows=hit_rows
    )


def log(id_, group, new_rows=0, hit_rows=0, deletes=0, target=None):
    """A log file of 7 bytes a record."""
    records = new_rows + deletes
    return RecordedFile(
        id_, Content.LOG, 7 * records, records, targets=() if target is None else (target,), group=group,
        new_rows=new_rows, hit_rows=hit_rows,
    )  # fmt: skip


def commit(minute, added, removed=(), operation="UPSERT"):
    is_compaction = operation in ("COMPACT", "CLUSTER", "LOG_COMPACT")
    at_ms = minute * MINUTE_MS
    return RecordedCommit(at_ms, str(minute), operation, is_compaction, tuple(added), tuple(removed))


def history(*commits, start=()):
    facts = HistoryFacts("hudi", None, 17, (), 120 * MIB, commits[0].at_ms, commits[-1].at_ms)
    return TableHistory(facts, tuple(start), commits)


@pytest.fixture
def workload(tmp_path):
    """The workload of a history, as of its file."""

    def of(table, **options):
        write_history(table, tmp_path / "history.parquet")
        return History(str(tmp_path / "history.parquet"), **options)

    return of


def opened(workload, **table):
    table = {"index": "simple", "partitioning": workload.partitioning} | table
    return make(schema=workload.schema, **table)


def specs_of(workload, count=20):
    return list(workload.shape(1, count, MINUTE_MS, workload.partitioning))


def replayed(workload, **table):
    engine = opened(workload, **table)
    commit_specs(engine, *specs_of(workload))
    return engine


def files(engine):
    """Base files and log files, by bytes and rows."""
    return files_in(engine.state(0))


def files_in(state):
    return tuple(
        sorted((file.size_bytes, file.rows) for file in files)
        for files in (state.data_files, state.delete_files)
    )


def as_files(*recorded):
    of_data = (
        sorted((f.size_bytes, f.rows) for f in recorded if f.is_data is kind) for kind in (True, False)
    )
    return tuple(of_data)


def test_an_imported_table_has_its_files_again(tmp_path, workload):
    folder = HudiFolder(tmp_path / "orders")
    bases = [folder.base(0, name, "b", size) for name, size in (("f1", 5_000), ("f2", 6_000))]
    folder.commit(0, *bases, operation="INSERT", counts={bases[0]: (500, 0, 0), bases[1]: (600, 0, 0)})
    for at in (2, 4, 6):
        logs = folder.log(at, "f1", "b", 300 + at), folder.log(at, "f2", "b", 200 + at)
        folder.commit(at, *logs, counts={logs[0]: (0, 30, 2), logs[1]: (0, 20, 1)})
    new = folder.base(8, "f2", "b", 6_500)
    folder.commit(8, new, counts={new: (60, 10, 5, 652)})
    folder.commit(10, folder.base(10, "f3", "c", 900), counts={})
    address = TableAddress(str(folder.path))
    engine = replayed(workload(import_history(address, None)))
    table = open_existing(address).state
    assert files(engine) == files_in(table)
    assert {name: stats.size_bytes for name, stats in engine.state(0).partitions.items()} == {
        name: stats.size_bytes for name, stats in table.partitions.items()
    }
    # 500 - 3 x 2, 600 - 3 x 1 + 60 - 5, and 7
    assert engine.model.live_rows == 494 + 652 + 7


LOAD = base(0, 1, 1000), base(1, 2, 500)
LOGS = log(2, 1, 40, 50, deletes=10, target=0), log(3, 1, 20, 20, target=0)


def with_compaction():
    """Group 1 is compacted between its second and its third log file."""
    merged, last = base(4, 1, 990, new_rows=0, size_bytes=9_500), log(5, 1, 30, 30, target=4)
    return history(
        commit(0, LOAD, operation="INSERT"), commit(1, [LOGS[0]]), commit(2, [LOGS[1]]),
        commit(3, [merged], [LOAD[0], *LOGS], "COMPACT"), commit(4, [last]),
    ), (merged, last)  # fmt: skip


def test_a_compaction_is_left_out(workload):
    table, (_, last) = with_compaction()
    engine = replayed(workload(table))
    assert files(engine) == as_files(*LOAD, *LOGS, last)
    assert engine.model.live_rows == 1490


def test_a_compaction_is_replayed_as_recorded(workload):
    table, (merged, last) = with_compaction()
    engine = replayed(workload(table, undo_compactions=False))
    assert files(engine) == as_files(merged, LOAD[1], last)
    assert engine.model.live_rows == 1490


def test_a_log_compaction_adds_a_log_file_and_replaces_none(workload):
    merged = replace(log(4, 1), rows=65, size_bytes=400)
    table = history(
        commit(0, LOAD), commit(1, [LOGS[0]]), commit(2, [LOGS[1]]), commit(3, [merged], (), "LOG_COMPACT")
    )
    assert files(replayed(workload(table))) == as_files(*LOAD, *LOGS)
    engine = replayed(workload(table, undo_compactions=False))
    assert files(engine) == as_files(*LOAD, *LOGS, merged)
    assert engine.model.live_rows == 1490


def test_the_same_compaction_in_a_simulation_keeps_the_size_of_the_group(workload):
    """Group 1 has larger rows than group 2; its base file shrinks by 1 % of its rows."""
    large = replace(LOAD[0], size_bytes=20_000)
    engine = opened(table := workload(history(commit(0, [large, LOAD[1]]), commit(1, LOGS))))
    commit_specs(engine, *specs_of(table))
    execute(engine, COMPACTION, 2 * MINUTE_MS)
    merged, other = files(engine)[0][::-1]
    assert (merged[1], other, files(engine)[1]) == (990, (5_000, 500), [])
    assert merged[0] == pytest.approx(20_000 * 0.99, rel=0.01)
    assert engine.model.live_rows == 1490


def test_log_files_follow_their_group_through_a_clustering(workload):
    engine = opened(table := workload(history(commit(0, LOAD), commit(1, [LOGS[0]]), commit(4, [LOGS[1]]))))
    load, first, *_, last = [spec for spec in specs_of(table, 6) if spec.recorded]
    commit_specs(engine, load, first)
    execute(engine, CLUSTERING, 2 * MINUTE_MS)
    commit_specs(engine, last)
    (clustered,), ((size_bytes, records),) = files(engine)
    assert (clustered[1], size_bytes, records) == (1490, 140, 20)
    (merged,) = engine.state(0).file_slices.values()
    assert len(merged.logs) == 1
    assert engine.model.live_rows == 1490


def test_a_base_file_replaces_the_group_that_has_its_rows_now(workload):
    new = base(2, 1, 1010, new_rows=30, hit_rows=20)
    engine = opened(table := workload(history(commit(0, LOAD), commit(4, [new], [LOAD[0]]))))
    load, last = [spec for spec in specs_of(table, 6) if spec.recorded]
    commit_specs(engine, load)
    execute(engine, CLUSTERING, 2 * MINUTE_MS)
    outcome = commit_specs(engine, last)
    ((size_bytes, rows),), logs = files(engine)
    assert (rows, logs, outcome.change.files_removed_count) == (1_510, [], 1)
    assert size_bytes == pytest.approx(15_100, rel=0.15)  # beyond all recorded sizes
    assert engine.model.live_rows == 1_510


def with_clustering():
    """Both groups are clustered into group 3, which gets a log file, and a base file with new rows."""
    clustered, late = base(2, 3, 1500), log(3, 3, 100, 110, deletes=10, target=2)
    new = base(4, 3, 1520, new_rows=50, hit_rows=20)
    return (
        commit(0, LOAD), commit(1, [clustered], LOAD, "CLUSTER"), commit(2, [late]),
        commit(3, [new], [clustered, late]),
    ), late, new  # fmt: skip


def test_hits_of_a_clustered_group_are_in_all_groups_of_a_clustering_that_is_left_out(workload):
    commits, late, _ = with_clustering()
    engine = replayed(workload(history(*commits[:3])))
    assert files(engine) == as_files(*LOAD, late)
    assert engine.model.live_rows == 1_490
    execute(engine, COMPACTION, 9 * MINUTE_MS)
    # Of 110 hits, 73 are in the 1,000 rows of group 1, and it has the 100 new rows.
    assert sorted(rows for _, rows in files(engine)[0]) == [500, 1_027]


def test_a_base_file_of_a_clustered_group_replaces_all_groups_of_a_clustering_that_is_left_out(workload):
    commits, _, new = with_clustering()
    for options in ({}, {"undo_compactions": False}):
        engine = replayed(workload(history(*commits), **options))
        assert files(engine) == as_files(new)
        assert engine.model.live_rows == 1_520


def test_no_row_is_lost_where_a_clustering_that_is_left_out_had_made_more_groups(workload):
    clustered = [base(10 + number, 3 + number, 500) for number in range(3)]
    new = [base(20 + n, 3 + n, 520, new_rows=30, hit_rows=10) for n in range(3)]
    commits = commit(0, LOAD), commit(1, clustered, LOAD, "CLUSTER"), commit(2, new, clustered)
    engine = replayed(workload(history(*commits)))
    assert len(files(engine)[0]) == 3
    assert engine.model.live_rows == 1_560 + 10  # the group that only it has, has no row to hit


def test_groups_that_are_replaced_or_deleted_leave(workload):
    new = base(9, 3, 300)
    overwritten = history(commit(0, LOAD), commit(1, LOGS), commit(2, [new], [LOAD[0], *LOGS]))
    assert files(replayed(workload(overwritten))) == as_files(LOAD[1], new)
    deleted = history(commit(0, LOAD), commit(1, [], [LOAD[1]], "DELETE_PARTITION"))
    engine = replayed(workload(deleted))
    assert files(engine) == as_files(LOAD[0])
    assert engine.model.live_rows == 1_000


def test_a_group_leaves_one_that_a_clustering_has_merged_it_into(workload):
    gone = commit(4, [], [LOAD[0]], "DELETE_PARTITION")
    engine = opened(table := workload(history(commit(0, LOAD), gone, commit(5, [], [LOAD[1]]))))
    load, first, last = [spec for spec in specs_of(table, 9) if spec.recorded]
    commit_specs(engine, load)
    execute(engine, CLUSTERING, 2 * MINUTE_MS)
    commit_specs(engine, first)
    assert (len(files(engine)[0]), engine.model.live_rows) == (1, 500)
    commit_specs(engine, last)
    assert (files(engine), engine.model.live_rows) == (([], []), 0)


def test_a_simulated_log_compaction_merges_recorded_log_files(workload):
    engine = replayed(workload(history(commit(0, LOAD), commit(1, [LOGS[0]]), commit(2, [LOGS[1]]))))
    execute(engine, LOG_COMPACTION, 9 * MINUTE_MS)
    merged, *_ = sorted(set(files(engine)[1]) - set(as_files(*LOGS)[1]))
    # The second log file hits 20 of 990 rows, 0.8 in the first one: of the rows in both 59.2 are live.
    assert merged[1] == 60 + 10
    assert engine.model.live_rows == 1_490


def test_commits_compact_inline(workload):
    properties = {"hoodie.compact.inline": "true", "hoodie.compact.inline.max.delta.commits": "3"}
    table = workload(history(commit(0, LOAD), commit(1, [LOGS[0]]), commit(2, [LOGS[1]])))
    engine = replayed(table, properties=properties)
    bases, logs = files(engine)
    assert (sorted(rows for _, rows in bases), logs) == ([500, 990], [])


def test_a_plan_for_a_group_that_a_commit_has_replaced_leaves_it_out(workload):
    new = base(4, 1, 995, new_rows=15, hit_rows=10)
    commits = commit(0, LOAD), commit(1, LOGS), commit(4, [new], [LOAD[0], *LOGS])
    engine = opened(table := workload(history(*commits)))
    load, logs, last = [spec for spec in specs_of(table, 9) if spec.recorded]
    commit_specs(engine, load, logs)
    ticket = engine.schedule(COMPACTION, 2 * MINUTE_MS, 5 * MINUTE_MS)
    commit_specs(engine, last)
    engine.complete(ticket, 5 * MINUTE_MS)
    assert files(engine) == as_files(new, LOAD[1])


def test_upserts_look_up_their_keys_without_buckets(workload):
    table = workload(history(commit(0, LOAD, operation="INSERT"), commit(1, [LOGS[0]])))
    for index, count in (("simple", 2), ("bucket", 0)):
        engine = opened(table, index=index)
        first, last = [spec for spec in specs_of(table) if spec.recorded]
        assert commit_specs(engine, first).work.looked_up_files_count == 0
        assert commit_specs(engine, last).work.looked_up_files_count == count


def test_the_files_at_the_start_are_one_commit(workload):
    table = history(commit(1, [LOGS[1]]), start=(*LOAD, LOGS[0]))
    engine = replayed(workload(table))
    assert files(engine) == as_files(*LOAD, *LOGS)
    assert engine.model.live_rows == 1_490
    assert len(engine.state(0).timeline) == 2
