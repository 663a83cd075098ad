from dataclasses import replace

import pytest
from coefficients import METADATA, coefficients
from engine_streams import FULL_SCAN, batches, commit_all, execute, files, plan, rewrite, snapshots
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from observed_changes import check_grown, data_bytes
from refused import refused
from simulated_tables import make

from bench.engines.contract import Batch, Probe
from bench.engines.iceberg.model.files import ROW_GROUP_BYTES
from bench.results.values import NO_COST, Cost
from strategies.iceberg.commands import Command
from strategies.plan import Compact, Native, Plan, Reason
from strategies.state import MIB
from workloads.append import Append
from workloads.commit import CommitSpec, PartitionShape
from workloads.partitioning import Partitioning
from workloads.schema import ORDERS, SCHEMAS

EXPIRE, MANIFESTS = Command.EXPIRE_SNAPSHOTS, Command.REWRITE_MANIFESTS


def batch(index, rows, count, first_row=0, partition=""):
    """A commit of `rows` in `count` files of one partition, at `index` minutes."""
    shape = PartitionShape(partition, rows, ORDERS.expected_bytes(rows, count))
    spec = CommitSpec(index, 60_000 * index, first_row, rows, rows, 0, 0, count, (shape,))
    return Batch(spec, (), spec.expected_bytes)


def expire(older_than_at_ms, retain_last=1):
    arguments = {"older_than_at_ms": str(older_than_at_ms), "retain_last": str(retain_last)}
    return plan(Native(EXPIRE, arguments))


def opened(engine, condition):
    """How many files a probe with this condition opens."""
    return engine.query(Probe("key", f"SELECT * FROM orders WHERE {condition}")).work.files_count


def test_a_commit_adds_the_files_rows_and_bytes_of_its_shape():
    engine = make(coefficients(data={"file_bytes": 7}))
    outcome = engine.commit(batch(1, 10, 3), 60_000)
    made = files(engine)
    assert [f.rows for f in made] == [3, 3, 4]
    assert [f.size_bytes for f in made] == [ORDERS.expected_bytes(rows) + 7 for rows in (3, 3, 4)]
    assert {f.data_sequence_number for f in made} == {1}
    change, table = outcome.change, outcome.observed.table
    assert (snapshots(outcome), change.files_added_count, change.files_removed_count) == (1, 3, 0)
    assert change.added_bytes == table.live_bytes == sum(f.size_bytes for f in made)
    # 1,100 table metadata, a list of one manifest, a manifest of three files.
    assert (change.metadata_bytes, change.metadata_files_count) == (1_100 + 510 + 53, 3)
    assert table.metadata_storage_bytes == METADATA["table_metadata_bytes"] + change.metadata_bytes
    assert data_bytes(outcome.observed) == table.live_bytes
    assert (table.rows, table.data_files_count, table.delete_files_count) == (10, 3, 0)


def test_a_commit_is_priced_by_files_and_bytes_on_the_writers_cores():
    engine = make()
    outcome = engine.commit(batch(1, 10, 3), 60_000)
    task_s = 3 * 0.5 + outcome.change.added_bytes / MIB * 4
    driver_s = 1.5 + 3 * 0.375
    assert outcome.cost == Cost(1 + 3 * 0.25 + task_s / 3, driver_s + task_s, task_s, 0)  # 3 tasks, 4 cores
    assert (outcome.prepare_s, outcome.observed.cost) == (0.0, NO_COST)


def test_a_writer_override_gives_no_partition_more_files_than_rows():
    engine = make(files_per_commit=8, partitioning=Partitioning("bucket", 3))
    shapes = (PartitionShape("a", 1, 1), PartitionShape("b", 39, 1))
    spec = replace(batch(1, 40, 4).spec, partitions=shapes)
    engine.commit(Batch(spec, (), 1), 60_000)
    counts = {name: p.files_count for name, p in engine.state(60_000).partitions.items()}
    assert counts == {"a": 1, "b": 8}  # 39 of 40 rows in 8 files of 5: none misses


def test_large_files_can_be_cut_at_each_row_group():
    engine = make(target_file_size_bytes=4 * ROW_GROUP_BYTES)
    engine.commit(batch(1, 20_000_000, 1), 60_000)
    (file,) = files(engine)
    assert file.size_bytes > 3 * ROW_GROUP_BYTES
    assert file.split_offsets == (4, ROW_GROUP_BYTES + 4, 2 * ROW_GROUP_BYTES + 4, 3 * ROW_GROUP_BYTES + 4)


