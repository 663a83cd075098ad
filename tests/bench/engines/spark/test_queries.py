import os

import pytest
from refused import refused

from bench.engines.contract import Probe
from bench.engines.spark.queries import is_query

pytestmark = pytest.mark.spark

# A carriage return ends a comment for Spark's parser, but not for most other eyes.
OVERWRITE = "WITH a AS (SELECT 1) --\r FROM orders INSERT OVERWRITE DIRECTORY '{}' USING json SELECT *"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*), min(order_id) FROM orders;",
        "SELECT 'INSERT OVERWRITE', ';' FROM orders -- DROP TABLE orders",
        "WITH recent AS (SELECT * FROM orders WHERE order_id > 5) SELECT count(*) FROM recent",
        "SELECT 1 FROM orders UNION ALL (SELECT 2 FROM orders_ro) ORDER BY 1 LIMIT 3",
        "SELECT * FROM orders WHERE order_id = (SELECT max(order_id) FROM orders)",
        "SELECT * FROM (SELECT * FROM orders) WHERE EXISTS (SELECT 1 FROM orders)",
        "SELECT sum(1) OVER w FROM orders WINDOW w AS (PARTITION BY city)",
        "SELECT city, x FROM orders LATERAL VIEW explode(array(1, 2)) t AS x",
        "SELECT * FROM orders.snapshots VERSION AS OF 5",
        "VALUES (1), (2)",
        "TABLE orders",
        "FROM orders SELECT *",
    ],
)
def test_queries_pass(spark, sql):
    assert is_query(spark, sql)


@pytest.mark.parametrize(
    "sql",
    [
        OVERWRITE.format("/tmp/x"),
        "INSERT OVERWRITE DIRECTORY '/tmp/x' USING json SELECT * FROM orders",
        "INSERT OVERWRITE LOCAL DIRECTORY '/tmp/x' SELECT * FROM orders",
        "INSERT INTO a SELECT * FROM orders",
        "FROM orders INSERT INTO a SELECT * INSERT INTO b SELECT *",
        "WITH x AS (SELECT 1) INSERT INTO orders SELECT * FROM x",
        "WITH x AS (SELECT 1) DELETE FROM orders",
        "MERGE INTO orders t USING s ON t.a = s.a WHEN MATCHED THEN DELETE",
        "UPDATE orders SET a = 1",
        "CREATE TABLE a AS SELECT * FROM orders",
        "CREATE TEMPORARY VIEW a AS SELECT * FROM orders",
        "DROP TABLE orders",
        "ALTER TABLE orders DROP COLUMN a",
        "TRUNCATE TABLE orders",
        "SET spark.sql.shuffle.partitions = 1",
        "RESET",
        "USE elsewhere",
        "CACHE TABLE orders",
        "CACHE TABLE a AS SELECT * FROM orders",
        "ADD JAR '/tmp/x.jar'",
        "EXPLAIN SELECT * FROM orders",
        "CALL lake.system.expire_snapshots('db.orders')",
        "OPTIMIZE orders",
        "VACUUM orders",
    ],
)
def test_commands_and_writes_are_refused(spark, sql):
    assert not is_query(spark, sql)


def test_a_probe_that_writes_is_refused_before_it_runs(iceberg, tmp_path):
    (tmp_path / "precious.txt").write_text("kept")
    engine = iceberg()
    with refused("not-a-query"):
        engine.query(Probe("own", OVERWRITE.format(tmp_path)))
    assert [file.name for file in tmp_path.iterdir()] == ["precious.txt"]


def test_variables_in_a_query_are_text(spark):
    assert "HOME" in os.environ
    assert spark.sql("SELECT '${env:HOME}'").collect()[0][0] == "${env:HOME}"


def test_variables_in_the_error_of_a_probe_are_text(iceberg):
    with refused("step-failed") as caught:
        iceberg().query(Probe("own", "SELECT `${env:HOME}` FROM orders"))
    assert "${env:HOME}" in str(caught.value)
