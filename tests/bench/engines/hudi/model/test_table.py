import pytest
from engine_streams import FULL_SCAN, execute, plan
from hudi_simulations import coefficients, make
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from observed_changes import check_grown, data_bytes
from upsert_commits import changes, commit_specs, load

from bench.engines.contract import Batch, CommitConflictError, Probe
from bench.engines.hudi.model.coefficients import HudiCoefficients
from bench.engines.hudi.model.files import log_file_bytes
from bench.engines.hudi.table_keys import CONFLICT_RESOLUTION, COPY_ON_WRITE, METADATA_TABLE, UPSERT_MODES
from bench.engines.simulated.live_rows import expected_live_rows
from bench.results.values import Change, Cost
from strategies.hudi.commands import Command
from strategies.hudi.files import Action
from strategies.hudi.triggers import NumCommits
from strategies.plan import Native
from strategies.state import KIB, MIB
from strategies.triggers import RuleMemory
from workloads.partitioning import Partitioning
from workloads.schema import ORDERS
from workloads.upsert import Upsert

MINUTE_MS = 60_000
NO_SMALL_FILES = {"hoodie.parquet.small.file.limit": "0"}
ROWS_OF_1_MIB = NO_SMALL_FILES | {"hoodie.copyonwrite.record.size.estimate": str(MIB)}
INLINE = "hoodie.compact.inline"
CLUSTERING = plan(Native(Command.CLUSTERING))


def compaction(strategy="UnBounded", **options):
    names = {f"hoodie.compaction.{name.replace('_', '.')}": str(value) for name, value in options.items()}
    return plan(Native(Command.COMPACTION, {"strategy": strategy}, names))


def log_compaction(files_min):
    names = {"hoodie.log.compaction.blocks.threshold": str(files_min)}
    return plan(Native(Command.LOG_COMPACTION, {}, names))


def bases(engine):
    return list(engine.state(0).data_files)


def logs(engine):
    return list(engine.state(0).delete_files)


def base_rows(engine):
    return [file.rows for file in bases(engine)]


def log_rows(engine):
    return [file.rows for file in logs(engine)]


def pending(engine):
    return [instant.is_pending for instant in engine.state(0).timeline]


# Commits


def test_the_first_write_into_a_bucket_is_a_base_file_and_later_ones_are_log_files():
    engine = make(buckets=2)
    commit_specs(engine, load(1000))
    assert base_rows(engine) == [500, 500]
    outcome = commit_specs(engine, changes(1, 1000, inserts=40, updates=50, deletes=10))
    # 100 distinct keys: 90 with a new row and 10 deleted, in either bucket half of them.
    assert log_rows(engine) == [50, 50]
    log_bytes = log_file_bytes(ORDERS, 45, 5)
    assert [log.size_bytes for log in logs(engine)] == [log_bytes] * 2
    metadata_bytes = 600 + 2 * 70
    assert outcome.change == Change(0, 0, 2, 0, 2 * log_bytes, 0, metadata_bytes, 3, 0, 0, 100)
    assert [version.operation for version in outcome.versions] == ["deltacommit"]
    assert engine.model.live_rows == 1030
    task_s = 2 * 2 + 2 * log_bytes / MIB * 4
    assert outcome.cost == Cost(1 + task_s / 2, 1.5 + task_s, task_s, 0)


def test_a_few_keys_do_not_hit_all_buckets():
    engine = make(buckets=8)
    commit_specs(engine, load(1000), changes(1, 1000, updates=4))
    assert len(logs(engine)) == 3  # 8 x (1 - (7/8)^4), rounded
    assert sum(log_rows(engine)) == 4


@pytest.mark.parametrize(
    ("day", "path"),
    [("2026-01-01", "2026/01/01"), ("0001-01-01", "0001/01/01"), ("null", "__HIVE_DEFAULT_PARTITION__")],
)
def test_days_are_paths_as_hudi_writes_them(day, path):
    engine = make(buckets=1)
    commit_specs(engine, load(100, partition=f"partition_day={day}"))
    assert list(engine.state(0).partitions) == [path]


