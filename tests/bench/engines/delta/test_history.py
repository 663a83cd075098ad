"""Histories of tables whose logs are written by hand: files, commits, and what is said to be missing."""

import os
from pathlib import Path

import pytest
from delta_logs import TAG, add, clean_up, described, dv, info, remove, write_checkpoint
from refused import refused

from bench.engines.contract import Tag
from bench.engines.delta.existing_table import import_history
from bench.engines.delta.log import LOG_FOLDER
from bench.engines.existing import TableAddress
from workloads.history_file import read_history, write_history
from workloads.recorded import Content

BY_DAY = described("id", "day", by=("day",))


def at(time_ms, operation="WRITE", **fields):
    return {"commitInfo": {"timestamp": time_ms, "operation": operation, **fields}}


def imported(place, since_ms=None):
    return import_history(TableAddress(place), since_ms)


def shape(files):
    return [(file.content, file.rows, file.size_bytes) for file in files]


def test_each_commit_has_the_files_that_it_adds_and_removes(commit, place, tmp_path):
    commit(at(1_000, "CREATE TABLE"), *BY_DAY)
    commit(at(2_000), add("a", 100, 10), add("b%20c", 50, 5, day="2026-01-06"))
    commit(at(3_000, "SET TBLPROPERTIES"))
    metrics = {"executionTimeMs": "1500"}
    commit(at(4_000, "MERGE", operationMetrics=metrics), remove("a"), add("d", 80, 9))
    commit(at(5_000, "VACUUM END"))
    history = imported(place)
    assert history.start == ()
    first, second = history.commits
    assert [(file.id, file.rows, file.size_bytes, file.partition) for file in first.added] == [
        (0, 10, 100, "day=2026-01-05"), (1, 5, 50, "day=2026-01-06"),
    ]  # fmt: skip
    assert (first.at_ms, first.version, first.operation, first.wall_s) == (2_000, "1", "WRITE", None)
    assert (second.removed, second.added[0].id, second.wall_s) == (first.added[:1], 2, 1.5)
    facts = history.facts
    assert (facts.format, facts.columns_count, facts.partition_columns) == ("delta", 2, ("day",))
    assert (facts.from_ms, facts.until_ms, facts.notes) == (2_000, 4_000, ())
    write_history(history, tmp_path / "history.parquet")
    assert read_history(tmp_path / "history.parquet") == history


def test_a_data_file_stays_while_its_vector_is_replaced(commit, place):
    commit(at(1_000), *BY_DAY, add("a", 100, 10))
    commit(at(2_000, "DELETE"), remove("a"), add("a", 100, 10, vector=dv("u1", rows=3, size=40)))
    again = add("a", 100, 10, vector=dv("u2", rows=5, size=44))
    commit(at(3_000, "MERGE"), again, remove("a", dv("u1")), add("b", 20, 2))
    commit(at(4_000, "DELETE"), remove("a", dv("u2")))
    _, marked, merged, gone = imported(place).commits
    assert (shape(marked.added), marked.removed) == ([(Content.VECTOR, 3, 40)], ())
    assert shape(merged.added) == [(Content.VECTOR, 5, 44), (Content.DATA, 2, 20)]
    assert [file.targets for file in merged.added] == [(0,), ()]
    assert merged.removed == marked.added
    assert [file.id for file in gone.removed] == [0, merged.added[0].id]
    assert [file.id for file in imported(place).live_after().values()] == [merged.added[1].id]


def test_a_restored_file_counts_as_another_one_with_its_rows(commit, place):
    commit(at(1_000), *BY_DAY, add("a", 100, 10, vector=dv("u1", rows=3)))
    commit(at(2_000, "DELETE"), remove("a", dv("u1")), add("a", 100, 10, vector=dv("u2", rows=5)))
    commit(at(3_000, "RESTORE"), remove("a", dv("u2")), add("a", 100, 10, vector=dv("u1", rows=3)))
    restored = imported(place).commits[-1]
    assert shape(restored.removed) == [(Content.DATA, 10, 100), (Content.VECTOR, 5, 40)]
    assert shape(restored.added) == [(Content.DATA, 10, 100), (Content.VECTOR, 3, 40)]
    assert restored.added[0].id not in {file.id for file in restored.removed}


def test_what_is_added_again_as_it_was_is_no_change(commit, place):
    commit(at(1_000), *BY_DAY, add("a", vector=dv()))
    commit(at(2_000, "COMPUTE STATS"), add("a", vector=dv(), dataChange=False))
    assert len(imported(place).commits) == 1


COMPACTOR = Tag("compactor-2", "compaction-1", 60_000)


@pytest.mark.parametrize(
    ("operation", "tag", "auto", "changes_data", "is_compaction"),
    [
        ("OPTIMIZE", None, "false", False, True),
        ("OPTIMIZE", TAG, "true", False, True),  # an automatic compaction has the tag of its commit
        ("WRITE", None, "false", False, True),  # repartitioning
        ("WRITE", COMPACTOR, "false", True, True),
        ("MERGE", TAG, "false", True, False),
        ("MERGE", None, "false", True, False),
    ],
)
def test_compactions_change_no_data(commit, place, operation, tag, auto, changes_data, is_compaction):
    commit(*BY_DAY, info(), add("a"), add("b"))
    gone, new = remove("a"), add("c", dataChange=changes_data)
    gone["remove"]["dataChange"] = False
    commit(info(operation, tag, auto=auto), gone, new)
    assert [commit.is_compaction for commit in imported(place).commits] == [False, is_compaction]


