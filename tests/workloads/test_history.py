import pytest
from histories import MINUTE_MS, START_MS, commit, data, equality, history, positions, written
from hypothesis import given
from hypothesis import strategies as st

from workloads.history import History, schema_of, ticks_of
from workloads.partitioning import Partitioning
from workloads.recorded import OwnCompactions
from workloads.schema import SCHEMAS


def specs(workload, count=6, interval_ms=MINUTE_MS):
    return list(workload.shape(1, count, interval_ms, Partitioning()))


@given(st.lists(st.integers(0, 10**6), min_size=1), st.integers(1, 10**5))
def test_commits_get_ticks_of_their_own_in_their_order_and_never_before_their_time(times_ms, interval_ms):
    times_ms.sort()
    ticks = list(ticks_of(times_ms, times_ms[0], interval_ms))
    assert ticks == sorted(set(ticks))
    assert all(t * interval_ms >= at - times_ms[0] for t, at in zip(ticks, times_ms, strict=True))


def test_commits_come_at_their_ticks_and_the_others_are_empty(tmp_path):
    path = written(tmp_path, commit(0, [data(1)]), commit(3, [data(2)]), start=[data(0)])
    made = specs(History(str(path)), count=4)
    assert [spec.index for spec in made] == [0, 1, 2, 3, 4]
    assert [[file.id for file in spec.recorded.added] if spec.recorded else [] for spec in made] == [
        [0], [1], [], [2], [],
    ]  # fmt: skip
    assert [spec.rows for spec in made] == [100, 100, 0, 100, 0]
    assert [spec.first_row for spec in made] == [0, 100, 200, 200, 300]


def test_a_shorter_stream_is_a_prefix_and_says_what_it_leaves_out(tmp_path):
    workload = History(str(written(tmp_path, *(commit(n, [data(n)]) for n in range(5)))))
    assert specs(workload, 2) == specs(workload, 5)[:2]
    assert workload.left_out_rows(2 * MINUTE_MS) == 200
    assert workload.stream_epoch_ms == START_MS


def test_compactions_are_undone_unless_they_are_wanted(tmp_path):
    merging = commit(2, [data(2, rows=200)], [data(0), data(1)], is_compaction=True)
    path = str(written(tmp_path, commit(0, [data(0)]), commit(1, [data(1)]), merging))
    assert [spec.index for spec in specs(History(path), 3) if spec.rows] == [1, 2]
    assert [spec.index for spec in specs(History(path, undo_compactions=False), 3) if spec.rows] == [1, 2, 3]


def test_what_the_tables_own_compactions_did_is_known(tmp_path):
    merging = commit(2, [data(2, rows=200)], [data(0), data(1)], is_compaction=True)
    late = commit(8, [data(4)], [data(3)], is_compaction=True)
    path = str(
        written(tmp_path, commit(0, [data(0)]), commit(1, [data(1)]), merging, commit(3, [data(3)]), late)
    )
    own = History(path).own_compactions(5 * MINUTE_MS)
    assert own == OwnCompactions(1, data(2, rows=200).size_bytes, 2, 0)
    assert History(path).own_compactions(MINUTE_MS) is None
    assert History(path, undo_compactions=False).own_compactions(5 * MINUTE_MS) is None


@pytest.mark.parametrize("volume", [0.5, 1.5])
def test_a_volume_changes_rows_and_bytes_of_table_and_stream_alike(tmp_path, volume):
    changes = [
        commit(0, [data(1)]),
        commit(1, [data(2), equality(3, rows=40)]),
        commit(2, [data(4)], [data(0)]),
    ]
    path = str(written(tmp_path, *changes, start=[data(0)]))
    one, other = (specs(History(path, hit_share=0.5, volume=times), 3) for times in (1.0, volume))
    assert [spec.rows * volume for spec in one] == [spec.rows for spec in other]
    assert [spec.expected_bytes for spec in other] == [
        pytest.approx(spec.expected_bytes * volume, abs=2) for spec in one
    ]
    assert [spec.index for spec in one] == [spec.index for spec in other]
    for before, after in zip(one, other, strict=True):
        assert [file.id for file in before.recorded.removed] == [file.id for file in after.recorded.removed]


