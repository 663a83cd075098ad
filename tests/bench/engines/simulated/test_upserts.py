import pytest
from coefficients import coefficients
from engine_streams import FULL_SCAN, execute, files, plan, rewrite, snapshots
from simulated_tables import deletes, make, physical_rows
from upsert_commits import changes, commit_specs, load

from bench.engines.contract import Probe
from bench.results.values import NO_COST, Cost
from strategies.amoro.evaluation import is_amoros_own
from strategies.iceberg.commands import Command
from strategies.iceberg.deletes.index import index_deletes
from strategies.iceberg.files import DeleteKind
from strategies.plan import Compact, FileGroup, Native, Rewrite
from strategies.state import KIB, MIB
from workloads.partitioning import Partitioning

REWRITE = Command.REWRITE_DATA_FILES
REWRITE_ALL = plan(Compact(None, {"rewrite-all": "true"}))


@pytest.fixture
def engine():
    """1,000 keys in two files; then 100 of them updated, 10 of these twice, by two writers."""
    made = make()
    commit_specs(made, load(1000, 2), changes(1, 1000, updates=100, hit=90, again=10, writers=2))
    return made


def convert(*converted, removed=(), rewritten=()):
    group = FileGroup(tuple(f.path for f in rewritten), "", tuple(f.path for f in converted))
    return plan(Rewrite((group,), 8 * MIB, tuple(d.path for d in removed)))


def test_a_commit_of_changes_is_one_snapshot_of_data_and_delete_files():
    engine = make()
    commit_specs(engine, load(1000, 2))
    outcome = commit_specs(engine, changes(1, 1000, updates=100, hit=90, again=10, writers=2))
    change, table = outcome.change, outcome.observed.table
    assert (snapshots(outcome), change.files_added_count, change.delete_files_added_count) == (1, 2, 4)
    assert (table.data_files_count, table.delete_files_count, table.rows) == (4, 4, 1100)
    state = engine.state(60_000)
    written_bytes = sum(f.size_bytes for f in files(engine)[2:]) + sum(d.size_bytes for d in deletes(engine))
    assert change.added_bytes == written_bytes
    assert table.live_bytes == state.size_bytes
    assert [(c.files_count, c.size_bytes, c.rows) for c in state.commits] == [(2, written_bytes, 100)]
    # 1,200 of table metadata for two snapshots, a list of three manifests, one of 2 data and one of 4
    # delete files.
    assert (change.metadata_bytes, change.metadata_files_count) == (1_200 + 530 + 52 + 54, 4)
    # Two data files and four delete files, each by a task.
    task_s = 2 * 0.5 + 4 * 2 + written_bytes / MIB * 4
    assert outcome.cost == Cost(1 + 2 * 0.25 + task_s / 4, 1.5 + 2 * 0.375 + task_s, task_s, 0)
    assert engine.model.live_rows == 1000


def test_a_scan_opens_each_delete_file_once_per_data_file(engine):
    outcome = engine.query(FULL_SCAN)
    # Two equality deletes on each file of the load, one position delete on each file of the commit.
    assert (outcome.work.files_count, outcome.work.delete_files_count) == (4, 2 * 2 + 2)
    equality, position = (deletes(engine, kind) for kind in (DeleteKind.EQUALITY, DeleteKind.POSITION))
    opened = [*files(engine), *equality, *equality, *position]
    assert outcome.work.opened_bytes == sum(file.size_bytes for file in opened)
    assert outcome.work.metadata_files_count == 3


def test_a_probe_pays_for_deletes_beyond_their_bytes():
    def query_s(**extra):
        engine = make(coefficients(query={"tasks": {"s_per_mib": 1.0, **extra}}))
        commit_specs(engine, load(1000, 1), changes(1, 1000, updates=100))
        return engine.query(FULL_SCAN).cost.wall_s, deletes(engine)[0].size_bytes

    plain_s, size_bytes = query_s()
    dear_s, _ = query_s(s_per_delete_mib=5.0)
    each_s, _ = query_s(s_per_delete_file=5.0)
    assert dear_s - plain_s == pytest.approx(5 * size_bytes / MIB / 2)  # two files, so two tasks
    assert each_s - plain_s == pytest.approx(5 / 2)


