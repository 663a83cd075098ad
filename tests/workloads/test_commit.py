import pytest

from workloads.commit import CommitSpec, PartitionShape


@pytest.mark.parametrize(("superseded", "live"), [(0, 5), (3, 2), (5, 0), (6, 0)])
def test_added_rows_live_unless_their_own_commit_supersedes_them(superseded, live):
    assert PartitionShape("a", 5, 10, 4, superseded).live_rows == live


def test_the_time_of_a_commit_is_there_in_seconds_too():
    assert CommitSpec(1, 1500, 0, 10, 10, 0, 0, 4, False, (), 20).at_s == 1.5
