"""Hudi on Spark: upserts, table services and their effects; whatever is done to a table, no row is lost."""

import json
from collections import Counter
from datetime import UTC, date, datetime
from operator import itemgetter
from typing import ClassVar

import pytest
from change_batches import Change, ModelTable, commit, drawn_changes, keyed_rows, upserts
from engine_streams import batches, commit_all, execute
from hudi_simulations import make as make_model
from hudi_view import live_files, named, table_schema
from hypothesis import Phase, assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from upsert_commits import changes, commit_specs

from bench.engines.contract import Probe
from bench.engines.existing import TableAddress
from bench.engines.hudi import services
from bench.engines.hudi.existing_table import import_history, open_existing
from bench.engines.hudi.packing import AUTO_SPLIT, SMALL_FILE_LIMIT, SPLIT_ROWS
from bench.engines.hudi.services import Services, shifted_days
from bench.engines.hudi.table_keys import COPY_ON_WRITE, MERGE_ON_READ
from bench.engines.hudi.timeline_files import TimelineFiles
from strategies.hudi.commands import Command
from strategies.hudi.compaction_plan import INCREMENTAL, TARGET_PARTITIONS
from strategies.hudi.dates import day_of
from strategies.hudi.files import Action
from strategies.hudi.planners import Archive, Clean, Clustering, Compaction, LogCompaction
from strategies.hudi.preview import planned_compaction, preview_action
from strategies.state import MIB
from workloads.history import History
from workloads.history_file import write_history
from workloads.partitioning import Partitioning

pytestmark = pytest.mark.spark

CITIES = ("Oslo", "Rome", "Turin")
ALL = Compaction("UnBounded", {INCREMENTAL: False})
BY_LOGS = Compaction("LogFileNumBased")
MERGE_LOGS = LogCompaction({"hoodie.log.compaction.blocks.threshold": 2})
INLINE_EVERY_2 = {"hoodie.compact.inline": "true", "hoodie.compact.inline.max.delta.commits": "2"}
MINUTE_MS = 60_000


def rows_of(engine, view="orders"):
    """The rows that a reader of the table or of its read-optimised view gets."""
    engine._forget()
    table = engine._name.removesuffix("orders") + view
    return keyed_rows(engine._spark.sql(f"SELECT order_id, user_city, user_id FROM {table}"))


def decided(engine, planner, at_ms):
    return planner.decide(engine.state(at_ms))


def run(engine, planner, at_ms):
    return execute(engine, decided(engine, planner, at_ms), at_ms)


def sizes_and_rows(state):
    """Of data files and of delete files."""
    kinds = (state.data_files, state.delete_files)
    return [sorted((file.size_bytes, file.rows) for file in files) for files in kinds]


def merged_bytes(state, planner):
    """Of base files and of log files in each group that the planner merges, with the number of log files."""
    (action,) = planner.decide(state).actions
    groups = preview_action(action, state).groups
    return sorted((sum(f.size_bytes for f in g.files), g.delete_files_count, g.delete_bytes) for g in groups)


# Commits


def test_a_commit_is_one_instant_of_new_log_files(hudi, model):
    engine = hudi(index_buckets=2)
    first = commit(engine, model, *upserts(1, 9))
    assert (first.change.files_added_count, first.change.delete_files_added_count) == (2, 0)
    second = commit(engine, model, (1, "Rome"), (2, None), (9, "Rome"), (9, "Oslo"), (10, "Rome"), (10, None))
    assert [(made.operation, made.tag.step) for made in second.versions] == [("deltacommit", "commit-2")]
    assert 1 <= second.change.delete_files_added_count <= 2
    assert sum(log.rows for log in engine.state(0).delete_files) == 4  # the last change of 1, 2, 9 and 10
    assert rows_of(engine) == model.rows


def test_a_copy_on_write_table_has_no_log_files(hudi, model):
    engine = hudi(upsert_mode=COPY_ON_WRITE)
    commit(engine, model, *upserts(1, 9))
    out = commit(engine, model, (1, "Rome"), (2, None))
    assert [version.operation for version in out.versions] == ["commit"]
    assert (out.change.files_added_count, out.change.files_removed_count) == (1, 1)
    assert out.change.replaced_bytes > 0
    assert engine.state(0).size_bytes == out.observed.table.live_bytes == out.change.added_bytes
    assert rows_of(engine) == rows_of(engine, "orders_ro") == model.rows