def test_compactions_of_other_sizes_say_nothing_of_another_volume(tmp_path):
    merging = commit(2, [data(2, rows=200)], [data(0), data(1)], is_compaction=True)
    path = str(written(tmp_path, commit(0, [data(0)]), commit(1, [data(1)]), merging))
    assert History(path).own_compactions(5 * MINUTE_MS) is not None
    assert History(path, volume=1.5).own_compactions(5 * MINUTE_MS) is None


@pytest.mark.parametrize("volume", [0, -1, 1000])
def test_a_volume_is_near_that_of_the_table(tmp_path, volume):
    with pytest.raises(ValueError, match="volume"):
        History(str(written(tmp_path, commit(0, [data(0)]))), volume=volume)


def test_positions_that_replace_others_of_their_file_delete_only_the_additional_rows(tmp_path):
    first, second = positions(1, target=0, rows=10), positions(2, target=0, rows=25)
    path = written(tmp_path, commit(0, [data(0)]), commit(1, [first]), commit(2, [second], [first]))
    changes = [spec.recorded for spec in specs(History(str(path)), 3)]
    assert [change.hits for change in changes] == [{}, {0: 10}, {0: 15}]
    assert changes[0].followed == {0}  # later commits name it


def test_keys_of_equality_deletes_hit_as_many_rows_as_the_history_tells_or_the_user(tmp_path):
    commits = (commit(0, [data(0, partition="p=a")]), commit(1, [equality(1, rows=50, partition="p=a")]))
    path = str(written(tmp_path, *commits, hit_share=0.4))

    def hits(workload):
        return specs(workload, 2)[1].recorded.partition_hits

    assert hits(History(path)) == {"p=a": 20}
    assert hits(History(path, hit_share=1.0)) == {"p=a": 50}
    unknown = str(written(tmp_path, *commits, name="unknown"))
    with pytest.raises(ValueError, match="hit_share is missing: no compaction in the history tells"):
        History(unknown)
    assert hits(History(unknown, hit_share=0.5)) == {"p=a": 25}
    with pytest.raises(ValueError, match=r"hit_share=2 must be in \[0, 1\]"):
        History(path, hit_share=2)


def test_a_share_of_hits_without_equality_deletes_is_refused(tmp_path):
    path = str(written(tmp_path, commit(0, [data(0)])))
    with pytest.raises(ValueError, match=r"hit_share=0\.5 has no effect"):
        History(path, hit_share=0.5)


def test_only_tables_that_change_rows_are_cdc(tmp_path):
    append = written(tmp_path, commit(0, [data(0)]), name="append")
    assert not History(str(append)).is_cdc
    for name, change in (
        ("delete", commit(1, [], [data(0)])),
        ("positions", commit(1, [positions(1, 0, 5)])),
        ("equality", commit(1, [equality(1, 5)])),
    ):
        path = str(written(tmp_path, commit(0, [data(0)]), change, name=name, hit_share=0.5))
        assert History(path).is_cdc


def test_a_moved_history_is_the_same_workload_and_another_one_is_not(tmp_path):
    path = written(tmp_path, commit(0, [data(0)]))
    moved = path.rename(tmp_path / "moved.parquet")
    same, other = History(str(moved)), History(str(written(tmp_path, commit(0, [data(0, rows=7)]))))
    assert repr(same) == repr(History(str(moved)))
    assert repr(same) != repr(other)


def test_the_table_has_the_width_and_the_sizes_of_its_files():
    files = [
        data(n, rows, size_bytes) for n, (rows, size_bytes) in enumerate(((10, 9_000), (10_000, 900_000)))
    ]
    schema = schema_of(history(commit(0, files), columns_count=19))
    assert schema.names == SCHEMAS[17].names
    assert schema.of_table
    assert schema.expected_bytes(10) == 9_000
    assert schema.expected_bytes(10_000) == 900_000
    sizes = [schema.expected_bytes(rows) for rows in (1, 10, 100, 1_000, 10_000, 10**6)]
    assert sizes == sorted(sizes)


def test_beyond_its_files_sizes_grow_as_those_of_the_standard_table_do():
    schema, standard = schema_of(history(commit(0, [data(0, 10, 12_334)]))), SCHEMAS[17]
    ratio = 12_334 / standard.expected_bytes(10)
    for rows in (1, 100, 100_000):
        assert schema.expected_bytes(rows) == pytest.approx(standard.expected_bytes(rows) * ratio, rel=1e-3)