def test_on_the_other_type_of_table_every_upsert_rewrites_base_files():
    engine = make(buckets=2, upsert_mode=COPY_ON_WRITE)
    commit_specs(engine, load(1000))
    outcome = commit_specs(engine, changes(1, 1000, inserts=40, updates=50))
    assert (base_rows(engine), logs(engine)) == ([520, 520], [])
    assert (outcome.change.files_added_count, outcome.change.files_removed_count) == (2, 2)
    assert outcome.versions[0].operation == "commit"


def test_without_buckets_changes_go_to_the_group_that_has_the_row():
    engine = make(index="simple")
    commit_specs(engine, load(10_000))
    # 8 MiB of 1,024 bytes are 8,192 rows, so the load becomes two files.
    assert base_rows(engine) == [8_192, 1_808]
    commit_specs(engine, changes(1, 10_000, updates=100))
    assert log_rows(engine) == [82, 18]
    assert engine.model.live_rows == 10_000


def test_updates_alone_make_no_new_group():
    """Also where each of many groups is expected to lose a few rows and a part of one."""
    upsert = Upsert(100, 1, 90_000, initial_files=1, insert_share=0.0, delete_share=0.0)
    engine = make(index="simple", properties=NO_SMALL_FILES)
    specs = [*upsert.shape(7, 20, MINUTE_MS, Partitioning())]
    commit_specs(engine, specs[0])
    before = len(bases(engine))
    commit_specs(engine, *specs[1:])
    assert len(bases(engine)) == before > 1
    assert abs(engine.model.live_rows - 90_000) <= before  # a part of a row in each group


def test_new_rows_go_to_the_smallest_base_file_without_log_files():
    engine = make(index="simple")
    commit_specs(engine, load(1000))
    commit_specs(engine, changes(1, 1000, inserts=500))
    assert base_rows(engine) == [1_500]
    commit_specs(engine, changes(2, 1500, inserts=100, updates=300))
    # The base file is written anew for the inserts, so that it takes the updates too.
    assert (base_rows(engine), logs(engine)) == ([1_600], [])
    commit_specs(engine, changes(3, 1600, updates=50), changes(4, 1600, inserts=100))
    assert sorted(base_rows(engine)) == [100, 1_600]


def test_without_small_files_new_rows_go_to_new_groups_of_the_split_size():
    insert = "hoodie.copyonwrite.insert"
    split = {f"{insert}.auto.split": "false", f"{insert}.split.size": "40"}
    engine = make(index="simple", properties=NO_SMALL_FILES | split)
    commit_specs(engine, load(100), changes(1, 100, inserts=60))
    assert base_rows(engine) == [40, 40, 20, 40, 20]


def test_the_size_of_a_row_comes_from_the_newest_commit_above_the_limit_of_small_files():
    """8 MiB hold 8 rows of 1 MiB, and 8,192 of the size that Hudi takes where no commit tells."""
    engine = make(index="simple", properties=ROWS_OF_1_MIB)
    commit_specs(engine, load(20))
    assert base_rows(engine) == [8, 8, 4]
    commit_specs(engine, changes(1, 20, inserts=20))
    assert base_rows(engine) == [8, 8, 4, 20]


def test_the_size_of_a_row_comes_from_base_files_of_the_last_five_commits():
    for log_commits, files in ((4, 1), (5, 2)):
        engine = make(index="simple", properties=ROWS_OF_1_MIB)
        commit_specs(engine, load(8))
        commit_specs(engine, *(changes(index, 8, updates=1) for index in range(1, log_commits + 1)))
        commit_specs(engine, changes(log_commits + 1, 8, inserts=16))
        assert len(bases(engine)) == 1 + files


# Table services


def test_a_compaction_makes_one_base_file_of_a_slice():
    engine = make(buckets=1)
    commit_specs(engine, load(1000), changes(1, 1000, updates=100), changes(2, 1000, updates=100))
    before_bytes = engine.state(0).size_bytes
    outcome = execute(engine, compaction(), 2 * MINUTE_MS)
    assert (outcome.status, outcome.versions[0].operation) == ("ok", "commit")
    assert (base_rows(engine), logs(engine)) == ([1000], [])
    change = outcome.change
    assert (change.files_added_count, change.files_removed_count) == (1, 1)
    assert (change.delete_files_removed_count, change.replaced_bytes) == (2, before_bytes)
    assert execute(engine, compaction(), 2 * MINUTE_MS).status == "noop"


