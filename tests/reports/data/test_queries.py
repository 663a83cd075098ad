import pytest
from result_builder import build_group

from reports.data.queries import query_name, query_text

SQL = "SELECT count(*)\n  FROM orders"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("min_order", "min_order"), ("query_by_day", "query_by_day"), ("q1", "SELECT count(*) FROM orders"),
        ("primary", "SELECT count(*) FROM orders"), ("Query 2", "SELECT count(*) FROM orders"),
        ("_" * 500 + "x", "_" * 500 + "x"),
    ],
)  # fmt: skip
def test_a_query_is_called_by_its_name_or_its_text_where_the_name_says_nothing(tmp_path, name, expected):
    probes = [{"name": name, "sql": SQL}]
    group = build_group(tmp_path, {"never": None}, 1, 2, primary_probe=name, scenario_text={"probes": probes})
    assert query_name(group) == expected
    assert query_text(group, name) == SQL


def test_without_a_text_the_name_has_to_do(tmp_path):
    assert query_name(build_group(tmp_path, {"never": None}, 1, 2, primary_probe="q1")) == "q1"
