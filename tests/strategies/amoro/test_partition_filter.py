import pytest
from amoro_tables import amoro, files, rewrite_of, table
from hypothesis import given
from hypothesis import strategies as st

from strategies.amoro.partition_filter import read_filter


def admits(sql, partition):
    return read_filter(sql).admits(partition)


# What JSqlParser 4.7 makes of each, by which ExpressionUtil builds Iceberg's expression.
@pytest.mark.parametrize(
    ("sql", "matching", "others"),
    [
        ("city = 'Oslo'", ["city=Oslo", "city=Oslo/day=1"], ["city=oslo", "city=null"]),
        ("'Oslo' = city", ["city=Oslo"], ["city=Rome"]),
        ("orders.city <> 'Oslo'", ["city=Rome", "city=null"], ["city=Oslo"]),
        ("city != 'a/b%'", ["city=a"], ["city=a%2Fb%25"]),
        ("b < 10", ["b=9", "b=-1"], ["b=10", "b=11", "b=null"]),
        ("b <= 10", ["b=10"], ["b=11", "b=null"]),
        ("10 < b", ["b=11", "b=100"], ["b=10", "b=9", "b=null"]),
        ("b >= 10", ["b=10"], ["b=9", "b=null"]),
        ("NOT b > 10", ["b=10"], ["b=11", "b=null"]),
        ("NOT b = 10", ["b=9", "b=null"], ["b=10"]),
        ("b BETWEEN 2 AND 10", ["b=2", "b=10"], ["b=1", "b=11", "b=null"]),
        ("b NOT BETWEEN 2 AND 10", ["b=1", "b=11"], ["b=2", "b=10", "b=null"]),
        ("city in ('Oslo', 'Rome')", ["city=Rome"], ["city=Bonn", "city=null"]),
        ("city NOT IN ('Oslo', 'Rome')", ["city=Bonn", "city=null"], ["city=Rome"]),
        ("city IS NULL", ["city=null"], ["city=%6Eull", "city=x=null"]),
        ("city is not null", ["city=%6Eull", "city=x=null"], ["city=null"]),
        ("NOT city IS NULL", ["city=a"], ["city=null"]),
        ("city = 'null'", ["city=%6Eull"], ["city=null"]),
        ("day >= DATE '2026-01-05'", ["day=2026-01-05", "day=2026-10-01"], ["day=2026-01-04"]),
        ("date = '2026-01-05'", ["date=2026-01-05"], ["date=2026-01-06"]),
        ("flag = TRUE", ["flag=true"], ["flag=false"]),
        ("a = 1 AND b = 2 OR c = 3", ["a=1/b=2/c=0", "a=0/b=0/c=3"], ["a=1/b=0/c=0", "a=0/b=2/c=0"]),
        ("a = 1 AND b NOT BETWEEN 2 AND 3", ["a=1/b=1", "a=1/b=4"], ["a=1/b=2", "a=0/b=1"]),
        ("city = 'O''Brien'", ["city=O''Brien"], ["city=O'Brien"]),  # StringValue.getValue keeps both quotes
    ],
)  # fmt: skip
def test_partitions_are_admitted_by_their_values(sql, matching, others):
    assert [partition for partition in (*matching, *others) if admits(sql, partition)] == matching


@pytest.mark.parametrize(
    "sql",
    [
        "b = -5",
        "b = 1.5",
        "b == 1",
        'city = "Oslo"',
        "city = oslo",
        "city LIKE 'O%'",
        "city",
        "1 = 1",
        "b = 1 b = 2",
        "b = 1 AND",
        "b IN (1",
        "b IS 1",
        "b = 9223372036854775808",
    ],
)
def test_sql_that_cannot_be_evaluated_is_refused(sql):
    with pytest.raises(ValueError, match=r"^must "):
        read_filter(sql)


@pytest.mark.parametrize("sql", ["(city = 'Oslo')", "a = 1 OR NOT (b = 2)"])
def test_parentheses_around_conditions_are_refused_as_by_amoro(sql):
    with pytest.raises(ValueError, match="without parentheses"):
        read_filter(sql)


@pytest.mark.parametrize("sql", ["day = '2026-1-5'", "at < '2026-01-05T10:00:00'", "day = DATE 'today'"])
def test_dates_of_another_form_and_times_are_refused(sql):
    with pytest.raises(ValueError, match="dates"):
        read_filter(sql)


def test_a_blank_filter_is_none():
    assert read_filter(" ") is None


def test_a_column_that_the_partitions_do_not_tell_is_refused():
    text = r"option self-optimizing.filter = .* partition 'p=a': it has no value of user_id"
    with pytest.raises(ValueError, match=text):
        admits("p = 'a' OR user_id = 7", "p=a")
    with pytest.raises(ValueError, match="no value of p"):
        admits("p = 'a'", "")


def test_a_text_is_not_compared_with_a_number():
    with pytest.raises(ValueError, match="Oslo"):
        admits("city IN (5)", "city=Oslo")


def test_columns_are_named_once():
    assert read_filter("a = 1 AND b = 2 OR a = 3").columns == ("a", "b")


def test_a_plan_takes_the_partitions_of_the_filter():
    state = table(*[files(10, 10, partition=f"p={name}") for name in "abc"])
    planner = amoro(budget=10**6, minor__trigger__file_count=1, filter="p >= 'b'")
    assert {group.partition for group in rewrite_of(planner.decide(state).plan).groups} == {"p=b", "p=c"}
    assert planner.traits().columns == ("p",)
    assert amoro(filter="p = 'd'", minor__trigger__file_count=1).decide(state).plan is None


def test_a_plan_of_a_column_the_table_is_not_partitioned_by_is_refused():
    with pytest.raises(ValueError, match="no value of"):
        amoro(filter="user_id = 7").decide(table(files(1, 1)))


def test_pending_partitions_are_the_first_of_those_the_filter_admits():
    # Java's order is b a c, and a c without b.
    state = table(*[files(10, 10, partition=f"p={name}") for name in "abc"])
    options = {"budget": 10**6, "partitions": 1, "minor__trigger__file_count": 1}
    for sql, expected in (("p <> 'x'", {"p=b"}), ("p <> 'b'", {"p=a"})):
        plan = amoro(filter=sql, **options).decide(state).plan
        assert {group.partition for group in rewrite_of(plan).groups} == expected


@given(st.integers(0, 20), st.integers(0, 20), st.integers(0, 20))
def test_a_condition_and_its_negation_divide_the_values_that_are_not_null(value, low, high):
    for sql in (
        f"b < {low}",
        f"b >= {low}",
        f"b = {low}",
        f"b BETWEEN {low} AND {high}",
        f"b IN ({low}, {high})",
    ):
        assert admits(sql, f"b={value}") is not admits(f"NOT {sql}", f"b={value}")
