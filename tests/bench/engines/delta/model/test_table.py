from dataclasses import replace

import pytest
from delta_simulations import coefficients, make, rows_left, vectors
from engine_streams import FULL_SCAN, execute, files, plan
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from observed_changes import check_grown, data_bytes
from upsert_commits import changes, commit_specs, load

from bench.engines.contract import Batch, CommitConflictError, total_change
from bench.engines.delta.model.coefficients import DeltaCoefficients
from bench.engines.delta.model.files import vector_bytes
from bench.engines.delta.table_keys import MERGE_ON_READ, UPSERT_MODES, DeltaKeys
from bench.engines.simulated.kind import wrong_rows
from bench.engines.simulated.live_rows import expected_live_rows
from bench.results.values import Change, Cost
from strategies.delta.commands import Command
from strategies.plan import Compact, Native
from strategies.state import GIB, KIB, MIB
from workloads.partitioning import Partitioning
from workloads.schema import ORDERS
from workloads.upsert import Upsert

AUTO = {"delta.autoOptimize.autoCompact": "true"}
OPTIMIZE = plan(Native(Command.OPTIMIZE))
CLUSTERED = DeltaKeys.model_validate(
    {"format": "delta", "target_file_size": "8MiB", "cluster_by": ("user_id",)}
)


def appends(count, rows=40, writers=4):
    """A load of 60 rows in 3 files and appends, each of so many rows and files."""
    loaded = load(rows, writers)
    numbers = range(1, count + 1)
    return [
        load(60, 3),
        *(replace(loaded, index=n, at_ms=60_000 * n, first_row=60 + rows * (n - 1)) for n in numbers),
    ]


# Commits


def test_an_append_is_one_version_of_a_file_a_writer():
    engine = make()
    outcome = commit_specs(engine, *appends(1))
    written_bytes = sum(file.size_bytes for file in files(engine)[3:])
    # A commit file with four files added, and a checksum file that lists all seven.
    metadata_bytes = (500 + 400) + (300 + 700)
    assert outcome.change == Change(4, 0, 0, 0, written_bytes, 0, metadata_bytes, 2, 40, 0, 0)
    assert [(version.id, version.operation) for version in outcome.versions] == [("2", "WRITE")]
    task_s = 4 * 0.5 + written_bytes / MIB * 4
    assert outcome.cost == Cost(1 + 4 * 0.25 + task_s / 4, 1.5 * 2 + task_s, task_s, 0)


def test_an_optimized_write_is_one_file_a_partition():
    engine = make(properties={"delta.autoOptimize.optimizeWrite": "true"})
    assert [commit_specs(engine, spec).change.files_added_count for spec in appends(2)] == [1, 1, 1]


def test_merge_without_vectors_rewrites_the_files_it_touches():
    engine = make()
    commit_specs(engine, load(1000, 2))
    loaded_bytes = sum(file.size_bytes for file in files(engine))
    outcome = commit_specs(engine, changes(1, 1000, inserts=50, updates=100))
    assert [file.rows for file in files(engine)] == [525, 525]  # by the two tasks of the join
    change = outcome.change
    assert (change.files_removed_count, change.files_added_count) == (2, 2)
    assert (change.replaced_bytes, change.delete_files_added_count) == (loaded_bytes, 0)
    assert (outcome.versions[0].operation, engine.model.live_rows) == ("MERGE", 1050)
    (version,) = outcome.versions
    assert (version.work.scanned_files_count, version.work.scanned_rows) == (2, 1000)
    task_s = 2 * 0.5 + change.added_bytes / MIB * 4
    assert outcome.cost.executor_cpu_s == pytest.approx(task_s)


def test_merge_leaves_files_alone_in_which_it_finds_no_key():
    engine = make()
    commit_specs(engine, load(1000, 4))
    before = files(engine)
    commit_specs(engine, changes(1, 1000, updates=2))  # in two of four files
    assert len(set(before) & set(files(engine))) == 2
    assert engine.model.live_rows == pytest.approx(1000, abs=1)  # half a row more, in each of two files
    commit_specs(engine, changes(2, 1000, inserts=10))
    assert len(set(before) & set(files(engine))) == 2


