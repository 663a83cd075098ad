"""What only Iceberg has: its versions, its commands and their options, its metadata, its catalogs."""

from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import pytest
from engine_streams import (
    FULL_SCAN,
    batches,
    commit_all,
    content_of,
    execute,
    files,
    plan,
    rewrite,
    snapshots,
)
from iceberg_sheets import stored_table
from pyspark.sql import functions

from bench.engines.contract import Batch, TableSpec
from bench.engines.iceberg import catalog as catalogs
from bench.engines.iceberg import rewrite as rewrites
from bench.engines.iceberg.catalog import Catalog
from bench.engines.iceberg.engine import IcebergEngine
from bench.engines.journal import Journal
from bench.engines.spark.meter import ProcessMeter
from bench.engines.spark.session import configured
from bench.runs.worker.content_check import check_content
from strategies.iceberg import procedures as planners
from strategies.iceberg.procedures import (
    ExpireSnapshots,
    RewriteDataFiles,
    RewriteManifests,
    RewritePositionDeleteFiles,
)
from strategies.plan import Compact
from strategies.state import MIB
from workloads.append import Append
from workloads.change_log import ensure_change_log
from workloads.partitioning import Partitioning
from workloads.schema import ORDERS, SCHEMAS

pytestmark = pytest.mark.spark

FEW = {"min-input-files": "2"}
SIZES = {
    "target-file-size-bytes": "64KiB", "min-file-size-bytes": 40_000, "max-file-size-bytes": "100KiB",
    "min-input-files": 2, "rewrite-all": True, "max-file-group-size-bytes": "1MiB",
}  # fmt: skip
GROUPS = {
    "rewrite-job-order": "bytes-asc", "partial-progress.enabled": True, "partial-progress.max-commits": 2,
    "max-concurrent-file-group-rewrites": 2,
}  # fmt: skip
BINPACK = SIZES | GROUPS | {
    "delete-file-threshold": 1, "delete-ratio-threshold": 0.2, "max-files-to-rewrite": 100,
    "output-spec-id": 0, "partial-progress.max-failed-commits": 1, "use-starting-sequence-number": True,
    "remove-dangling-deletes": True,
}  # fmt: skip
SHUFFLE = {"shuffle-partitions-per-file": 2, "compression-factor": 0.9}
ZORDER = {"max-output-size": 64, "var-length-contribution": 16}


@pytest.fixture
def engine(iceberg):
    return iceberg()


@pytest.fixture
def sql(spark, workshop):
    """Rows of a query on the test's table, which it names {table}."""
    return lambda text: spark.sql(text.format(table=f"lake.{workshop.namespace}.orders")).collect()


@pytest.mark.parametrize("format_version", [2, 3])
def test_a_table_has_the_version_and_properties_asked_for(iceberg, sql, log, tmp_path, format_version):
    codec = {"write.parquet.compression-codec": "gzip"}
    engine = iceberg(format_version=format_version, properties=codec)
    sizes = {"format-version": str(format_version), "write.target-file-size-bytes": str(8 * MIB)}
    assert (codec | sizes).items() <= {
        row.key: row.value for row in sql("SHOW TBLPROPERTIES {table}")
    }.items()
    assert codec.items() <= engine.state(0).properties.items()
    stream = commit_all(engine, batches(log)[:3])
    assert execute(engine, rewrite(files(engine)[:2]), 120_000).status == "ok"
    assert execute(engine, plan(Compact()), 120_000).status == "ok"
    assert len(files(engine)) == 1
    assert content_of(engine, stream, tmp_path / "dump").equal


@pytest.mark.parametrize("columns", [3, 40])
def test_a_table_has_the_columns_of_its_schema(iceberg, spark, sql, tmp_path, columns):
    schema, workload = SCHEMAS[columns], Append(rows_per_commit=40, files_per_commit=2, columns=columns)
    log = ensure_change_log(lambda: spark, tmp_path / "log", workload, 7, 2, 60_000, lambda done, total: None)
    engine = iceberg(schema=schema, partitioning=Partitioning("bucket", 2))
    shape = workload.shape(7, 2, 60_000, Partitioning("bucket", 2))
    for spec, logged in zip(shape, log.commits, strict=True):
        engine.commit(Batch(spec, log.paths(logged), logged.size_bytes), spec.at_ms)
    declared = [(row.col_name, row.data_type.upper()) for row in sql("DESCRIBE {table}")[:columns]]
    assert declared == [(c.name, c.spark_type) for c in schema.columns]
    assert execute(engine, plan(Compact(None, FEW)), 120_000).status == "ok"
    assert check_content(engine, log, log.commits, tmp_path).equal