def test_log_files_that_come_while_a_plan_is_pending_are_not_in_it():
    engine = make(buckets=1)
    commit_specs(engine, load(1000), changes(1, 1000, updates=100))
    ticket = engine.schedule(compaction(), MINUTE_MS, 3 * MINUTE_MS)
    commit_specs(engine, changes(2, 1000, updates=50))
    ((service, (group,)),) = engine.state(2 * MINUTE_MS).pending_groups.items()
    assert (service, group.file_id) == (Command.COMPACTION, "bucket-00000")
    assert pending(engine) == [False, False, True, False]
    # Nothing else is planned for the group meanwhile.
    assert execute(engine, compaction(), 2 * MINUTE_MS).status == "noop"
    assert engine.complete(ticket, 3 * MINUTE_MS).status == "ok"
    assert log_rows(engine) == [50]
    assert not engine.state(0).pending_groups
    assert engine.state(0).timeline[2].completed_at_ms == 3 * MINUTE_MS
    assert engine.model.live_rows == 1000


def test_a_compaction_takes_groups_with_a_pending_log_compaction_which_hudi_then_refuses():
    engine = make(buckets=1)
    commit_specs(engine, load(1000), *(changes(index, 1000, updates=100) for index in (1, 2)))
    ticket = engine.schedule(log_compaction(2), 2 * MINUTE_MS, 4 * MINUTE_MS)
    assert execute(engine, compaction(), 3 * MINUTE_MS).change.delete_files_removed_count == 2
    assert (engine.complete(ticket, 4 * MINUTE_MS).status, logs(engine)) == ("failed", [])
    assert pending(engine) == [False, False, False, True, False]
    assert engine.model.live_rows == 1000


def test_a_log_compaction_does_not_count_as_a_commit_before_the_next_one():
    engine = make(buckets=1)
    commit_specs(engine, load(1000), *(changes(index, 1000, updates=100) for index in (1, 2)))
    assert execute(engine, log_compaction(2), 2 * MINUTE_MS).status == "ok"
    commit_specs(engine, changes(3, 1000, updates=100))
    assert execute(engine, log_compaction(2), 3 * MINUTE_MS).status == "noop"
    commit_specs(engine, changes(4, 1000, updates=100))
    assert execute(engine, log_compaction(2), 4 * MINUTE_MS).status == "ok"


def test_commits_compact_by_themselves_as_often_as_the_table_says():
    engine = make(buckets=1, properties={INLINE: "true", f"{INLINE}.max.delta.commits": "2"})
    specs = [load(1000), *(changes(index, 1000, updates=100) for index in range(1, 5))]
    outcomes = [engine.commit(Batch(spec, (), spec.expected_bytes), spec.at_ms) for spec in specs]
    assert [len(outcome.compactions) for outcome in outcomes] == [0, 1, 0, 1, 0]
    (inline,) = outcomes[1].compactions
    assert [version.operation for version in outcomes[1].versions] == ["deltacommit"]
    assert [version.operation for version in inline.versions] == ["commit"]
    assert inline.cost.wall_s > 0
    assert len(logs(engine)) == 1


def test_a_commit_that_compacts_also_executes_what_is_pending():
    engine = make(buckets=1, properties={INLINE: "true", f"{INLINE}.max.delta.commits": "9"})
    commit_specs(engine, load(1000), changes(1, 1000, updates=100))
    ticket = engine.schedule(compaction(), MINUTE_MS, 5 * MINUTE_MS)
    outcome = commit_specs(engine, changes(2, 1000, updates=100))
    assert len(outcome.compactions) == 1
    assert engine.complete(ticket, 5 * MINUTE_MS).status == "noop"
    assert len(logs(engine)) == 1


def test_a_strategy_without_a_day_fails():
    engine = make(buckets=1)
    commit_specs(engine, load(10), changes(1, 10, updates=5))
    outcome = execute(engine, compaction("BoundedPartitionAware"), MINUTE_MS)
    assert (outcome.status, "day" in outcome.error) == ("failed", True)


