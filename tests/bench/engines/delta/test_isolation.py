"""Delta's isolation on a real table: what docs/real-clock.md says of a MERGE beside an append."""

import pytest
from delta_logs import add, info, write_commit
from held_tasks import committed_meanwhile
from py4j.protocol import Py4JJavaError
from pyspark.errors import IllegalArgumentException

from bench.engines.delta.log import LOG_FOLDER

pytestmark = pytest.mark.spark

MERGE = (
    "MERGE INTO delta.`{place}` t USING (SELECT id FROM range(0, 100, 9)) s ON t.id = s.id "
    "WHEN MATCHED THEN UPDATE SET who = 'changed'"
)


def test_a_merge_beside_an_append_loses(spark, tmp_path):
    place = tmp_path / "visits"
    spark.sql(f"CREATE TABLE delta.`{place}` (id BIGINT, who STRING) USING delta")
    for first in (0, 50):
        spark.sql(f"INSERT INTO delta.`{place}` SELECT id, 'new' FROM range({first}, {first + 50})")
    version = len([*(place / LOG_FOLDER).glob("*.json")])

    def append():
        """A copy of a file that is there, so that the table can be read."""
        file = next(place.glob("*.parquet"))
        (place / "more.parquet").write_bytes(file.read_bytes())
        added = add("more.parquet", file.stat().st_size, rows=None)
        added["add"]["partitionValues"] = {}
        told = info("WRITE", tag=None, mode="Append")
        told["commitInfo"] |= {"isBlindAppend": True, "readVersion": version - 1, "operationMetrics": {}}
        write_commit(place, version, told, added)

    with pytest.raises(Py4JJavaError, match="DELTA_CONCURRENT_APPEND"):
        committed_meanwhile(spark, tmp_path / "gate", MERGE.format(place=place), append)
    assert spark.sql(f"SELECT * FROM delta.`{place}` WHERE who = 'changed'").count() == 0


def test_delta_has_no_other_isolation(spark, tmp_path):
    with pytest.raises(IllegalArgumentException, match=r"delta\.isolationLevel must be Serializable"):
        spark.sql(
            f"CREATE TABLE delta.`{tmp_path}/visits` (id BIGINT) USING delta "
            "TBLPROPERTIES ('delta.isolationLevel' = 'WriteSerializable')"
        )