def test_rewrite_data_files_takes_every_option_the_planner_allows(engine, log, tmp_path):
    assert set(BINPACK) == set(planners._DATA_OPTIONS)
    assert set(SHUFFLE) == set(planners._SHUFFLE_OPTIONS)
    assert set(ZORDER) == set(planners._ZORDER_OPTIONS)
    calls = [
        RewriteDataFiles(options=BINPACK),
        RewriteDataFiles(strategy="sort", sort_order="user_id DESC NULLS LAST", options=BINPACK | SHUFFLE),
        RewriteDataFiles(
            strategy="sort", sort_order="zorder(user_id, order_id)", options=BINPACK | SHUFFLE | ZORDER
        ),
        RewriteDataFiles(where="order_id < 10000", branch="main", options={"rewrite-all": True}),
    ]
    stream = commit_all(engine, batches(log)[:2])
    for planner in calls:
        outcome = execute(engine, planner.decide(engine.state(60_000)), 60_000)
        assert (outcome.status, outcome.error) == ("ok", None), planner
    assert content_of(engine, stream, tmp_path / "dump").equal


def test_variables_in_a_row_filter_are_text(engine, log):
    commit_all(engine, batches(log)[:1])
    planner = RewriteDataFiles(where="no_column = '${env:HOME}'")
    error = execute(engine, planner.decide(engine.state(60_000)), 60_000).error
    assert "${env:HOME}" in error


def test_rewrite_data_files_sorts(engine, log, spark, tmp_path):
    stream = commit_all(engine, batches(log)[:2])
    planner = RewriteDataFiles(strategy="sort", sort_order="user_id", options={"rewrite-all": True})
    assert execute(engine, planner.decide(engine.state(60_000)), 60_000).status == "ok"
    (file,) = files(engine)
    users = [row.user_id for row in spark.read.parquet(file.path).select("user_id").collect()]
    assert len(users) == 100
    assert users == sorted(users)
    assert content_of(engine, stream, tmp_path / "dump").equal


@pytest.mark.parametrize(
    ("sort_order", "status"),
    [
        ("User_Id", "failed"),
        ("zorder(User_Id, order_id)", "failed"),
        ("`user_id`, bucket(4, order_id)", "ok"),
    ],
)
def test_a_sort_order_names_columns_in_the_case_of_the_table(engine, log, sort_order, status):
    commit_all(engine, batches(log)[:1])
    planner = RewriteDataFiles(strategy="sort", sort_order=sort_order, options={"rewrite-all": True})
    outcome = execute(engine, planner.decide(engine.state(0)), 60_000)
    assert outcome.status == status, outcome.error


def test_an_explicit_rewrite_writes_files_of_about_the_target_size(engine, log, tmp_path):
    stream = commit_all(engine, batches(log))
    small = files(engine)
    assert len(small) == 3 + 6 * 4
    target_bytes = sum(f.size_bytes for f in small) // 3
    assert execute(engine, rewrite(small, target_bytes=target_bytes), 360_000).status == "ok"
    # Inputs are whole files packed up to the target: a third each, and a fourth group for what sticks out.
    assert len(files(engine)) in (3, 4)
    assert all(f.size_bytes <= target_bytes for f in files(engine))
    assert content_of(engine, stream, tmp_path / "dump").equal


def test_a_group_below_the_target_becomes_one_file_however_large_its_rows_are_in_memory(
    engine, spark, tmp_path
):
    """Iceberg's writer looks at the length of a file every 1,000 rows, and counts rows before compression."""
    workload = Append(24_000, 4)
    large = ensure_change_log(
        lambda: spark, tmp_path / "logs", workload, 1, 1, 60_000, lambda done, total: None
    )
    (spec,) = workload.shape(1, 1, 60_000, Partitioning())
    engine.commit(Batch(spec, large.paths(large.commits[0]), large.commits[0].size_bytes), 60_000)
    before = files(engine)
    target_bytes = sum(file.size_bytes for file in before) + 1
    assert execute(engine, rewrite(before, target_bytes=target_bytes), 120_000).status == "ok"
    assert (len(before), len(files(engine))) == (4, 1)


