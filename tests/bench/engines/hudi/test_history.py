"""Histories of tables in folders written by hand."""

import pytest
from hudi_folders import PROPERTIES, HudiFolder, minute
from refused import refused

from bench.engines.existing import TableAddress
from bench.engines.hudi.existing_table import import_history, open_existing
from strategies.state import MIB
from workloads.recorded import Content

MINUTE_MS = 60_000
EPOCH_MS = 1_767_225_600_000  # 2026-01-01


@pytest.fixture
def table(tmp_path):
    """Two groups; 3 updates and 1 delete in a log file of f1, which is compacted; then a log file of both."""
    folder = HudiFolder(tmp_path / "orders")
    f1, f2 = folder.base(0, "f1"), folder.base(0, "f2")
    folder.commit(0, f1, f2, operation="INSERT", counts={f1: (50, 0, 0), f2: (40, 0, 0)})
    log = folder.log(2, "f1")
    folder.commit(2, log, counts={log: (0, 3, 1)})
    merged = folder.base(4, "f1", size_bytes=90)
    folder.plan(4, ("a", "f1"))
    folder.commit(4, merged, action="commit", operation="COMPACT", counts={merged: (0, 3, 1, 49)})
    logs = folder.log(6, "f1"), folder.log(6, "f2")
    folder.commit(6, *logs, counts={logs[0]: (0, 5, 0), logs[1]: (0, 0, 2)})
    return folder


def imported(folder, since_ms=None):
    return import_history(TableAddress(str(folder.path)), since_ms)


def files(history):
    """Files of each commit that it added and removed: content, group, bytes, rows, new rows, rows hit."""
    known = {file.id: number for number, file in enumerate(history.files)}
    return [
        (
            [(str(f.content), f.group, f.size_bytes, f.rows, f.new_rows, f.hit_rows) for f in commit.added],
            [known[file.id] for file in commit.removed],
        )
        for commit in history.commits
    ]


def check_live(folder, history):
    """The files that the commits leave are those of the table."""
    state = open_existing(TableAddress(str(folder.path))).state
    table = [(True, file.size_bytes, file.rows, file.partition) for file in state.data_files]
    table += [(False, file.size_bytes, file.rows, file.partition) for file in state.delete_files]
    live = history.live_after().values()
    assert sorted((f.is_data, f.size_bytes, f.rows, f.partition) for f in live) == sorted(table)


def test_every_write_has_its_files_and_the_rows_it_changed(table):
    history = imported(table)
    assert files(history) == [
        ([("data", 0, 100, 50, 50, 0), ("data", 1, 100, 40, 40, 0)], []),
        ([("log", 0, 10, 4, 3, 4)], []),
        ([("data", 0, 90, 49, 0, 0)], [0, 2]),
        ([("log", 0, 10, 5, 5, 5), ("log", 1, 10, 2, 0, 2)], []),
    ]
    assert [commit.operation for commit in history.commits] == ["INSERT", "UPSERT", "COMPACT", "UPSERT"]
    assert [commit.is_compaction for commit in history.commits] == [False, False, True, False]
    assert [commit.at_ms - EPOCH_MS for commit in history.commits] == [at * MINUTE_MS for at in (1, 3, 5, 7)]
    assert {commit.wall_s for commit in history.commits} == {60.0}
    check_live(table, history)
    facts = history.facts
    assert (facts.format, facts.partition_columns, facts.columns_count) == ("hudi", ("day",), 1)
    assert (facts.from_ms, facts.until_ms) == (history.commits[0].at_ms, history.commits[-1].at_ms)
    assert facts.target_file_size_bytes == 120 * MIB


def test_a_metadata_table_is_kept_in_a_replay_too(tmp_path):
    properties = {**PROPERTIES, "hoodie.table.metadata.partitions": "column_stats,files"}
    folder = HudiFolder(tmp_path / "orders", properties)
    folder.commit(0, folder.base(0, "f1"))
    keys = {"index": "simple", 'properties."hoodie.metadata.enable"': "true"}
    assert imported(folder).facts.table_keys == keys