def test_a_log_that_was_cleaned_up_begins_with_its_first_whole_checkpoint(commit, place):
    vector = dv("u1", rows=3)
    commit(at(1_000), *BY_DAY, add("a"), add("b"), add("old", 5_000))
    commit(at(2_000, "DELETE"), remove("a"), add("a", vector=vector), remove("old"))
    commit(at(3_000), add("c"))
    commit(at(4_000, "DELETE"), remove("a", vector), add("a", vector=dv("u2", rows=4)), remove("b"))
    commit(at(5_000), add("d"))
    whole = imported(place)
    tombstones = remove("a"), remove("old", at_ms=86_400_000)
    tombstones[1]["remove"]["size"] = 5_000
    write_checkpoint(place, 1, *BY_DAY, add("a", vector=vector), add("b"), *tombstones)
    write_checkpoint(place, 3, *BY_DAY, add("a", vector=dv("u2", rows=4)), add("c"))
    assert imported(place) == whole  # version 0 is there
    clean_up(place, 2)
    history = imported(place)
    assert shape(history.start) == [
        (Content.DATA, 10, 100), (Content.VECTOR, 3, 40), (Content.DATA, 10, 100),
    ]  # fmt: skip
    assert [commit.version for commit in history.commits] == ["2", "3", "4"]
    assert sorted(shape(history.live_after().values())) == sorted(shape(whole.live_after().values()))
    cleaned, removed = history.facts.notes
    assert "before version 2" in cleaned
    assert "1 file of 4.88 KiB had left the table by then since 1970-01-02" in removed
    clean_up(place, 3)
    assert [commit.version for commit in imported(place).commits] == ["4"]


def test_commits_before_a_time_are_part_of_the_start(commit, place):
    commit(at(1_000), *BY_DAY, add("a"), add("b"))
    commit(at(2_000), remove("a"), add("c"))
    commit(at(3_000), remove("b"), add("d"))
    history = imported(place, since_ms=2_001)
    assert [file.id for file in history.start] == [1, 2]
    assert ([commit.version for commit in history.commits], history.facts.from_ms) == (["2"], 3_000)
    with refused("empty", f"{place}/{LOG_FOLDER}"):
        imported(place, since_ms=3_001)


def test_the_time_of_a_commit_is_the_best_that_is_known(commit, place):
    commit(*BY_DAY, at(1_000, inCommitTimestamp=900), add("a"))
    commit({"commitInfo": {"operation": "WRITE"}}, add("b"))
    path = Path(place) / LOG_FOLDER / f"{1:020}.json"
    os.utime(path, (5, 5))
    history = imported(place)
    assert [commit.at_ms for commit in history.commits] == [900, 5_000]
    assert "1 commit of unknown time" in history.facts.notes[0]


def test_rows_that_the_log_does_not_state_follow_from_bytes(commit, place):
    commit(at(1_000), *BY_DAY, add("a", 200, 10), add("b", 60, None))
    history = imported(place)
    assert [file.rows for file in history.commits[0].added] == [10, 3]
    assert "1 file without statistics" in history.facts.notes[0]


def test_without_any_statistics_rows_are_a_guess(commit, place):
    commit(at(1_000), *BY_DAY, add("a", 2_000, None))
    assert [file.rows for file in imported(place).commits[0].added] == [20]


def test_changes_of_columns_are_told(commit, place):
    commit(at(1_000), *BY_DAY, add("a"))
    domain = {"domain": "delta.clustering", "configuration": '{"clusteringColumns": [["id"]]}'}
    commit(at(2_000), *described("id", "day", "x"), {"domainMetadata": domain}, add("b"))
    history = imported(place)
    assert (history.facts.columns_count, history.facts.partition_columns) == (3, ())
    columns, partitions, clustered = history.facts.notes
    assert ("columns have changed" in columns, "partition" in partitions) == (True, True)
    assert "clustered by id" in clustered


def test_a_file_with_two_vectors_is_refused(commit, place):
    commit(at(1_000), *BY_DAY, add("a", vector=dv("u1")))
    commit(at(2_000), add("a", vector=dv("u2")))
    with refused("damaged", f"{place}/{LOG_FOLDER}"):
        imported(place)


@pytest.mark.parametrize(("stated", "is_refused"), [(2, True), (1, False)])
def test_a_log_that_lost_an_action_is_refused_by_its_checksum(commit, place, stated, is_refused):
    commit(at(1_000), *BY_DAY, add("a"), add("b"))
    commit(at(2_000), remove("a"))
    Path(place, LOG_FOLDER, f"{1:020}.crc").write_text(f'{{"numFiles": {stated}}}')
    if is_refused:
        with refused("damaged", f"{place}/{LOG_FOLDER}"):
            imported(place)
    else:
        assert len(imported(place).live_after()) == 1
