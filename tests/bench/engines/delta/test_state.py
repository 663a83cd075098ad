"""Logs written by hand, and logs that delta-rs wrote, which reads them back in its own way."""

import json
from dataclasses import replace
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from delta_logs import TAG, add, dv, info, remove
from deltalake import DeltaTable, write_deltalake

from bench.engines.contract import Tag
from bench.engines.delta.actions import LogError
from bench.engines.delta.log import DeltaLog, live_actions
from bench.engines.delta.state import DeltaReader
from bench.results.values import Change
from strategies.delta.files import DeletionVector, DeltaDataFile


def test_files_appear_with_their_partitions_and_rows(commit, place):
    commit(info(), add("day=2026-01-05/a%20b.parquet"), add("c.parquet", rows=None, day=None))
    reading = DeltaReader(place).read(60_000)
    spaced, other = reading.live["day=2026-01-05/a b.parquet"], reading.live["c.parquet"]
    assert (spaced.size_bytes, spaced.rows, spaced.partition) == (100, 10, "day=2026-01-05")
    assert (other.has_rows_count, other.partition) == (False, "day=null")


def test_each_commit_is_read_once(commit, place):
    reader = DeltaReader(place)
    assert reader.read(60_000).versions == ()
    commit(info(), add("a"))
    commit(info(), add("b"))
    first = reader.read(60_000)
    assert [version.id for version in first.versions] == ["0", "1"]
    commit(info(), add("c"))
    second = reader.read(60_000)
    assert [version.id for version in second.versions] == ["2"]
    assert second.live["a"] is first.live["a"]
    assert reader.read(60_000).versions == ()


def test_a_commit_carries_its_tag_and_what_it_changed(commit, place):
    commit(info(tag=None, operation="CREATE TABLE"))
    commit(info(), add("a", size=100), add("b", size=50))
    commit(info("MERGE", tag=Tag("writer", "commit-2", 9)), remove("a"), add("c", size=7))
    created, appended, merged = DeltaReader(place).read(60_000).versions
    assert (created.tag, created.operation, created.change.files_added_count) == (None, "CREATE TABLE", 0)
    assert (appended.tag, appended.change.added_bytes) == (TAG, 150)
    change = merged.change
    assert (change.files_added_count, change.files_removed_count) == (1, 1)
    assert (change.added_bytes, change.replaced_bytes) == (7, 100)


def test_a_new_vector_changes_no_data_file(commit, place):
    reader = DeltaReader(place)
    commit(info(), add("a"))
    # Within a commit the order of actions means nothing.
    commit(info("MERGE"), add("a", vector=dv("u1")), remove("a"), add("new", size=7))
    commit(info("MERGE"), remove("a", dv("u1")), add("a", vector=dv("u2", rows=5, size=60)))
    reading = reader.read(60_000)
    _, first, second = (version.change for version in reading.versions)
    figures_of_first, figures_of_second = (1, 0, 1, 0, 7 + 40, 0), (0, 0, 1, 1, 60, 40)
    for change, figures in (
        (first, (*figures_of_first, 0, 0, 10, 0, 3)), (second, (*figures_of_second, 0, 0, 0, 0, 5)),
    ):  # fmt: skip
        written = replace(change, metadata_bytes=0, metadata_files_count=0)
        assert written == Change(*figures)
    vectors = [file for file in reading.live.values() if isinstance(file, DeletionVector)]
    assert [(v.data_file, v.rows, v.size_bytes, v.key) for v in vectors] == [("a", 5, 60, "uu2@1#a")]


def test_compacting_a_file_takes_its_vector_along(commit, place):
    reader = DeltaReader(place)
    commit(info(), add("a", vector=dv()), add("b"))
    commit(info("OPTIMIZE"), remove("a", dv(), at_ms=90), remove("b", at_ms=80), add("c"))
    reading = reader.read(60_000)
    assert list(reading.live) == ["c"]
    change = reading.versions[-1].change
    assert (change.files_removed_count, change.delete_files_removed_count) == (2, 1)
    assert reader.delete_before_ms(60_000) == 80  # of what left the table since then
    assert reader.delete_before_ms(60_001) == 91