def test_a_log_compaction_makes_one_log_file():
    engine = make(buckets=1)
    commit_specs(engine, load(1000), *(changes(index, 1000, updates=10, deletes=1) for index in range(1, 6)))
    merge_logs = plan(Native(Command.LOG_COMPACTION))
    outcome = execute(engine, merge_logs, 5 * MINUTE_MS)
    assert (outcome.status, outcome.versions[0].operation) == ("ok", "deltacommit")
    # What it has merged stays in the slice until a compaction.
    # One of its 50 rows is expected to have been updated twice.
    assert log_rows(engine) == [11] * 5 + [54]
    assert outcome.change.delete_files_removed_count == 0
    # Six delta commits and its own; another one waits for five after it.
    assert sum(instant.action is Action.DELTA_COMMIT for instant in engine.state(0).timeline) == 7
    commit_specs(engine, *(changes(index, 990, updates=10) for index in range(6, 9)))
    assert execute(engine, merge_logs, 8 * MINUTE_MS).status == "noop"
    assert (execute(engine, compaction(), 9 * MINUTE_MS).status, logs(engine)) == ("ok", [])


def test_a_clustering_makes_new_groups_of_small_files():
    engine = make(index="simple")
    commit_specs(engine, load(1000), changes(1, 1000, updates=10))
    commit_specs(engine, *(changes(n, 800 + 100 * n, inserts=100, updates=1) for n in range(2, 5)))
    before = engine.model.live_rows
    outcome = execute(engine, CLUSTERING, 5 * MINUTE_MS)
    assert (outcome.status, outcome.versions[0].operation) == ("ok", "replacecommit")
    assert (len(bases(engine)), logs(engine), engine.model.live_rows) == (1, [], before)


def test_a_clustering_makes_no_more_files_than_there_are_rows():
    engine = make(index="simple")
    commit_specs(engine, load(3))
    commit_specs(engine, changes(1, 3, inserts=3))
    options = {"hoodie.clustering.plan.strategy.target.file.max.bytes": "1"}
    assert execute(engine, plan(Native(Command.CLUSTERING, {}, options)), MINUTE_MS).status == "ok"
    assert all(file.rows for file in bases(engine))
    assert engine.model.live_rows == sum(file.rows for file in bases(engine)) == 6


def test_a_clustering_loses_if_a_commit_changes_one_of_its_groups_meanwhile():
    for mode in UPSERT_MODES:
        engine = make(index="simple", upsert_mode=mode)
        commit_specs(engine, load(1000), changes(1, 1000, updates=10))
        ticket = engine.schedule(CLUSTERING, MINUTE_MS, 3 * MINUTE_MS)
        commit_specs(engine, changes(2, 1000, updates=300))
        before = bases(engine), logs(engine)
        outcome = engine.complete(ticket, 3 * MINUTE_MS)
        assert (outcome.status, outcome.versions, (bases(engine), logs(engine))) == ("failed", (), before)
        assert engine.model.live_rows == 1000
        assert (engine.state(0).pending_groups, pending(engine)) == ({}, [False] * 3)
        assert execute(engine, CLUSTERING, 3 * MINUTE_MS).status == "ok"


def two_groups(**table):
    """At a real clock, base files of 500 rows, which have been changed, and no new rows go to."""
    engine = make(has_real_clock=True, index="simple", properties=NO_SMALL_FILES, **table)
    commit_specs(engine, load(1000, 2), changes(1, 1000, updates=10))
    return engine


def begin(engine, spec):
    engine.begin(Batch(spec, (), spec.expected_bytes))