def test_log_files_are_for_the_base_file_of_their_slice(table):
    (first, _), (log,), (merged,), later = (commit.added for commit in imported(table).commits)
    assert (log.targets, later[0].targets) == ((first.id,), (merged.id,))


def test_archiving_and_cleaning_hide_nothing(table):
    before = imported(table)
    table.archive(0, 2, 4)
    (table.timeline / f"{minute(4)}.compaction.requested").unlink()
    (table.path / "a" / f"f1_0-1-2_{minute(0)}.parquet").unlink()
    (table.path / "a" / f".f1_{minute(2)}.log.1_0-1-2").unlink()
    assert imported(table) == before


def test_log_files_of_writes_that_complete_after_the_request_of_a_compaction_stay(tmp_path):
    folder = HudiFolder(tmp_path / "orders")
    folder.commit(0, folder.base(0, "f1"))
    folder.commit(2, folder.log(2, "f1"))
    folder.commit(3, folder.log(3, "f1"), until=6)
    folder.plan(5, ("a", "f1"))
    folder.commit(5, folder.base(5, "f1"), action="commit", operation="COMPACT", until=9)
    history = imported(folder)
    assert [len(removed) for _, removed in files(history)] == [0, 0, 0, 2]
    check_live(folder, history)


def test_replaced_groups_leave_with_all_their_files(table):
    new = table.base(8, "f9")
    table.commit(8, new, action="replacecommit", operation="INSERT_OVERWRITE", replaced={"a": ["f1", "f2"]})
    history = imported(table)
    assert files(history)[-1] == ([("data", 2, 100, 7, 7, 0)], [3, 4, 1, 5])
    assert not history.commits[-1].is_compaction
    check_live(table, history)


def test_table_services_change_no_rows(table):
    table.plan(8, ("a", "f1"), service="logcompaction")
    table.commit(8, table.log(8, "f1"), operation="LOG_COMPACT")
    clustered = table.base(10, "f9", size_bytes=300)
    table.plan(10, service="clustering")
    table.commit(
        10, clustered, action="replacecommit", operation="CLUSTER", replaced={"a": ["f1", "f2"]},
        counts={clustered: (87, 0, 0)},
    )  # fmt: skip
    history = imported(table)
    assert files(history)[-2:] == [
        ([("log", 0, 10, 9, 0, 0)], []),
        ([("data", 2, 300, 87, 87, 0)], [3, 4, 6, 1, 5]),
    ]
    assert [commit.is_compaction for commit in history.commits[-2:]] == [True, True]
    check_live(table, history)


def test_a_write_of_a_compactor_is_a_compaction(table):
    new = table.base(8, "f2", size_bytes=99)
    table.commit(8, new, counts={new: (0, 0, 0, 38)}, tag="compactor/compaction-1/60000/0")
    new = table.base(10, "f2", size_bytes=98)
    table.commit(10, new, counts={new: (1, 0, 0, 39)}, tag="writer/commit-2/60000/1")
    assert [commit.is_compaction for commit in imported(table).commits[-2:]] == [True, False]


def bucketed(folder):
    """Three log files of 10 records in buckets, counted as updates whether they are or not."""
    names = "00000000-x", "00000001-y"
    bases = [folder.base(0, name) for name in names]
    folder.commit(0, *bases, operation="INSERT", counts=dict.fromkeys(bases, (100, 0, 0)))
    for at, name in ((2, names[0]), (4, names[0]), (6, names[1])):
        log = folder.log(at, name)
        folder.commit(at, log, counts={log: (0, 10, 0)})
    return names


def test_compactions_tell_how_many_rows_the_log_files_of_a_bucket_hit(tmp_path):
    folder = HudiFolder(tmp_path / "orders")
    name, _ = bucketed(folder)
    merged = folder.base(8, name)
    folder.plan(8, ("a", name))
    folder.commit(8, merged, action="commit", operation="COMPACT", counts={merged: (9, 11, 0, 109)})
    history = imported(folder)
    logs = [file for file in history.files if file.content is Content.LOG]
    # 100 + 2 x 10 - 109: 11 of 20 records hit a row, so 5.5 of the 10 in the other group.
    assert [log.hit_rows for log in logs] == [5, 6, 6]
    assert any("55%" in note for note in history.facts.notes)