def test_a_file_above_the_maximum_is_cut_by_a_compaction():
    engine = make(target_file_size_bytes=ROW_GROUP_BYTES)
    engine.commit(batch(1, 20_000_000, 1), 60_000)
    assert execute(engine, plan(Compact()), 60_000).status == "ok"
    made = files(engine)
    assert (len(made), sum(f.rows for f in made)) == (4, 20_000_000)
    assert all(f.rows > 0 for f in made)


def test_a_compaction_is_priced_by_what_it_reads_and_writes_on_its_own_cores():
    engine = make()
    commit_all(engine, [batch(1, 40, 6)])
    outcome = execute(engine, plan(Compact()), 60_000)
    change = outcome.change
    task_s = 6 * 0.5 + change.replaced_bytes / MIB * 4
    assert outcome.cost.wall_s == pytest.approx(1 + 6 * 0.25 + task_s)  # one file, so one task
    assert outcome.cost.cpu_s == pytest.approx(1.5 + 6 * 0.375 + task_s)
    assert outcome.cost.executor_cpu_s == pytest.approx(task_s)


def test_a_compaction_without_spark_compiles_no_java():
    engines = [make(), make()]
    for engine, executor in zip(engines, (None, "single-node"), strict=True):
        commit_all(engine, [batch(1, 40, 6)])
        cold = engine._jvm_cpu_s
        ticket = engine.schedule(rewrite(files(engine)), 60_000, 60_000, executor)
        assert engine.complete(ticket, 60_000).cost.cpu_s > 0
        assert (engine._jvm_cpu_s > cold) == (executor is None)


def test_maintenance_has_its_own_price():
    engine = make(coefficients(maintenance={"wall": {"s": 5.0}}))
    commit_all(engine, batches(None)[:3])
    upkeep = Plan((Native(MANIFESTS),), Reason.MAINTENANCE)
    outcome = execute(engine, upkeep, 120_000)
    assert (outcome.status, outcome.cost.wall_s) == ("ok", 5.0)
    assert outcome.change.metadata_files_count == 3
    assert execute(engine, upkeep, 120_000).status == "noop"  # one manifest is left
    assert [f.data_sequence_number for f in files(engine)] == [1] * 3 + [2] * 4 + [3] * 4


def test_expiry_leaves_live_data_and_metadata_on_storage():
    engine = make()
    commit_all(engine, batches(None))
    execute(engine, plan(Compact()), 360_000)
    before = engine.query(FULL_SCAN)
    first, second = (execute(engine, expire(at_ms), at_ms) for at_ms in (360_000, 361_000))
    assert (first.status, second.status) == ("ok", "ok")
    # Of the snapshots at 360 s the first is the last commit: its files are live in it.
    assert data_bytes(first.observed) > first.observed.table.live_bytes == data_bytes(second.observed)
    assert execute(engine, expire(361_000), 361_000).status == "noop"
    assert engine.query(FULL_SCAN) == before


def test_probes_open_the_files_that_may_hold_their_keys():
    engine = make()
    commit_all(engine, [batch(1, 30, 3), batch(2, 30, 3, first_row=30)])  # keys 1-10, 11-20, ... 51-60
    assert opened(engine, "order_id = 10") == opened(engine, "order_id=11") == 1
    assert opened(engine, "order_id BETWEEN 10 AND 11") == 2
    assert opened(engine, "order_id between 11 and 40") == 3
    assert opened(engine, "order_id BETWEEN 0 AND 100") == 6
    assert opened(engine, "order_id = 61") == opened(engine, "order_id = 0") == 0
    assert opened(engine, "other_order_id = 5") == opened(engine, "user_id = 5") == 6
    assert opened(engine, "order_id > 20") == opened(engine, "order_id > 20 AND user_id = 5") == 4


def test_probes_open_the_partitions_that_may_hold_their_rows():
    engine = make(partitioning=Partitioning("city"))
    commit_all(
        engine, [batch(1, 30, 3, partition="user_city=Oslo"), batch(2, 30, 1, partition="user_city=Rome")]
    )
    assert [opened(engine, f"user_city = '{city}'") for city in ("Oslo", "Rome", "Paris")] == [3, 1, 0]
    assert opened(engine, "user_city IN ('Oslo', 'Rome')") == 4


def test_a_merged_file_may_hold_the_keys_of_all_it_replaced():
    engine = make()
    commit_all(engine, [batch(1, 30, 3), batch(2, 30, 3, first_row=30)])
    first, second, third = files(engine)[:3]
    assert execute(engine, rewrite((first, third)), 120_000).status == "ok"
    assert second in files(engine)
    assert opened(engine, "order_id = 15") == 2  # keys 11 to 20, and the merged file's 1 to 30
    assert opened(engine, "order_id = 25") == 1


