"""The figures of work that outcomes state, against the table's own metadata; alike for every engine."""

from change_batches import changing_batches
from engine_factories import needs, of_format
from engine_streams import FULL_SCAN, commit_all, execute, files, plan, rewrite

from bench.engines.registry import FORMATS
from bench.results.values import NO_REWRITE_WORK, RewriteWork, SparkWork
from strategies.plan import Capability, Compact, FileGroup, Plan, Reason, Rewrite
from strategies.state import MIB
from workloads.partitioning import Partitioning

MERGES = ("copy-on-write", "merge-on-read")  # unless the format is Hudi, which has no MERGE


def test_a_commit_states_the_rows_it_added(engine, stream):
    """New rows may be in log files, or in new base files together with those of replaced ones."""
    for batch in stream[:3]:
        change = engine.commit(batch, batch.spec.at_ms).change
        assert change.added_rows - change.replaced_rows + change.added_delete_rows == batch.spec.rows


def test_a_commit_states_the_partitions_it_wrote(make_engine, make_stream):
    partitioning = Partitioning("bucket", 3)
    engine = make_engine(partitioning=partitioning)
    for batch in make_stream(partitioning)[:3]:
        work = engine.commit(batch, batch.spec.at_ms).work
        assert work.partitions_count == len(batch.spec.partitions) > 1
        assert (work.scanned_files_count, work.scanned_rows) == (None, None)


def test_an_upsert_states_what_it_scanned_and_the_keys_it_deleted(engine_key, make_engine, tmp_path):
    writer, table = FORMATS[engine_key.table_format].writer, FORMATS[engine_key.table_format].table
    keys = table.keys.model_validate({"format": engine_key.table_format, "target_file_size": "8MiB"})
    for mode in writer.upsert_modes:
        if not writer.needs(keys, mode) <= engine_key.capabilities:
            continue
        engine = make_engine(upsert_mode=mode)
        first, second = changing_batches(engine_key.is_real, tmp_path / mode)
        engine.commit(first, first.spec.at_ms)
        before = files(engine)
        outcome = engine.commit(second, second.spec.at_ms)
        work, change = outcome.work, outcome.change
        is_merge = mode in MERGES and engine_key.table_format != "hudi"
        rows = sum(file.rows for file in before)
        scanned = (len(before), rows) if is_merge else (None, None)
        assert (work.scanned_files_count, work.scanned_rows) == scanned, mode
        assert change.added_delete_rows == (0 if mode == "copy-on-write" else 5), mode
        assert (change.replaced_rows > 0) == (change.files_removed_count > 0) == (mode == "copy-on-write")
        assert work.partitions_count == 1
        engine.drop()


@of_format("delta")
def test_a_commit_states_whether_it_wrote_a_checkpoint(make_engine, stream):
    engine = make_engine(properties={"delta.checkpointInterval": "2"})
    works = [engine.commit(batch, batch.spec.at_ms).work for batch in stream[:2]]
    assert [work.checkpointed_files_count for work in works] == [0, 7]
    execute(engine, plan(Compact()), 60_000)  # version 3
    assert engine.commit(stream[2], 120_000).work.checkpointed_files_count == 1 + 4 + 7  # and tombstones


@of_format("hudi")
def test_an_upsert_states_whose_keys_it_looked_up(engine_key, make_engine, tmp_path):
    for index in ("bucket", "simple"):
        engine = make_engine(index=index)
        first, second = changing_batches(engine_key.is_real, tmp_path / index)
        assert engine.commit(first, first.spec.at_ms).work.looked_up_files_count == 0
        bases = len(files(engine))
        work = engine.commit(second, second.spec.at_ms).work
        assert work.looked_up_files_count == (bases if index == "simple" else 0), index
        engine.drop()


def test_a_full_scan_reads_all_rows(engine_key, engine, sheet, tmp_path):
    for batch in changing_batches(engine_key.is_real, tmp_path):
        engine.commit(batch, batch.spec.at_ms)
    data, scanned = files(engine), engine.query(FULL_SCAN).work
    assert scanned.opened_bytes - scanned.delete_bytes == sum(file.size_bytes for file in data)
    assert (scanned.delete_bytes > 0) == (scanned.delete_files_count > 0)
    is_merged = engine_key.table_format == "hudi" and scanned.delete_files_count  # with log files
    assert scanned.read_rows == (None if is_merged else sum(file.rows for file in data))
    assert scanned.columns_count == (2 if engine_key.is_real else None)
    if is_merged:
        assert 0 < scanned.merged_bytes <= scanned.opened_bytes - scanned.delete_bytes
    execute(engine, plan(sheet.rewriting), 180_000)
    compacted = engine.query(FULL_SCAN).work
    assert compacted.read_rows == sum(file.rows for file in files(engine))


def test_maintenance_states_what_it_removed(engine_key, engine, sheet, stream):
    outcomes = [engine.commit(batch, batch.spec.at_ms) for batch in stream[:3]]
    outcomes.append(execute(engine, plan(sheet.rewriting), 120_000))
    outcomes += [engine.commit(batch, batch.spec.at_ms) for batch in stream[3:5]]
    gone = sum(o.change.files_removed_count + o.change.delete_files_removed_count for o in outcomes)
    work = execute(engine, Plan((sheet.freeing,), Reason.MAINTENANCE), 300_000).maintenance
    assert work.deleted_files_count == gone > 0
    assert work.expired_versions_count == (5 if engine_key.table_format == "iceberg" else None)