def test_without_a_compaction_all_records_of_a_bucket_are_taken_for_updates(tmp_path):
    folder = HudiFolder(tmp_path / "orders")
    bucketed(folder)
    history = imported(folder)
    assert {file.hit_rows for file in history.files if file.content is Content.LOG} == {10}
    assert any("bucket index" in note for note in history.facts.notes)


def test_the_files_before_a_time_are_the_start(table):
    whole = imported(table)
    history = imported(table, whole.commits[2].at_ms)
    assert len(history.start) == 3
    assert history.commits == whole.commits[2:]
    assert history.live_after() == whole.live_after()


def test_a_history_without_writes_is_refused(table, tmp_path):
    with refused("empty"):
        imported(table, EPOCH_MS + 60 * MINUTE_MS)
    with refused("empty"):
        imported(HudiFolder(tmp_path / "new"))


def test_a_table_that_lacks_a_file_is_refused(table):
    (table.path / "a" / f"f1_0-1-2_{minute(4)}.parquet").unlink()
    with refused("damaged"):
        imported(table)


def test_files_that_no_write_states_are_left_out(table):
    table.log(6, "f9")
    history = imported(table)
    assert len(history.live_after()) == 4
    assert any("1 file in the folder" in note for note in history.facts.notes)


@pytest.fixture
def early(tmp_path):
    """A table of version 6, whose first write is archived; an update by copy of f1, and a log file of f2."""
    properties = {**PROPERTIES, "hoodie.table.version": "6"}
    folder = HudiFolder(tmp_path / "early", properties)
    folder.commit(0, folder.base(0, "f1"), folder.base(0, "f2"), folder.base(0, "f3"))
    new = folder.base(2, "f1", size_bytes=110)
    folder.commit(2, new, counts={new: (2, 1, 0, 9)})
    new = folder.base(4, "f1", size_bytes=121)
    folder.commit(4, new, counts={new: (2, 1, 0, 11)})
    log = folder.log(0, "f2")
    folder.commit(6, log, counts={log: (0, 2, 0)})
    (folder.timeline / f"{minute(0)}.deltacommit").unlink()
    return folder


def test_files_older_than_the_timeline_of_version_6_are_the_start(early):
    history = imported(early)
    # A row takes 231 / 20 bytes in the base files that are known.
    assert [(file.size_bytes, file.rows, file.new_rows) for file in history.start] == [(100, 9, None)] * 3
    assert files(history)[:2] == [([("data", 0, 110, 9, 3, 1)], [0]), ([("data", 0, 121, 11, 3, 1)], [3])]
    assert history.commits[0].wall_s is None
    assert any("estimated" in note for note in history.facts.notes)


def test_the_history_begins_after_the_last_write_that_replaced_a_cleaned_file(early):
    (early.path / "a" / f"f1_0-1-2_{minute(0)}.parquet").unlink()
    history = imported(early)
    assert [file.size_bytes for file in history.start] == [100, 100, 110]
    assert [commit.version for commit in history.commits] == [minute(4), minute(6)]
    assert any(minute(2) in note for note in history.facts.notes)


def test_several_writes_may_append_to_a_log_file_of_version_6(early):
    log = early.path / "a" / f".f2_{minute(0)}.log.1_0-1-2"
    log.write_bytes(bytes(25))
    path = f"a/{log.name}"
    early.commit(8, path, counts={path: (0, 3, 0)})
    added = files(imported(early))[-2:]
    assert added == [([("log", 1, 10, 2, 2, 2)], []), ([("log", 1, 15, 3, 3, 3)], [])]


def test_hudis_own_columns_do_not_count(table, monkeypatch):
    names = ("_hoodie_commit_time", "order_id", "city", "_hoodie_is_deleted")
    monkeypatch.setattr("hudi_folders.SCHEMA", {"fields": [{"name": name} for name in names]})
    table.commit(8, table.base(8, "f4"))
    assert imported(table).facts.columns_count == 2