def test_a_probe_is_priced_by_files_and_bytes_on_the_readers_cores():
    engine = make(coefficients(planning={"wall": {"s": 0.5, "s_per_file": 0.125}}))
    commit_all(engine, [batch(1, 40, 4)])
    outcome = engine.query(FULL_SCAN)
    assert (outcome.work.files_count, outcome.work.opened_bytes) == (4, engine.state(0).size_bytes)
    task_s = 4 * 0.5 + outcome.work.opened_bytes / MIB * 4
    assert outcome.planning_s == 1.0
    assert outcome.execution_s == pytest.approx(1 + 4 * 0.25 + task_s / 3 - 1.0)
    assert outcome.cost.wall_s == outcome.planning_s + outcome.execution_s
    assert outcome.work.metadata_files_count == 1


def test_long_lived_sessions_query_if_they_have_costs_and_roles_take_turns():
    assert make(coefficients()).sessions == ("new",)
    costs = coefficients(long_lived_query={"driver": {"s": 0.5}, "wall": {"s": 0.25}},
                         long_lived_planning={"wall": {"s": 0.1}})  # fmt: skip
    engine = make(costs)
    assert engine.sessions == ("new", "long-lived")
    assert make(costs, has_real_clock=True).sessions == ("new",)
    engine.commit(batch(1, 10, 3), 60_000)
    usual, new = engine.query(FULL_SCAN, "long-lived"), engine.query(FULL_SCAN)
    assert (usual.cost.wall_s, usual.planning_s, usual.cost.cpu_s) == (0.25, 0.1, 0.5)
    assert usual.work == new.work
    assert new.cost.wall_s > 1


def test_queries_of_a_table_that_has_not_changed_warm_the_jvm_and_are_noted_again_in_a_new_table():
    query = {"steps": 1, "driver": {"s": 2.0}, "cold_compiler": 1.0, "ranges": {"s_per_file": [0, 1]}}
    engine = make(coefficients(query=query))
    for _ in range(2):
        engine.create()
        engine.commit(batch(1, 10, 3), 60_000)
        first, second = engine.query(FULL_SCAN), engine.query(FULL_SCAN)
        assert first.work == second.work
        assert first.cost.jit_cpu_s > second.cost.jit_cpu_s > 0
        assert engine.beyond_fit.extrapolated == {"query s_per_file": 3.0}


def test_a_rewrite_keeps_the_sequence_number_it_was_planned_at():
    engine = make()
    commit_all(engine, batches(None)[:2])
    chosen = files(engine)[:5]
    ticket = engine.schedule(rewrite(chosen), 60_000, 180_000)
    engine.commit(batches(None)[2], 120_000)
    engine.complete(ticket, 180_000)
    # The commits have 1, 2 and 3; the rewrite was planned after the second.
    merged = next(f for f in files(engine) if f.rows == sum(c.rows for c in chosen))
    assert merged.data_sequence_number == 2
    engine.commit(batches(None)[3], 240_000)
    assert max(f.data_sequence_number for f in files(engine)) == 5


def test_a_rewrite_of_files_gone_meanwhile_names_one_and_is_paid_for():
    engine = make()
    commit_all(engine, batches(None)[:3])
    chosen = files(engine)[:2]
    ticket = engine.schedule(rewrite(chosen), 120_000, 180_000)
    execute(engine, plan(Compact()), 120_000)
    outcome = engine.complete(ticket, 180_000)
    assert outcome.error == f"missing required files to delete: {chosen[0].path}"
    assert (outcome.status, snapshots(outcome)) == ("failed", 0)
    assert outcome.cost.wall_s > 0  # the files were written before the conflict showed


def test_there_are_no_rows_to_dump(tmp_path):
    with refused("unsupported"):
        make().dump(tmp_path)


def test_table_bytes_add_what_the_format_adds_to_each_file():
    costs = coefficients(data={"file_bytes": 100})
    assert costs.table_bytes(ORDERS, 80, 8) == ORDERS.expected_bytes(80, 8) + 800
    assert costs.table_bytes(ORDERS, 10) == ORDERS.expected_bytes(10) + 100


@pytest.mark.parametrize("columns", [3, 40])
def test_files_are_as_large_as_the_columns_of_the_table_make_them(columns):
    engine = make(coefficients(data={"file_bytes": 100}), schema=SCHEMAS[columns])
    engine.commit(batch(1, 20, 2), 60_000)
    assert {f.size_bytes for f in files(engine)} == {SCHEMAS[columns].expected_bytes(10) + 100}
    assert execute(engine, plan(Compact(None, {"min-input-files": "2"})), 120_000).status == "ok"
    assert [f.size_bytes for f in files(engine)] == [SCHEMAS[columns].expected_bytes(20) + 100]


