"""The figures of work that outcomes state, against the table's own metadata; alike for every engine."""

from change_batches import changing_batches
from engine_factories import needs
from engine_streams import FULL_SCAN, commit_all, execute, files, plan, rewrite

from bench.results.values import NO_REWRITE_WORK, RewriteWork, SparkWork
from strategies.plan import Capability


def test_a_commit_states_the_rows_it_added(engine, stream):
    """New rows may be in log files, or in new base files together with those of replaced ones."""
    for batch in stream[:3]:
        change = engine.commit(batch, batch.spec.at_ms).change
        assert change.added_rows - change.replaced_rows + change.added_delete_rows == batch.spec.rows


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


def test_what_a_rewrite_reads_is_what_a_scan_opens(engine_key, engine, sheet, tmp_path):
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
