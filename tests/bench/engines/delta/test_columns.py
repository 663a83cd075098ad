"""By which columns a table can be clustered and sorted. That Delta judges alike is in test_engine.py."""

import pytest

from bench.engines.contract import TableSpec
from bench.engines.delta.columns import key_problem, planner_problem
from bench.engines.delta.table_keys import INDEXED_COUNT, STATS_COLUMNS, DeltaKeys
from strategies.delta.optimize import Optimize
from strategies.delta.zorder import ZOrder
from strategies.strategy import traits_of
from workloads.partitioning import Partitioning
from workloads.schema import SCHEMAS

WIDE = SCHEMAS[40]  # the 33rd column is `device`, the last one `status_note`


def clustered(*columns, schema=WIDE, **properties):
    given = {"format": "delta", "target_file_size": "8MiB", "cluster_by": columns}
    return TableSpec(1, keys=DeltaKeys.model_validate(given), schema=schema, properties=properties)


def sorting(spec, *columns):
    return planner_problem(spec, traits_of(ZOrder(columns)))


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
    assert planner_problem(clustered("user_id"), traits_of(Optimize())) is None
