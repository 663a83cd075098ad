import pytest

from bench.engines.spark.read_only import more_than_reading

pytestmark = pytest.mark.spark
TABLES = ("orders", "orders_ro")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*), min(order_id) FROM orders",
        "SELECT a.order_id FROM Orders a JOIN orders_ro b USING (order_id) WHERE a.city IN ('x', 'y')",
        "WITH recent AS (SELECT * FROM orders WHERE order_id > 5) SELECT count(*) FROM recent",
        "WITH a AS (SELECT 1 AS x), b AS (SELECT * FROM a) SELECT * FROM b, orders",
        "SELECT * FROM orders WHERE order_id = (SELECT max(order_id) FROM orders_ro)",
        "SELECT * FROM orders WHERE EXISTS (SELECT 1 FROM orders_ro)",
        "SELECT city, x FROM orders LATERAL VIEW explode(array(1, 2)) t AS x",
        "SELECT id FROM range(10), orders",
        "SELECT * FROM VALUES (1), (2) AS t(x) JOIN orders ON x = order_id",
        "SELECT row_number() OVER (PARTITION BY city ORDER BY order_id) FROM orders",
        "SELECT sum(1) OVER w FROM orders WINDOW w AS (PARTITION BY city)",
        "SELECT 'reflect(java.lang.System)', '`parquet`.`/etc/passwd`' FROM orders",
        "SELECT * FROM orders.snapshots",
        "SELECT * FROM orders VERSION AS OF 5",
        "SELECT 1 FROM orders UNION ALL SELECT 2 FROM orders",
    ],
)
def test_what_reads_the_table_passes(spark, sql):
    assert more_than_reading(spark, sql, TABLES) is None


@pytest.mark.parametrize(
    ("sql", "problem"),
    [
        ("SELECT TRANSFORM(order_id) USING 'cat' AS (x) FROM orders", "runs a program"),
        ("SELECT * FROM (SELECT TRANSFORM(order_id) USING 'cat' FROM orders) t", "runs a program"),
        ("SELECT reflect('java.util.UUID', 'randomUUID') FROM orders", "calls Java (reflect)"),
        ("SELECT 1 FROM orders WHERE java_method('a', 'b') = ''", "calls Java (java_method)"),
        ("SELECT * FROM orders WHERE order_id = (SELECT Reflect('a', 'b'))", "calls Java (Reflect)"),
        ("SELECT * FROM VALUES (reflect('a', 'b')) AS t(x), orders", "calls Java (reflect)"),
        ("SELECT * FROM parquet.`/etc/passwd` orders", "reads parquet./etc/passwd, and the table is called"),
        ("SELECT * FROM orders, text.`/etc/passwd`", "reads text./etc/passwd"),
        ("WITH x AS (SELECT * FROM csv.`/tmp`) SELECT * FROM orders", "reads csv./tmp"),
        ("SELECT * FROM orders WHERE city IN (SELECT value FROM text.`/etc`)", "reads text./etc"),
        ("SELECT * FROM text.`/etc/passwd` TIMESTAMP AS OF '2020-01-01', orders", "reads text./etc/passwd"),
        ("SELECT * FROM other.place.orders", "reads other.place.orders"),
        ("SELECT * FROM read_files('/tmp'), orders", "calls the table function read_files"),
        ("WITH text AS (SELECT 1) SELECT * FROM text.`/etc/passwd`, orders", "reads text./etc/passwd"),
        ("SELECT sum(1) OVER w FROM orders WINDOW w AS (ORDER BY reflect('a', 'b'))", "calls Java (reflect)"),
        (
            "SELECT sum(1) OVER w FROM orders WINDOW w AS (ORDER BY (SELECT value FROM text.`/x`))",
            "reads text",
        ),
        ("SELECT system.builtin.reflect('a', 'b') FROM orders", "calls Java (reflect)"),
        ("WITH x AS (SELECT 1) INSERT INTO orders SELECT * FROM x", "is a statement that writes"),
        ("WITH x AS (SELECT 1) DELETE FROM orders", "is a statement that writes"),
    ],
)
def test_what_does_more_is_named(spark, sql, problem):
    assert problem in more_than_reading(spark, sql, TABLES)
