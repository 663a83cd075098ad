"""`compactbench plan` against what Iceberg's own command then does, on tables made by Spark alone."""

import json

import pytest
from iceberg_commits import add_equality_delete

from bench.cli.main import main

pytestmark = pytest.mark.spark

OPTIONS = {"min-input-files": "3", "target-file-size-bytes": "20000", "min-file-size-bytes": "9000",
           "max-file-size-bytes": "40000", "delete-ratio-threshold": "0.2"}  # fmt: skip


@pytest.fixture
def make_table(spark, namespaces):
    """Makes a table by day and bucket: 6 commits of different sizes, some rows deleted on read."""

    def make(format_version, granularity="file"):
        namespace = next(namespaces)
        name = f"lake.{namespace}.visits"
        spark.sql(f"CREATE NAMESPACE lake.{namespace}")
        spark.sql(
            f"CREATE TABLE {name} (id BIGINT, who STRING, seen TIMESTAMP) USING iceberg "
            f"PARTITIONED BY (days(seen), bucket(2, id)) TBLPROPERTIES ('format-version'='{format_version}', "
            f"'write.delete.mode'='merge-on-read', 'write.delete.granularity'='{granularity}')"
        )
        for number in range(6):
            spark.sql(
                f"INSERT INTO {name} SELECT id, sha2(concat(id, 'x{number}'), 256), "
                f"timestamp'2026-03-01' + make_interval(0, 0, 0, id % 3) FROM range({200 + 300 * number})"
            )
        spark.sql(f"DELETE FROM {name} WHERE id < 120 AND day(seen) = 1")
        return name

    return make


@pytest.fixture
def planned(capsys):
    """The JSON of `plan` for the newest metadata of a table."""

    def run(place, options, *more, strategy="iceberg.rewrite_data_files"):
        settings = [f"--option=options.{key}={value}" for key, value in options.items()]
        command = ["plan", place, "--strategy", strategy, *settings, *more, "--format", "json"]
        assert main(command) == 0
        return json.loads(capsys.readouterr().out)

    return run


def location(spark, name):
    rows = spark.sql(f"DESCRIBE EXTENDED {name}").collect()
    return next(row.data_type for row in rows if row.col_name == "Location")


def rewritten(spark, name, options):
    """Files in and out, and bytes in, of the real command."""
    pairs = ", ".join(f"'{key}', '{value}'" for key, value in options.items())
    (row,) = spark.sql(
        f"CALL lake.system.rewrite_data_files(table => '{name}', options => map({pairs}))"
    ).collect()
    return row.rewritten_data_files_count, row.added_data_files_count, row.rewritten_bytes_count


def paths(spark, name):
    return {row.file_path for row in spark.sql(f"SELECT file_path FROM {name}.data_files").collect()}


@pytest.mark.parametrize(
    "options",
    [{"min-input-files": "5"}, OPTIONS, OPTIONS | {"rewrite-all": "true"}],
    ids=["default", "own", "all"],
)
@pytest.mark.parametrize(("version", "granularity"), [(2, "file"), (2, "partition"), (3, "file")])
def test_the_command_does_what_the_plan_said(spark, make_table, planned, version, granularity, options):
    name = make_table(version, granularity)
    found = planned(location(spark, name), options, "--files")
    facts, effect = found["table"], found["effect"]
    deletes = spark.sql(f"SELECT * FROM {name}.delete_files").collect()
    (kind,) = [kind for kind in facts["delete_files"] if kind["files"]]
    assert kind["kind"] == ("deletion_vector" if version == 3 else "position")
    assert kind["files"] == len(deletes)
    assert kind["rows"] == sum(row.record_count for row in deletes)
    sizes = [row.content_size_in_bytes or row.file_size_in_bytes for row in deletes]
    assert kind["bytes"] == sum(sizes)

    before = paths(spark, name)
    done = rewritten(spark, name, options)
    assert effect["files_removed_count"] > 0
    assert (effect["files_removed_count"], effect["files_added_count"], effect["read_data_bytes"]) == done
    after = paths(spark, name)
    assert {file["path"] for group in effect["groups_in_order"] for file in group["files"]} == before - after
    assert (effect["files_before"], effect["files_after"]) == (len(before), len(after))
    dropped = len(deletes) - spark.sql(f"SELECT * FROM {name}.delete_files").count()
    assert dropped <= effect["delete_files_dropped_more_at_most"]
    # Position deletes of the last commit are not below the new data files, deletion vectors go with theirs.
    assert dropped or version == 2 or "rewrite-all" not in options


def test_equality_deletes_that_a_rewrite_leaves_nothing_to_apply_to_are_in_the_plan(
    spark, namespaces, planned, tmp_path
):
    namespace, options = next(namespaces), OPTIONS | {"rewrite-all": "true"}
    name = f"lake.{namespace}.visits"
    spark.sql(f"CREATE NAMESPACE lake.{namespace}")
    spark.sql(f"CREATE TABLE {name} (id BIGINT, who STRING) USING iceberg")
    spark.sql(f"INSERT INTO {name} SELECT id, 'x' FROM range(100)")
    for number in range(40):
        add_equality_delete(spark, name, tmp_path / f"{number}.parquet", [number])
    effect = planned(location(spark, name), options)["effect"]
    rewritten(spark, name, options)
    dropped = 40 - spark.sql(f"SELECT * FROM {name}.delete_files").count()
    # How many a commit finds depends on the threads that read manifests.
    assert 0 < dropped <= effect["delete_files_dropped_more_at_most"] <= 40


