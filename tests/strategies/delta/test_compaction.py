from itertools import pairwise

from delta_tables import data_file, delta_table, delta_tables, vector
from hypothesis import given
from hypothesis import strategies as st

from strategies.delta.compaction import (
    batches,
    deleted_ratio,
    next_fit,
    plan_compaction,
    plan_purge,
    plan_repartition,
    plan_zorder,
)
from strategies.delta.files import ZCube
from strategies.delta.optimize_options import OptimizeOptions
from strategies.state import GIB, MIB


def options(min_bytes=100, max_bytes=100, **more):
    return OptimizeOptions(min_bytes, max_bytes, **more)


def paths(preview):
    return [[file.path for file in group.files] for group in preview.groups]


def test_files_are_packed_in_ascending_order_of_size():
    # By hand: 10 20 30 | 50 (60 would make 110) | 60; the last two are alone, so they stay.
    table = delta_table([data_file(str(size), size) for size in (60, 10, 50, 30, 20)])
    assert paths(plan_compaction(table, options())) == [["10", "20", "30"]]


def test_a_bin_may_be_exactly_full():
    table = delta_table([data_file("a", 40), data_file("b", 60)])
    assert paths(plan_compaction(table, options())) == [["a", "b"]]
    assert paths(plan_compaction(table, options(max_bytes=99))) == []


def test_a_file_of_the_minimum_size_stays():
    table = delta_table([data_file("a", 10), data_file("b", 50), data_file("c", 20)])
    assert paths(plan_compaction(table, options(min_bytes=50))) == [["a", "c"]]


def test_partitions_are_packed_apart_and_can_be_chosen():
    files = [data_file(f"{p}{n}", 10, partition=f"p={p}") for n in "12" for p in "ab"]
    table = delta_table(files)
    assert paths(plan_compaction(table, options())) == [["a1", "a2"], ["b1", "b2"]]
    assert paths(plan_compaction(table, options(), {"p=b"})) == [["b1", "b2"]]


def test_exactly_five_percent_of_deleted_rows_are_above_the_threshold_of_five():
    # 1 - 950/1000 is 0.050000000000000044 in doubles; 49 of 1,000 are below.
    files = [data_file("large", 150), data_file("other", 150)]
    assert deleted_ratio(files[0], vector("large", 50)) > 0.05
    for rows, planned in ((50, [["large", "other"]]), (49, [])):
        table = delta_table(files, [vector("large", 50), vector("other", rows)])
        assert paths(plan_compaction(table, options(max_bytes=300))) == planned


def test_deleted_rows_without_statistics_are_always_due():
    files = [data_file(path, 150, rows=0, has_rows_count=False) for path in "abc"]
    table = delta_table(files, [vector("a", 1), vector("b", 1)])
    assert paths(plan_compaction(table, options(max_bytes=300))) == [["a", "b"]]


def test_only_reorg_rewrites_a_single_file():
    table = delta_table([data_file("a", 150)], [vector("a", 500)])
    assert paths(plan_compaction(table, options())) == []
    assert paths(plan_purge(table, options())) == [["a"]]


def test_reorg_takes_only_files_with_deleted_rows_and_merges_them():
    table = delta_table([data_file(p, 10) for p in "abc"], [vector("a", 1), vector("c", 1)])
    assert paths(plan_purge(table, options())) == [["a", "c"]]


def test_zorder_rewrites_everything_and_rounds_the_number_of_files_down():
    table = delta_table([data_file("a", 199), data_file("b", 60, partition="p=1")])
    preview = plan_zorder(table, options())
    assert paths(preview) == [["a"], ["b"]]
    assert [len(group.tasks) for group in preview.groups] == [1, 1]
    assert len(plan_zorder(delta_table([data_file("a", 200)]), options()).groups[0].tasks) == 2


def test_repartition_spreads_a_partition_over_its_files():
    table = delta_table([data_file("a", 30, rows=10), data_file("b", 31, rows=11)])
    (group,) = plan_repartition(table, "", 2).groups
    assert [(task.input_bytes, task.rows) for task in group.tasks] == [(30, 10), (31, 11)]