def test_an_automatic_compaction_does_not_carry_the_tag_of_its_commit(commit, place):
    commit(info(), add("a"), add("b"))
    commit(info("OPTIMIZE", auto="true"), remove("a"), remove("b"), add("c"))
    assert [version.tag for version in DeltaReader(place).read(60_000).versions] == [TAG, None]


def test_z_cubes_and_clustering_columns(commit, place):
    tags = {"ZCUBE_ID": "z1", "ZCUBE_ZORDER_BY": '["x", "y"]'}
    commit(info(), add("a", tags=tags, clusteringProvider="liquid"))
    (file,) = DeltaReader(place).read(60_000).live.values()
    assert (file.clustering_provider, file.z_cube.id, file.z_cube.columns) == ("liquid", "z1", ("x", "y"))
    domain = {"clusteringColumns": [["x"], ["s", "y"]], "domainName": "delta.clustering"}
    described = {"domain": "delta.clustering", "configuration": json.dumps(domain), "removed": False}
    commit({"domainMetadata": described})
    (_, last) = DeltaLog(place).commits_after(-1)
    assert last.clustering_columns == ("x", "s.y")


def test_metadata_counts_the_checksum_and_the_checkpoint(commit, place, tmp_path):
    commit(info(), add("a"))
    log = tmp_path / "_delta_log"
    (log / f"{0:020}.crc").write_text("12345")
    (log / f"{0:020}.checkpoint.parquet").write_bytes(b"123")
    (version,) = DeltaReader(place).read(60_000).versions
    size_bytes = (log / f"{0:020}.json").stat().st_size + 8
    assert (version.change.metadata_files_count, version.change.metadata_bytes) == (3, size_bytes)
    assert version.work.checkpointed_files_count is None  # it is no Parquet file


@pytest.mark.parametrize(
    ("last", "known"),
    [
        ('{"version": 0, "parts": 2}', None),
        ('{"version": 9, "v2Checkpoint": {}}', None),  # earlier ones are of that kind, too
        ('{"version": 9}', 0),
        ("x", 0),
    ],
)
def test_the_files_in_a_checkpoint_of_several_files_are_unknown(commit, place, tmp_path, last, known):
    commit(info(), add("a"))
    (tmp_path / "_delta_log" / "_last_checkpoint").write_text(last)
    (version,) = DeltaReader(place).read(60_000).versions
    assert version.work.checkpointed_files_count == known


def test_stored_bytes_are_those_of_all_files_but_of_hadoops_checksums(tmp_path):
    for name, size in {
        "_delta_log/0.json": 10, "_delta_log/0.crc": 5, "_delta_log/.0.json.crc": 1, "day=1/a.parquet": 100,
        "day=1/.a.parquet.crc": 1, "deletion_vector_b.bin": 40,
    }.items():  # fmt: skip
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"x" * size)
    assert DeltaLog(str(tmp_path)).stored_bytes() == (155, 15)


@pytest.mark.parametrize(
    ("action", "key"),
    [
        ([1], "line 1"),
        ({"add": None}, "add"),
        ({"remove": {}}, "remove.path"),
        (add("a", size=-5), "add.size"),
        (add("a", size=780.5), "add.size"),
        (add("a", size=10**30), "add.size"),
        (add("a", day=5), "add.partitionValues.day"),
        (add("a", rows=-1), "action of a, stats.*numRecords"),
        (add("a", vector=dv(rows=11)), "action of a.* 11 of 10"),
        (add("a", tags={"ZCUBE_ID": "z", "ZCUBE_ZORDER_BY": "5"}), "action of a, ZCUBE_ZORDER_BY"),
        ({"commitInfo": {"timestamp": 10**18}}, "commitInfo.timestamp"),
        ({"domainMetadata": {"domain": "delta.clustering", "configuration": "[]"}}, "delta.clustering"),
    ],
)
def test_a_damaged_action_is_refused_with_its_place(commit, place, action, key):
    commit(info())
    commit(action)
    with pytest.raises(LogError, match=rf"{1:020}\.json.*{key}"):
        DeltaReader(place).read(60_000)


