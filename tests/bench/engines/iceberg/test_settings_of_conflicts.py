"""Which settings of Iceberg decide who loses, on real tables: what docs/real-clock.md says of them."""

import pytest
from held_tasks import committed_meanwhile
from iceberg_commits import add_data_file, add_equality_delete, add_position_delete
from py4j.protocol import Py4JJavaError

pytestmark = pytest.mark.spark

MERGE = (
    "MERGE INTO {name} t USING (SELECT id FROM range(0, 100, 9)) s ON t.id = s.id "
    "WHEN MATCHED THEN UPDATE SET who = 'changed'"
)


@pytest.fixture
def make_table(spark, namespaces):
    """Makes a merge-on-read table with two files, or with two in each of two partitions."""

    def make(by="", **properties):
        namespace = next(namespaces)
        name = f"lake.{namespace}.visits"
        spark.sql(f"CREATE NAMESPACE lake.{namespace}")
        stated = {"write.merge.mode": "merge-on-read", **properties}
        pairs = ", ".join(f"'{key}'='{value}'" for key, value in stated.items())
        spark.sql(
            f"CREATE TABLE {name} (id BIGINT, who STRING, half INT) USING iceberg {by} "
            f"TBLPROPERTIES ({pairs})"
        )
        for first in (0, 50):
            spark.sql(
                f"INSERT INTO {name} SELECT /*+ COALESCE(1) */ id, 'new', CAST(id % 2 AS INT) "
                f"FROM range({first}, {first + 50})"
            )
        return name

    return make


@pytest.mark.parametrize(("isolation", "loses"), [("serializable", True), ("snapshot", False)])
def test_a_merge_beside_an_append_loses_only_if_it_is_serializable(
    spark, make_table, tmp_path, isolation, loses
):
    name = make_table(**{"write.merge.isolation-level": isolation})

    def append():
        add_data_file(spark, name, tmp_path / "more.parquet", [1_000])

    def merge():
        return committed_meanwhile(spark, tmp_path / "gate", MERGE.format(name=name), append)

    if loses:
        with pytest.raises(Exception, match="Found conflicting files"):
            merge()
    else:
        merge()
    spark.sql(f"REFRESH TABLE {name}")
    changed = spark.table(name).where("who = 'changed'").count()
    assert (changed, spark.table(name).count()) == (0 if loses else 12, 101)


@pytest.mark.parametrize(("keeps_sequence_number", "loses"), [("true", False), ("false", True)])
def test_a_rewrite_beside_equality_deletes_loses_if_its_files_get_a_new_sequence_number(
    spark, make_table, tmp_path, keeps_sequence_number, loses
):
    name = make_table()
    rewrite = (
        f"CALL lake.system.rewrite_data_files(table => '{name}', options => map('rewrite-all', 'true', "
        f"'use-starting-sequence-number', '{keeps_sequence_number}'))"
    )

    def delete():
        add_equality_delete(spark, name, tmp_path / "deletes.parquet", [7, 77])

    if loses:
        with pytest.raises(Py4JJavaError, match="found new delete"):
            committed_meanwhile(spark, tmp_path / "gate", rewrite, delete)
    else:
        (row,) = committed_meanwhile(spark, tmp_path / "gate", rewrite, delete)
        assert row.rewritten_data_files_count == 2
    spark.sql(f"REFRESH TABLE {name}")
    assert spark.table(name).count() == 98


@pytest.mark.parametrize(("is_partial", "rewritten"), [("false", 0), ("true", 2)])
def test_partial_progress_loses_only_the_commit_whose_file_has_got_deletes(
    spark, make_table, tmp_path, is_partial, rewritten
):
    name = make_table("PARTITIONED BY (half)")
    rewrite = (
        f"CALL lake.system.rewrite_data_files(table => '{name}', options => map('rewrite-all', 'true', "
        f"'partial-progress.enabled', '{is_partial}', 'partial-progress.max-commits', '2'))"
    )
    files = spark.table(f"{name}.files").where("partition.half = 1").collect()

    def delete():
        add_position_delete(spark, name, tmp_path / "deletes.parquet", files[0].file_path, [0], (1,))

    if rewritten:
        (row,) = committed_meanwhile(spark, tmp_path / "gate", rewrite, delete)
        # A commit that lost is in no column: only groups that could not be rewritten count as failed.
        assert (row.rewritten_data_files_count, row.failed_data_files_count) == (2, 0)
    else:
        with pytest.raises(Py4JJavaError, match="found new position delete"):
            committed_meanwhile(spark, tmp_path / "gate", rewrite, delete)
    spark.sql(f"REFRESH TABLE {name}")
    assert spark.table(name).count() == 99