def test_deletion_vectors_of_one_puffin_file_are_counted_apart(spark, make_table, planned):
    name = make_table(3)
    vectors = spark.sql(f"SELECT file_path, referenced_data_file FROM {name}.delete_files").collect()
    assert len({row.file_path for row in vectors}) < len(vectors)
    (_, _, told) = planned(location(spark, name), {})["table"]["delete_files"]
    assert (told["kind"], told["files"]) == (
        "deletion_vector",
        len({row.referenced_data_file for row in vectors}),
    )


def test_a_filter_narrows_as_the_command_does(spark, make_table, planned):
    name = make_table(2)
    place = location(spark, name)
    where = "seen >= '2026-03-02T00:00:00+00:00' and seen < '2026-03-03T00:00:00+00:00'"
    effect = planned(place, OPTIONS, "--option", f"where={where}")["effect"]
    pairs = ", ".join(f"'{key}', '{value}'" for key, value in OPTIONS.items())
    sql = "seen >= timestamp'2026-03-02' AND seen < timestamp'2026-03-03'"
    (row,) = spark.sql(
        f'CALL lake.system.rewrite_data_files(table => "{name}", where => "{sql}", options => map({pairs}))'
    ).collect()
    assert effect["files_removed_count"] > 0
    assert (effect["files_removed_count"], effect["files_added_count"]) == (
        row.rewritten_data_files_count, row.added_data_files_count,
    )  # fmt: skip


def test_files_of_an_older_partition_spec_are_taken_together(spark, make_table, planned):
    name = make_table(2)
    spark.sql(f"ALTER TABLE {name} REPLACE PARTITION FIELD id_bucket WITH bucket(3, id)")
    spark.sql(f"INSERT INTO {name} SELECT id, 'new', timestamp'2026-03-01' FROM range(50)")
    options = {"min-input-files": "4"}
    found = planned(location(spark, name), options, "--files")
    effect, before = found["effect"], paths(spark, name)
    assert found["table"]["partition_spec"] == "day(seen), bucket[3](id)"
    assert effect["files_out_exact"] is False
    assert rewritten(spark, name, options)[0] == effect["files_removed_count"] == 36
    gone = before - paths(spark, name)
    assert {file["path"] for group in effect["groups_in_order"] for file in group["files"]} == gone


def test_what_the_plan_leaves_the_command_leaves(spark, make_table, planned):
    name = make_table(2)
    options = {"min-input-files": "100", "delete-ratio-threshold": "1"}
    found = planned(location(spark, name), options)
    assert found["effect"]["files_removed_count"] == 0
    assert found["nothing_because"].endswith(", and no file has enough deletes to be rewritten for them")
    assert rewritten(spark, name, options)[:2] == (0, 0)


@pytest.mark.parametrize("version", [2, 3])
def test_the_command_rewrites_the_delete_files_the_plan_said(spark, make_table, planned, version):
    name = make_table(version)
    spark.sql(f"DELETE FROM {name} WHERE id < 150 AND day(seen) = 1")
    options = {"min-input-files": "2"}
    found = planned(location(spark, name), options, strategy="iceberg.rewrite_position_delete_files")
    (row,) = spark.sql(
        f"CALL lake.system.rewrite_position_delete_files(table => '{name}', "
        "options => map('min-input-files', '2'))"
    ).collect()
    effect = found["effect"]
    assert (effect["delete_files_in"], effect["delete_bytes_in"]) == (
        row.rewritten_delete_files_count, row.rewritten_bytes_count,
    )  # fmt: skip
    assert (effect["delete_files_in"] > 0) == (version == 2)  # vectors alone are left
    assert effect["files_removed_count"] == 0
    assert (found["nothing_because"] is None) == (version == 2)
    assert (found["cost"] is None) == (version == 2)


def test_equality_deletes_are_read_where_their_keys_may_be(spark, namespaces, planned, tmp_path):
    namespace = next(namespaces)
    name = f"lake.{namespace}.visits"
    spark.sql(f"CREATE NAMESPACE lake.{namespace}")
    spark.sql(f"CREATE TABLE {name} (id BIGINT, who STRING) USING iceberg")
    for first in (0, 100, 200):
        spark.sql(f"INSERT INTO {name} SELECT id, 'x' FROM range({first}, {first + 100}, 1, 1)")
    add_equality_delete(spark, name, tmp_path / "deletes.parquet", [150, 220])
    effect = planned(location(spark, name), {"rewrite-all": "true"})["effect"]
    assert (effect["files_removed_count"], effect["delete_files_read"]) == (3, 2)
    assert effect["deletes_exact"]
    found = planned(location(spark, name), {}, strategy="iceberg.convert_deletes")
    effect = found["effect"]  # of the second and third file; no row of the first is deleted
    assert (effect["files_converted"], effect["delete_files_dropped"]) == (2, 1)
    assert effect["files_removed_count"] == 0
    assert found["cost"]["cpu_s"] > 0
    assert (found["nothing_because"], effect["vetoed_because"]) == (None, None)