def test_a_sorted_rewrite_is_in_order_within_files_and_from_one_to_the_next(engine, log, spark):
    commit_all(engine, batches(log))
    small = files(engine)
    target_bytes = sum(f.size_bytes for f in small) // 3 + 1
    sorting = rewrite(small, target_bytes=target_bytes, sort_columns=("user_id", "order_id"))
    assert execute(engine, sorting, 360_000).status == "ok"
    keys_by_file = [
        [tuple(row) for row in spark.read.parquet(file.path).select("user_id", "order_id").collect()]
        for file in files(engine)
    ]
    assert len(keys_by_file) == 3
    assert all(keys_by_file)
    in_order = [key for keys in sorted(keys_by_file) for key in keys]
    assert len(in_order) == 60 + 6 * 40
    assert in_order == sorted(in_order)


def test_a_rewrite_that_fails_leaves_no_files_of_its_own(engine, log, workshop):
    commit_all(engine, batches(log)[:2])
    ticket = engine.schedule(rewrite(files(engine)[:4]), 60_000, 120_000)
    staged = stored(workshop) - {f.path for f in files(engine)}
    assert len(staged) == 1
    execute(engine, plan(Compact()), 60_000)
    assert engine.complete(ticket, 120_000).status == "failed"
    assert not staged & stored(workshop)


def test_of_a_rewrite_with_an_unknown_outcome_no_file_is_deleted(engine, log, spark, tmp_path, monkeypatch):
    """An error after the catalog has the commit, e.g. of the connection, says nothing about the commit."""
    stream = commit_all(engine, batches(log)[:2])
    with_files = rewrites._with_files

    def failing(*arguments):
        def commit():
            made.commit()
            spark._jvm.java.lang.Integer.parseInt("no answer")

        made = with_files(*arguments)
        return SimpleNamespace(commit=commit)

    monkeypatch.setattr(rewrites, "_with_files", failing)
    assert execute(engine, rewrite(files(engine)[:4]), 60_000).status == "failed"
    assert content_of(engine, stream, tmp_path / "dump").equal


def test_rewrite_position_delete_files_without_deletes_is_a_noop(engine, log):
    commit_all(engine, batches(log)[:2])
    planner = RewritePositionDeleteFiles(options=SIZES | GROUPS)
    outcome = execute(engine, planner.decide(engine.state(60_000)), 60_000)
    assert (outcome.status, outcome.error) == ("noop", None)


def test_rewrite_manifests_merges_metadata(engine, log, sql):
    commit_all(engine, batches(log)[:4])
    assert len(sql("SELECT * FROM {table}.manifests")) == 4  # one a commit
    outcome = execute(engine, RewriteManifests().decide(engine.state(180_000)), 180_000)
    assert outcome.status == "ok"
    assert len(sql("SELECT * FROM {table}.manifests")) == 1
    change = outcome.change
    assert (change.files_added_count, change.files_removed_count, change.added_bytes) == (0, 0, 0)
    assert execute(engine, RewriteManifests().decide(engine.state(180_000)), 180_000).status == "noop"


def expire(engine, at_ms, **options):
    return execute(engine, ExpireSnapshots(**options).decide(engine.state(at_ms)), at_ms)


