import pytest
from hypothesis import given
from hypothesis import strategies as st

from workloads.commit import CommitSpec, PartitionShape, expected_files, hashed_files


@pytest.mark.parametrize(
    ("rows", "commit_rows", "writers", "files"),
    [
        (80, 80, 8, 8),  # the whole commit: each writer has some of it
        (3, 3, 8, 3),  # fewer rows than writers: a row each
        # A tenth of the rows, 10 rows a writer: one misses with 0.9^10 = 0.35, so 8 x 0.65 = 5.2.
        (8, 80, 8, 5),
        (1, 80, 8, 1),  # 8 x (1 - (79/80)^10) = 0.95
        (1, 10**6, 8, 1),  # whatever is expected, one row is in one file
        (2, 1000, 500, 2),  # never more files than rows
    ],
)
def test_expected_files_worked_out_by_hand(rows, commit_rows, writers, files):
    assert expected_files(rows, commit_rows, writers) == files


@given(data=st.data(), commit_rows=st.integers(1, 10**6), writers=st.integers(1, 1000))
def test_a_partition_gets_at_least_a_file_and_at_most_one_a_row_and_writer(data, commit_rows, writers):
    rows = data.draw(st.integers(1, commit_rows))
    files = expected_files(rows, commit_rows, writers)
    assert 1 <= files <= min(rows, writers)
    if rows < commit_rows:
        assert expected_files(rows + 1, commit_rows, writers) >= files


def test_the_files_of_a_commit_are_those_of_its_partitions():
    shapes = (PartitionShape("a", 5, 2, 10), PartitionShape("b", 5, 3, 10))
    assert CommitSpec(1, 60_000, 0, 10, 10, 0, 0, 4, False, shapes, 20).files == 5


def test_the_time_of_a_commit_is_there_in_seconds_too():
    assert CommitSpec(1, 1500, 0, 10, 10, 0, 0, 4, False, (), 20).at_s == 1.5


@pytest.mark.parametrize(
    ("rows", "writers", "files"),
    [(0, 4, 0), (1, 4, 1), (4, 4, 3), (40, 4, 4), (3, 1, 1), (8, 8, 5)],  # 4 x (1 - 0.75^4) = 2.7
)
def test_hashed_files_are_the_writers_that_get_a_key(rows, writers, files):
    assert hashed_files(rows, writers) == files