def test_merge_of_deletes_alone_may_leave_no_file():
    engine = make()
    outcome = commit_specs(engine, load(100, 1), changes(1, 100, deletes=100))
    assert (outcome.change.files_removed_count, files(engine), engine.model.live_rows) == (1, [], 0)


def test_merge_with_vectors_marks_rows_and_adds_files_of_its_own():
    engine = make(upsert_mode=MERGE_ON_READ)
    commit_specs(engine, load(1000, 2))
    loaded = files(engine)
    outcome = commit_specs(engine, changes(1, 1000, inserts=50, updates=100))
    assert files(engine)[:2] == loaded
    assert [file.rows for file in files(engine)[2:]] == [75, 75]
    marked = vectors(engine)
    assert {path: vector.rows for path, vector in marked.items()} == {f.path: 50 for f in loaded}
    assert {vector.size_bytes for vector in marked.values()} == {vector_bytes(50, 500)}
    assert len({vector.path for vector in marked.values()}) == 1
    assert engine.model.live_rows == rows_left(engine) == 1050
    # In the log the two marked files are removed and added again.
    assert outcome.change.metadata_bytes == (500 + 400 + 20) + (300 + 400)
    assert (outcome.change.files_removed_count, outcome.change.delete_files_added_count) == (0, 2)
    storage_bytes = sum(file.size_bytes for file in files(engine)) + 1 + 2 * (vector_bytes(50, 500) + 8)
    assert data_bytes(outcome.observed) == storage_bytes


def test_a_vector_replaces_the_one_before_it():
    engine = make(upsert_mode=MERGE_ON_READ)
    commit_specs(engine, load(1000, 1), changes(1, 1000, updates=100))
    (loaded, *_) = files(engine)
    first = vectors(engine)[loaded.path]
    outcome = commit_specs(engine, changes(2, 1000, updates=100))
    second = vectors(engine)[loaded.path]
    assert (first.rows, second.rows) == (100, 190)
    assert (outcome.change.delete_files_removed_count, outcome.change.replaced_bytes) == (1, first.size_bytes)
    assert len(vectors(engine)) == outcome.change.delete_files_added_count == 3
    # The file of the first vector is on storage until VACUUM.
    vacuum = plan(Native(Command.VACUUM, {"older_than_at_ms": "120001"}))
    freed = execute(engine, vacuum, 180_000)
    assert [version.operation for version in freed.versions] == ["VACUUM START", "VACUUM END"]
    assert data_bytes(outcome.observed) - data_bytes(freed.observed) == 1 + first.size_bytes + 8


def test_a_file_without_a_live_row_is_removed_instead_of_marked():
    engine = make(upsert_mode=MERGE_ON_READ)
    outcome = commit_specs(engine, load(100, 1), changes(1, 100, updates=100))
    assert (outcome.change.files_removed_count, vectors(engine)) == (1, {})
    assert engine.model.live_rows == rows_left(engine) == 100


def test_spark_or_a_writer_override_sets_the_tasks_of_a_merge_without_partitions():
    for table, tasks in (
        ({"settings": {"spark.sql.shuffle.partitions": "3"}}, 3),
        ({"files_per_commit": 5}, 5),
    ):
        outcome = commit_specs(make(**table), load(1000, 1), changes(1, 1000, updates=100))
        assert outcome.change.files_added_count == tasks
    engine = make(files_per_commit=5, partitioning=Partitioning("bucket", 1))
    specs = (load(1000, 1, "b=0"), changes(1, 1000, updates=100, partition="b=0"))
    assert commit_specs(engine, *specs).change.files_added_count == 1


# Commands