@pytest.mark.parametrize("upsert_mode", UPSERT_MODES)
def test_a_commit_is_refused_while_a_clustering_of_its_groups_is_pending(upsert_mode):
    engine = two_groups(upsert_mode=upsert_mode)
    ticket = engine.schedule(CLUSTERING, MINUTE_MS, 3 * MINUTE_MS)
    with pytest.raises(CommitConflictError) as refused:
        begin(engine, changes(2, 1000, updates=300))
    assert "HoodieClusteringUpdateException" in refused.value.reason
    begin(engine, changes(3, 1000, inserts=10))
    commit_specs(engine, changes(3, 1000, inserts=10))
    assert engine.complete(ticket, 3 * MINUTE_MS).status == "ok"
    begin(engine, changes(4, 1000, updates=300))
    written = commit_specs(engine, changes(4, 1000, updates=300))
    assert refused.value.cost.cpu_s < written.cost.cpu_s


@pytest.mark.parametrize("upsert_mode", UPSERT_MODES)
@pytest.mark.parametrize("has_ended", [False, True])
def test_a_commit_loses_to_a_clustering_that_was_planned_while_it_was_written(upsert_mode, has_ended):
    engine = two_groups(upsert_mode=upsert_mode)
    update = changes(2, 1000, updates=300)
    begin(engine, update)
    ticket = engine.schedule(CLUSTERING, MINUTE_MS, 3 * MINUTE_MS)
    if has_ended:
        assert engine.complete(ticket, 2 * MINUTE_MS).status == "ok"
    with pytest.raises(CommitConflictError, match="Cannot resolve conflicts"):
        commit_specs(engine, update)
    if not has_ended:
        assert engine.complete(ticket, 3 * MINUTE_MS).status == "ok"
    begin(engine, update)
    commit_specs(engine, update)
    assert engine.model.live_rows == 1000


def test_a_commit_loses_to_a_log_compaction_only_if_that_ends_before_it():
    engine = make(has_real_clock=True, buckets=1)
    commit_specs(engine, load(1000), *(changes(index, 1000, updates=10) for index in (1, 2)))
    ticket = engine.schedule(log_compaction(2), MINUTE_MS, 3 * MINUTE_MS)
    begin(engine, changes(3, 1000, updates=10))
    commit_specs(engine, changes(3, 1000, updates=10))
    begin(engine, changes(4, 1000, updates=10))
    assert engine.complete(ticket, 3 * MINUTE_MS).status == "ok"
    with pytest.raises(CommitConflictError, match="Cannot resolve conflicts"):
        commit_specs(engine, changes(4, 1000, updates=10))


@pytest.mark.parametrize("upsert_mode", UPSERT_MODES)
def test_new_rows_that_go_into_a_small_file_make_a_commit_lose(upsert_mode):
    engine = make(has_real_clock=True, index="simple", upsert_mode=upsert_mode)
    commit_specs(engine, load(1000))
    begin(engine, changes(1, 1000, inserts=100))
    ticket = engine.schedule(CLUSTERING, MINUTE_MS, 3 * MINUTE_MS)
    with pytest.raises(CommitConflictError, match="Cannot resolve conflicts"):
        commit_specs(engine, changes(1, 1000, inserts=100))
    begin(engine, changes(1, 1000, inserts=100))  # packed into no file that is being clustered
    commit_specs(engine, changes(1, 1000, inserts=100))
    assert engine.complete(ticket, 3 * MINUTE_MS).status == "ok"


def test_no_commit_loses_to_a_compaction():
    engine = make(has_real_clock=True, buckets=1)
    commit_specs(engine, load(1000), changes(1, 1000, updates=10))
    begin(engine, changes(2, 1000, updates=10))
    ticket = engine.schedule(compaction(), MINUTE_MS, 3 * MINUTE_MS)
    assert engine.complete(ticket, 2 * MINUTE_MS).status == "ok"
    commit_specs(engine, changes(2, 1000, updates=10))


def test_with_prefer_writer_a_clustering_loses():
    name = "org.apache.hudi.client.transaction.PreferWriterConflictResolutionStrategy"
    engine = make(has_real_clock=True, index="simple", properties={CONFLICT_RESOLUTION: name})
    commit_specs(engine, load(1000), changes(1, 1000, updates=10))
    ticket = engine.schedule(CLUSTERING, MINUTE_MS, 3 * MINUTE_MS)
    begin(engine, changes(2, 1000, updates=300))
    commit_specs(engine, changes(2, 1000, updates=300))
    assert engine.complete(ticket, 3 * MINUTE_MS).status == "conflict"


