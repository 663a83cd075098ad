"""What a commit of the executor keeps, and how it fails: each test breaks with one of its guarantees."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from merge_on_read import NOT_PARTITIONED, TAG, rewrite_of, row
from pyiceberg.avro.file import AvroFile
from pyiceberg.exceptions import CommitFailedException, CommitStateUnknownException
from pyiceberg.manifest import DataFileContent, ManifestContent
from pyiceberg.table.snapshots import Operation

from bench.engines.contract import TAG_PROPERTY
from strategies.plan import FileGroup, Rewrite
from strategies.state import MIB


def manifests_of(lake):
    table = lake.load()
    return {m.manifest_path: m for m in table.current_snapshot().manifests(table.io)}


def entries_of(lake, *, deletes=False):
    return {
        e.data_file.file_path: e
        for e in lake.entries()
        if (e.data_file.content != DataFileContent.DATA) is deletes
    }


def stage(lake, files=None):
    return lake.executor.stage(rewrite_of(files or lake.data_files()), 0)


@pytest.fixture
def two_commits(lake):
    """Two commits of three rows each in Oslo."""
    lake.append(row(1), row(2), row(3))
    lake.append(row(4), row(5), row(6))
    return lake


def test_it_is_a_replace_with_its_tag_and_its_parent(two_commits):
    before = two_commits.load().current_snapshot()
    two_commits.rewrite_all()
    after = two_commits.load().current_snapshot()
    assert after.summary.operation is Operation.REPLACE
    assert after.summary[TAG_PROPERTY] == str(TAG)
    assert after.parent_snapshot_id == before.snapshot_id
    assert after.sequence_number == before.sequence_number + 1
    assert after.schema_id == two_commits.load().schema().schema_id


def test_the_summary_has_what_was_added_and_removed_and_the_totals(two_commits):
    lake = two_commits
    lake.delete_equal(["id"], [(1,)], ("Oslo",))
    old, deleted = lake.data_files(), list(entries_of(lake, deletes=True))
    lake.rewrite_all(removed_deletes=deleted)
    summary = lake.load().current_snapshot().summary
    (new,) = lake.data_files()
    expected = {
        "added-data-files": 1, "deleted-data-files": 2, "added-records": 5, "deleted-records": 6,
        "removed-delete-files": 1, "removed-equality-delete-files": 1, "removed-equality-deletes": 1,
        "total-data-files": 1, "total-delete-files": 0, "total-records": 5, "total-equality-deletes": 0,
        "total-position-deletes": 0, "total-files-size": new.file_size_in_bytes,
        "added-files-size": new.file_size_in_bytes, "changed-partition-count": 1,
    }  # fmt: skip
    assert {name: int(summary[name]) for name in expected} == expected
    assert int(summary["removed-files-size"]) > sum(file.file_size_in_bytes for file in old)


def test_new_files_keep_the_sequence_number_of_the_planned_snapshot(two_commits):
    planned = two_commits.load().current_snapshot()
    staged = stage(two_commits)
    two_commits.append(row(7))
    two_commits.executor.execute(rewrite_of([]), staged, TAG)
    (added,) = (file.file_path for file in staged.added)
    entry, snapshot = entries_of(two_commits)[added], two_commits.load().current_snapshot()
    assert entry.sequence_number == planned.sequence_number
    assert entry.file_sequence_number == snapshot.sequence_number
    assert entry.snapshot_id == snapshot.snapshot_id


def test_an_append_meanwhile_is_no_conflict(two_commits):
    staged = stage(two_commits)
    two_commits.append(row(7))
    expected = two_commits.rows()
    two_commits.executor.execute(rewrite_of([]), staged, TAG)
    assert two_commits.rows() == expected
    assert len(two_commits.data_files()) == 2


def test_an_equality_delete_meanwhile_is_no_conflict_and_applies_to_the_new_file(two_commits):
    staged = stage(two_commits)
    two_commits.delete_equal(["id"], [(2,), (6,)], ("Oslo",))
    expected = two_commits.rows()
    assert expected.total() == 4
    two_commits.executor.execute(rewrite_of([]), staged, TAG)
    assert two_commits.rows() == expected
    assert len(two_commits.data_files()) == 1


@pytest.mark.parametrize("with_bounds", [True, False])
def test_a_newer_position_delete_for_a_replaced_file_is_a_conflict(two_commits, with_bounds):
    staged = stage(two_commits)
    path = two_commits.data_files()[0].file_path
    two_commits.delete_positions([(path, 1)], ("Oslo",), with_bounds)
    check_refused(two_commits, staged, "newer position delete")


def check_refused(lake, staged, match):
    """The commit fails; the table is as it was, and the new files are gone."""
    before, stored, expected = lake.load().current_snapshot(), lake.stored(), lake.rows()
    with pytest.raises(ValueError, match=match):
        lake.executor.execute(rewrite_of([]), staged, TAG)
    assert lake.load().current_snapshot() == before
    assert lake.rows() == expected
    new = {Path(file.file_path.removeprefix("file://")) for file in staged.added}
    assert new
    assert lake.stored() == stored - new


def test_a_newer_position_delete_for_another_file_is_no_conflict(two_commits):
    first, second = two_commits.data_files()
    staged = stage(two_commits, [first])
    two_commits.delete_positions([(second.file_path, 0)], ("Oslo",))
    two_commits.append(row(8, "Rome"))
    elsewhere = two_commits.data_files()[-1]
    two_commits.delete_positions([(elsewhere.file_path, 0)], ("Rome",), with_bounds=False)
    expected = two_commits.rows()
    two_commits.executor.execute(rewrite_of([]), staged, TAG)
    assert two_commits.rows() == expected
    assert expected.total() == 5


def test_an_older_position_delete_is_applied_and_no_conflict(two_commits):
    first, _ = two_commits.data_files()
    two_commits.delete_positions([(first.file_path, 0)], ("Oslo",))
    expected = two_commits.rows()
    two_commits.rewrite_all()
    assert two_commits.rows() == expected
    assert expected.total() == 5


def test_a_replaced_file_that_is_no_longer_live_is_a_conflict(two_commits):
    staged = stage(two_commits)
    two_commits.rewrite_all()
    check_refused(two_commits, staged, "no longer live")


def test_a_dropped_delete_that_is_no_longer_live_is_a_conflict(two_commits):
    two_commits.delete_equal(["id"], [(1,)], ("Oslo",))
    deletes = list(entries_of(two_commits, deletes=True))
    staged = two_commits.executor.stage(rewrite_of(two_commits.data_files(), removed_deletes=deletes), 0)
    two_commits.rewrite(Rewrite((), 8 * MIB, ()))
    two_commits.rewrite_all(removed_deletes=deletes)
    check_refused(two_commits, staged, "no longer live")


def test_a_converted_file_that_is_no_longer_live_is_a_conflict(two_commits):
    """Its position deletes would name a file that nobody reads, for ever."""
    two_commits.delete_equal(["id"], [(1,)], ("Oslo",))
    paths = tuple(file.file_path for file in two_commits.data_files())
    staged = two_commits.executor.stage(Rewrite((FileGroup((), "Oslo", paths),), 8 * MIB), 0)
    two_commits.rewrite_all()
    check_refused(two_commits, staged, "no longer live")


def test_a_file_that_is_not_live_is_refused_before_anything_is_written(two_commits):
    old = two_commits.data_files()
    two_commits.rewrite_all()
    stored = two_commits.stored()
    with pytest.raises(ValueError, match="no longer live"):
        stage(two_commits, old)
    assert two_commits.stored() == stored


def test_a_dropped_delete_that_is_not_live_is_refused_before_anything_is_written(two_commits):
    stored = two_commits.stored()
    with pytest.raises(ValueError, match="no longer live"):
        two_commits.rewrite_all(removed_deletes=["file:///nowhere"])
    assert two_commits.stored() == stored


def test_entries_that_stay_keep_their_numbers_snapshots_and_figures(lake):
    lake.append(row(1), row(2, "Rome"))
    first = next(file for file in lake.data_files() if file.partition[0] == "Oslo")
    before = entries_of(lake)
    lake.append(row(3))
    second = lake.data_files()[-1]
    lake.rewrite(rewrite_of([first, second]))
    lake.append(row(4))  # an own manifest, and another snapshot
    after = entries_of(lake)
    (stays,) = before.keys() & after.keys()
    for name in ("sequence_number", "file_sequence_number", "snapshot_id"):
        assert getattr(after[stays], name) == getattr(before[stays], name) is not None
    assert figures_of(after[stays]) == figures_of(before[stays])


def figures_of(entry):
    """All that a manifest says of a file."""
    return [dict(value) if isinstance(value, Mapping) else value for value in entry.data_file._data]


def test_manifests_without_a_removed_file_are_the_same_objects(two_commits):
    two_commits.delete_equal(["id"], [(1,)], ("Oslo",))
    before = manifests_of(two_commits)
    first, _ = two_commits.data_files()
    two_commits.rewrite(rewrite_of([first]))
    after = manifests_of(two_commits)
    kept = before.keys() & after.keys()
    assert len(kept) == 2  # that of the other append, and that of the delete
    assert {ManifestContent.DELETES, ManifestContent.DATA} == {after[path].content for path in kept}
    for path in kept:
        assert repr(after[path]) == repr(before[path])


def test_delete_files_stay_unless_they_are_named(two_commits):
    two_commits.delete_equal(["id"], [(1,)], ("Oslo",))
    two_commits.delete_equal(["id"], [(2,)], ("Oslo",))
    before = entries_of(two_commits, deletes=True)
    two_commits.rewrite(rewrite_of(two_commits.data_files()[1:]))
    assert entries_of(two_commits, deletes=True).keys() == before.keys()
    dropped = min(before)
    two_commits.rewrite(Rewrite((), 8 * MIB, (dropped,)))
    after = entries_of(two_commits, deletes=True)
    assert after.keys() == before.keys() - {dropped}
    (kept,) = after
    assert after[kept].sequence_number == before[kept].sequence_number


def test_delete_files_that_are_older_than_every_data_file_go_as_with_java(two_commits):
    old = two_commits.delete_equal(["id"], [(1,)], ("Oslo",))
    newest = two_commits.delete_equal(["id"], [(2,)], ("Oslo",))
    staged = stage(two_commits)
    meanwhile = two_commits.delete_equal(["id"], [(3,)], ("Oslo",))
    two_commits.append(row(7))
    expected = two_commits.rows()
    two_commits.executor.execute(rewrite_of([]), staged, TAG)
    assert entries_of(two_commits, deletes=True).keys() == {newest, meanwhile}
    assert two_commits.rows() == expected
    summary = two_commits.load().current_snapshot().summary
    assert (summary["removed-equality-delete-files"], summary["total-delete-files"]) == ("1", "2")
    assert old not in entries_of(two_commits, deletes=True)


def test_java_can_read_the_field_ids_of_equality_deletes_that_stay(two_commits):
    """They are integers (table spec, "Data File Fields"): Java refuses longs."""
    two_commits.delete_equal(["id", "n"], [(1, 0)], ("Oslo",))
    (path,) = (p for p, m in manifests_of(two_commits).items() if m.content is ManifestContent.DELETES)
    with AvroFile(two_commits.load().io.new_input(path)) as stored:
        described = json.loads(stored.header.meta["avro.schema"])
    assert ids_of(described) == "int"
    (entry,) = entries_of(two_commits, deletes=True).values()
    assert entry.data_file.equality_ids == [1, 3]


def ids_of(avro):
    """The type of the elements of `equality_ids` in the Avro schema of a manifest."""
    (data_file,) = (field["type"] for field in avro["fields"] if field["name"] == "data_file")
    (ids,) = (field["type"] for field in data_file["fields"] if field["name"] == "equality_ids")
    return ids[1]["items"]


def test_a_converted_delete_has_the_sequence_number_of_its_commit(two_commits):
    deleted = two_commits.delete_equal(["id"], [(1,)], ("Oslo",))
    two_commits.append(row(9))
    expected = two_commits.rows()
    paths = tuple(file.file_path for file in two_commits.data_files())
    two_commits.rewrite(Rewrite((FileGroup((), "Oslo", paths),), 8 * MIB, (deleted,)))
    (entry,) = entries_of(two_commits, deletes=True).values()
    assert entry.sequence_number == two_commits.load().current_snapshot().sequence_number
    assert entry.data_file.content == DataFileContent.POSITION_DELETES
    assert two_commits.rows() == expected


def test_removed_files_are_entries_of_the_commit_that_removed_them(two_commits):
    old = {file.file_path for file in two_commits.data_files()}
    before = entries_of(two_commits)
    two_commits.rewrite_all()
    table = two_commits.load()
    snapshot = table.current_snapshot()
    removed = [
        entry
        for manifest in snapshot.manifests(table.io)
        for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=False)
        if entry.data_file.file_path in old
    ]
    assert len(removed) == 2
    for entry in removed:
        assert entry.snapshot_id == snapshot.snapshot_id
        assert entry.sequence_number == before[entry.data_file.file_path].sequence_number
    two_commits.rewrite_all()  # the next commit drops the manifest of removed files
    assert len(manifests_of(two_commits)) == 2


def test_nothing_to_replace_makes_no_commit(two_commits):
    before = two_commits.load().metadata_location
    two_commits.rewrite(Rewrite((), 8 * MIB, ()))
    assert two_commits.load().metadata_location == before


def test_a_commit_that_lost_a_race_is_tried_again_on_the_new_table(two_commits, monkeypatch):
    staged = stage(two_commits)
    commit_of, raced = type(staged.table.catalog).commit_table, []

    def commit(self, table, requirements, updates):
        if not raced:
            raced.append(table)
            two_commits.append(row(7))
        return commit_of(self, table, requirements, updates)

    monkeypatch.setattr(type(staged.table.catalog), "commit_table", commit)
    stored = two_commits.stored()
    two_commits.executor.execute(rewrite_of([]), staged, TAG)
    assert raced
    *_, append, last = two_commits.load().metadata.snapshots
    assert last.parent_snapshot_id == append.snapshot_id
    assert two_commits.rows().total() == 7
    written = [path.name for path in two_commits.stored() - stored if path.suffix == ".avro"]
    assert sum(name.startswith("snap-") for name in written) == 2  # that of the append and that of the retry


def test_a_commit_that_loses_every_race_deletes_its_files(two_commits, monkeypatch):
    staged, tries = stage(two_commits), []

    def commit(self, table, requirements, updates):
        tries.append(table)
        raise CommitFailedException("another was first")

    monkeypatch.setattr(type(staged.table.catalog), "commit_table", commit)
    check_refused(two_commits, staged, "was committed meanwhile at each of 5 tries: another was first")
    assert len(tries) == 5


def test_a_commit_that_fails_deletes_its_files(two_commits, monkeypatch):
    staged = stage(two_commits)

    def commit(self, table, requirements, updates):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(type(staged.table.catalog), "commit_table", commit)
    check_refused(two_commits, staged, "No space left on device")


def test_a_manifest_that_cannot_be_written_deletes_its_files(two_commits, monkeypatch):
    staged = stage(two_commits)
    module = "bench.engines.iceberg.single_node.replace_files"

    def fail(**_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(f"{module}.write_manifest_list", fail)
    check_refused(two_commits, staged, "No space left on device")


def fail_after_commits(monkeypatch, catalog, error):
    """Let a catalog commit, and fail before it says so."""
    commit_of = type(catalog).commit_table

    def commit(self, table, requirements, updates):
        commit_of(self, table, requirements, updates)
        raise error

    monkeypatch.setattr(type(catalog), "commit_table", commit)


def test_of_a_commit_with_an_unknown_outcome_nothing_is_deleted(two_commits, monkeypatch):
    staged = stage(two_commits)
    fail_after_commits(monkeypatch, staged.table.catalog, CommitStateUnknownException("no answer"))
    expected = two_commits.rows()
    with pytest.raises(ValueError, match="unknown"):
        two_commits.executor.execute(rewrite_of([]), staged, TAG)
    assert two_commits.rows() == expected
    assert [file.file_path for file in two_commits.data_files()] == [file.file_path for file in staged.added]


def test_of_a_commit_that_succeeded_before_an_error_nothing_is_deleted(two_commits, monkeypatch):
    """An error after the catalog has the commit, e.g. of the connection, says nothing about the commit."""
    staged = stage(two_commits)
    fail_after_commits(monkeypatch, staged.table.catalog, RuntimeError("the connection was lost"))
    expected = two_commits.rows()
    two_commits.executor.execute(rewrite_of([]), staged, TAG)
    assert two_commits.rows() == expected
    assert [file.file_path for file in two_commits.data_files()] == [file.file_path for file in staged.added]


def test_an_error_after_which_the_catalog_does_not_answer_leaves_the_outcome_unknown(
    two_commits, monkeypatch
):
    staged = stage(two_commits)

    def fail(*_):
        raise RuntimeError("the connection was lost")

    def fail_from_now_on(*_):
        monkeypatch.setattr(type(staged.table.catalog), "load_table", fail)
        fail()

    monkeypatch.setattr(type(staged.table.catalog), "commit_table", fail_from_now_on)
    with pytest.raises(ValueError, match="unknown"):
        two_commits.executor.execute(rewrite_of([]), staged, TAG)
    assert all(Path(file.file_path.removeprefix("file://")).exists() for file in staged.added)


def test_a_table_without_partitions_and_manifests_in_another_codec(make_lake):
    lake = make_lake(spec=NOT_PARTITIONED, **{"write.avro.compression-codec": "zstandard"})
    lake.append(row(1))
    lake.append(row(2))
    lake.delete_equal(["id"], [(1,)])
    expected = lake.rows()
    lake.rewrite_all()
    assert lake.rows() == expected
    manifest = next(iter(manifests_of(lake)))
    assert b"zstandard" in Path(manifest.removeprefix("file://")).read_bytes()[:20_000]


def test_a_rewrite_that_was_not_staged_is_refused(lake):
    with pytest.raises(ValueError, match="staged"):
        lake.executor.execute(rewrite_of([]), None, TAG)