def test_optimize_merges_and_finds_nothing_the_second_time():
    engine = make()
    commit_specs(engine, *appends(2))
    outcome = execute(engine, OPTIMIZE, 120_000)
    assert (outcome.change.files_removed_count, outcome.change.files_added_count) == (11, 1)
    assert (files(engine)[0].rows, engine.model.content_bytes) == (140, files(engine)[0].size_bytes)
    assert [version.operation for version in outcome.versions] == ["OPTIMIZE"]
    assert execute(engine, OPTIMIZE, 120_000).status == "noop"
    # Its output is packed again as soon as there is another file.
    commit_specs(engine, appends(3)[3])
    assert execute(engine, OPTIMIZE, 180_000).change.files_removed_count == 5


def test_optimize_drops_vectors_and_the_rows_they_mark():
    engine = make(upsert_mode=MERGE_ON_READ)
    commit_specs(engine, load(1000, 2), changes(1, 1000, updates=100))
    before = engine.query(FULL_SCAN).work
    assert (before.files_count, before.delete_files_count) == (4, 2)
    assert before.opened_bytes == engine.state(0).size_bytes
    outcome = execute(engine, OPTIMIZE, 60_000)
    assert (outcome.change.delete_files_removed_count, vectors(engine)) == (2, {})
    assert files(engine)[0].rows == engine.model.live_rows == 1000
    assert engine.query(FULL_SCAN).work.delete_files_count == 0


def test_optimize_leaves_a_lone_file_that_reorg_purges():
    engine = make(upsert_mode=MERGE_ON_READ, partitioning=Partitioning("bucket", 2))
    commit_specs(engine, load(1000, 1, "b=0"), changes(1, 1000, deletes=500, partition="b=0"))
    assert execute(engine, OPTIMIZE, 60_000).status == "noop"
    outcome = execute(engine, plan(Native(Command.REORG)), 60_000)
    assert (outcome.change.files_removed_count, outcome.change.files_added_count) == (1, 1)
    assert ([v.operation for v in outcome.versions], files(engine)[0].rows) == (["REORG"], 500)


def test_repartition_makes_the_number_of_files_it_is_given():
    engine = make()
    commit_specs(engine, load(1000, 7))
    execute(engine, plan(Native(Command.REPARTITION, {"partition": "", "files": "3"})), 60_000)
    assert sorted(file.rows for file in files(engine)) == [333, 333, 334]


def test_zorder_rewrites_everything_each_time():
    engine = make()
    commit_specs(engine, load(1000, 3))
    zorder = plan(Native(Command.ZORDER, {"columns": "user_id"}))
    assert [execute(engine, zorder, 60_000).change.files_removed_count for _ in range(2)] == [3, 1]
    assert files(engine)[0].z_cube is None


def test_clustering_puts_files_into_cubes_and_takes_small_cubes_again():
    engine = make(keys=CLUSTERED)
    specs = appends(2)
    commit_specs(engine, *specs[:2])
    execute(engine, OPTIMIZE, 60_000)
    (first,) = files(engine)
    assert (first.clustering_provider, first.z_cube.columns) == ("liquid", ("user_id",))
    assert execute(engine, OPTIMIZE, 60_000).status == "noop"
    commit_specs(engine, specs[2])
    assert execute(engine, OPTIMIZE, 120_000).change.files_removed_count == 5
    assert files(engine)[0].z_cube.id != first.z_cube.id


def test_reorg_of_a_clustered_table_makes_a_cube_and_leaves_a_single_one():
    engine = make(keys=CLUSTERED, upsert_mode=MERGE_ON_READ)
    commit_specs(engine, load(1000, 2), changes(1, 1000, updates=100))
    reorg = plan(Native(Command.REORG))
    assert execute(engine, reorg, 60_000).change.files_removed_count == 2
    assert sum(file.z_cube is not None for file in files(engine)) == 1
    commit_specs(engine, changes(2, 1000, updates=100))
    execute(engine, OPTIMIZE, 120_000)
    commit_specs(engine, changes(3, 1000, updates=100))
    assert execute(engine, reorg, 180_000).status == "noop"