def test_planners_see_all_commits_since_the_last_compaction():
    engine = make(buckets=1)
    commit_specs(engine, load(10))
    assert execute(engine, compaction(), 0).status == "noop"
    commit_specs(engine, *(changes(index, 10, updates=1) for index in range(1, 1101)))
    assert len(engine.state(0).timeline) == 1101
    assert execute(engine, compaction(), 1101 * MINUTE_MS).status == "ok"
    commit_specs(engine, *(changes(index, 10, updates=1) for index in range(1102, 1112)))
    assert len(engine.state(0).timeline) < 1101
    assert NumCommits(10).due(engine.state(1112 * MINUTE_MS), RuleMemory())


def test_cleaning_keeps_what_the_retained_commits_read():
    engine = make(buckets=1)
    commit_specs(engine, load(1000), changes(1, 1000, updates=100))
    stored = execute(engine, compaction(), MINUTE_MS).observed.table.storage_bytes
    # The state before the compaction is that of the second commit, which retaining two keeps.
    retaining = [plan(Native(Command.CLEAN, {"retain_commits": count})) for count in "12"]
    assert execute(engine, retaining[1], MINUTE_MS).status == "noop"
    observed = execute(engine, retaining[0], MINUTE_MS).observed
    assert observed.table.storage_bytes < stored
    assert data_bytes(observed) == engine.state(0).size_bytes


def test_archiving_shrinks_the_timeline():
    engine = make(buckets=1)
    commit_specs(engine, load(100), *(changes(index, 100, updates=5) for index in range(1, 8)))
    archive = plan(Native(Command.ARCHIVE, {"min_commits": "2", "max_commits": "4"}))
    before = engine.query(Probe("full", "SELECT 1 FROM orders")).work.metadata_files_count
    stored = execute(engine, archive, MINUTE_MS).observed.table.metadata_storage_bytes
    # The last five delta commits decide on the next compaction.
    assert (before, len(engine.state(0).timeline)) == (8, 5)
    assert stored < 5_000 + 8 * (600 + 2 * 70)
    assert execute(engine, compaction(), MINUTE_MS).status == "ok"
    execute(engine, archive, MINUTE_MS)
    assert [instant.action for instant in engine.state(0).timeline] == [Action.DELTA_COMMIT, Action.COMMIT]


def test_the_read_optimized_view_opens_base_files_alone():
    engine = make(buckets=2)
    commit_specs(engine, load(1000), changes(1, 1000, updates=100))
    optimized = engine.query(Probe("o", "SELECT count(*) FROM orders_ro")).work
    assert (optimized.files_count, optimized.delete_files_count) == (2, 0)
    assert optimized.opened_bytes == sum(file.size_bytes for file in bases(engine))
    for sql in (
        "count(*) FROM orders",
        "'orders_ro' FROM orders -- orders_ro",
    ):
        work = engine.query(Probe("s", f"SELECT {sql}")).work
        assert (work.files_count, work.delete_files_count) == (2, 2)