def test_the_index_of_files_in_the_metadata_folder_is_no_part_of_the_table(hudi, model):
    """Hudi's own default is such an index, a table with partitions and log files."""
    engine = hudi(properties={"hoodie.metadata.enable": "true"})
    commit(engine, model, *upserts(1, 9))
    commit(engine, model, (1, "Rome"))
    state = engine.state(2 * MINUTE_MS)
    assert any("/metadata/" in path for path in engine._table_folder.list().sizes)
    assert {file.partition for file in (*state.data_files, *state.delete_files)} == {""}
    check_reading(engine, state)


def test_rows_have_the_schema_that_hudi_finds(hudi, model):
    engine = hudi(partitioning=Partitioning("bucket", 2))
    commit(engine, model, *upserts(1, 9))
    by_hudi = table_schema(engine._spark, engine._location)
    assert json.loads(engine._state_reader.schema) == json.loads(by_hudi)


def test_a_state_is_what_the_instants_made_of_the_table(hudi, log):
    partitioning = Partitioning("bucket", 2)
    engine = hudi(partitioning=partitioning)
    outcomes = [engine.commit(batch, batch.spec.at_ms) for batch in batches(log, partitioning)[:3]]
    state = engine.state(120_000)
    assert state.size_bytes == sum(outcome.change.added_bytes for outcome in outcomes)
    assert sum(file.rows for file in (*state.data_files, *state.delete_files)) == 60 + 40 + 40
    assert [instant.completed_at_ms for instant in state.timeline] == [0, MINUTE_MS, 2 * MINUTE_MS]
    assert state.partitions.keys() == {"0", "1"}
    metadata_bytes = sum(outcome.change.metadata_bytes for outcome in outcomes)
    assert 0 < metadata_bytes <= outcomes[-1].observed.table.metadata_storage_bytes < metadata_bytes + 5_000


def test_its_history_is_imported_from_its_timeline(hudi, model, tmp_path):
    """And a simulation replays what the stream alone did to its files, and plans the compaction that ran."""
    engine = hudi(index_buckets=2)
    commit(engine, model, *upserts(1, 30))
    commit(engine, model, (1, "Rome"), (2, None))
    commit(engine, model, *upserts(25, 40))
    alone = sizes_and_rows(engine.state(0))
    planned = merged_bytes(engine.state(3 * MINUTE_MS), ALL)
    assert planned
    assert run(engine, ALL, 3 * MINUTE_MS).status == "ok"
    history = import_history(TableAddress(engine._location), None)
    assert [c.is_compaction for c in history.commits] == [False, False, False, True]
    live = history.live_after().values()
    kinds = [[file for file in live if file.is_data is is_data] for is_data in (True, False)]
    assert [sorted((f.size_bytes, f.rows) for f in files) for files in kinds] == sizes_and_rows(
        engine.state(0)
    )
    write_history(history, tmp_path / "history.parquet")
    stream = History(str(tmp_path / "history.parquet"))
    replayed = make_model(schema=stream.schema, index="simple", partitioning=stream.partitioning)
    commit_specs(replayed, *stream.shape(7, 3, MINUTE_MS, stream.partitioning))
    assert replayed.model.live_rows == len(model.rows)
    assert sizes_and_rows(replayed.state(0)) == alone
    assert merged_bytes(replayed.state(3 * MINUTE_MS), ALL) == planned


# Table services


def test_log_files_that_come_while_a_plan_is_pending_are_not_in_it(hudi, model):
    engine = hudi()
    commit(engine, model, *upserts(1, 9))
    commit(engine, model, (1, "Rome"), (2, None))
    ticket = engine.schedule(decided(engine, ALL, 2 * MINUTE_MS), 2 * MINUTE_MS, 4 * MINUTE_MS)
    commit(engine, model, (3, "Rome"))
    state = engine.state(3 * MINUTE_MS)
    (group,) = state.pending_groups[Command.COMPACTION]
    assert [instant.action for instant in state.timeline if instant.is_pending] == [Action.COMMIT]
    assert len(state.file_slices[group].logs) == 2
    assert rows_of(engine) == model.rows
    assert run(engine, ALL, 3 * MINUTE_MS).status == "noop"  # nothing else is planned for the group
    outcome = engine.complete(ticket, 4 * MINUTE_MS)
    assert (outcome.status, outcome.error) == ("ok", None)
    assert outcome.versions[0].tag.role == "compactor"
    assert outcome.change.delete_files_removed_count == 1
    assert outcome.change.replaced_bytes == ticket.preview.actions[0].replaced_bytes
    state = engine.state(4 * MINUTE_MS)
    assert (len(state.delete_files), state.pending_groups) == (1, {})
    done = next(instant for instant in state.timeline if instant.action is Action.COMMIT)
    assert (done.requested_at_ms, done.completed_at_ms) == (2 * MINUTE_MS, 4 * MINUTE_MS)
    assert rows_of(engine) == model.rows