def test_equal_minimum_and_maximum_rewrite_the_merged_file_again_each_time():
    # Appends of 10 with OPTIMIZE after each: 20, 30 and 40 bytes are rewritten for 10 new ones. With a lower
    # minimum, a file that has reached it stays.
    for least, expected in ((100, [20, 30, 40]), (20, [20, 0, 0])):
        merged, rewritten = 10, []
        for _ in range(3):
            table = delta_table([data_file("merged", merged), data_file("new", 10)])
            rewritten.append(plan_compaction(table, options(min_bytes=least)).read_data_bytes)
            merged = merged + 10 if rewritten[-1] else merged
        assert rewritten == expected


CUBE_A, CUBE_B = ZCube("a", ("x",)), ZCube("b", ("x",))


def clustered(path, size_bytes, cube):
    return data_file(path, size_bytes, clustering_provider="liquid", z_cube=cube)


def test_clustering_takes_loose_files_and_small_cubes():
    files = [clustered("old", 30, CUBE_A), data_file("new", 5)]
    table = delta_table(files, clustering_columns=("x",))
    assert paths(plan_compaction(table, options())) == [["new", "old"]]
    assert paths(plan_compaction(table, options(min_cube_bytes=30))) == [["new"]]


def test_a_single_cube_is_left_alone():
    for other, planned in ((CUBE_A, []), (CUBE_B, [["1", "2"]])):
        files = [clustered("1", 30, CUBE_A), clustered("2", 30, other)]
        assert paths(plan_compaction(delta_table(files, clustering_columns=("x",)), options())) == planned


def test_files_clustered_by_other_columns_stay():
    files = [clustered("old", 30, ZCube("c", ("y",))), data_file("1", 5), data_file("2", 5)]
    table = delta_table(files, clustering_columns=("x",))
    assert paths(plan_compaction(table, options())) == [["1", "2"]]


def test_deleted_rows_make_a_cube_smaller():
    # 40 bytes with half of the rows deleted count as 20.
    files = [clustered("1", 40, CUBE_A), data_file("new", 5)]
    table = delta_table(files, [vector("1", 500)], clustering_columns=("x",))
    assert paths(plan_compaction(table, options(min_cube_bytes=21))) == [["new", "1"]]
    assert paths(plan_compaction(table, options(min_cube_bytes=20))) == [["new"]]


def test_reorg_of_a_clustered_table_clusters_what_has_deleted_rows():
    # By ClusteringStrategy over the files that REORG takes: bins of 60 bytes at most, first the file without
    # a cube, then cube a, then cube b. The 45 bytes of the first bin come into 45 // 20 files.
    files = [
        clustered("b1", 30, CUBE_B), clustered("b2", 20, CUBE_B), clustered("a1", 10, CUBE_A),
        clustered("a2", 40, CUBE_A), data_file("new", 5),
    ]  # fmt: skip
    marked = [vector(path, 1) for path in ("a1", "b1", "b2", "new")]
    table = delta_table(files, marked, clustering_columns=("x",))
    preview = plan_purge(table, options(max_bytes=20, min_cube_bytes=60, target_cube_bytes=50))
    assert paths(preview) == [["new", "a1", "b1"], ["b2"]]
    assert [len(group.tasks) for group in preview.groups] == [2, 1]


def test_reorg_leaves_a_cube_that_is_large_or_alone():
    files = [clustered("a", 30, CUBE_A), clustered("b", 50, CUBE_B)]
    marked = [vector("a", 1), vector("b", 1)]
    table = delta_table(files, marked, clustering_columns=("x",))
    assert sorted(paths(plan_purge(table, options(min_cube_bytes=60)))[0]) == ["a", "b"]
    # Only `a` is below the minimum, so it is the only cube left.
    assert paths(plan_purge(table, options(min_cube_bytes=40))) == []
    alone = delta_table(files, marked[:1], clustering_columns=("x",))
    assert paths(plan_purge(alone, options())) == []