class AnyHistory(RuleBasedStateMachine):
    """Changes and table services in any order keep rows and sums, and each version explains the state."""

    @initialize(
        by=st.sampled_from(["none", "bucket", "day"]),
        index=st.sampled_from(["bucket", "simple"]),
        mode=st.sampled_from(list(UPSERT_MODES)),
    )
    def create(self, by, index, mode):
        self.index, self.mode = index, mode
        partitioning = Partitioning(by, 2)
        table = {"partitioning": partitioning, "upsert_mode": mode, "index": index}
        self.engine = make(target_file_size_bytes=64 * KIB, **table)
        workload = Upsert(300, 2, 2_000, 3, key_skew="recent-first", delete_share=0.2, repeat_share=0.1)
        self.stream = workload.shape(7, 200, MINUTE_MS, partitioning)
        self.specs, self.at_ms, self.seen, self.tickets = [], 0, None, []
        self.commit()

    def did(self, outcome, frees=False):
        observed, change = outcome.observed, outcome.change
        if self.seen is not None:
            before = self.seen
            check_grown(before, observed, change)
            assert frees or observed.table.storage_bytes >= before.table.storage_bytes + change.added_bytes
        assert data_bytes(observed) >= observed.table.live_bytes
        self.seen = observed

    @rule()
    def commit(self):
        spec = next(self.stream)
        self.specs.append(spec)
        self.at_ms = spec.at_ms
        self.did(self.engine.commit(Batch(spec, (), spec.expected_bytes), spec.at_ms))

    def act(self, action, frees=False):
        live, tolerance = self.engine.model.live_rows, len(bases(self.engine)) + len(logs(self.engine))
        outcome = execute(self.engine, action, self.at_ms)
        assert outcome.status in ("ok", "noop")
        self.did(outcome, frees)
        assert abs(self.engine.model.live_rows - live) <= tolerance

    @rule(strategy=st.sampled_from(["UnBounded", "LogFileNumBased", "LogFileSizeBased", "BoundedIO"]))
    def compact(self, strategy):
        self.act(compaction(strategy))

    @rule(threshold=st.integers(1, 4))
    def log_compact(self, threshold):
        self.act(log_compaction(threshold))

    @rule()
    def cluster(self):
        if self.index == "simple":
            self.act(CLUSTERING)

    @rule(service=st.sampled_from([compaction(), log_compaction(2), CLUSTERING]))
    def schedule(self, service):
        if service is not CLUSTERING or self.index == "simple":
            self.tickets.append(self.engine.schedule(service, self.at_ms, self.at_ms))

    @rule()
    def complete(self):
        if self.tickets:
            self.did(self.engine.complete(self.tickets.pop(0), self.at_ms))

    @rule(retain=st.integers(1, 5))
    def clean(self, retain):
        self.act(plan(Native(Command.CLEAN, {"retain_commits": str(retain)})), frees=True)

    @rule(least=st.integers(1, 5))
    def archive(self, least):
        arguments = {"min_commits": str(least), "max_commits": str(least + 2)}
        self.act(plan(Native(Command.ARCHIVE, arguments)), frees=True)

    @invariant()
    def rows_add_up_and_log_files_belong_to_groups_with_a_base_file(self):
        if self.seen is not None:
            live_rows = self.engine.model.live_rows
            tolerance = len(bases(self.engine)) + len(logs(self.engine)) + 1
            assert abs(live_rows - expected_live_rows(self.specs)) <= tolerance
            assert self.engine.model.content_bytes == ORDERS.expected_bytes(live_rows)
            assert {log.group for log in logs(self.engine)} <= {base.group for base in bases(self.engine)}
            assert self.mode != COPY_ON_WRITE or not logs(self.engine)

    @invariant()
    def queries_merge_the_base_files_that_have_log_files(self):
        if self.seen is not None:
            merging = {log.group for log in logs(self.engine)}
            work = self.engine.query(Probe("s", "SELECT count(*) FROM orders")).work
            assert work.merged_bytes == sum(b.size_bytes for b in bases(self.engine) if b.group in merging)


# The metadata table


def test_every_step_writes_to_the_metadata_table_or_reads_it():
    cost = {"driver": {"s": 1.0, "s_with_metadata_table": 8.0}}
    costs = coefficients(**{operation.value: cost for operation in HudiCoefficients.needed})
    for enabled, cpu_s in (("false", 1.0), ("true", 9.0)):
        engine = make(costs, index="simple", properties={METADATA_TABLE: enabled})
        steps = [
            commit_specs(engine, load(100)),
            commit_specs(engine, changes(1, 100, updates=10)),
            execute(engine, compaction(), 2 * MINUTE_MS),
            execute(engine, plan(Native(Command.CLUSTERING)), 3 * MINUTE_MS),
            execute(engine, plan(Native(Command.CLEAN, {"retain_commits": "1"})), 4 * MINUTE_MS),
            engine.query(FULL_SCAN),
            engine.sibling("copy").query(FULL_SCAN),
        ]
        assert [step.cost.cpu_s for step in steps] == [cpu_s] * len(steps)


AnyHistory.TestCase.settings = settings(max_examples=20, stateful_step_count=25, deadline=None)
TestAnyHistory = AnyHistory.TestCase
