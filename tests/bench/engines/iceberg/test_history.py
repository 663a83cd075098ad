import itertools
import json
from pathlib import Path

import pytest
from histories import commit, data, described, equality, history, live, positions, replayed
from hypothesis import given
from hypothesis import strategies as st
from iceberg_tables import BY_CITY, NOT_PARTITIONED, catalog_properties, make_table
from pyiceberg.catalog import load_catalog

from bench.engines.existing import TableAddress
from bench.engines.iceberg.existing_table import import_history, open_existing
from bench.engines.iceberg.history import hit_share_of
from bench.errors import ScenarioError
from strategies.iceberg.procedures import RewriteDataFiles

MERGE = RewriteDataFiles(options={"min-input-files": "2"})
COMMITS = [{"Oslo": 4, "Rome": 2}, {"Oslo": 3, "Rome": 2}, {"Oslo": 2}]


def address(table):
    return TableAddress(table.metadata_location)


def state_of(table):
    state = open_existing(address(table)).state
    return described([*state.data_files, *state.delete_files])


def reload(folder, name="shop.visits"):
    return load_catalog("lake", **catalog_properties(folder)).load_table(name)


@pytest.mark.parametrize("spec", [BY_CITY, NOT_PARTITIONED])
def test_a_table_that_only_appended_is_replayed_to_its_own_files(tmp_path, spec):
    table = make_table(tmp_path, COMMITS, spec)
    recorded = import_history(address(table), None)
    assert [len(commit.added) for commit in recorded.commits] == ([2, 2, 1] if spec is BY_CITY else [1, 1, 1])
    assert recorded.facts.partition_columns == (("city",) if spec is BY_CITY else ())
    assert recorded.start == ()
    with replayed(recorded, tmp_path) as engine:
        assert live(engine) == state_of(table)
        assert engine.model.live_rows == 13


def test_overwrites_and_deletes_of_partitions_are_replayed(tmp_path):
    table = make_table(tmp_path, COMMITS)
    table.delete("city = 'Oslo'")
    table.delete("id < 5")  # copies the file of Rome without these rows
    table.append(table.scan().to_arrow())
    recorded = import_history(address(table), None)
    assert any(commit.removed for commit in recorded.commits)
    with replayed(recorded, tmp_path) as engine:
        assert live(engine) == state_of(table)
        assert engine.model.live_rows == len(table.scan().to_arrow())


def test_expired_snapshots_leave_their_files_in_the_table_at_the_start(tmp_path):
    table = make_table(tmp_path, COMMITS)
    second = table.snapshots()[1]
    table.maintenance.expire_snapshots().by_id(table.snapshots()[0].snapshot_id).commit()
    table = reload(tmp_path)
    recorded = import_history(address(table), None)
    assert [commit.version for commit in recorded.commits] == [
        str(second.snapshot_id), str(table.current_snapshot().snapshot_id),
    ]  # fmt: skip
    assert len(recorded.start) == 2
    assert "older snapshots have expired" in recorded.facts.notes[0]
    with replayed(recorded, tmp_path) as engine:
        assert live(engine) == state_of(table)


def test_since_a_time_earlier_commits_are_the_table_at_the_start(tmp_path):
    table = make_table(tmp_path, COMMITS)
    last = table.current_snapshot()
    recorded = import_history(address(table), last.timestamp_ms)
    assert [commit.version for commit in recorded.commits] == [str(last.snapshot_id)]
    assert len(recorded.start) == 4
    with pytest.raises(ScenarioError, match=r"no commit in this time: its newest is of .* UTC"):
        import_history(address(table), last.timestamp_ms + 1)


@pytest.mark.parametrize("time_ms", [-5, 10**17])
def test_a_snapshot_at_an_impossible_time_is_refused(tmp_path, time_ms):
    table = make_table(tmp_path, COMMITS)
    file = Path(table.metadata_location.removeprefix("file://"))
    document = json.loads(file.read_text())
    document["snapshots"][-1]["timestamp-ms"] = time_ms
    file.write_text(json.dumps(document))
    with pytest.raises(ScenarioError, match=f"timestamp-ms = {time_ms}, not a time after"):
        import_history(address(table), None)


def test_rolled_back_snapshots_are_not_in_the_history(tmp_path):
    table = make_table(tmp_path, COMMITS)
    first = table.snapshots()[0]
    table.manage_snapshots().rollback_to_snapshot(first.snapshot_id).commit()
    table.append(table.scan().to_arrow())
    table = reload(tmp_path)
    recorded = import_history(address(table), None)
    assert len(recorded.commits) == 2
    with replayed(recorded, tmp_path) as engine:
        assert live(engine) == state_of(table)


def test_format_version_1_is_refused(tmp_path):
    table = make_table(tmp_path, COMMITS, **{"format-version": "1"})
    with pytest.raises(ScenarioError, match=r"format version 1, which does not record.*upgrade the table"):
        import_history(address(table), None)


STREAM = [commit(0, [data(0, 1_000)]), commit(1, [equality(1, 100), positions(2, 0, 30), data(3, 200)])]


def test_the_hits_of_equality_deletes_follow_from_what_a_compaction_dropped():
    """70 rows are dropped, of which 30 were deleted by position; delete files may stay for a while."""
    inputs = [data(0, 1_000), data(3, 200)]
    rewritten = commit(2, [data(4, 1_130)], inputs, is_compaction=True)
    assert hit_share_of((), [*STREAM, rewritten]) == 0.4
    again = [commit(3, [equality(5, 100)]), commit(4, [data(6, 1_070)], [data(4, 1_130)], is_compaction=True)]
    assert hit_share_of((), [*STREAM, rewritten, *again]) == 0.5  # 100 hits of 200 keys


