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
    given = {"format": "delta", "target_file_size": "8MiB", "cluster_by": columns}
    return TableSpec(1, keys=DeltaKeys.model_validate(given), schema=schema, properties=properties)


def sorting(spec, *columns):
    return planner_problem(layout_of(spec), ZOrder(columns))


@pytest.mark.parametrize("columns", [(), ("user_id",), ("order_id", "carrier", "user_since", "shipping_fee")])
def test_a_table_may_be_clustered_by_columns_with_statistics(columns):
    assert key_problem(clustered(*columns)) is None


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        (clustered("user_id", "nope"), "names nope, which the table does not have: name some of user_id, "),
        (clustered("User_ID"), "names User_ID, which the table does not have"),
        (clustered("user_name", schema=SCHEMAS[17]), "names user_name, which the table does not have"),
        (clustered("is_gift", "user_id"), "names is_gift of type BOOLEAN, by which Delta does not cluster"),
        (clustered("user_id", "device"), "names device, of which the table keeps no statistics"),
        (clustered("user_age", **{INDEXED_COUNT: "3"}), "name some of user_id, user_city, user_gender, or"),
        (clustered("user_id", **{INDEXED_COUNT.lower(): "0"}), "name some of none, or change"),
        (clustered("user_id", **{INDEXED_COUNT: "many"}), "name some of none, or change"),
        (clustered("user_id", **{STATS_COLUMNS: "device"}), "name some of device, or change"),
    ],
)
def test_a_table_is_not_clustered_by_others(spec, problem):
    key, found = key_problem(spec)
    assert key == "cluster_by"
    assert problem in found


def test_properties_say_of_which_columns_there_are_statistics():
    assert key_problem(clustered("status_note", **{INDEXED_COUNT: "-1"})) is None
    named = {STATS_COLUMNS: "`device`, User_City", INDEXED_COUNT: "0"}
    assert key_problem(clustered("device", "user_city", **named)) is None


def test_a_table_is_sorted_by_columns_with_statistics():
    plain = TableSpec(1, schema=WIDE)
    assert sorting(plain, "user_id", "is_subscriber", "carrier") is None
    assert "names device, of which" in sorting(plain, "device")


def test_a_partition_column_has_no_statistics_and_takes_no_place():
    by_city = TableSpec(1, schema=WIDE, partitioning=Partitioning("city"))
    assert sorting(by_city, "device") is None
    assert "names user_city, of which" in sorting(by_city, "user_city")


def test_a_clustered_table_is_not_sorted():
    assert "refuses on a table with liquid clustering" in sorting(clustered("user_id"), "order_id")


def test_a_planner_that_does_not_sort_is_not_asked():
    assert planner_problem(layout_of(clustered("user_id")), Optimize()) is None


BY_CITY = TableSpec(1, schema=WIDE, partitioning=Partitioning("city"))
BY_DAY = TableSpec(1, schema=WIDE, partitioning=Partitioning("day"))


@pytest.mark.parametrize("planner", [Optimize, Reorg, lambda where: ZOrder(("user_id",), where=where)])
@pytest.mark.parametrize(
    ("spec", "where", "problem"),
    [
        (BY_CITY, "user_city = 'Oslo' OR USER_CITY IN ('order_id')", None),
        (BY_DAY, "partition_day >= '2026-01-01'", None),
        (
            BY_CITY,
            "user_city = 'Oslo' AND Order_ID > 3",
            "names order_id, and Delta filters by partition col",
        ),
        (BY_CITY, "`order_id` = 1", "only: name some of user_city, or leave where out"),
        (TableSpec(1, schema=WIDE), "order_id = 1", "by partition columns only: leave where out"),
        (clustered("user_id"), "user_id = 1", "filters by where, which Delta refuses on a table with liquid"),
    ],
)
def test_only_partitions_are_filtered_by(spec, where, planner, problem):
    found = planner_problem(layout_of(spec), planner(where=where))
    assert found is None if problem is None else problem in found


@pytest.mark.parametrize("spec", [TableSpec(1), BY_CITY, clustered("user_id")])
def test_days_are_chosen_only_where_there_are_partitions_of_days(spec):
    problem = planner_problem(layout_of(spec), Optimize(days_ago=(1,)))
    assert problem.startswith("days_ago chooses partitions of days, and the table has none")
    assert planner_problem(layout_of(BY_DAY), Optimize(days_ago=(1,))) is None
    assert planner_problem(layout_of(spec), Optimize(min_small_files=2)) is None


def test_statistics_of_a_column_are_those_of_the_column_that_holds_it():
    layout = Layout(("id", "s.x", "s.y"), (), (), False, {STATS_COLUMNS: "s"})
    assert planner_problem(layout, ZOrder(("s.x",))) is None
    assert "names id, of which" in planner_problem(layout, ZOrder(("id",)))