def test_a_probe_of_keys_opens_the_deletes_of_its_files(engine):
    key = engine.query(Probe("key", "SELECT * FROM orders WHERE order_id = 1"))
    # Key 1 is in the first file of the load alone: the others begin later.
    assert (key.work.files_count, key.work.delete_files_count) == (1, 2)
    opened = [files(engine)[0], *deletes(engine, DeleteKind.EQUALITY)]
    assert key.work.opened_bytes == sum(file.size_bytes for file in opened)


def test_a_rewrite_of_everything_leaves_the_live_rows(engine):
    content_bytes = engine.model.content_bytes
    outcome = execute(engine, REWRITE_ALL, 60_000)
    assert outcome.status == "ok"
    assert (physical_rows(engine), engine.model.live_rows, len(files(engine))) == (1000, 1000, 1)
    assert outcome.change.added_bytes == files(engine)[0].size_bytes == content_bytes
    assert engine.query(FULL_SCAN).work.delete_files_count == 0
    # Rows of deletes read: two on each of two files, one on each of the others.
    assert files(engine)[0].data_sequence_number == 2


def test_a_rewrite_reads_its_deletes_and_writes_live_rows_alone(engine):
    before = files(engine)
    outcome = execute(engine, rewrite(before[:2]), 60_000)
    (merged,) = [f for f in files(engine) if f not in before]
    assert merged.rows == 910  # 90 of 1,000 keys were hit
    assert (merged.key_bounds.lower, merged.key_bounds.upper) == (1, 1000)
    task_s = 2 * 0.5 + 4 * 2.0 + sum(f.size_bytes for f in before[:2]) / MIB * 4
    assert outcome.cost.executor_cpu_s == pytest.approx(task_s)
    assert engine.model.live_rows == 1000


def test_a_rewrite_of_rows_that_are_all_deleted_leaves_no_file():
    engine = make()
    commit_specs(engine, load(100, 1), changes(1, 100, deletes=100))
    (loaded,), (equality,) = files(engine), deletes(engine)
    outcome = execute(engine, rewrite([loaded]), 60_000)
    assert (outcome.status, files(engine), engine.model.live_rows) == ("ok", [], 0)
    assert outcome.work.applied_delete_bytes == equality.size_bytes
    assert outcome.cost.executor_cpu_s == pytest.approx(0.5 + 2 + loaded.size_bytes / MIB * 4)
    assert engine.query(FULL_SCAN).work.delete_files_count == 0


def test_deletes_committed_after_a_rewrite_was_planned_apply_to_its_files(engine):
    ticket = engine.schedule(rewrite(files(engine)[:2]), 60_000, 180_000)
    commit_specs(engine, changes(2, 1000, deletes=100))
    assert engine.complete(ticket, 180_000).status == "ok"
    merged = next(f for f in files(engine) if f.rows == 910)
    assert merged.data_sequence_number == 2
    applied = index_deletes(engine.state(180_000).delete_files).applying_to(merged)
    assert applied.files_count == 1  # the later commit's, not those planned with
    assert engine.model.live_rows == 900


def test_a_conversion_writes_one_position_delete_file_for_each_file_with_deleted_physical_rows(engine):
    old, equality = files(engine)[:2], deletes(engine, DeleteKind.EQUALITY)
    outcome = execute(engine, convert(*old, removed=equality), 60_000)
    assert (outcome.status, outcome.error) == ("ok", None)
    made = [d for d in deletes(engine) if d.data_sequence_number == 3]
    assert sorted(d.referenced_data_file for d in made) == sorted(f.path for f in old)
    assert [d.rows for d in made] == [45, 45]  # 90 of 1,000 keys, half of them in each file
    assert all(is_amoros_own(d.path, d.referenced_data_file) for d in made)
    assert files(engine)[:2] == old
    change = outcome.change
    assert (change.delete_files_added_count, change.delete_files_removed_count) == (2, 2)
    assert (change.files_added_count, change.files_removed_count, snapshots(outcome)) == (0, 0, 1)
    assert change.replaced_bytes == sum(d.size_bytes for d in equality)
    assert engine.model.live_rows == 1000
    assert engine.query(FULL_SCAN).work.delete_files_count == 4