def test_what_the_protocol_leaves_open_is_accepted(commit, place):
    foreign = {"domain": "my.app", "configuration": "free text"}
    commit({"commitInfo": None}, {"domainMetadata": foreign}, {"remove": {"path": "a"}}, {"txn": 5})
    reader = DeltaReader(place)
    assert [version.operation for version in reader.read(60_000).versions] == ["unknown"]
    assert reader.delete_before_ms(0) == 1  # nothing has left the table


def write(place, count, **options):
    rows = pa.table({"id": list(range(count)), "day": ["a/b" if n % 2 else "c" for n in range(count)]})
    write_deltalake(place, rows, mode="append", partition_by=["day"], **options)


def with_checkpoint(folder):
    for count in (4, 6):
        write(str(folder), count)
    DeltaTable(str(folder)).create_checkpoint()
    return str(folder)


def by_delta_rs(place):
    actions = pa.table(DeltaTable(place).get_add_actions(flatten=True)).to_pylist()
    return {unquote(row["path"]): (row["size_bytes"], row["num_records"]) for row in actions}


def test_logs_of_delta_rs_are_read_as_it_reads_them(tmp_path):
    place = str(tmp_path)
    for count in (4, 6, 8):
        write(place, count)
    DeltaTable(place).optimize.compact()
    DeltaTable(place).delete("id = 3")
    live = DeltaReader(place).read(60_000).live
    assert {path: (file.size_bytes, file.rows) for path, file in live.items()} == by_delta_rs(place)
    assert {file.partition for file in live.values()} == {"day=a%2Fb", "day=c"}
    assert all(isinstance(file, DeltaDataFile) for file in live.values())


@pytest.mark.parametrize("is_cleaned", [False, True])
def test_a_table_is_read_from_its_checkpoint(tmp_path, is_cleaned):
    place = with_checkpoint(tmp_path)
    write(place, 8)
    if is_cleaned:
        for version in (0, 1):
            (tmp_path / "_delta_log" / f"{version:020}.json").unlink()
    live = live_actions(DeltaLog(place).from_start())
    sizes = {path: size_bytes for path, (size_bytes, _) in by_delta_rs(place).items()}
    assert {action.path: action.fields["size"] for action in live} == sizes


@pytest.mark.parametrize("name", [f"{3:020}.json", f"{3:020}.crc", f"{3:020}.checkpoint.uuid.json"])
def test_a_commit_that_is_missing_is_not_the_end_of_the_log(commit, place, tmp_path, name):
    commit(info())
    commit(info())
    (tmp_path / "_delta_log" / name).write_text("")
    with pytest.raises(LogError, match=rf"{2:020}\.json is missing"):
        list(DeltaLog(place).from_start())


@pytest.mark.parametrize(
    "name",
    [f"{1:020}.checkpoint.a-b.json", f"{1:020}.checkpoint.0000000001.0000000002.parquet", "other.parquet"],
)
def test_without_version_0_a_log_needs_a_whole_checkpoint_in_parquet(tmp_path, name):
    place = with_checkpoint(tmp_path)
    log = tmp_path / "_delta_log"
    (log / f"{1:020}.checkpoint.parquet").rename(log / name)
    (log / f"{0:020}.json").unlink()
    with pytest.raises(LogError, match="version 0"):
        list(live_actions(DeltaLog(place).from_start()))


@pytest.mark.parametrize("columns", [{"add": [1]}, {"sidecar": [1]}, None])
def test_a_checkpoint_that_cannot_be_read_is_named(commit, place, tmp_path, columns):
    commit(info())
    path = tmp_path / "_delta_log" / f"{0:020}.checkpoint.parquet"
    path.touch()
    if columns is not None:
        pq.write_table(pa.table(columns), path)
    with pytest.raises(LogError, match=path.name):
        list(DeltaLog(place).from_start())