def test_reorg_counts_of_a_cube_only_the_files_with_deleted_rows():
    files = [clustered("a1", 30, CUBE_A), clustered("a2", 50, CUBE_A), data_file("new", 5)]
    table = delta_table(files, [vector("a1", 1), vector("new", 1)], clustering_columns=("x",))
    assert paths(plan_purge(table, options(min_cube_bytes=40))) == [["new", "a1"]]
    assert paths(plan_compaction(table, options(min_cube_bytes=40))) == [["new"]]


def test_a_last_cube_of_one_file_comes_before_the_one_ahead_of_it():
    # Delta goes through the cubes twice: a, b, c becomes a, c, b, and that remains, as b has two files.
    cube_c = ZCube("c", ("x",))
    files = [
        clustered("a", 10, CUBE_A), clustered("b1", 10, CUBE_B), clustered("b2", 10, CUBE_B),
        clustered("c", 10, cube_c),
    ]  # fmt: skip
    table = delta_table(files, clustering_columns=("x",))
    assert paths(plan_compaction(table, options())) == [["a", "c", "b1", "b2"]]
    one_each = delta_table([files[0], files[1], files[3]], clustering_columns=("x",))
    assert paths(plan_compaction(one_each, options())) == [["a", "b1", "c"]]


def test_batches_take_small_bins_first():
    files = [data_file(f"{p}{n}", size, partition=p) for p, size in (("a", 40), ("b", 10)) for n in "12"]
    preview = plan_compaction(delta_table(files), options(batch_bytes=50))
    assert paths(preview) == [["b1", "b2"], ["a1", "a2"]]
    assert [len(batch) for batch in batches(preview.groups, 50)] == [1, 1]
    assert [len(batch) for batch in batches(preview.groups, 100)] == [2]
    assert [len(batch) for batch in batches((), None)] == [0]  # one commit, though it would be empty


@given(st.lists(st.integers(0, 60), max_size=30), st.integers(0, 100))
def test_next_fit_keeps_order_and_never_overfills_a_shared_bin(sizes, capacity):
    bins = next_fit(sizes, int, capacity)
    assert [size for packed in bins for size in packed] == sizes
    assert all(sum(packed) <= capacity for packed in bins if len(packed) > 1)
    for packed, following in pairwise(bins):
        assert sum(packed) + following[0] > capacity


@given(delta_tables(), st.integers(1, 250), st.integers(1, 250), st.none() | st.integers(1, 400))
def test_a_plan_merges_live_files_of_one_partition_once(table, min_bytes, max_bytes, batch_bytes):
    preview = plan_compaction(table, options(min_bytes, max_bytes, batch_bytes=batch_bytes))
    chosen = [file.path for group in preview.groups for file in group.files]
    assert len(chosen) == len(set(chosen))
    for group in preview.groups:
        assert len(group.files) > 1
        assert {file.partition for file in group.files} == {group.partition}
        assert group.input_bytes <= max_bytes
        assert sum(task.rows for task in group.tasks) == sum(file.rows for file in group.files)


@given(delta_tables(), st.integers(1, 250), st.integers(1, 250))
def test_the_groups_are_the_same_whatever_the_batches(table, min_bytes, max_bytes):
    whole = plan_compaction(table, options(min_bytes, max_bytes))
    parts = plan_compaction(table, options(min_bytes, max_bytes, batch_bytes=100))
    assert sorted(map(repr, whole.groups)) == sorted(map(repr, parts.groups))


@given(delta_tables())
def test_a_purge_leaves_no_file_with_deleted_rows(table):
    preview = plan_purge(table, options())
    chosen = {file.path for group in preview.groups for file in group.files}
    assert chosen == {vector.data_file for vector in table.delete_files}


def test_the_defaults_are_those_of_delta():
    assert OptimizeOptions(GIB, GIB).max_deleted_rows_ratio == 0.05
    assert OptimizeOptions(MIB, MIB).max_cube_bytes == 150 * GIB
