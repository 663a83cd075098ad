from dataclasses import replace

import pytest
from coefficients import coefficients
from hypothesis import example, given, settings
from hypothesis import strategies as st
from upsert_commits import changes, load

from bench.engines.iceberg.model.delete_bytes import equality_bytes, position_bytes
from bench.engines.iceberg.model.files import FileMaker
from strategies.amoro.evaluation import is_amoros_own
from strategies.iceberg.files import DeleteKind, KeyBounds
from workloads.commit import PartitionShape
from workloads.partitioning import Partitioning
from workloads.schema import ORDERS
from workloads.upsert import Upsert

COSTS = coefficients(data={"file_bytes": 7})


def made_by(spec, writers=None, sequence_number=4):
    """Data files, their live rows, equality deletes and position deletes of a commit."""
    made, deletes = FileMaker(ORDERS, COSTS, writers).commit(spec, sequence_number)
    data = [file for run, _ in made for file in run.files()]
    live = [rows for run, rows in made for _ in range(run.count)]
    return (
        data, live, [d for d in deletes if d.kind is DeleteKind.EQUALITY],
        [d for d in deletes if d.kind is DeleteKind.POSITION],
    )  # fmt: skip


def test_a_load_is_data_files_whose_keys_follow_each_other():
    data, live, equality, position = made_by(load(10, 3))
    assert [file.rows for file in data] == live == [3, 3, 4]
    assert [file.size_bytes for file in data] == [COSTS.table_bytes(ORDERS, rows) for rows in (3, 3, 4)]
    assert [file.key_bounds for file in data] == [KeyBounds(1, 3), KeyBounds(4, 6), KeyBounds(7, 10)]
    assert (equality, position) == ([], [])


def test_a_commit_of_changes_is_files_of_each_kind_and_one_sequence_number():
    spec = changes(
        1, 1000, inserts=40, updates=60, deletes=20, hit=78, again=2, writers=4, partition="city=a"
    )
    data, live, equality, position = made_by(spec)
    assert [file.rows for file in data] == [25] * 4
    # 40 new keys and 78 old ones; each a row of an equality-delete file, which every writer has.
    assert [delete.rows for delete in equality] == [29, 30, 29, 30]
    assert [delete.size_bytes for delete in equality] == [round(equality_bytes(n)) for n in (29, 30, 29, 30)]
    # Two rows at two writers: each position delete file has one, of a data file it names.
    assert [(d.rows, d.referenced_data_file) for d in position] == [(1, file.path) for file in data[:2]]
    assert {d.size_bytes for d in position} == {round(position_bytes(1))}
    assert live == [24, 24, 25, 25]
    everything = [*data, *equality, *position]
    assert {file.data_sequence_number for file in everything} == {4}
    assert {file.partition for file in everything} == {"city=a"}
    assert len({file.path for file in everything}) == 10
    assert not any(is_amoros_own(delete.path, file.path) for delete in position for file in data)


def test_a_writer_override_spreads_deletes_too():
    spec = changes(1, 1000, inserts=40, updates=60, again=50, writers=4)
    data, _, equality, position = made_by(spec, writers=2)
    assert (len(data), len(equality), len(position)) == (2, 2, 2)


def test_deletes_of_unknown_keys_have_no_range():
    data, _, equality, _ = made_by(changes(1, 1000, inserts=4, updates=6, known=False))
    assert {file.key_bounds for file in (*data, *equality)} == {None}


def test_files_of_many_rows_reach_about_everywhere_and_new_keys_are_the_highest():
    (data,), _, (equality,), _ = made_by(changes(1, 10_000, inserts=1000, updates=1000))
    for keys in (data.key_bounds, equality.key_bounds):
        assert 1 <= keys.lower < 100
        assert 10_900 < keys.upper <= 11_000
    (data,), _, _, _ = made_by(changes(1, 10_000, inserts=1000))
    assert 10_001 <= data.key_bounds.lower < 10_010
    (data,), _, (equality,), _ = made_by(changes(1, 10_000, updates=1000))
    assert max(data.key_bounds.upper, equality.key_bounds.upper) <= 10_000


def test_a_file_of_one_row_has_one_key_which_varies_with_the_commit():
    drawn = [made_by(changes(index, 1000, updates=1))[0][0].key_bounds for index in range(1, 41)]
    assert all(keys.lower == keys.upper for keys in drawn)
    assert len({keys.lower for keys in drawn}) > 30
    assert sum(keys.lower <= 500 for keys in drawn) == pytest.approx(20, abs=3)


@given(
    rows=st.integers(0, 30), superseded=st.integers(0, 40), writers=st.integers(1, 12),
    override=st.none() | st.integers(1, 12),
)  # fmt: skip
@example(rows=9, superseded=8, writers=12, override=None)  # 6 position deletes, but 6 files hold 7 rows
def test_no_file_loses_more_rows_to_its_own_commit_than_it_has(rows, superseded, writers, override):
    shape = PartitionShape("", rows, 1, deleted_keys=1, superseded_rows=superseded)
    spec = replace(changes(1, 100, updates=1, writers=writers), partitions=(shape,))
    data, live, _, position = made_by(spec, override)
    assert sum(live) == rows - min(rows, superseded)
    assert all(0 <= left <= file.rows for left, file in zip(live, data, strict=True))
    assert {d.referenced_data_file: d.rows for d in position} == {
        file.path: file.rows - left for left, file in zip(live, data, strict=True) if left < file.rows
    }


@settings(max_examples=15)  # each makes a stream over up to 50 partitions
@given(
    seed=st.integers(0, 50),
    by=st.sampled_from(["none", "bucket", "city", "day"]),
    writers=st.sampled_from([None, 1, 3]),
    skew=st.sampled_from(["uniform", "zipf", "recent-first"]),
)
def test_commits_of_any_stream_are_made_of_their_rows(seed, by, writers, skew):
    stream = Upsert(
        rows_per_commit=70, files_per_commit=3, initial_rows=300, initial_files=2, key_skew=skew,
        repeat_share=0.2, duplicate_share=0.1, move_share=0.3,
    )  # fmt: skip
    for spec in stream.shape(seed, 2, 60_000, Partitioning(by)):
        data, _, equality, _ = made_by(spec, writers)
        assert sum(file.rows for file in data) == sum(shape.rows for shape in spec.partitions)
        keys = spec.keys
        end = keys.population + keys.new_count if keys else spec.rows
        assert all(1 <= file.key_bounds.lower <= file.key_bounds.upper <= end for file in (*data, *equality))
        if keys:
            assert sum(delete.rows for delete in equality) == keys.new_count + keys.changed_count
            assert all(d.rows and d.partition in {s.partition for s in spec.partitions} for d in equality)


def test_position_deletes_of_a_conversion_are_named_after_their_data_file():
    maker = FileMaker(ORDERS, COSTS, None)
    file = maker.data_file(10, "city=a", None, 3)
    first, second = (maker.position_deletes(file, 4, 8) for _ in range(2))
    assert is_amoros_own(first.path, file.path)
    assert first.path != second.path
    assert (first.referenced_data_file, first.rows, first.data_sequence_number) == (file.path, 4, 8)
    assert (first.partition, first.size_bytes) == ("city=a", round(position_bytes(4)))


def test_the_codec_of_the_table_decides_the_size_of_a_file():
    costs = coefficients(data={"codec_ratios": {"snappy": 1.35}})
    plain, snappy = (
        FileMaker(ORDERS, costs, None, codec).data_file(1_000, "", None, 1).size_bytes
        for codec in ("zstd", "snappy")
    )
    assert snappy == round(1.35 * plain)
