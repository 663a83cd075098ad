import subprocess
import sys

import pytest

from bench.engines.sql import may_be_query


@pytest.mark.parametrize(
    "sql",
    [
        "select 1 FROM orders",
        "/* delete */ -- it\n ((SELECT ';' FROM orders))",
        "SELECT 1 FROM orders; -- the end",
        "WITH o AS (SELECT * FROM orders) SELECT * FROM o",
        "(SELECT 1 FROM orders) UNION ALL (SELECT 2)",
        "VALUES (1), (2)",
        "FROM orders SELECT *",
        "TABLE orders",
        "SELEC 1 FROM orders",
        "WITH SELECT",
    ],
)
def test_queries_may_be_queries_and_so_may_what_only_spark_can_parse(sql):
    assert may_be_query(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM orders",
        "-- SELECT\nTRUNCATE TABLE orders",
        "SELECT 1 FROM orders; DELETE FROM orders",
        "SELECT 1 FROM orders; SELECT 2",
        "WITH o AS (SELECT 1) INSERT INTO orders SELECT * FROM o",
        "FROM orders INSERT INTO other SELECT *",
        "INSERT OVERWRITE DIRECTORY '/tmp/x' SELECT * FROM orders",
        "CREATE TABLE other AS SELECT * FROM orders",
        "MERGE INTO orders USING other ON true WHEN MATCHED THEN DELETE",
        "EXPLAIN SELECT 1 FROM orders",
        "CALL system.rewrite_data_files(table => 'orders')",
        "CACHE TABLE orders",
        "SET x = orders",
    ],
)
def test_commands_writes_and_several_statements_are_no_query(sql):
    assert not may_be_query(sql)


def test_plain_queries_do_not_wait_for_the_parser():
    code = (
        "import sys; from bench.engines.sql import may_be_query; "
        "assert may_be_query('SELECT 1 FROM orders'); assert 'sqlglot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
