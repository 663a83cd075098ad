from datetime import date

import pytest

from bench.engines.hudi.table_keys import hudi_day
from bench.engines.simulated.selection import EVERYTHING, partition_values, selection_of
from workloads.partitioning import Partitioning

NONE, DAYS, CITIES, BUCKETS = (Partitioning(by) for by in ("none", "day", "city", "bucket"))
MOST = 2**63 - 1
DAY_MS = 86_400_000
NEW_YEAR_MS = 1_767_225_600_000  # 2026-01-01


def select(where, partitioning=NONE, **how):
    return selection_of(f"SELECT count(*) FROM orders WHERE {where}", partitioning, **how)


@pytest.mark.parametrize(
    ("where", "keys"),
    [
        ("order_id = 5", (5, 5)),
        ("ORDER_ID between 5 and 9", (5, 9)),
        ("order_id >= 5", (5, MOST)),
        ("order_id > 5 AND order_id < 9", (6, 8)),
        ("9 > order_id AND (5 <= orders.order_id AND user_age > 3)", (5, 8)),
        ("order_id IN (5)", (5, 5)),
        ("user_age = 5 OR user_city = 'Oslo'", None),
    ],
)
def test_conditions_on_the_key_select_a_range(where, keys):
    assert select(where).keys == keys


def test_a_query_without_conditions_selects_everything():
    assert selection_of("SELECT order_id FROM orders ORDER BY order_id LIMIT 1", DAYS) == EVERYTHING
    assert EVERYTHING.admits("partition_day=2026-01-01")


@pytest.mark.parametrize(
    ("where", "partitioning", "admitted", "others"),
    [
        ("user_city = 'Oslo'", CITIES, ["Oslo"], ["Rome"]),
        ("user_city IN ('Oslo', 'Rome')", CITIES, ["Oslo", "Rome"], ["Paris"]),
        ("user_city >= ''", CITIES, ["Oslo", "5"], ["null"]),
        ("user_city = ''", CITIES, [""], ["5"]),
        ("partition_bucket = 0", BUCKETS, ["0"], ["1", "10"]),
        ("partition_bucket >= 9 AND partition_bucket < 11", BUCKETS, ["9", "10"], ["2", "11"]),
        ("partition_day = DATE '2026-01-02'", DAYS, ["2026-01-02"], ["2026-01-01"]),
        ("partition_day > '2026-01-01'", DAYS, ["2026-01-02"], ["2026-01-01", "2025-12-31"]),
        ("partition_day BETWEEN '2025-12-31' AND '2026-01-01'", DAYS, ["2025-12-31"], ["2026-01-02"]),
        (f"order_date = {NEW_YEAR_MS}", DAYS, ["2026-01-01"], ["2025-12-31", "2026-01-02"]),
        (f"order_date >= {NEW_YEAR_MS}", DAYS, ["2026-01-01", "2026-02-01"], ["2025-12-31"]),
        (f"order_date < {NEW_YEAR_MS}", DAYS, ["2025-12-31"], ["2026-01-01"]),
        (f"order_date <= {NEW_YEAR_MS}", DAYS, ["2025-12-31", "2026-01-01"], ["2026-01-02"]),
        (f"order_date > {NEW_YEAR_MS + DAY_MS - 1}", DAYS, ["2026-01-02"], ["2026-01-01"]),
    ],
)
def test_conditions_on_the_partition_admit_partitions(where, partitioning, admitted, others):
    selection = select(where, partitioning)
    assert selection.keys is None
    names = {name: selection.admits(f"{partitioning.column}={name}") for name in (*admitted, *others)}
    assert names == dict.fromkeys(admitted, True) | dict.fromkeys(others, False)


def test_a_partition_of_hudi_is_its_value():
    selection = select("partition_day >= '2026/01/01'", DAYS, day_text=hudi_day)
    days = "2026/01/01", "2025/12/31", "__HIVE_DEFAULT_PARTITION__"
    assert [selection.admits(day) for day in days] == [True, False, False]
    selection = select(f"order_date < {NEW_YEAR_MS}", DAYS, day_text=hudi_day)
    assert [selection.admits(hudi_day(date(2025, 12, day))) for day in (30, 31)] == [True, True]
    assert not selection.admits("2026/01/01")


def test_all_conditions_must_hold():
    selection = select("user_city = 'Oslo' AND order_id = 5 AND user_city < 'P'", CITIES)
    assert (selection.keys, selection.admits("user_city=Oslo"), selection.admits("user_city=Paris")) == (
        (5, 5), True, False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("partition", "columns_count", "values"),
    [
        ("p=a%2Fb", 1, ["a/b"]),
        ("p=k=1/q=2", 2, ["k=1", "2"]),
        ("eu/7", 2, ["eu", "7"]),
        ("2026/01/05", 1, ["2026/01/05"]),
        ("2026/01/05", 2, None),
        ("p=null/q=%6Eull", 2, [None, "null"]),
        ("p=__HIVE_DEFAULT_PARTITION__/null", 2, [None, "null"]),
    ],
)
def test_values_are_read_from_paths_that_name_their_columns_or_not(partition, columns_count, values):
    assert partition_values(partition, columns_count) == values


@pytest.mark.parametrize(
    ("sql", "problem"),
    [
        ("SELECT 1 FROM orders WHERE order_id = 5 OR order_id = 9", "connected by AND"),
        ("SELECT 1 FROM orders WHERE order_id IN (5, 9)", "one number or one range"),
        ("SELECT 1 FROM orders WHERE order_id % 2 = 0", "connected by AND"),
        ("SELECT 1 FROM orders WHERE NOT order_id = 5", "connected by AND"),
        ("SELECT 1 FROM orders WHERE order_id = user_age", "connected by AND"),
        ("SELECT 1 FROM orders WHERE order_id = 'x'", "one number or one range"),
        ("SELECT 1 FROM orders WHERE order_id = ''", "one number or one range"),
        ("SELECT 1 FROM orders WHERE order_id < 5.5", "connected by AND"),
        ("SELECT 1 FROM orders WHERE order_id BETWEEN 5 AND 'x'", "connected by AND"),
        ("SELECT 1 FROM orders WHERE order_date > 5", "without daily partitions"),
        ("SELECT 1 FROM orders a JOIN orders b ON a.order_id = b.order_id", "reads 2 tables"),
        ("SELECT FROM WHERE (", "cannot be parsed"),
    ],
)
def test_what_is_not_modelled_is_refused(sql, problem):
    with pytest.raises(ValueError, match=problem):
        selection_of(sql, NONE)


@pytest.mark.parametrize(
    ("value", "problem"),
    [("'2026-01-01'", "whole numbers"), ("''", "whole numbers"), (str(MOST), "years 1 to 9999")],
)
def test_moments_are_numbers_of_days_that_exist(value, problem):
    with pytest.raises(ValueError, match=problem):
        select(f"order_date > {value}", DAYS)


def test_a_filter_of_an_aggregate_selects_no_files():
    sql = "SELECT count(*) FILTER (WHERE order_id > 4) FROM orders"
    assert selection_of(sql, NONE) == EVERYTHING
    assert selection_of(f"{sql} WHERE order_id > 2", NONE).keys == (3, MOST)


def test_a_common_table_expression_is_no_table_of_its_own():
    sql = "WITH recent AS (SELECT * FROM orders WHERE order_id > 4) SELECT count(*) FROM recent"
    assert selection_of(sql, NONE).keys == (5, MOST)