def test_every_tenth_version_has_a_checkpoint_that_its_writer_pays_for():
    dear = {"wall": {"s_per_checkpoint": 100.0, "s_per_checkpointed_file": 1.0}}
    engine = make(coefficients(commit=dear))
    walls_s = [commit_specs(engine, spec).cost.wall_s for spec in appends(10)]
    assert [wall_s > 100 for wall_s in walls_s] == [False] * 9 + [True, False]
    assert walls_s[9] == pytest.approx(walls_s[8] + 100 + 3 + 9 * 4, abs=0.1)
    assert engine.query(FULL_SCAN).work.metadata_files_count == 2  # that checkpoint, and version 11


# Automatic compaction


@pytest.mark.parametrize("name", ["delta.autoOptimize.autoCompact", "delta.autooptimize.autocompact"])
def test_commits_compact_by_themselves_the_first_time_and_from_50_files_on(name):
    engine = make(properties={name: "true"})
    removed_counts = {}
    for spec in appends(14):
        outcome = commit_specs(engine, spec)
        for compaction in outcome.compactions:
            (version,) = compaction.versions
            removed_counts[spec.index] = version.change.files_removed_count
            assert (version.operation, version.tag, compaction.action) == ("OPTIMIZE", None, "delta.optimize")
            assert outcome.observed.version == version.id == str(int(outcome.versions[0].id) + 1)
    # The load of 3 files; then 4 a commit: 1 + 13 x 4 = 53 files at the 13th.
    assert removed_counts == {0: 3, 13: 53}


def test_an_automatic_compaction_is_paid_apart_from_its_commit_and_a_search_is_not():
    compacting, searching = (commit_specs(make(properties=AUTO), load(60, files)) for files in (3, 1))
    assert compacting.cost == commit_specs(make(), load(60, 3)).cost
    (compaction,) = compacting.compactions
    assert compaction.cost.executor_cpu_s > 3 * 0.5
    assert searching.compactions == ()
    assert searching.cost == commit_specs(make(), load(60, 1)).cost


def test_merge_compacts_what_it_touches_and_a_commit_of_vectors_alone_does_not():
    engine = make(properties=AUTO, upsert_mode=MERGE_ON_READ)
    commit_specs(engine, load(1000, 1))  # marks the partition, with nothing to compact
    assert commit_specs(engine, changes(1, 1000, updates=100)).compactions == ()
    first = make(properties=AUTO, upsert_mode=MERGE_ON_READ)
    commit_specs(first, changes(1, 1000, inserts=1000))
    assert commit_specs(first, changes(2, 2000, deletes=10)).compactions == ()


# Streams


def test_streams_of_unknown_keys_keep_their_rows_too():
    shapes = [changes(n, 20_000, 20, 50, 10, again=3, writers=3, known=False) for n in range(1, 31)]
    for mode in UPSERT_MODES:
        engine = make(upsert_mode=mode)
        commit_specs(engine, load(20_000, 3), *shapes)
        assert engine.model.live_rows == pytest.approx(20_000 + 30 * (20 - 10 - 3), abs=len(files(engine)))


def test_the_same_stream_gives_the_same_table_and_costs():
    workload = Upsert(400, 4, 20_000, 3, repeat_share=0.05)
    specs = list(workload.shape(7, 12, 60_000, Partitioning("none", 3)))

    def replayed():
        engine = make(DeltaCoefficients.read(), upsert_mode=MERGE_ON_READ, properties=AUTO)
        outcomes = [engine.commit(Batch(spec), spec.at_ms) for spec in specs]
        return files(engine), vectors(engine), outcomes, engine.query(FULL_SCAN)

    assert replayed() == replayed()