def test_expire_snapshots_drops_exactly_those_before_the_time_kept(
    engine, log, spark, sql, workshop, tmp_path
):
    def snapshot_ids():
        rows = sql("SELECT snapshot_id FROM {table}.snapshots ORDER BY committed_at")
        return [row.snapshot_id for row in rows]

    stream = commit_all(engine, batches(log)[:3])  # at 0, 60 and 120 s: 3 + 4 + 4 files
    small = {f.path for f in files(engine)}
    execute(engine, plan(Compact()), 120_000)
    stream += commit_all(engine, batches(log)[3:5])  # at 180 and 240 s
    ids = snapshot_ids()
    assert len(ids) == 6

    # Of 240 s the last 120 s are kept: the commit at 120 s and the compaction after it stay, and with
    # that commit every file it held.
    with configured(spark, {"spark.sql.session.timeZone": "America/New_York"}):
        first = expire(engine, 240_000, retain_ms=120_000)
    assert (first.status, snapshot_ids()) == ("ok", ids[2:])
    assert small <= stored(workshop)

    # Of the last 60 s the compaction of 120 s is none: the small files it merged go.
    before_bytes = first.observed.table.storage_bytes
    second = expire(engine, 240_000, retain_ms=60_000)
    assert (snapshots(second), snapshot_ids()) == (0, ids[4:])
    assert stored(workshop) == {f.path for f in files(engine)}
    assert second.observed.table.storage_bytes < before_bytes
    assert expire(engine, 240_000, retain_ms=60_000).status == "noop"
    assert content_of(engine, stream, tmp_path / "dump").equal


def test_expire_snapshots_keeps_the_newest_asked_for(engine, log, sql):
    commit_all(engine, batches(log)[:4])
    for options, count in (({"retain_last": 3}, 3), ({}, 1)):
        assert expire(engine, 1_000_000, retain_ms=1000, **options).status == "ok"
        assert len(sql("SELECT * FROM {table}.snapshots")) == count


def stored(workshop):
    """Paths of the data files on storage, as the state writes them."""
    return {f"file:{path}" for path in stored_table(workshop).glob("data/**/*.parquet")}


@pytest.mark.parametrize("by", ["day", "bucket", "city"])
def test_partitions_are_those_of_the_workloads_shape(iceberg, log, sql, tmp_path, by):
    partitioning = Partitioning(by, 3)
    engine, before = iceberg(partitioning=partitioning), Counter()
    stream = batches(log, partitioning)[:3]
    for batch in stream:
        change = engine.commit(batch, batch.spec.at_ms).change
        after = Counter(file.partition for file in files(engine))
        touched_count, before = len(after - before), after
        # A writer adds at most a file to each partition, and none without a row.
        most = min(batch.spec.rows, batch.spec.writers * touched_count)
        assert touched_count <= change.files_added_count <= most
    column = partitioning.column
    rows = sql(f"SELECT {column}, count(*) FROM {{table}} GROUP BY 1")
    counts = {f"{column}={value}": count for value, count in rows}
    assert counts == {name: stats.rows for name, stats in engine.state(0).partitions.items()}
    possible = {shape.partition for batch in stream for shape in batch.spec.partitions}
    assert by == "city" or set(counts) == possible  # of 50 cities a commit of 40 rows hits its own
    assert content_of(engine, stream, tmp_path / "dump").equal


def test_a_day_can_be_compacted_by_its_text(iceberg, log):
    engine = iceberg(partitioning=Partitioning("day"))
    commit_all(engine, batches(log, Partitioning("day"))[:2])
    state = engine.state(60_000)
    name = max(state.partitions, key=lambda p: (state.partitions[p].files_count, p))
    expected = {n: 1 if n == name else p.files_count for n, p in state.partitions.items()}
    assert state.partitions[name].files_count > 1
    assert execute(engine, plan(Compact((name,), FEW)), 60_000).status == "ok"
    assert {n: p.files_count for n, p in engine.state(60_000).partitions.items()} == expected


@pytest.mark.parametrize(
    ("city", "value", "other"),
    [
        *((text, text, "Oslo") for text in ("L'Aquila", 'a\\b = "ã"', "12")),
        ("A/B", "A%2FB", "Oslo"),
        ("null", "%6Eull", None),
        (None, "null", "null"),
    ],
)
def test_a_partition_of_any_text_can_be_compacted_alone(iceberg, log, spark, tmp_path, city, value, other):
    engine = iceberg(partitioning=Partitioning("city"))
    spec = batches(log)[1].spec
    rows = spark.read.parquet(*(str(p) for p in batches(log)[1].paths)).select(*ORDERS.names)
    for number, text in enumerate([city, city, other, other]):
        folder = tmp_path / str(number)
        lit = functions.lit(text).cast("string")
        rows.limit(3).withColumn("user_city", lit).write.parquet(str(folder))
        engine.commit(Batch(replace(spec, index=number, rows=3), tuple(folder.glob("*.parquet"))), 60_000)
    partition = f"user_city={value}"
    (other_partition,) = set(engine.state(60_000).partitions) - {partition}
    outcome = execute(engine, plan(Compact((partition,), FEW)), 60_000)
    assert (outcome.status, outcome.error) == ("ok", None)
    counts = {name: p.files_count for name, p in engine.state(60_000).partitions.items()}
    assert counts == {partition: 1, other_partition: 2}


