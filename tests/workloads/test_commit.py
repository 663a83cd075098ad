import pytest

from workloads.commit import PartitionShape


@pytest.mark.parametrize(("superseded", "live"), [(0, 5), (3, 2), (5, 0), (6, 0)])
def test_added_rows_live_unless_their_own_commit_supersedes_them(superseded, live):
    assert PartitionShape("a", 5, 10, 4, superseded).live_rows == live