class AnyHistory(RuleBasedStateMachine):
    """Commits, compactions, delayed rewrites and maintenance in any order lose nothing."""

    def __init__(self):
        super().__init__()
        self.rows, self.at_ms, self.tickets = 0, 0, []
        self.written_bytes, self.seen = 0, None

    @initialize(by=st.sampled_from(["none", "bucket"]), target_mib=st.sampled_from([1, 8]))
    def create(self, by, target_mib):
        partitioning = Partitioning(by, 3)
        self.engine = make(target_file_size_bytes=target_mib * MIB, partitioning=partitioning)
        workload = Append(rows_per_commit=50_000, files_per_commit=4)
        self.stream = iter(workload.shape(7, 200, 60_000, partitioning))

    def did(self, outcome):
        change = outcome.change
        if self.seen is not None:
            check_grown(self.seen, outcome.observed, change)
        assert min(change.metadata_bytes, change.metadata_files_count, snapshots(outcome)) >= 0
        assert (change.metadata_bytes > 0) == (change.metadata_files_count > 0)
        self.written_bytes += change.added_bytes
        self.seen = outcome.observed
        return outcome

    @rule(rows=st.sampled_from([1, 7, 900, 200_000]))
    def commit(self, rows):
        spec = next(self.stream)
        shares = [(p, max(1, rows * p.rows // spec.rows)) for p in spec.partitions]
        scaled = tuple(replace(p, rows=share) for p, share in shares)
        committed = sum(p.rows for p in scaled)
        self.at_ms += 60_000
        self.did(self.engine.commit(Batch(replace(spec, rows=committed, partitions=scaled)), self.at_ms))
        self.rows += committed

    @rule(options=st.sampled_from([{}, {"min-input-files": "2"}, {"rewrite-all": "true"}, {"x": "1"}]))
    def compact(self, options):
        status = self.did(execute(self.engine, plan(Compact(None, options)), self.at_ms)).status
        assert status in (("failed",) if "x" in options else ("ok", "noop"))

    @rule(data=st.data(), delay_ms=st.sampled_from([0, 60_000]))
    def rewrite(self, data, delay_ms):
        live = files(self.engine)
        if not live:
            return
        chosen = data.draw(
            st.lists(st.sampled_from(live), min_size=1, max_size=5, unique_by=lambda f: f.path)
        )
        groups = [[f for f in chosen if f.partition == p] for p in sorted({f.partition for f in chosen})]
        ticket = self.engine.schedule(rewrite(*groups, target_bytes=MIB), self.at_ms, self.at_ms + delay_ms)
        if delay_ms:
            self.tickets.append((ticket, {f.path for f in chosen}))
        else:
            assert self.did(self.engine.complete(ticket, self.at_ms)).status == "ok"

    @rule()
    def complete(self):
        if self.tickets:
            ticket, paths = self.tickets.pop(0)
            are_live = paths <= {f.path for f in files(self.engine)}
            outcome = self.did(self.engine.complete(ticket, self.at_ms))
            assert outcome.status == ("ok" if are_live else "failed")

    @rule(age_ms=st.sampled_from([-1000, 0, 90_000]), retain_last=st.integers(1, 3))
    def expire(self, age_ms, retain_last):
        self.did(execute(self.engine, expire(self.at_ms - age_ms, retain_last), self.at_ms))
        if age_ms < 0 and retain_last == 1:
            assert data_bytes(self.seen) == self.seen.table.live_bytes

    @rule()
    def rewrite_manifests(self):
        self.did(execute(self.engine, plan(Native(MANIFESTS)), self.at_ms))
        if self.seen.table.data_files_count:
            assert self.engine.query(FULL_SCAN).work.metadata_files_count == 1

    @invariant()
    def nothing_is_lost_and_all_sums_are_right(self):
        if self.seen is None:
            return
        state, table, live = self.engine.state(self.at_ms), self.seen.table, files(self.engine)
        assert sum(f.rows for f in live) == self.rows == table.rows
        assert sum(f.size_bytes for f in live) == state.size_bytes == table.live_bytes
        assert len({f.path for f in live}) == len(live) == table.data_files_count
        assert table.live_bytes <= data_bytes(self.seen) <= self.written_bytes
        assert table.metadata_storage_bytes >= METADATA["table_metadata_bytes"]
        assert len(state.pending) == len(self.tickets)
        assert self.engine.query(FULL_SCAN).work.files_count == len(live)


TestAnyHistory = AnyHistory.TestCase
TestAnyHistory.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