def test_the_state_is_that_of_sparks_own_metadata_tables(iceberg, log, sql):
    partitioning = Partitioning("bucket", 2)
    engine = iceberg(partitioning=partitioning)
    stream = batches(log, partitioning)
    query = (
        "SELECT data_file.file_path AS path, data_file.file_size_in_bytes AS size, "
        "data_file.record_count AS rows, data_file.partition.partition_bucket AS bucket, "
        "sequence_number FROM {table}.entries WHERE status < 2"
    )

    def steps():
        yield from (lambda b=batch: engine.commit(b, b.spec.at_ms) for batch in stream[:4])
        first = [f for f in files(engine) if f.partition == "partition_bucket=0"][:3]
        yield lambda: execute(engine, rewrite(first), 180_000)
        yield lambda: execute(engine, plan(Compact(("partition_bucket=1",), FEW)), 180_000)
        yield lambda: engine.commit(stream[4], 240_000)

    before = {}
    for step in steps():
        outcome, after = step(), {row.path: row for row in sql(query)}
        observed, change = outcome.observed, outcome.change
        assert {
            f.path: (f.size_bytes, f.rows, f.partition, f.data_sequence_number) for f in files(engine)
        } == {
            path: (row.size, row.rows, f"partition_bucket={row.bucket}", row.sequence_number)
            for path, row in after.items()
        }
        added, removed = after.keys() - before.keys(), before.keys() - after.keys()
        assert (change.files_added_count, change.files_removed_count) == (len(added), len(removed))
        assert change.added_bytes == sum(after[path].size for path in added)
        assert change.replaced_bytes == sum(before[path].size for path in removed)
        assert observed.table.rows == sum(row.rows for row in after.values())
        assert observed.table.live_bytes == sum(row.size for row in after.values())
        before = after


def test_a_step_is_not_charged_with_what_another_writer_committed(engine, log, spark):
    stream = batches(log)
    commit_all(engine, stream[:3])
    other = "SELECT * FROM orders LIMIT 5"
    ticket = engine.schedule(rewrite(files(engine)[:2]), 120_000, 180_000)
    spark.sql(f"INSERT INTO orders {other}")  # an untagged snapshot of somebody else
    commit = engine.commit(stream[3], 180_000)
    assert (commit.change.files_added_count, commit.change.files_removed_count) == (4, 0)
    assert [version.operation for version in commit.versions] == ["append"]
    spark.sql(f"INSERT INTO orders {other}")
    outcome = engine.complete(ticket, 180_000)
    assert (outcome.status, outcome.change.files_removed_count, len(outcome.versions)) == ("ok", 2, 1)
    # The stream has three commits behind the load, whatever else the table went through.
    assert [c.at_ms for c in engine.state(180_000).commits] == [60_000, 120_000, 180_000]
    assert engine.state(180_000).version == outcome.observed.version
    assert outcome.observed.table.rows == sum(b.spec.rows for b in stream[:4]) + 10


def test_an_expiry_is_metadata_of_its_own(engine, log):
    commit_all(engine, batches(log)[:4])
    before = engine.state(180_000).version
    outcome = expire(engine, 240_000, retain_ms=60_000)
    assert [(version.id, version.operation) for version in outcome.versions] == [(None, "metadata")]
    assert (outcome.change.metadata_files_count, outcome.change.files_removed_count) == (1, 0)
    assert engine.state(240_000).version == before