class AnyHistory(RuleBasedStateMachine):
    """Changes, commands and VACUUM in any order keep rows and sums, and each version explains the state."""

    @initialize(
        by=st.sampled_from(["none", "bucket"]),
        skew=st.sampled_from(["uniform", "zipf", "recent-first"]),
        mode=st.sampled_from(list(UPSERT_MODES)),
        properties=st.sampled_from([{}, AUTO, {"delta.autoOptimize.optimizeWrite": "true"}]),
    )
    def create(self, by, skew, mode, properties):
        self.mode, partitioning = mode, Partitioning(by, 2)
        table = {"partitioning": partitioning, "upsert_mode": mode, "properties": properties}
        self.engine = make(target_file_size_bytes=64 * KIB, **table)
        workload = Upsert(300, 2, 2_000, 3, key_skew=skew, delete_share=0.2, repeat_share=0.1)
        self.stream = workload.shape(7, 200, 60_000, partitioning)
        self.specs, self.at_ms, self.seen = [], 0, None
        self.commit()

    def did(self, outcome, versions, frees=False):
        observed, change = outcome.observed, total_change(versions)
        if self.seen is not None:
            before = self.seen
            check_grown(before, observed, change)
            metadata_bytes = before.table.metadata_storage_bytes + change.metadata_bytes
            assert observed.table.metadata_storage_bytes == metadata_bytes
            assert frees or observed.table.storage_bytes >= before.table.storage_bytes + change.added_bytes
        assert not versions or observed.version == versions[-1].id
        assert data_bytes(observed) >= observed.table.live_bytes
        self.seen = observed

    @rule()
    def commit(self):
        spec = next(self.stream)
        self.specs.append(spec)
        self.at_ms = spec.at_ms
        outcome = self.engine.commit(Batch(spec, (), spec.expected_bytes), spec.at_ms)
        inline = [version for compaction in outcome.compactions for version in compaction.versions]
        self.did(outcome, [*outcome.versions, *inline])

    def act(self, action, frees=False):
        """Carry out; what lives does not change by more than roundings of files."""
        live, tolerance = self.engine.model.live_rows, len(files(self.engine))
        outcome = execute(self.engine, plan(action), self.at_ms)
        assert outcome.status in ("ok", "noop")
        self.did(outcome, outcome.versions, frees)
        assert abs(self.engine.model.live_rows - live) <= tolerance

    @rule(size=st.sampled_from([KIB, 16 * KIB, GIB]), batch=st.sampled_from([None, "20000"]))
    def optimize(self, size, batch):
        options = {"minFileSize": str(size), "maxFileSize": str(size)}
        self.act(Compact(None, options if batch is None else {**options, "batchSize": batch}))

    @rule(command=st.sampled_from([Native(Command.REORG), Native(Command.ZORDER, {"columns": "order_id"})]))
    def reorg_or_sort(self, command):
        self.act(command)

    @precondition(lambda self: self.seen.table.data_files_count)
    @rule(count=st.integers(1, 3), data=st.data())
    def repartition(self, count, data):
        partition = data.draw(st.sampled_from(sorted(self.engine.state(0).partitions)))
        self.act(Native(Command.REPARTITION, {"partition": partition, "files": str(count)}))

    @rule(ago_ms=st.sampled_from([0, 60_000, 300_000]))
    def vacuum(self, ago_ms):
        self.act(Native(Command.VACUUM, {"older_than_at_ms": str(max(1, self.at_ms - ago_ms))}), frees=True)

    @invariant()
    def rows_add_up_and_vectors_belong_to_live_files(self):
        if self.seen is None:
            return
        assert wrong_rows(self.engine, self.specs, is_cdc=True) is None
        expected = expected_live_rows(self.specs)
        live, marked = {file.path: file for file in files(self.engine)}, vectors(self.engine)
        assert abs(self.engine.model.live_rows - expected) <= len(live) + 1
        assert abs(rows_left(self.engine) - expected) <= len(live) + 1
        assert all(0 < vector.rows < live[path].rows for path, vector in marked.items())
        assert self.mode == MERGE_ON_READ or not marked
        assert self.seen.table.delete_files_count == len(marked)
        assert self.engine.model.content_bytes == ORDERS.expected_bytes(self.engine.model.live_rows)


