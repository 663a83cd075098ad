import json
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from upsert_commits import changes, load
from workload_builders import stream
from workload_strategies import appends, partitionings, seeds, upserts

from bench.engines.contract import CommitLayout
from bench.engines.iceberg.model.flink_writer import PartitionFiles, commit_layout, partition_files
from workloads.commit import CommitSpec, PartitionShape
from workloads.debezium import Debezium
from workloads.schema import ORDERS
from workloads.spread import change_shapes
from workloads.upsert import Upsert


def shaped(*shapes, writers):
    """A commit of these partitions."""
    rows = sum(shape.rows for shape in shapes)
    return CommitSpec(1, 60_000, 0, rows, rows, 0, 0, writers, shapes)


def of_kind(spec):
    """Data files, equality deletes and position deletes of a commit of one partition."""
    (files,) = partition_files(spec, spec.writers)
    return (files.data_count, files.equality_count, files.position_count)


def test_the_files_of_a_commit_are_those_of_its_partitions():
    # Of 4 writers with 2.5 rows each, one has no row of half of them with 0.5^2.5 = 0.18, so 3.3 have one.
    spec = shaped(PartitionShape("a", 5, 10), PartitionShape("b", 5, 10), writers=4)
    assert partition_files(spec, 4) == [PartitionFiles(3, 0, 0)] * 2
    assert commit_layout(spec) == CommitLayout(data_files_count=6)


def test_partitions_of_one_kind_of_change_have_files_of_that_kind_alone():
    spec = shaped(*change_shapes(ORDERS, {"a": 5}, {"b": 3}, {}, 2), writers=2)
    assert partition_files(spec, 2) == [PartitionFiles(2, 0, 0), PartitionFiles(0, 2, 0)]
    # Two files of 500 bytes and three rows of 3.6 of them.
    assert commit_layout(spec) == CommitLayout(2, 2, 1011)


def test_position_deletes_are_files_of_their_own():
    spec = shaped(PartitionShape("a", 5, 10, 3, 1), writers=1)
    # 500 bytes and three rows of 3.6 of them; 1,400 and a row of 1.6.
    assert commit_layout(spec) == CommitLayout(1, 2, round(500 + 3 * 3.6 + 1_400 + 1.6))


def test_new_rows_are_dealt_out_and_changes_go_by_their_key():
    # 8 rows of as many writers: one each, or 8 x (1 - (7/8)^8) = 5.3 writers that a key hashes to.
    assert of_kind(load(8, 8)) == (8, 0, 0)
    assert of_kind(changes(1, 1000, inserts=8, writers=8)) == (5, 5, 0)
    assert of_kind(changes(1, 1000, inserts=8, writers=8, known=False)) == (5, 5, 0)


def test_a_recorded_snapshot_is_dealt_out_as_any_load(tmp_path):
    events = (
        {"op": op, "ts_ms": 1, "before": None, "after": {"order_id": 8 * (op == "c") + key}}
        for op in "rc"
        for key in range(8)
    )
    (tmp_path / "events.jsonl").write_text("".join(f"{json.dumps(event)}\n" for event in events))
    recorded = Debezium(str(tmp_path / "events.jsonl"), files_per_commit=8, initial_files=8)
    assert [of_kind(spec) for spec in stream(recorded, commits=1)] == [(8, 0, 0), (5, 5, 0)]


@given(workload=appends, by=partitionings, seed=seeds)
def test_appended_partitions_get_at_least_a_file_and_at_most_one_a_row_and_writer(workload, by, seed):
    for spec in stream(workload, seed, by=by):
        for shape, files in zip(spec.partitions, partition_files(spec, spec.writers), strict=True):
            assert 1 <= files.data_count <= min(shape.rows, spec.writers)
            assert files == PartitionFiles(files.data_count, 0, 0)


@given(workload=upserts(), by=partitionings, seed=seeds)
def test_each_kind_of_file_is_there_where_it_has_rows_and_at_most_one_a_row_and_writer(workload, by, seed):
    for spec in stream(workload, seed, commits=6, by=by):
        for shape, files in zip(spec.partitions, partition_files(spec, spec.writers), strict=True):
            for rows, count in (
                (shape.rows, files.data_count),
                (shape.deleted_keys, files.equality_count),
                (shape.superseded_rows, files.position_count),
            ):
                assert min(rows, 1) <= count <= min(rows, spec.writers)
            layout = commit_layout(replace(spec, partitions=(shape,)))
            assert layout.delete_files_count == files.equality_count + files.position_count
            assert (layout.delete_bytes > 0) == (layout.delete_files_count > 0)


def test_a_stream_like_the_seeds_writes_eight_insert_and_eight_equality_delete_files_a_commit():
    commits = stream(Upsert(10_000, 8, 500_000_000, 1800))[1:]
    assert {of_kind(spec) for spec in commits} == {(8, 8, 0)}
    repeating = stream(Upsert(10_000, 8, 500_000_000, 1800, repeat_share=0.1))[1:]
    layouts = [commit_layout(spec) for spec in repeating]
    assert {(each.data_files_count, each.delete_files_count) for each in layouts} == {(8, 16)}


@given(writers=st.integers(1, 12))
def test_a_writer_override_takes_the_place_of_the_commits_writers(writers):
    spec = changes(1, 10_000, inserts=4000, updates=6000, again=5000, writers=3)
    assert partition_files(spec, writers) == [PartitionFiles(writers, writers, writers)]