def test_a_compaction_of_some_files_does_not_tell_what_deletes_hit():
    """The hits may be in the others; after the next compaction of all, deletes are known again."""
    partial = commit(2, [data(4, 190)], [data(3, 200)], is_compaction=True)
    assert hit_share_of((), [*STREAM, partial]) is None
    whole = commit(3, [data(5, 1_120)], [data(0, 1_000), data(4, 190)], is_compaction=True)
    later = [commit(4, [equality(6, 50)]), commit(5, [data(7, 1_100)], [data(5, 1_120)], is_compaction=True)]
    assert hit_share_of((), [*STREAM, partial, whole, *later]) == 0.4


def test_deletes_at_the_start_may_have_hit_anything():
    compaction = commit(1, [data(2, 990)], [data(0, 1_000)], is_compaction=True)
    assert hit_share_of([data(0, 1_000), equality(1, 10)], [compaction]) is None
    assert hit_share_of((), [commit(0, [equality(1, 100)])]) is None


def test_a_conversion_tells_the_hits_as_positions():
    converted = commit(2, [positions(4, 0, 70)], STREAM[1].added[:2], is_compaction=True)
    assert hit_share_of((), [*STREAM, converted]) == 0.4


def test_a_commit_that_copies_on_write_replaces_the_files_that_hold_its_rows_now(tmp_path):
    """The stream replaces one of three files; once they are merged, rows of the others are copied, too."""
    files = [data(n, 100, 10_000) for n in range(3)]
    rewrite = commit(1, [data(10, 90, 9_500)], [files[0]], operation="overwrite")
    recorded = history(commit(0, files), rewrite)
    with replayed(recorded, tmp_path) as engine:
        assert [file[2:] for file in live(engine)] == [(9_500, 90), (10_000, 100), (10_000, 100)]
    with replayed(recorded, tmp_path, MERGE, after=[1]) as engine:
        (file,) = engine.state(0).data_files
        assert file.rows == engine.model.live_rows == 290


def test_rows_that_are_left_of_a_merged_file_get_a_file_of_their_own(tmp_path):
    files = [data(n, 100, 10_000) for n in range(3)]
    recorded = history(commit(0, files), commit(1, [], files[:1], operation="delete"))
    with replayed(recorded, tmp_path, MERGE, after=[1]) as engine:
        (file,) = engine.state(0).data_files
        assert file.rows == engine.model.live_rows == 200


def test_a_partition_that_is_dropped_leaves_nothing_however_it_was_compacted(tmp_path):
    files = [data(n, 100, 10_000, f"p={n % 2}") for n in range(6)]
    recorded = history(commit(0, files), commit(1, [], files[::2], operation="delete"))
    with replayed(recorded, tmp_path, MERGE, after=[1]) as engine:
        assert {file.partition for file in engine.state(0).data_files} == {"p=1"}
        assert engine.model.live_rows == 300


def test_the_output_of_a_recorded_compaction_is_replaced_with_all_its_inputs(tmp_path):
    files = [data(n, 100, 10_000) for n in range(3)]
    merged = commit(1, [data(9, 300, 28_000)], files, is_compaction=True)
    recorded = history(commit(0, files), merged, commit(2, [data(10, 290, 27_000)], merged.added))
    for options in ({}, {"undo_compactions": False}):
        with replayed(recorded, tmp_path, **options) as engine:
            assert [file[2:] for file in live(engine)] == [(27_000, 290)]


def test_positions_of_a_merged_file_are_for_the_file_that_holds_its_rows_now(tmp_path):
    files = [data(n, 100, 10_000) for n in range(2)]
    recorded = history(commit(0, files), commit(1, [positions(10, 0, 25)]))
    with replayed(recorded, tmp_path, MERGE, after=[1]) as engine:
        (deletes,) = engine.state(0).delete_files
        (file,) = engine.state(0).data_files
        assert (deletes.rows, deletes.referenced_data_file) == (25, file.path)
        assert engine.model.live_rows == 175


@st.composite
def merge_on_read(draw):
    """Appends, and commits that delete rows of files by position, replacing the deletes they had."""
    ids, left, deleted, commits = itertools.count(), {}, {}, []
    for minute in range(draw(st.integers(1, 6))):
        new = [data(next(ids), draw(st.integers(1, 60))) for _ in range(draw(st.integers(1, 3)))]
        added, removed = list(new), []
        for id_ in draw(st.lists(st.sampled_from(sorted(left)), unique=True) if left else st.just([])):
            old = deleted.get(id_)
            rows = draw(st.integers(old.rows if old else 0, left[id_]))
            if rows > (old.rows if old else 0):
                deleted[id_] = positions(next(ids), id_, rows)
                added.append(deleted[id_])
                removed += [old] if old else []
        left |= {file.id: file.rows for file in new}
        commits.append(commit(minute, added, removed))
    return history(*commits), sum(left.values()) - sum(file.rows for file in deleted.values())


@given(merge_on_read())
def test_merge_on_read_is_replayed_to_the_last_row(tmp_path_factory, made):
    recorded, rows = made
    with replayed(recorded, tmp_path_factory.mktemp("replay")) as engine:
        assert engine.model.live_rows == rows
        live_files = recorded.live_after().values()
        state = engine.state(0)
        assert len(state.data_files) == sum(file.is_data for file in live_files)
        assert sorted(file.rows for file in state.delete_files) == sorted(
            file.rows for file in live_files if not file.is_data
        )
