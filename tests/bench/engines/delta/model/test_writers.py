import pytest
from upsert_commits import changes, load

from bench.engines.contract import CommitLayout
from bench.engines.delta.model.writers import (
    appended_files,
    commit_layout,
    is_merge,
    merged_files,
)
from bench.engines.spark.conf import SHUFFLE_PARTITIONS


def test_only_a_commit_with_keys_to_look_for_is_a_merge():
    assert not is_merge(load(10))
    assert is_merge(changes(1, 10, inserts=1))
    assert is_merge(changes(1, 10, deletes=1))


@pytest.mark.parametrize(("is_optimized", "count"), [(False, 4), (True, 1)])
def test_an_append_makes_a_file_a_writer_or_one_where_writes_are_optimized(is_optimized, count):
    assert appended_files(load(100, 4), 4, is_optimized=is_optimized) == [count]


@pytest.mark.parametrize(
    ("partition", "rows", "tasks", "is_optimized", "count"),
    [
        ("", 100, 2, False, 2),
        ("", 1, 2, False, 1),
        ("", 100, 5, False, 5),
        ("", 100, 5, True, 1),
        ("city=Oslo", 100, 5, False, 1),  # shuffled by partition
        ("", 0, 2, False, 0),
    ],
)
def test_merge_makes_a_file_a_task_or_one_a_partition(partition, rows, tasks, is_optimized, count):
    assert merged_files(partition, rows, tasks, is_optimized=is_optimized) == count


def test_the_layout_has_the_files_of_a_commits_own_rows():
    assert commit_layout(load(100, 4), {}) == CommitLayout(4)
    both = changes(1, 1_000, inserts=50, updates=50, writers=8)
    assert commit_layout(both, {}) == CommitLayout(2)
    assert commit_layout(both, {SHUFFLE_PARTITIONS: "5"}) == CommitLayout(5)
    assert commit_layout(changes(1, 1_000, deletes=50), {}) == CommitLayout(0)
