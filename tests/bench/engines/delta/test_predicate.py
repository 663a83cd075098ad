import pytest

from bench.engines.delta.predicate import PredicateError, comparable_type, matching_partitions

DAYS = ["d=a", "d=b", "d=null"]


def test_values_compare_by_the_type_of_their_column():
    partitions = [f"n={number}" for number in (2, 10)]
    assert matching_partitions(partitions, {"n": "BIGINT"}, "n > 9") == ["n=10"]
    assert matching_partitions(partitions, {"n": "VARCHAR"}, "n > '10'") == ["n=2"]
    assert matching_partitions([], {"n": "BIGINT"}, "n > 9") == []


SELECTED = [
    ("d = 'a' -- the first", ["d=a"]),
    ("D = 'a'", ["d=a"]),
    ("`d` LIKE '%'", ["d=a", "d=b"]),
    ("d IS NULL OR d IN ('b')", ["d=b", "d=null"]),
    ("d <=> 'a'", ["d=a"]),
    ("d <=> NULL", ["d=null"]),
    ("NOT d <=> 'a'", ["d=b", "d=null"]),
    ("d <=> 'a' = false", ["d=b", "d=null"]),
    ("d <=> lower('A') OR d IS NULL", ["d=a", "d=null"]),
    ("d = 'a<=>' OR d = 'b' -- <=>", ["d=b"]),
    ("current_date > DATE '2020-01-01'", DAYS),
]


@pytest.mark.parametrize(("where", "expected"), SELECTED)
def test_a_predicate_selects_partitions(where, expected):
    assert matching_partitions(DAYS, {"d": "VARCHAR"}, where) == expected


@pytest.mark.spark
def test_spark_selects_the_same_partitions(spark):
    table = spark.createDataFrame([("a",), ("b",), (None,)], "d string")
    for where, expected in SELECTED:
        selected = [f"d={row.d or 'null'}" for row in table.where(where).collect()]
        assert (where, sorted(selected)) == (where, expected)


@pytest.mark.parametrize(
    ("where", "problem"),
    [
        ("1/0", "DOUBLE"),
        ("d", "VARCHAR"),
        ("d IN (SELECT d FROM partitions)", "query"),
        ("EXISTS (SELECT 1)", "query"),
        ("COLUMNS(*) = 'a'", r"\*"),
        ("d = 'a'; DROP TABLE partitions", "more than"),
        ("true) OR (true", "syntax error"),
        ("d = 'a' UNION SELECT 1", "syntax error"),
        ("path = 'x'", "path"),
        ("rowid = 0", "rowid"),
        ("count(*) > 0", "aggregates"),
        ("d = ?", "parameter"),
        ("d = 'a' /*", "unterminated"),
        ("d = 5", "Could not convert"),
        ("d = 'a' <=> d", "on the left"),
        ("d <=> 'a' || 'b'", "VARCHAR"),
        ("", "syntax error"),
    ],
)
def test_anything_else_is_refused(where, problem):
    with pytest.raises(PredicateError, match=problem):
        matching_partitions(DAYS, {"d": "VARCHAR"}, where)


@pytest.mark.parametrize("name", ["path", 'a"b', "partitions"])
def test_a_column_may_have_any_name(name):
    quoted = name.replace('"', '""')
    assert matching_partitions([f"{name}=1"], {name: "BIGINT"}, f'"{quoted}" = 1') == [f"{name}=1"]


def test_a_table_without_partition_columns_has_one_partition():
    assert matching_partitions([""], {}, "true") == [""]
    with pytest.raises(PredicateError):
        matching_partitions([""], {}, "id = 1")


@pytest.mark.parametrize(
    ("column_type", "expected"),
    [
        ("long", "BIGINT"),
        ("decimal(38,18)", "decimal(38,18)"),
        ("decimal(39,1)", None),
        ("decimal(3,1)); DROP TABLE x; --", None),
        ("interval", None),
        ({"type": "struct", "fields": []}, None),
    ],
)
def test_only_types_whose_values_compare_are_known(column_type, expected):
    assert comparable_type(column_type) == expected