def test_the_read_optimised_view_waits_for_the_compaction(hudi, model):
    engine = hudi()
    commit(engine, model, *upserts(1, 9))
    before = dict(model.rows)
    commit(engine, model, (1, "Rome"), (2, None))
    assert (rows_of(engine), rows_of(engine, "orders_ro")) == (model.rows, before)
    state = engine.state(0)
    base_bytes = sum(file.size_bytes for file in state.data_files)
    for view, logs_count, opened_bytes in (("orders", 1, state.size_bytes), ("orders_ro", 0, base_bytes)):
        work = engine.query(Probe("count", f"SELECT count(*) FROM {view}")).work
        assert (work.files_count, work.delete_files_count) == (1, logs_count)
        assert work.opened_bytes == opened_bytes
    assert run(engine, ALL, 2 * MINUTE_MS).status == "ok"
    assert rows_of(engine, "orders_ro") == model.rows


def test_the_plan_that_hudi_writes_is_the_one_expected(hudi, log):
    partitioning = Partitioning("bucket", 4)
    engine = hudi(partitioning=partitioning)
    commit_all(engine, batches(log, partitioning)[:4])
    sizes = sorted(log.size_bytes for log in engine.state(0).delete_files)
    options = {"hoodie.compaction.logfile.size.threshold": sum(sizes) // 4, INCREMENTAL: False}
    chosen = decided(engine, Compaction("LogFileSizeBased", options), 180_000)
    expected = planned_compaction(chosen.actions[0], engine.state(180_000))
    ticket = engine.schedule(chosen, 180_000, 180_000)
    engine._observe(180_000)
    files = TimelineFiles(engine._table_folder)
    listed = files.instants(engine._table_folder.list())
    (instant,) = [instant.requested for instant in listed if not instant.completed]
    operations = files.plan(instant, Command.COMPACTION)["operations"]
    slices = [operation.slice for operation in expected.operations]
    assert 0 < len(operations) < 4
    assert [(o["partitionPath"], o["fileId"]) for o in operations] == [tuple(s.group) for s in slices]
    metrics = [operation["metrics"] for operation in operations]
    assert sum(figures["TOTAL_IO_MB"] for figures in metrics) == sum(o.io_mib for o in expected.operations)
    assert sum(figures["TOTAL_LOG_FILES_SIZE"] for figures in metrics) == sum(s.log_bytes for s in slices)
    assert engine.complete(ticket, 180_000).status == "ok"


def test_today_is_that_of_the_scenario(hudi, log):
    partitioning = Partitioning("day")
    engine = hudi(partitioning=partitioning, stream_epoch_ms=1_767_225_600_000)  # 2026-01-01
    commit_all(engine, batches(log, partitioning)[:4])
    days = sorted(engine.state(0).partitions)
    today = engine.state(180_000).calendar_day
    assert days[-1] == f"{today:%Y/%m/%d}"
    by_day = Compaction("BoundedPartitionAware", {TARGET_PARTITIONS: 0, INCREMENTAL: False})
    assert run(engine, by_day, 180_000).status == "ok"
    left = {log.partition for log in engine.state(0).delete_files}
    assert days[-1] not in left
    assert left == {day for day in days[:-1] if day_of(day) < day_of(days[-1])} & left


def test_hudis_own_client_for_spark_cannot_plan_by_bounded_partition_aware(hudi, log, monkeypatch):
    """Once it can, plans need no longer be made by the driver."""
    engine = hudi(partitioning=Partitioning("day"), stream_epoch_ms=1_767_225_600_000)
    commit_all(engine, batches(log, Partitioning("day"))[:2])
    monkeypatch.setattr(services, "is_planned_by_the_driver", lambda action: False)
    outcome = run(engine, Compaction("BoundedPartitionAware"), MINUTE_MS)
    assert outcome.status == "failed"
    assert "Task not serializable" in outcome.error


def test_days_are_counted_from_the_day_of_the_scenario():
    options = {TARGET_PARTITIONS: "3"}
    assert shifted_days(options, "2026-01-01", date(2026, 1, 11)) == {TARGET_PARTITIONS: "13"}
    assert shifted_days({}, "2026-01-01", date(2026, 1, 1)) == {TARGET_PARTITIONS: "10"}
    assert shifted_days(options, None, datetime.now(UTC).date()) == {}


def test_a_compaction_in_a_commit_is_booked_as_such(hudi, model):
    engine = hudi(properties=INLINE_EVERY_2)
    assert not commit(engine, model, *upserts(1, 9)).compactions
    outcome = commit(engine, model, (1, "Rome"))
    ((inline,), (version,)) = outcome.compactions, outcome.compactions[0].versions
    assert [made.operation for made in (*outcome.versions, version)] == ["deltacommit", "commit"]
    assert version.change.files_removed_count == 1
    assert min(inline.cost.wall_s, outcome.cost.wall_s) > 0
    assert rows_of(engine) == rows_of(engine, "orders_ro") == model.rows


def test_a_log_compaction_adds_a_log_file_and_replaces_none(hudi, model):
    engine = hudi()
    commit(engine, model, *upserts(1, 9))
    commit(engine, model, (1, "Rome"), (2, None))
    commit(engine, model, (1, "Oslo"), (3, "Rome"))
    outcome = run(engine, MERGE_LOGS, 3 * MINUTE_MS)
    assert (outcome.status, outcome.error) == ("ok", None)
    change = outcome.change
    assert (change.delete_files_added_count, change.delete_files_removed_count) == (1, 0)
    assert [instant.is_log_compaction for instant in engine.state(0).timeline] == [False, False, False, True]
    assert rows_of(engine) == model.rows
    assert run(engine, ALL, 3 * MINUTE_MS).change.delete_files_removed_count == 3
    assert rows_of(engine, "orders_ro") == model.rows


def test_a_compaction_takes_groups_with_a_pending_log_compaction_which_hudi_then_refuses(hudi, model):
    """As in the simulation."""
    engine = hudi()
    commit(engine, model, *upserts(1, 9))
    for number in (1, 2):
        commit(engine, model, (number, "Rome"))
    pending = engine.schedule(decided(engine, MERGE_LOGS, 3 * MINUTE_MS), 3 * MINUTE_MS, 5 * MINUTE_MS)
    engine._observe(3 * MINUTE_MS)
    assert set(engine.state(0).pending_groups) == {Command.LOG_COMPACTION}
    assert run(engine, ALL, 4 * MINUTE_MS).change.delete_files_removed_count == 2
    outcome = engine.complete(pending, 5 * MINUTE_MS)
    assert outcome.status == "failed"
    assert "Cannot log compact since a compaction instant with greater timestamp exists" in outcome.error
    assert [instant.is_pending for instant in engine.state(0).timeline] == [False, False, False, True, False]
    assert rows_of(engine) == rows_of(engine, "orders_ro") == model.rows


def test_a_clustering_merges_small_files_into_new_groups(hudi, model):
    engine = hudi(index="simple", partitioning=Partitioning("city"))
    for first, city in zip((1, 5, 9), CITIES, strict=True):
        commit(engine, model, *upserts(first, first + 4, city))
    commit(engine, model, (1, "Oslo"))
    groups = set(engine.state(0).file_slices)
    outcome = run(engine, Clustering(), 4 * MINUTE_MS)
    assert (outcome.status, outcome.error) == ("ok", None)
    assert [version.operation for version in outcome.versions] == ["replacecommit"]
    assert outcome.change.files_removed_count == outcome.change.files_added_count == 3
    assert outcome.change.delete_files_removed_count == 1
    assert not groups & set(engine.state(0).file_slices)
    assert rows_of(engine) == model.rows


def test_without_small_files_new_rows_go_to_new_groups_as_in_the_simulation(hudi, model):
    properties = {
        SMALL_FILE_LIMIT: "0", AUTO_SPLIT: "false", SPLIT_ROWS: "50",
        "hoodie.parquet.compression.codec": "zstd",
    }  # fmt: skip
    engine = hudi(index="simple", properties=properties)
    for first in (1, 401):
        commit(engine, model, *upserts(first, first + 400))
    rows = [file.rows for file in engine.state(0).data_files]
    assert (len(rows), sum(rows)) == (16, 800)
    assert max(rows) < 80  # dealt out by the hash of their keys
    simulated = make_model(index="simple", properties=properties)
    commit_specs(simulated, changes(0, 0, inserts=400), changes(1, 400, inserts=400))
    assert [file.rows for file in simulated.state(0).data_files] == [50] * 16


def test_a_table_of_version_6_is_read_as_by_hudi_itself(hudi, model):
    """`compactbench plan` reads such tables; engines make none, so this one sees no versions of its own."""
    engine = hudi(properties={"hoodie.write.table.version": "6"})
    spark, location = engine._spark, engine._location
    services = Services(spark, location, lambda: table_schema(spark, location), engine._options)
    for _ in range(3):
        commit(engine, model, *upserts(1, 6))
    merge_all = decided(engine, ALL, 0).actions[0]
    for is_executed in (True, False):
        instant = services.schedule(merge_all, 8 * MIB)
        if is_executed:
            services.execute(merge_all, instant, 8 * MIB)
        commit(engine, model, *upserts(4, 9))
    table = open_existing(TableAddress(location))
    assert table.properties["hoodie.table.version"] == "6"
    bases, logs = table.state.data_files, table.state.delete_files
    assert named((*bases, *logs)) == live_files(spark, location)
    assert (len(bases), len(logs)) == (1, 2)  # one log before the pending compaction, and one after it
    pending = table.state.pending_groups[Command.COMPACTION]
    assert {group.file_id for group in pending} == {base.file_id for base in bases}
    assert [instant.is_pending for instant in table.state.timeline].count(True) == 1
    assert all(file.has_rows_count for file in (*bases, *logs))


def test_cleaning_and_archiving_write_metadata_alone(hudi, model):
    engine = hudi()
    for number in range(1, 5):
        commit(engine, model, *upserts(1, 5 + number))
        if number % 2 == 0:
            assert run(engine, ALL, number * MINUTE_MS).status == "ok"
    live = {file.path for file in engine.state(0).data_files}
    before = engine._observe(0)[0].table.storage_bytes
    whole = import_history(TableAddress(engine._location), None)
    cleaned = run(engine, Clean(1), 5 * MINUTE_MS)
    assert (cleaned.status, cleaned.versions[0].id) == ("ok", None)
    assert cleaned.observed.table.storage_bytes < before
    archived = run(engine, Archive(2, 3), 5 * MINUTE_MS)
    assert [version.operation for version in archived.versions] == ["archive"]
    assert len(engine.state(0).timeline) < 6
    assert {file.path for file in engine.state(0).data_files} == live
    assert rows_of(engine) == model.rows
    assert import_history(TableAddress(engine._location), None) == whole
    commit(engine, model, (1, "Rome"))
    check_reading(engine, engine.state(0))


def described(file):
    return file.path, file.size_bytes, file.rows, file.has_rows_count, file.group


def outline(instant):
    """All of an instant but its times, which are the scenario's in an engine."""
    return (
        instant.action, instant.is_pending, instant.partitions, instant.missing_partitions,
        instant.is_log_compaction,
    )  # fmt: skip


def check_reading(engine, state):
    """Hudi's own classes find the same live files, and `compactbench plan` the same table."""
    assert named((*state.data_files, *state.delete_files)) == live_files(engine._spark, engine._location)
    read = open_existing(TableAddress(engine._location)).state
    assert sorted(map(described, read.data_files)) == sorted(map(described, state.data_files))
    assert sorted(map(described, read.delete_files)) == sorted(map(described, state.delete_files))
    assert read.pending_groups == state.pending_groups
    assert [outline(instant) for instant in read.timeline] == [outline(instant) for instant in state.timeline]


def written_by(engine, view):
    """Each row that a reader of a view gets, after the name of the file that it is in."""
    table = engine._name.removesuffix("orders") + view
    frame = engine._spark.sql(f"SELECT _hoodie_file_name, order_id, user_city, user_id FROM {table}")
    return [tuple(row) for row in frame.collect()]


class HudiSteps(RuleBasedStateMachine):
    """Random commits, schedules, completions, services and cleaning: both views are right after each.

    A base file has the table's rows of its file group as of its instant, which is that of the commit, or of
    the request of the service, that wrote it. The read-optimised view has exactly these.
    """

    steps: ClassVar[Counter] = Counter()

    @initialize(
        mode=st.sampled_from([MERGE_ON_READ, MERGE_ON_READ, COPY_ON_WRITE]),
        index=st.sampled_from(["bucket", "simple"]),
        by=st.sampled_from(["none", "bucket"]),
        seed=st.integers(0, 2**32),
    )
    def create(self, mode, index, by, seed):
        assume(seed)  # Hypothesis draws the simplest sequence first, which is nothing but commits
        folder = type(self).scratch / str(type(self).steps.total())
        self.model, self.mode, self.index = ModelTable(folder), mode, index
        self.engine = type(self).make(upsert_mode=mode, index=index, partitioning=Partitioning(by, 2))
        self.at_ms, self.tickets = 0, []
        self.contents = []  # the instant of each commit, and the table's rows after it
        self.commit(upserts(1, 12))
        self.commit(upserts(3, 6, "Rome"))  # so that there is something to compact

    def did(self, what):
        type(self).steps[what] += 1

    @rule(changes=drawn_changes(CITIES))
    def commit(self, changes):
        batch = self.model.commit([Change(*change) for change in changes])
        self.at_ms = batch.spec.at_ms
        made = self.engine.commit(batch, self.at_ms)
        self.contents.append((made.versions[-1].id, dict(self.model.rows)))
        self.did("commit")

    @rule(planner=st.sampled_from([MERGE_LOGS, BY_LOGS, Clustering(), Clean(2)]))
    def serve(self, planner):
        if isinstance(planner, Clustering) and self.index == "bucket":
            return
        if isinstance(planner, Compaction | LogCompaction) and self.mode == COPY_ON_WRITE:
            return
        done = run(self.engine, planner, self.at_ms)
        self.did(f"{type(planner).__name__} {done.status}")
        assert done.status in ("ok", "noop"), done.error

    @rule(planner=st.sampled_from([ALL, MERGE_LOGS]), completes=st.booleans())
    def schedule_or_complete(self, planner, completes):
        if self.mode == COPY_ON_WRITE:
            return
        if self.tickets and completes:
            self.complete(self.tickets.pop(0))
        else:
            planned = decided(self.engine, planner, self.at_ms)
            self.tickets.append(self.engine.schedule(planned, self.at_ms, self.at_ms))
            self.engine._observe(self.at_ms)  # as the next commit would
            self.did(f"{type(planner).__name__} scheduled")

    def complete(self, ticket):
        done = self.engine.complete(ticket, self.at_ms)
        self.did(f"completed {done.status}")
        assert done.status in ("ok", "noop") or "Cannot log compact since a compaction" in done.error

    @invariant()
    def content_is_right(self):
        if not hasattr(self, "engine"):
            return
        assert rows_of(self.engine) == self.model.rows
        state = self.engine.state(self.at_ms)
        self.check_optimised(state)
        sizes = self.engine._table_folder.list().sizes
        assert all(sizes[file.path] == file.size_bytes for file in (*state.data_files, *state.delete_files))
        check_reading(self.engine, state)

    def check_optimised(self, state):
        """The rows of each base file, by what its name says; none that all base files have is missing."""
        optimised = rows_of(self.engine, "orders_ro")
        if not state.delete_files:
            assert optimised == self.model.rows
        names = [file.path.rpartition("/")[2] for file in state.data_files]
        as_of = {name: self.as_of(name) for name in names}
        for file, key, *row in written_by(self.engine, "orders_ro"):
            assert as_of[file].get(key) == tuple(row), (file, key)
        if all(file_slice.base for file_slice in state.file_slices.values()):
            stable = set.intersection(*(set(rows.items()) for rows in as_of.values()))
            assert stable <= set(optimised.items())

    def as_of(self, name):
        """The table's rows at the instant in the name of a base file."""
        instant = name.removesuffix(".parquet").rpartition("_")[2]
        return max((entry for entry in self.contents if entry[0] <= instant), key=itemgetter(0))[1]

    def teardown(self):
        if hasattr(self, "engine"):
            for ticket in self.tickets:
                self.complete(ticket)
            self.content_is_right()
            self.engine.drop()


def test_no_sequence_of_steps_loses_a_row(hudi, tmp_path, capsys):
    """A 20th of the profile's examples, four at least, of 12 steps each: a step takes about a second."""
    HudiSteps.make, HudiSteps.scratch = staticmethod(hudi), tmp_path
    examples = max(4, settings().max_examples // 20)
    run_state_machine_as_test(
        HudiSteps,
        settings=settings(
            max_examples=examples, stateful_step_count=12, deadline=None, derandomize=True, database=None,
            phases=[Phase.generate],
        ),
    )  # fmt: skip
    with capsys.disabled():
        print(f"\n{dict(HudiSteps.steps)}")
    needed = {"commit", "Compaction scheduled", "LogCompaction scheduled", "completed ok"}
    assert needed <= HudiSteps.steps.keys()
