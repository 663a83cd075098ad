"""What decides whether a MERGE on Delta loses to an append, on real tables: docs/real-clock.md says it."""

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from held_tasks import committed_meanwhile

pytestmark = pytest.mark.spark

MERGE = (
    "MERGE INTO delta.`{table}` t USING (SELECT id FROM range(0, 100, 2)) s ON {condition} t.id = s.id "
    "WHEN MATCHED THEN UPDATE SET who = 'changed'"
)


@pytest.fixture
def make_table(spark, tmp_path):
    """Makes a table of ids 0 to 99; `half` is 0 for the even ones, which the MERGE updates."""

    def make(by=""):
        table = tmp_path / "visits"
        spark.sql(f"CREATE TABLE delta.`{table}` (id BIGINT, who STRING, half INT) USING delta {by}")
        spark.sql(
            f"INSERT INTO delta.`{table}` SELECT /*+ COALESCE(1) */ id, 'new', CAST(id % 2 AS INT) "
            "FROM range(0, 100)"
        )
        return table

    return make


@pytest.mark.parametrize(
    ("by", "condition", "half", "loses"),
    [
        pytest.param("", "", 1, True, id="without partitions it reads all"),
        pytest.param("PARTITIONED BY (half)", "t.half = 0 AND", 0, True, id="the partition that it reads"),
        pytest.param("PARTITIONED BY (half)", "t.half = 0 AND", 1, False, id="another partition"),
    ],
)
def test_a_merge_loses_to_an_append_where_it_reads(spark, make_table, tmp_path, by, condition, half, loses):
    table = make_table(by)
    statement = MERGE.format(table=table, condition=condition)

    def append():
        rows = {"id": [1_000], "who": ["new"], "half": pa.array([half], pa.int32())}
        write_deltalake(table, pa.table(rows), mode="append")

    if loses:
        with pytest.raises(Exception, match="ConcurrentAppend"):
            committed_meanwhile(spark, tmp_path / "gate", statement, append)
    else:
        committed_meanwhile(spark, tmp_path / "gate", statement, append)
    rows = spark.read.format("delta").load(str(table))
    assert (rows.where("who = 'changed'").count(), rows.count()) == (0 if loses else 50, 101)


def test_delta_allows_no_weaker_isolation(spark, make_table):
    table = make_table()
    with pytest.raises(Exception, match=r"delta\.isolationLevel must be Serializable"):
        spark.sql(
            f"ALTER TABLE delta.`{table}` SET TBLPROPERTIES ('delta.isolationLevel'='WriteSerializable')"
        )