def test_a_rewrite_reads_what_it_replaces(engine, sheet, stream):
    commit_all(engine, stream[:3])
    before, live_bytes = files(engine), engine.state(120_000).size_bytes
    outcome = execute(engine, plan(sheet.rewriting), 120_000)
    work, change = outcome.work, outcome.change
    assert outcome.status == "ok"
    assert work.read_files_count == change.files_removed_count == len(before)
    assert work.read_rows == change.replaced_rows == sum(file.rows for file in before)
    assert work.read_data_bytes + work.applied_delete_bytes == change.replaced_bytes == live_bytes
    assert work.applied_delete_files_count == change.delete_files_removed_count
    assert work.tasks_count == change.files_added_count
    assert (work.converted_files_count, work.converted_rows) == (0, 0)
    assert change.added_rows == work.read_rows + work.applied_delete_rows == 140  # log files have new rows


def test_what_a_rewrite_reads_is_what_a_scan_opens(engine_key, make_engine, sheet, tmp_path):
    by_merge = {} if engine_key.table_format == "iceberg" else {"upsert_mode": "merge-on-read"}
    engine = make_engine(**by_merge)
    for batch in changing_batches(engine_key.is_real, tmp_path):
        engine.commit(batch, batch.spec.at_ms)
    scanned, before = engine.query(FULL_SCAN).work, files(engine)
    work = execute(engine, plan(sheet.rewriting), 180_000).work
    assert work.read_files_count == scanned.files_count
    assert work.applied_delete_files_count == scanned.delete_files_count
    assert work.read_data_bytes + work.applied_delete_bytes == scanned.opened_bytes
    assert work.read_rows == sum(file.rows for file in before)


@needs(Capability.REWRITE)
def test_an_explicit_rewrite_reads_the_files_that_it_names(engine, stream):
    commit_all(engine, stream[:3])
    chosen = [files(engine)[1:3], files(engine)[5:8]]
    work = execute(engine, rewrite(*chosen), 120_000).work
    named = [file for group in chosen for file in group]
    assert (work.groups_count, work.tasks_count, work.read_files_count) == (2, 2, 5)
    assert work.read_rows == sum(file.rows for file in named)
    assert work.read_data_bytes == sum(file.size_bytes for file in named)


@needs(Capability.CONVERT)
def test_a_conversion_reads_keys_of_files_that_stay(engine_key, engine, tmp_path):
    for batch in changing_batches(engine_key.is_real, tmp_path):
        engine.commit(batch, batch.spec.at_ms)
    scanned, before = engine.query(FULL_SCAN).work, files(engine)
    group = FileGroup((), "", tuple(file.path for file in before))
    outcome = execute(engine, plan(Rewrite((group,), 8 * MIB)), 180_000)
    work = outcome.work
    assert (work.groups_count, work.tasks_count, work.read_files_count, work.read_rows) == (0, 0, 0, 0)
    assert work.converted_files_count == len(before)
    assert work.converted_rows == sum(file.rows for file in before)
    assert work.applied_delete_files_count == scanned.delete_files_count > 0
    assert work.applied_delete_bytes == scanned.delete_bytes > 0
    assert work.applied_delete_rows >= 5
    assert (outcome.change.added_delete_rows, outcome.change.added_rows) == (5, 0)


@needs(Capability.COMPACT)
def test_a_command_that_waited_reads_what_the_table_has_by_then(engine, sheet, stream):
    commit_all(engine, stream[:2])
    ticket = engine.schedule(plan(sheet.rewriting), 60_000, 180_000)
    commit_all(engine, stream[2:3])
    outcome = engine.complete(ticket, 180_000)
    assert outcome.work.read_files_count == outcome.change.files_removed_count == 11


def test_a_rewrite_of_nothing_has_no_work(engine, sheet, stream):
    commit_all(engine, stream[:2])
    execute(engine, plan(sheet.rewriting), 60_000)
    outcome = execute(engine, plan(sheet.rewriting), 60_000)
    assert (outcome.status, outcome.work) == ("noop", NO_REWRITE_WORK)
    assert (outcome.change.added_rows, outcome.change.replaced_rows) == (0, 0)


def test_the_work_of_a_plan_that_failed_is_unknown(engine, sheet, stream):
    commit_all(engine, stream[:2])
    outcome = execute(engine, plan(sheet.faulty), 60_000)
    assert (outcome.status, outcome.work) == ("failed", RewriteWork())


def test_only_spark_has_tasks(engine_key, engine, sheet, stream):
    committed = [engine.commit(batch, batch.spec.at_ms) for batch in stream[:3]]
    costs = [committed[-1].cost, engine.query(FULL_SCAN).cost]
    costs.append(execute(engine, plan(sheet.rewriting), 180_000).cost)
    if not engine_key.is_real:
        assert {cost.spark for cost in costs} == {SparkWork()}
        return
    for cost in costs:
        assert cost.spark.tasks_count >= cost.spark.stages_count >= cost.spark.jobs_count > 0
        assert cost.spark.spilled_bytes == 0
    assert costs[1].spark.read_rows >= 140
    assert costs[1].spark.read_bytes > 0
