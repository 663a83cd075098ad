"""The statements that `recommend` ends with, run on real tables: they do what the planner's own plan does."""

import pytest
from change_batches import commit, upserts
from engine_streams import commit_all

from bench.engines.hudi.table_keys import MERGE_ON_READ
from bench.engines.registry import FORMATS
from bench.engines.sql import set_properties
from strategies.amoro.planner import Amoro
from strategies.delta.planners import Optimize, Reorg, ZOrder
from strategies.hudi.planners import Clustering, Compaction
from strategies.iceberg.procedures import (
    ExpireSnapshots,
    RewriteDataFiles,
    RewriteManifests,
    RewritePositionDeleteFiles,
)
from strategies.never import Never
from strategies.state import MIB

AT_MS = 7 * 60_000


def run(spark, table_format, planner, name, target_bytes=8 * MIB):
    statements = FORMATS[table_format].engines.roll_out(planner, name, target_bytes)
    assert statements
    settings = [s.removeprefix("SET ").partition(" = ")[0] for s in statements if s.startswith("SET ")]
    try:
        for statement in statements:
            spark.sql(statement).collect()
    finally:
        for key in settings:
            spark.conf.unset(key)


@pytest.mark.spark
def test_iceberg(spark, iceberg, stream_with_rows):
    engine = iceberg()
    commit_all(engine, stream_with_rows)
    run(spark, "iceberg", RewriteDataFiles(options={"min-input-files": "2"}), engine._name)
    (file,) = spark.sql(f"SELECT record_count FROM {engine._name}.files").collect()
    assert file.record_count == sum(batch.spec.rows for batch in stream_with_rows)


@pytest.mark.spark
def test_iceberg_sorts(spark, iceberg, stream_with_rows):
    engine = iceberg()
    commit_all(engine, stream_with_rows)
    planner = RewriteDataFiles("sort", "order_id DESC NULLS LAST", options={"rewrite-all": "true"})
    run(spark, "iceberg", planner, engine._name)
    (file,) = spark.sql(f"SELECT file_path FROM {engine._name}.files").collect()
    ids = [row.order_id for row in spark.read.parquet(file.file_path).select("order_id").collect()]
    assert ids == sorted(ids, reverse=True)


@pytest.mark.spark
@pytest.mark.parametrize(
    "planner", [RewritePositionDeleteFiles(options={"rewrite-all": "true"}), RewriteManifests()]
)
def test_other_procedures_of_iceberg(spark, iceberg, model, planner):
    """Each commits a snapshot of its own, with the same rows."""
    engine = iceberg(upsert_mode="merge-on-read")
    commit(engine, model, *upserts(1, 9))
    commit(engine, model, *upserts(1, 3))
    commit(engine, model, *upserts(4, 6))
    rows = spark.table(engine._name).count()
    run(spark, "iceberg", planner, engine._name)
    snapshots = spark.sql(f"SELECT operation FROM {engine._name}.snapshots ORDER BY committed_at").collect()
    assert (len(snapshots), snapshots[-1].operation) == (4, "replace")
    assert spark.table(engine._name).count() == rows


@pytest.mark.spark
def test_delta(spark, delta, stream_with_rows):
    engine = delta()
    commit_all(engine, stream_with_rows)
    run(spark, "delta", Optimize(), engine._name)
    assert spark.sql(f"DESCRIBE DETAIL {engine._name}").first().numFiles == 1


@pytest.mark.spark
@pytest.mark.parametrize("planner", [Reorg(), ZOrder(("order_id",))])
def test_other_commands_of_delta(spark, delta, model, planner):
    """Both rewrite the file that has a deletion vector, and REORG no other file."""
    engine = delta(upsert_mode="merge-on-read")
    commit(engine, model, *upserts(1, 9))
    commit(engine, model, (1, "Rome"))
    before = engine.state(AT_MS)
    marked = {vector.data_file for vector in before.delete_files}
    others = {file.path for file in before.data_files} - marked
    rows = spark.table(engine._name).count()
    run(spark, "delta", planner, engine._name)
    engine._observe(AT_MS)
    state = engine.state(AT_MS)
    kept = {file.path for file in state.data_files} & (marked | others)
    assert (bool(marked), bool(others), state.delete_files or ()) == (True, True, ())
    assert kept == (others if isinstance(planner, Reorg) else set())
    assert spark.table(engine._name).count() == rows


@pytest.mark.spark
def test_properties_of_delta(spark, delta):
    engine = delta()
    spark.sql(set_properties(engine._name, {"delta.autoOptimize.autoCompact": "true"}))
    properties = {row.key: row.value for row in spark.sql(f"SHOW TBLPROPERTIES {engine._name}").collect()}
    assert properties["delta.autoOptimize.autoCompact"] == "true"


@pytest.mark.spark
@pytest.mark.parametrize(("planner", "action"), [(Compaction(), "commit"), (Clustering(), "replacecommit")])
def test_hudi(spark, hudi, model, namespaces, planner, action):
    engine = hudi(upsert_mode=MERGE_ON_READ, index="simple")
    commit(engine, model, *upserts(1, 9))
    commit(engine, model, *upserts(1, 9))
    assert engine.state(AT_MS).delete_files
    name = f"default.{next(namespaces)}"
    spark.sql(f"CREATE TABLE {name} USING hudi LOCATION '{engine._location}'")
    rows = spark.table(name).count()
    run(spark, "hudi", planner, name)
    timeline = spark.sql(f"CALL show_commits(table => '{name}', limit => 10)").collect()
    assert action in {instant.action for instant in timeline}
    assert spark.table(name).count() == rows
    spark.sql(f"DROP TABLE {name}")


@pytest.mark.spark
def test_amoro_is_switched_on_by_properties_of_the_table(spark, iceberg):
    engine = iceberg()
    run(spark, "iceberg", Amoro({"self-optimizing.minor.trigger.file-count": 5}), engine._name)
    properties = {row.key: row.value for row in spark.sql(f"SHOW TBLPROPERTIES {engine._name}").collect()}
    assert properties["self-optimizing.enabled"] == "true"
    assert properties["self-optimizing.minor.trigger.file-count"] == "5"


@pytest.mark.parametrize(
    ("table_format", "planner"),
    [("iceberg", Never()), ("iceberg", ExpireSnapshots()), ("delta", Optimize(min_small_files=5))],
)
def test_planners_that_look_at_the_table_have_no_statement(table_format, planner):
    assert FORMATS[table_format].engines.roll_out(planner, "a.b.c", 8 * MIB) == ()


def test_a_catalog_whose_name_is_not_one_word_is_quoted():
    roll_out = FORMATS["iceberg"].engines.roll_out
    assert roll_out(RewriteDataFiles(), "my-cat.db.t", 8 * MIB)[0].startswith("CALL `my-cat`.system.")
    assert roll_out(RewriteDataFiles(), "lake.db.t", 8 * MIB)[0].startswith("CALL lake.system.")
