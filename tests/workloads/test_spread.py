import pytest
from hypothesis import given
from hypothesis import strategies as st

from workloads.commit import DeleteShape
from workloads.keys import KeyChoice
from workloads.schema import ORDERS
from workloads.spread import KeyPartitions, blended, change_shapes, whole_parts

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
def test_keys_lie_where_they_were_inserted_by_their_number(days):
    lying = KeyPartitions()
    for keys, day, shares in zip((100, 300), days, (A, B), strict=True):
        lying.add(keys, day * 86_400.0 - 1, shares)
    assert dict(lying.shares(UNIFORM)) == pytest.approx({"a": 0.25, "b": 0.75})
    # Of 400 keys the newest 300 have the ranks to 300: (301^-1 - 1) / (401^-1 - 1) with exponent 2.
    recent = dict(lying.shares(KeyChoice("recent-first", 2.0, 1)))
    assert recent["b"] == pytest.approx(0.75 if days == (1, 1) else 300 / 301 / (400 / 401))


def test_partitions_of_one_kind_of_change_have_no_others():
    only_rows, only_deletes = change_shapes(ORDERS, {"a": 5}, {"b": 3}, {}, 2)
    assert (only_rows.partition, only_rows.rows, only_rows.files) == ("a", 5, 2)
    assert only_rows.deletes == DeleteShape()
    assert (only_deletes.rows, only_deletes.files, only_deletes.expected_bytes) == (0, 0, 0)
    # Two files of 500 bytes and three rows of 3.6 of them.
    assert only_deletes.deletes == DeleteShape(3, 2, 0, 0, 1011)
    assert only_deletes.deletes.files == 2