def test_a_conversion_is_priced_by_its_files_and_their_deletes(engine):
    old, equality = files(engine)[:2], deletes(engine, DeleteKind.EQUALITY)
    outcome = execute(engine, convert(*old, removed=equality), 60_000)
    assert (outcome.work.converted_files_count, outcome.work.converted_rows) == (2, 1000)
    # Each of two equality deletes applies to both files.
    assert outcome.work.applied_delete_bytes == 2 * sum(d.size_bytes for d in equality)
    assert outcome.cost.executor_cpu_s == pytest.approx(4 * 2.0)
    assert outcome.cost.wall_s == pytest.approx(1 + 4 * 2.0)


def test_a_conversion_takes_old_position_deletes_into_the_new_file(engine):
    converted = files(engine)[2]
    (own,) = [d for d in deletes(engine, DeleteKind.POSITION) if d.referenced_data_file == converted.path]
    assert own.rows == 5
    commit_specs(engine, changes(2, 1000, deletes=200))
    execute(engine, convert(converted, removed=[own]), 120_000)
    (made,) = [d for d in deletes(engine) if d.referenced_data_file == converted.path]
    assert made.rows == 5 + 9  # a fifth of its other 45


def test_a_file_that_lost_no_row_gets_no_position_deletes():
    engine = make()
    commit_specs(engine, load(1000, 1), changes(1, 1000, inserts=100))
    loaded, (equality,) = files(engine)[0], deletes(engine)
    outcome = execute(engine, convert(loaded, removed=[equality]), 60_000)
    assert (outcome.status, len(deletes(engine))) == ("ok", 0)
    assert equality.key_bounds.lower > loaded.key_bounds.upper  # nothing to read of it: its keys are new ones
    assert (outcome.work.converted_files_count, outcome.work.applied_delete_files_count) == (1, 0)
    assert execute(engine, convert(files(engine)[0]), 60_000).status == "noop"


def test_dropping_a_delete_that_a_file_left_alone_needs_is_vetoed(engine):
    old, equality = files(engine)[:2], deletes(engine, DeleteKind.EQUALITY)
    before = (files(engine), deletes(engine))
    outcome = execute(engine, convert(old[0], removed=equality), 60_000)
    assert (outcome.status, outcome.cost) == ("vetoed", NO_COST)
    assert outcome.error == (
        f"dropping delete file {equality[0].path} would resurrect rows of {old[1].path}, "
        "to which it still applies"
    )
    assert (files(engine), deletes(engine), engine.model.live_rows) == (*before, 1000)
    assert snapshots(outcome) == 0
    assert engine.state(60_000).pending == ()


def test_one_action_that_is_vetoed_keeps_a_plan_from_being_done(engine):
    vetoed = convert(files(engine)[0], removed=deletes(engine, DeleteKind.EQUALITY))
    sound = rewrite(files(engine)[1:3])
    before = (files(engine), deletes(engine))
    for actions in ((*vetoed.actions, *sound.actions), (*sound.actions, *vetoed.actions)):
        assert execute(engine, plan(*actions), 60_000).status == "vetoed"
        assert (files(engine), deletes(engine)) == before


def test_a_plan_that_names_a_delete_file_that_is_gone_fails(engine):
    stale = convert(*files(engine)[:2], removed=deletes(engine, DeleteKind.EQUALITY))
    assert execute(engine, stale, 60_000).status == "ok"
    outcome = execute(engine, stale, 60_000)
    assert (outcome.status, outcome.error.endswith("is no longer live")) == ("failed", True)


def test_a_rewrite_of_a_file_converted_meanwhile_fails(engine):
    old = files(engine)[:2]
    ticket = engine.schedule(rewrite(old), 60_000, 180_000)
    assert execute(engine, convert(old[0]), 60_000).status == "ok"
    outcome = engine.complete(ticket, 180_000)
    assert outcome.status == "failed"
    assert outcome.error == f"found new position delete for replaced data file: {old[0].path}"
    assert engine.model.live_rows == 1000


SIX_UPDATES = (load(1000, 1), *(changes(n, 1000, updates=10) for n in range(1, 7)))


def numbers(engine):
    return [delete.data_sequence_number for delete in deletes(engine)]


def test_deletes_older_than_all_data_go_a_manifest_a_worker_thread():
    engine = make()
    commit_specs(engine, *SIX_UPDATES)
    assert len(deletes(engine)) == 6
    # The new file has the number of the last commit, 7, and so that commit's delete is not below it.
    # Of the five that are, two cores drop two; a later rewrite drops two more.
    assert execute(engine, REWRITE_ALL, 360_000).change.delete_files_removed_count == 2
    assert numbers(engine) == [4, 5, 6, 7]
    execute(engine, REWRITE_ALL, 360_000)
    assert numbers(engine) == [6, 7]
    assert engine.query(FULL_SCAN).work.delete_files_count == 0