def test_metadata_bytes_are_those_that_reached_storage(engine, log, workshop):
    def lying():
        paths = [p for p in (stored_table(workshop) / "metadata").iterdir() if p.suffix != ".crc"]
        return sum(path.stat().st_size for path in paths), len(paths)

    def steps():
        for batch in batches(log)[:3]:
            yield engine.commit(batch, batch.spec.at_ms)
        yield execute(engine, rewrite(files(engine)[:2]), 120_000)
        for _ in range(2):  # the second is a noop
            yield execute(engine, plan(Compact()), 120_000)
        yield execute(engine, RewriteManifests().decide(engine.state(120_000)), 120_000)

    before_bytes, before_count = lying()
    for outcome in steps():
        after_bytes, after_count = lying()
        assert outcome.change.metadata_bytes == after_bytes - before_bytes
        assert outcome.change.metadata_files_count == after_count - before_count
        assert outcome.observed.table.metadata_storage_bytes == after_bytes
        before_bytes, before_count = after_bytes, after_count


def test_storage_bytes_are_all_files_of_the_table(engine, log, workshop):
    commit_all(engine, batches(log)[:2])
    table = execute(engine, plan(Compact()), 60_000).observed.table
    stored_files = [p for p in stored_table(workshop).rglob("*") if p.is_file() and p.suffix != ".crc"]
    assert table.storage_bytes == sum(path.stat().st_size for path in stored_files)
    assert table.storage_bytes > table.live_bytes + table.metadata_storage_bytes  # the merged files


def test_dropping_in_the_default_catalog_leaves_the_files_to_the_folders_end(engine, log, workshop, spark):
    commit_all(engine, batches(log)[:1])
    before = stored(workshop)
    engine.drop()
    assert not spark.catalog.tableExists(engine._name)
    assert stored(workshop) == before


@pytest.fixture
def journal(tmp_path):
    return Journal(tmp_path / "namespaces")


@pytest.fixture
def opened(spark, workshop, tmp_path):
    """Makes an engine on a catalog that the warm session did not know; without properties, one of files."""

    def make(name, namespace="bench_r1", properties=None, folder=tmp_path, journal=None, table=None):
        of_files = {"type": "hadoop", "warehouse": (tmp_path / "warehouse").as_uri()}
        catalog = Catalog(folder, name, namespace, of_files if properties is None else properties, journal)
        for key, value in catalog.spark_conf().items():
            if key.startswith("spark.sql.catalog."):
                spark.conf.set(key, value)
        spec = TableSpec(target_file_size_bytes=8 * MIB, properties=table or {})
        return IcebergEngine(spark, ProcessMeter(spark, workshop.settings), catalog, spec)

    return make


@pytest.mark.parametrize(("catalog", "namespace"), [("other", "db"), ("bench", "bench")])
def test_a_catalog_of_the_users_own_works_like_the_default(opened, log, tmp_path, catalog, namespace):
    engine = opened(catalog, namespace)
    engine.create()
    stream = commit_all(engine, batches(log)[:3])
    assert execute(engine, rewrite(files(engine)[:2]), 120_000).status == "ok"
    outcome = execute(engine, plan(Compact()), 120_000)
    assert (outcome.status, outcome.error) == ("ok", None)
    assert expire(engine, 600_000, retain_ms=1000).status == "ok"
    assert len(files(engine)) == 1
    assert outcome.change.metadata_bytes > 0
    assert content_of(engine, stream, tmp_path / "dump").equal
    engine.drop()
    assert not list((tmp_path / "warehouse").rglob("*.parquet"))


def test_a_new_session_reads_a_table_that_its_catalog_has_cached(opened, log, spark, tmp_path):
    of_files = {"type": "hadoop", "warehouse": (tmp_path / "warehouse").as_uri()}
    engine = opened("caching", properties={**of_files, "cache-enabled": "true"})
    engine.create()
    commit_all(engine, batches(log)[:2])
    files_count = engine.query(FULL_SCAN).work.files_count
    other = opened("direct")
    spark.sql(f"INSERT INTO {other._name} SELECT * FROM {other._name}")
    assert engine.query(FULL_SCAN, "long-lived").work.files_count == files_count
    assert engine.query(FULL_SCAN).work.files_count > files_count


