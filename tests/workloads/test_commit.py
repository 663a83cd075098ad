import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from workload_builders import stream
from workload_strategies import appends, partitionings, seeds, upserts

from workloads.append import Append
from workloads.arrival import Poisson
from workloads.commit import PartitionShape
from workloads.upsert import Upsert

streams = appends | upserts()


@given(workload=streams, by=partitionings, seed=seeds)
def test_totals_of_a_commit_are_the_sums_of_its_partitions(workload, by, seed):
    for spec in stream(workload, seed, commits=6, by=by):
        assert spec.rows == spec.inserts + spec.updates + spec.deletes
        assert spec.inserts + spec.updates == sum(p.rows for p in spec.partitions)
        assert len({p.partition for p in spec.partitions}) == len(spec.partitions)


@given(workload=streams, seed=seeds, interval_ms=st.integers(100, 10**8))
def test_commits_are_ordered_in_time_and_number_rows_without_gaps(workload, seed, interval_ms):
    specs = stream(workload, seed, commits=6, interval_ms=interval_ms)
    assert specs[0].first_row == 0
    assert [spec.at_ms for spec in specs] == [spec.index * interval_ms for spec in specs]
    for before, after in pairwise(specs):
        assert before.index + 1 == after.index
        assert before.first_row + before.rows == after.first_row


@given(workload=streams, seed=seeds, by=partitionings)
def test_a_shorter_stream_is_a_prefix_of_a_longer_one(workload, seed, by):
    assert stream(workload, seed, commits=4, by=by) == stream(workload, seed, commits=6, by=by)[:-2]


@pytest.mark.parametrize(
    "workload", [Append(1, 8, arrival=Poisson()), Upsert(1, 8, 10, 1, arrival=Poisson())]
)
def test_commits_without_rows_are_part_of_the_stream(workload):
    specs = stream(workload, commits=100)[-100:]
    empty = [spec for spec in specs if spec.rows == 0]
    assert [spec.index for spec in specs] == list(range(1, 101))
    assert len(empty) == pytest.approx(100 * math.exp(-1), abs=25)
    assert {(spec.partitions, spec.expected_bytes) for spec in empty} == {((), 0)}


@pytest.mark.parametrize(("superseded", "live"), [(0, 5), (3, 2), (5, 0), (6, 0)])
def test_added_rows_live_unless_their_own_commit_supersedes_them(superseded, live):
    assert PartitionShape("a", 5, 10, 4, superseded).live_rows == live
