import pytest
from hypothesis import given
from hypothesis import strategies as st

from workloads.commit import PartitionShape
from workloads.keys import KeyChoice
from workloads.schema import ORDERS
from workloads.spread import (
    KeyPartitions,
    blended,
    change_shapes,
    dealt_writers,
    hashed_writers,
    whole_parts,
)

UNIFORM = KeyChoice("uniform", 1.0, 1)
A, B = (("a", 1.0),), (("b", 1.0),)


@given(total=st.integers(0, 10**6), weights=st.lists(st.floats(0.01, 1), min_size=1, max_size=20))
def test_whole_parts_sum_to_the_total_and_are_near_their_shares(total, weights):
    shares = tuple((str(n), weight / sum(weights)) for n, weight in enumerate(weights))
    parts = whole_parts(7, "x", total, shares)
    assert sum(parts.values()) == total
    assert all(abs(parts.get(name, 0) - total * share) < 1.001 for name, share in shares)
    assert 0 not in parts.values()


def test_blended_shares_are_weighted_by_their_parts():
    assert blended((1, A), (3, B)) == (("a", 0.25), ("b", 0.75))
    assert blended((2, (("a", 0.5), ("b", 0.5))), (2, A), (0, B)) == (("a", 0.75), ("b", 0.25))
    assert blended((0, A)) == ()


@pytest.mark.parametrize("days", [(1, 1), (1, 2)])
def test_rows_of_a_key_are_in_the_partitions_it_was_inserted_into(days):
    partitions = KeyPartitions()
    for keys, day, shares in zip((100, 300), days, (A, B), strict=True):
        partitions.add(keys, day * 86_400.0 - 1, shares)
    assert dict(partitions.shares(UNIFORM)) == pytest.approx({"a": 0.25, "b": 0.75})
    # Of 400 keys the newest 300 have the ranks to 300: (301^-1 - 1) / (401^-1 - 1) with exponent 2.
    recent = dict(partitions.shares(KeyChoice("recent-first", 2.0, 1)))
    assert recent["b"] == pytest.approx(0.75 if days == (1, 1) else 300 / 301 / (400 / 401))


@pytest.mark.parametrize(
    ("rows", "commit_rows", "writers", "busy"),
    [
        (80, 80, 8, 8),  # the whole commit: each writer has some of it
        # A tenth of the rows, 10 rows a writer: one misses with 0.9^10 = 0.35, so 8 x 0.65 = 5.2.
        (8, 80, 8, 5),
        (1, 80, 8, 1),  # 8 x (1 - (79/80)^10) = 0.95
        (1, 10**6, 8, 1),  # at least one writer has the row
        (0, 0, 8, 0),
        (2, 1000, 500, 2),  # never more writers than rows
    ],
)
def test_writers_of_dealt_rows_worked_out_by_hand(rows, commit_rows, writers, busy):
    assert dealt_writers(rows, commit_rows, writers) == busy


@given(data=st.data(), commit_rows=st.integers(1, 10**6), writers=st.integers(1, 1000))
def test_dealt_rows_are_at_one_to_as_many_writers_as_rows(data, commit_rows, writers):
    rows = data.draw(st.integers(1, commit_rows))
    busy = dealt_writers(rows, commit_rows, writers)
    assert 1 <= busy <= min(rows, writers)
    if rows < commit_rows:
        assert dealt_writers(rows + 1, commit_rows, writers) >= busy


@pytest.mark.parametrize(
    ("rows", "writers", "busy"),
    [(0, 4, 0), (1, 4, 1), (4, 4, 3), (40, 4, 4), (3, 1, 1), (8, 8, 5)],  # 4 x (1 - 0.75^4) = 2.7
)
def test_writers_of_hashed_rows_worked_out_by_hand(rows, writers, busy):
    assert hashed_writers(rows, writers) == busy


def test_partitions_may_have_only_rows_or_only_deletes():
    assert change_shapes(ORDERS, {"a": 5}, {"b": 3}, {}, 2) == (
        PartitionShape("a", 5, ORDERS.expected_bytes(5, 2)),
        PartitionShape("b", 0, 0, deleted_keys=3),
    )