def test_tables_can_lie_in_a_folder_of_any_name(opened, log, tmp_path):
    folder = tmp_path / "a b+ü"
    folder.mkdir()
    engine = opened("named", "db", {}, folder)
    engine.create()
    stream = commit_all(engine, batches(log)[:2])
    assert execute(engine, rewrite(files(engine)[:2]), 60_000).status == "ok"
    outcome = execute(engine, plan(Compact()), 60_000)
    assert (outcome.status, outcome.observed.table.rows) == ("ok", 100)
    assert outcome.observed.table.storage_bytes > outcome.observed.table.live_bytes
    assert (folder / "warehouse" / "db" / "orders" / "data").is_dir()
    assert content_of(engine, stream, tmp_path / "dump").equal


def test_a_catalog_that_outlives_the_run_is_left_as_it_was(opened, journal, log, tmp_path):
    elsewhere = {"write.data.path": (tmp_path / "elsewhere").as_uri()}
    engine = opened("shared", journal=journal, table=elsewhere)
    other = opened("shared", "bench_r2")
    engine.create()
    other.create()
    assert journal.names() == ["bench_r1"]
    commit_all(engine, batches(log)[:2])
    table = engine.commit(batches(log)[2], 120_000).observed.table
    data = tmp_path / "elsewhere" / "bench_r1" / "orders" / "data"
    stored_bytes = sum(file.stat().st_size for file in data.rglob("*.parquet"))
    assert stored_bytes == table.storage_bytes - table.metadata_storage_bytes > 0
    (data / "of-a-step-that-failed.parquet").write_bytes(b"12345")
    engine.drop()
    assert journal.names() == []
    assert not [path for path in tmp_path.rglob("*") if "bench_r1" in str(path) and path.is_file()]
    assert (tmp_path / "warehouse" / "bench_r2" / "orders").is_dir()


@pytest.mark.parametrize(
    "folders", [{"data": "fast", "metadata": "slow"}, {"data": "one", "metadata": "one"}], ids=["two", "one"]
)
def test_folders_for_data_and_metadata_are_honoured_and_cleaned(opened, journal, log, tmp_path, folders):
    elsewhere = tmp_path / "elsewhere"
    paths = {f"write.{kind}.path": (elsewhere / folder).as_uri() for kind, folder in folders.items()}
    properties = {
        "type": "jdbc", "uri": f"jdbc:sqlite:{tmp_path}/catalog.db", "jdbc.schema-version": "V1",
        "warehouse": (tmp_path / "warehouse").as_uri(),
    }  # fmt: skip
    engine = opened("apart", properties=properties, journal=journal, table=paths)
    engine.create()
    commit_all(engine, batches(log)[:2])
    table = engine.commit(batches(log)[2], 120_000).observed.table
    data_bytes = table.storage_bytes - table.metadata_storage_bytes
    for kind, size_bytes in (("data", data_bytes), ("metadata", table.metadata_storage_bytes)):
        stored = (elsewhere / folders[kind] / "bench_r1" / "orders" / kind).rglob("[!.]*")
        assert sum(file.stat().st_size for file in stored if file.is_file()) == size_bytes > 0
    engine.drop()
    assert not [path for path in elsewhere.rglob("*") if path.is_file()]
    assert journal.names() == []


def test_files_of_a_purge_that_was_interrupted_are_deleted_later(opened, journal, log, tmp_path, monkeypatch):
    data = tmp_path / "elsewhere"
    engine = opened("killed", journal=journal, table={"write.data.path": data.as_uri()})
    engine.create()
    commit_all(engine, batches(log)[:2])
    (data / "bench_r1" / "orders" / "data" / "of-a-step-that-failed.parquet").write_bytes(b"12345")

    def killed(*arguments):
        raise RuntimeError

    with monkeypatch.context() as patched:
        patched.setattr(catalogs, "delete_below", killed)
        with pytest.raises(RuntimeError):
            engine.drop()
    assert (bool(list(data.rglob("*.parquet"))), journal.names()) == (True, ["bench_r1"])
    engine.drop()
    assert (list(data.rglob("*.parquet")), journal.names()) == ([], [])


def test_a_table_that_was_never_made_is_dropped_all_the_same(opened, journal):
    journal.note("bench_r1")  # killed before the namespace was made
    opened("never_made", journal=journal).drop()
    assert journal.names() == []