def test_a_commit_that_replaces_no_data_drops_no_deletes_but_its_own():
    engine = make()
    commit_specs(engine, *SIX_UPDATES)
    execute(engine, REWRITE_ALL, 360_000)
    commit_specs(engine, changes(7, 1000, updates=10))
    execute(engine, convert(files(engine)[0], removed=[deletes(engine)[-1]]), 420_000)
    assert numbers(engine) == [4, 5, 6, 7, 10]


def test_dangling_deletes_are_removed_in_a_commit_of_their_own_where_there_are_partitions():
    tidying = plan(Native(REWRITE, {}, {"rewrite-all": "true", "remove-dangling-deletes": "true"}))
    partitioned, part = make(partitioning=Partitioning("bucket", 2)), "partition_bucket=0"
    updates = [changes(n, 1000, updates=10, partition=part) for n in range(1, 7)]
    commit_specs(partitioned, load(1000, 1, part), *updates)
    outcome = execute(partitioned, tidying, 360_000)
    assert (deletes(partitioned), snapshots(outcome)) == ([], 2)
    assert outcome.change.delete_files_removed_count == 6
    assert snapshots(execute(partitioned, tidying, 360_000)) == 1
    commit_specs(partitioned, changes(7, 1000, updates=10, partition=part))
    execute(partitioned, plan(Native(REWRITE, {}, {"rewrite-all": "true"})), 420_000)
    idle = plan(Native(REWRITE, {}, {"remove-dangling-deletes": "true"}))
    assert (execute(partitioned, idle, 420_000).status, len(deletes(partitioned))) == ("noop", 1)
    whole = make()
    commit_specs(whole, *SIX_UPDATES)
    assert snapshots(execute(whole, tidying, 360_000)) == 1
    assert len(deletes(whole)) == 4


def test_dropping_deletes_is_priced_as_a_rewrite_and_a_command_that_finds_nothing_as_that():
    costs = coefficients(rewrite={"driver": {"s": 7.0}}, noop={"driver": {"s": 2.0}})
    engine = make(costs)
    commit_specs(engine, *SIX_UPDATES)
    execute(engine, REWRITE_ALL, 360_000)
    dropping = plan(Rewrite((), 8 * MIB, tuple(delete.key for delete in deletes(engine))))
    finding_nothing = plan(Native(REWRITE, {}, {"min-input-files": "9"}))
    for compaction, status, cpu_s in ((finding_nothing, "noop", 2.0), (dropping, "ok", 7.0)):
        priced = engine.price(compaction, 360_000)
        outcome = execute(engine, compaction, 360_000)
        assert (outcome.status, outcome.cost.cpu_s, priced.cost.cpu_s) == (status, cpu_s, cpu_s)
        assert priced.finds_nothing == (status == "noop")


def test_a_file_is_rewritten_once_enough_delete_files_apply_to_it():
    engine = make(target_file_size_bytes=64 * KIB)
    # 3,000 rows make a file in the middle of the sizes that are left alone; 20 rows a small one.
    commit_specs(engine, load(2500, 1))
    (loaded,) = files(engine)
    assert 48 * KIB < loaded.size_bytes < 115 * KIB
    threshold = plan(Native(REWRITE, {}, {"delete-file-threshold": "3"}))
    statuses = []
    for index in range(1, 4):
        commit_specs(engine, changes(index, 2500, updates=20))
        statuses.append(execute(engine, threshold, 60_000 * index).status)
    assert statuses == ["noop", "noop", "ok"]
    assert loaded not in files(engine)
    assert (physical_rows(engine), engine.model.live_rows) == (2500, 2500)


def test_files_of_one_commit_that_deletes_apply_to_are_rewritten():
    """They are one series in the simulation, as long as nobody has asked for one of them."""
    made = make()
    commit_specs(made, load(1000, 2), changes(1, 1000, updates=100, writers=2), changes(2, 1000, updates=10))
    assert execute(made, REWRITE_ALL, 180_000).change.files_removed_count == 5