AnyHistory.TestCase.settings = settings(max_examples=20, stateful_step_count=25, deadline=None)
TestAnyHistory = AnyHistory.TestCase


# A real clock


@pytest.mark.parametrize(
    ("upsert_mode", "between", "conflict"),
    [
        (MERGE_ON_READ, changes(1, 1000, updates=100), "rows of"),
        (None, changes(1, 1000, updates=100), "has been removed"),
        (MERGE_ON_READ, replace(load(500, 2), index=1, at_ms=60_000, first_row=1000), None),
    ],
)
def test_a_commit_while_optimize_runs_is_a_conflict_if_it_changes_what_was_read(
    upsert_mode, between, conflict
):
    engine = make(upsert_mode=upsert_mode, has_real_clock=True)
    commit_specs(engine, load(1000, 4))
    ticket = engine.schedule(OPTIMIZE, 60_000, 60_000)
    commit_specs(engine, between)
    added_count = len(files(engine))
    outcome = engine.complete(ticket, 90_000)
    # The work is done and paid for in either case.
    assert outcome.cost.wall_s == ticket.expected.wall_s > 0
    if conflict is None:
        assert outcome.status == "ok"
        assert outcome.versions[0].change.files_removed_count == 4
    else:
        assert (outcome.status, outcome.versions) == ("conflict", ())
        assert conflict in outcome.error
        assert len(files(engine)) == added_count


@pytest.mark.parametrize(("upsert_mode", "touched"), [(MERGE_ON_READ, (0, 4)), (None, (4, 0))])
def test_a_merge_in_which_optimize_commits_loses_and_leaves_nothing(upsert_mode, touched):
    engine = make(upsert_mode=upsert_mode, has_real_clock=True)
    commit_specs(engine, load(1000, 4))
    ticket = engine.schedule(OPTIMIZE, 60_000, 60_000)
    merge = changes(1, 1000, updates=100)
    staged = engine._tickets._open[ticket.id][1].actions[0]
    expected = engine.model.lost(merge, staged)
    assert (expected.change.files_removed_count, expected.change.delete_files_added_count) == touched
    assert (expected.work.scanned_files_count, expected.work.scanned_rows) == (4, 1000)
    engine.begin(Batch(merge))
    assert engine.complete(ticket, 90_000).status == "ok"
    live = files(engine)
    with pytest.raises(CommitConflictError) as caught:
        engine.commit(Batch(merge), 60_000)
    assert "ConcurrentAppendException" in caught.value.reason
    assert caught.value.cost.cpu_s > 0
    assert files(engine) == live
    engine.begin(Batch(merge))
    assert commit_specs(engine, merge).change.files_added_count
    assert engine.model.lost(replace(load(500, 2), index=2), staged) is None  # an append reads nothing


def test_a_virtual_clock_plans_and_commits_in_one_call():
    engine = make(upsert_mode=MERGE_ON_READ)
    commit_specs(engine, load(1000, 4))
    ticket = engine.schedule(OPTIMIZE, 60_000, 60_000)
    assert ticket.expected.wall_s == 0
    commit_specs(engine, changes(1, 1000, updates=100))
    assert engine.complete(ticket, 90_000).status == "ok"


@pytest.mark.parametrize("has_real_clock", [False, True])
def test_a_plan_of_two_actions_does_not_fail_by_its_first_one(has_real_clock):
    engine = make(upsert_mode=MERGE_ON_READ, has_real_clock=has_real_clock)
    commit_specs(engine, load(1000, 4), changes(1, 1000, updates=100))
    both = replace(OPTIMIZE, actions=(Native(Command.REORG), *OPTIMIZE.actions))
    ticket = engine.schedule(both, 60_000, 60_000)
    assert (ticket.expected.wall_s > 0) is has_real_clock
    assert engine.complete(ticket, 90_000).status == "ok"
