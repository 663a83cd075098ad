import pytest
from hypothesis import given
from hypothesis import strategies as st

from workloads.dates import DateWindow
from workloads.partitioning import Partitioning

DAY_S = 86_400


@pytest.mark.parametrize(
    ("by", "column"),
    [("none", None), ("day", "partition_day"), ("bucket", "partition_bucket"), ("city", "user_city")],
)
def test_partitioning_derives_the_columns_the_payload_lacks(by, column):
    partitioning = Partitioning(by)
    assert partitioning.column == column
    assert set(partitioning.derived) == ({column} if by in ("day", "bucket") else set())


@pytest.mark.parametrize(("name", "value"), [("by", "month"), ("buckets", 0)])
def test_partitioning_rejects_bad_values(name, value):
    with pytest.raises(ValueError, match=f"{name}={value!r} must be"):
        Partitioning(**{name: value})


def test_shares_split_a_window_at_midnight():
    window = DateWindow(DAY_S - 30, DAY_S + 90)
    shares = dict(Partitioning("day").shares(7, window))
    assert shares == {"partition_day=2026-01-01": 0.25, "partition_day=2026-01-02": 0.75}


def test_shares_of_late_rows_reach_back_before_the_stream():
    shares = Partitioning("day").shares(7, DateWindow(0, 60, late_share=0.5, late_by_s=2 * DAY_S))
    assert [day for day, _ in shares] == [
        "partition_day=2025-12-30", "partition_day=2025-12-31", "partition_day=2026-01-01",
    ]  # fmt: skip


def test_shares_name_partitions_like_folders():
    window = DateWindow(0, 60)
    assert Partitioning().shares(7, window) == (("", 1.0),)
    assert Partitioning("bucket", 2).shares(7, window) == (
        ("partition_bucket=0", 0.5),
        ("partition_bucket=1", 0.5),
    )
    assert len(Partitioning("city").shares(7, window)) == 50


@given(
    by=st.sampled_from(["none", "day", "bucket", "city"]),
    late_share=st.floats(0, 1),
    late_by_s=st.floats(1, 30 * DAY_S),
    to_s=st.floats(1, 30 * DAY_S),
)
def test_shares_sum_to_one_and_name_each_partition_once(by, late_share, late_by_s, to_s):
    shares = Partitioning(by).shares(7, DateWindow(to_s - 60, to_s, late_share, late_by_s))
    assert sum(share for _, share in shares) == pytest.approx(1)
    assert all(share > 0 for _, share in shares)
    assert len(dict(shares)) == len(shares)
