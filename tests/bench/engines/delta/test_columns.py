"""What a table can be clustered, sorted and filtered by. That Delta judges alike is in test_engine.py."""

import pytest

from bench.engines.contract import TableSpec
from bench.engines.delta.columns import Layout, key_problem, layout_of, planner_problem
from bench.engines.delta.table_keys import INDEXED_COUNT, STATS_COLUMNS, DeltaKeys
from strategies.delta.planners import Optimize, Reorg, ZOrder
from workloads.partitioning import Partitioning
from workloads.schema import SCHEMAS

WIDE = SCHEMAS[40]  # the 33rd column is `device`, the last one `status_note`


def clustered(*columns, schema=WIDE, **properties):
    keys = DeltaKeys.model_validate({"format": "delta", "target_file_size": "8MiB", "cluster_by": columns})
    return TableSpec(1, keys=keys, schema=schema, properties=properties)


def sorting(spec, *columns):
    return planner_problem(layout_of(spec), ZOrder(columns))


@pytest.mark.parametrize("columns", [(), ("user_id",), ("order_id", "carrier", "user_since", "shipping_fee")])
def test_a_table_may_be_clustered_by_columns_with_statistics(columns):
    assert key_problem(clustered(*columns)) is None


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        (clustered("user_id", "nope"), "nope"),
        (clustered("User_ID"), "User_ID"),
        (clustered("user_name", schema=SCHEMAS[17]), "user_name"),
        (clustered("is_gift", "user_id"), "BOOLEAN"),
        (clustered("user_id", "device"), "statistics for data skipping on device,"),
        (clustered("user_age", **{INDEXED_COUNT: "3"}), "user_id, user_city, user_gender:"),
        (clustered("user_id", **{INDEXED_COUNT.lower(): "0"}), "no column"),
        (clustered("user_id", **{INDEXED_COUNT: "many"}), "no column"),
        (clustered("user_id", **{STATS_COLUMNS: "device"}), "only on device:"),
    ],
)
def test_a_table_is_not_clustered_by_other_columns(spec, problem):
    key, reason = key_problem(spec)
    assert key == "cluster_by"
    assert problem in reason


def test_properties_choose_the_columns_with_statistics():
    assert key_problem(clustered("status_note", **{INDEXED_COUNT: "-1"})) is None
    named = {STATS_COLUMNS: "`device`, User_City", INDEXED_COUNT: "0"}
    assert key_problem(clustered("device", "user_city", **named)) is None


def test_a_table_is_sorted_by_columns_with_statistics():
    plain = TableSpec(1, schema=WIDE)
    assert sorting(plain, "user_id", "is_subscriber", "carrier") is None
    assert "device" in sorting(plain, "device")


def test_a_partition_column_has_no_statistics_and_does_not_count():
    by_city = TableSpec(1, schema=WIDE, partitioning=Partitioning("city"))
    assert sorting(by_city, "device") is None
    assert "user_city" in sorting(by_city, "user_city")


def test_a_clustered_table_is_not_sorted():
    assert "liquid" in sorting(clustered("user_id"), "order_id")


BY_CITY = TableSpec(1, schema=WIDE, partitioning=Partitioning("city"))
BY_DAY = TableSpec(1, schema=WIDE, partitioning=Partitioning("day"))


@pytest.mark.parametrize("planner", [Optimize, Reorg, lambda where: ZOrder(("user_id",), where=where)])
@pytest.mark.parametrize(
    ("spec", "where", "problem"),
    [
        (BY_CITY, "user_city = 'Oslo' OR USER_CITY IN ('order_id')", None),
        (BY_DAY, "partition_day >= '2026-01-01'", None),
        (BY_CITY, "user_city = 'Oslo' AND Order_ID > 3", "order_id"),
        (BY_CITY, "`order_id` = 1", "user_city"),
        (TableSpec(1, schema=WIDE), "order_id = 1", "order_id"),
        (clustered("user_id"), "user_id = 1", "liquid"),
    ],
)
def test_where_uses_partition_columns_only(spec, where, planner, problem):
    reason = planner_problem(layout_of(spec), planner(where=where))
    assert reason is None if problem is None else problem in reason


@pytest.mark.parametrize("spec", [TableSpec(1), BY_CITY, clustered("user_id")])
def test_days_are_chosen_only_in_a_table_partitioned_by_day(spec):
    problem = planner_problem(layout_of(spec), Optimize(days_ago=(1,)))
    assert "days_ago" in problem
    assert planner_problem(layout_of(BY_DAY), Optimize(days_ago=(1,))) is None
    assert planner_problem(layout_of(spec), Optimize(min_small_files=2)) is None


def test_a_nested_column_has_the_statistics_of_its_parent():
    layout = Layout(("id", "s.x", "s.y"), (), (), False, {STATS_COLUMNS: "s"})
    assert planner_problem(layout, ZOrder(("s.x",))) is None
    assert "on id," in planner_problem(layout, ZOrder(("id",)))
