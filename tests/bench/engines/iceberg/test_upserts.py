"""Upserts on real Iceberg tables, and whatever is done to their deletes: no row is lost, none comes back."""

import random
from collections import Counter
from dataclasses import replace
from typing import ClassVar

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from change_batches import Change, ModelTable, commit, drawn_changes, keyed_rows, upserts
from engine_streams import execute, plan, snapshots
from hypothesis import Phase, assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from iceberg_commits import add_equality_delete
from profiles import by_profile
from resurrected import resurrected

from bench.engines.contract import Batch, Tag
from bench.engines.iceberg import conversion
from bench.engines.iceberg.model.flink_writer import commit_layout
from bench.engines.iceberg.rewrite import commit_rewrite, stage_rewrite
from bench.engines.iceberg.table_keys import SINGLE_NODE
from strategies.iceberg.deletes.index import index_deletes
from strategies.iceberg.files import DeleteKind
from strategies.iceberg.procedures import ExpireSnapshots, RewriteDataFiles, RewritePositionDeleteFiles
from strategies.plan import FileGroup, Rewrite
from strategies.state import MIB
from workloads.change_log import ensure_change_log
from workloads.partitioning import Partitioning
from workloads.upsert import Upsert

pytestmark = pytest.mark.spark

CHANGES = ((1, "Rome"), (2, None), (9, "Rome"), (9, "Oslo"), (10, "Rome"), (10, None))
CITIES = ("Oslo", "Rome", "São Paulo/%")
BY_POSITION = {2: DeleteKind.POSITION, 3: DeleteKind.DELETION_VECTOR}


def converting(state, paths=None):
    """A plan that converts the deletes of data files (None: of all that have any), and drops all deletes."""
    index = index_deletes(state.delete_files)
    if paths is None:
        paths = {f.path for f in state.data_files if index.applying_to(f).files_count}
    chosen = [f for f in state.data_files if f.path in paths]
    return grouped(state, (), chosen, [d.key for d in state.delete_files])


def grouped(state, rewritten, converted, removed, sort_columns=()):
    partitions = sorted({f.partition for f in (*rewritten, *converted)})
    groups = tuple(
        FileGroup(
            tuple(f.path for f in rewritten if f.partition == p), p,
            tuple(f.path for f in converted if f.partition == p),
            sort_columns if any(f.partition == p for f in rewritten) else (),
        )
        for p in partitions
    )  # fmt: skip
    return plan(Rewrite(groups, 8 * MIB, tuple(removed)))


def rows_of(spark, engine):
    return keyed_rows(spark.sql(f"SELECT order_id, user_city, user_id FROM {engine._name}"))


def kinds(engine):
    return Counter(delete.kind for delete in engine.state(0).delete_files)


@pytest.mark.parametrize("by", ["none", "city", "bucket"])
def test_a_commit_is_one_snapshot_of_rows_and_deletes(iceberg, model, spark, by):
    engine = iceberg(partitioning=Partitioning(by))
    commit(engine, model, *upserts(1, 9))
    out = commit(engine, model, *CHANGES)
    assert snapshots(out) == 1
    assert kinds(engine).keys() == {DeleteKind.EQUALITY, DeleteKind.POSITION}
    assert rows_of(spark, engine) == model.rows


def test_what_flink_writes_for_changes_of_each_kind(iceberg, model):
    """Two writers: an insert, an update and a delete of old keys, and keys changed again by the commit."""
    engine = iceberg()
    commit(engine, model, *upserts(1, 9))
    first = {f.path for f in engine.state(0).data_files}
    deletes = {d.key for d in engine.state(0).delete_files}
    # Rows: 1, 9, 9 again, 10. Keys deleted blindly: 1, 2, 9, 10. By position: the first 9, and 10.
    commit(engine, model, *CHANGES)
    state = engine.state(0)
    new = [d for d in state.delete_files if d.key not in deletes]
    assert sum(f.rows for f in state.data_files if f.path not in first) == 4
    assert sum(d.rows for d in new if d.kind is DeleteKind.EQUALITY) == 4
    assert sum(d.rows for d in new if d.kind is DeleteKind.POSITION) == 2
    assert all(d.referenced_data_file for d in new if d.kind is DeleteKind.POSITION)


def test_an_equality_delete_goes_to_the_partition_of_the_row_it_replaces(iceberg, model):
    engine = iceberg(partitioning=Partitioning("city"))
    commit(engine, model, (1, "Oslo"))
    commit(engine, model, (1, "Rome"))
    deletes = engine.state(0).delete_files
    newest = max(d.data_sequence_number for d in deletes)
    assert {d.partition for d in deletes if d.data_sequence_number == newest} == {"user_city=Oslo"}


@pytest.mark.parametrize(
    ("mode", "format_version"), [("merge-on-read", 2), ("merge-on-read", 3), ("copy-on-write", 2)]
)
def test_merge_writes_what_its_mode_says(iceberg, model, spark, mode, format_version):
    engine = iceberg(upsert_mode=mode, format_version=format_version)
    commit(engine, model, *upserts(1, 9))
    commit(engine, model, (1, "Rome"), (2, None), (9, "Rome"), (9, "Oslo"))
    assert rows_of(spark, engine) == model.rows
    assert kinds(engine).keys() == ({BY_POSITION[format_version]} if mode == "merge-on-read" else set())


@pytest.mark.parametrize(("by", "format_version"), [("none", 2), ("none", 3), ("city", 3)])
def test_a_conversion_leaves_one_position_delete_a_file_and_no_equality_delete(
    iceberg, model, spark, by, format_version
):
    engine = iceberg(partitioning=Partitioning(by), format_version=format_version)
    commit(engine, model, *upserts(1, 9))
    for city in CITIES:
        commit(engine, model, (1, city), (2, None), (3, city), (3, "Oslo"))
    before = {f.path: f for f in engine.state(0).data_files}
    outcome = execute(engine, converting(engine.state(0)), 999_000)
    assert (outcome.status, outcome.error) == ("ok", None)
    state = engine.state(0)
    assert {f.path: f for f in state.data_files} == before
    own = Counter(delete.referenced_data_file for delete in state.delete_files)
    assert set(own.values()) == {1}
    assert kinds(engine).keys() == {BY_POSITION[format_version]}
    dead = sum(f.rows for f in state.data_files) - len(model.rows)
    assert sum(delete.rows for delete in state.delete_files) == dead
    assert rows_of(spark, engine) == model.rows
    # Once more: each delete file is made anew, and says the same.
    assert execute(engine, converting(state), 999_000).status == "ok"
    again = Counter(delete.referenced_data_file for delete in engine.state(0).delete_files)
    assert (again, rows_of(spark, engine)) == (own, model.rows)


@pytest.mark.parametrize(("format_version", "step"), [(2, "_described"), (3, "_as_vectors")])
def test_a_conversion_that_fails_leaves_no_file(iceberg, model, workshop, monkeypatch, format_version, step):
    engine = iceberg(format_version=format_version)
    commit(engine, model, *upserts(1, 9))
    commit(engine, model, (2, None), (3, "Rome"))
    before = set(workshop.folder.rglob("*.parquet"))

    def fails(*arguments):
        raise OSError("the storage does not answer")

    monkeypatch.setattr(conversion, step, fails)
    with pytest.raises(OSError, match="does not answer"):
        execute(engine, converting(engine.state(0)), 999_000)
    assert set(workshop.folder.rglob("*.parquet")) == before


def test_a_conversion_merges_what_was_deleted_by_position_before(iceberg, model, spark):
    engine = iceberg()
    commit(engine, model, *upserts(1, 9))
    for round_number in range(3):
        commit(engine, model, (1 + round_number, None), (9, "Oslo"), (9, "Rome"))
        assert execute(engine, converting(engine.state(0)), 999_000).status == "ok"
    own = Counter(delete.referenced_data_file for delete in engine.state(0).delete_files)
    assert set(own.values()) == {1}
    assert rows_of(spark, engine) == model.rows


def test_dropping_a_delete_that_a_file_outside_the_plan_needs_is_vetoed(iceberg, model, spark):
    engine = iceberg()
    commit(engine, model, *upserts(1, 9))
    commit(engine, model, (1, None), (2, None))
    state = engine.state(0)
    path = next(f.path for f in state.data_files if f.data_sequence_number == 1)
    outcome = execute(engine, converting(state, {path}), 999_000)
    assert (outcome.status, snapshots(outcome)) == ("vetoed", 0)
    assert "to which it still applies" in outcome.error
    assert rows_of(spark, engine) == model.rows


def test_deletes_committed_while_a_conversion_was_pending_still_apply(iceberg, model, spark):
    engine = iceberg()
    commit(engine, model, *upserts(1, 9))
    commit(engine, model, (1, None))
    ticket = engine.schedule(converting(engine.state(0)), 100_000, 200_000)
    commit(engine, model, (2, None), (3, "Rome"))
    assert engine.complete(ticket, 200_000).status == "ok"
    assert rows_of(spark, engine) == model.rows


def test_a_vector_committed_while_a_conversion_was_pending_is_not_hidden(iceberg, model, spark):
    engine = iceberg(upsert_mode="merge-on-read", format_version=3)
    commit(engine, model, *upserts(1, 9))
    commit(engine, model, (1, None))
    ticket = engine.schedule(converting(engine.state(0)), 100_000, 200_000)
    commit(engine, model, (2, None))
    outcome = engine.complete(ticket, 200_000)
    assert outcome.status == "failed"
    assert "a newer deletion vector was committed meanwhile" in outcome.error
    assert rows_of(spark, engine) == model.rows


@pytest.mark.parametrize("kind", ["BIGINT", "BIGINT NOT NULL"])
def test_a_null_key_is_deleted_like_any_other(spark, workshop, tmp_path, kind):
    name = f"lake.{workshop.namespace}.visits"
    spark.sql(f"CREATE NAMESPACE lake.{workshop.namespace}")
    spark.sql(f"CREATE TABLE {name} (id {kind}, who STRING) USING iceberg")
    deleted = [2] if "NOT" in kind else [2, None]
    keys = [1, 2, 3] if "NOT" in kind else [1, 2, 3, None]
    rows = ", ".join(f"({'NULL' if key is None else f'{key}L'}, 'x')" for key in keys)
    spark.sql(f"INSERT INTO {name} SELECT /*+ COALESCE(1) */ * FROM VALUES {rows} AS t(id, who)")
    add_equality_delete(spark, name, tmp_path / "deletes.parquet", deleted)
    live = {row.id for row in spark.table(name).collect()}
    assert live == {1, 3}
    files = spark.sql(f"SELECT content, file_path FROM {name}.all_files").collect()
    (data,), (delete,) = ([f.file_path for f in files if f.content == content] for content in (0, 2))
    action = Rewrite((FileGroup((), "", (data,)),), 8 * MIB, (delete,))
    commit_rewrite(spark, name, stage_rewrite(spark, name, action), Tag("compactor", "compaction-1", 0))
    assert [row.content for row in spark.sql(f"SELECT content FROM {name}.delete_files").collect()] == [1]
    assert {row.id for row in spark.table(name).collect()} == live


def test_deletes_in_the_partition_of_null_are_not_converted_for_that_of_its_text(spark, workshop, tmp_path):
    name = f"lake.{workshop.namespace}.visits"
    spark.sql(f"CREATE NAMESPACE lake.{workshop.namespace}")
    spark.sql(f"CREATE TABLE {name} (id BIGINT, who STRING) USING iceberg PARTITIONED BY (who)")
    spark.sql(f"INSERT INTO {name} VALUES (1L, NULL), (2L, NULL), (1L, 'null'), (3L, 'null')")
    add_equality_delete(spark, name, tmp_path / "of-null.parquet", [1], (None,))
    add_equality_delete(spark, name, tmp_path / "of-text.parquet", [3], ("null",))
    live = {(2, None), (1, "null")}
    assert {tuple(row) for row in spark.table(name).collect()} == live
    files = spark.sql(f"SELECT content, file_path FROM {name}.all_files").collect()
    data, deletes = (tuple(f.file_path for f in files if f.content == content) for content in (0, 2))
    action = Rewrite((FileGroup((), "", data),), 8 * MIB, deletes)
    commit_rewrite(spark, name, stage_rewrite(spark, name, action), Tag("compactor", "compaction-1", 0))
    assert [row.content for row in spark.sql(f"SELECT content FROM {name}.delete_files").collect()] == [1, 1]
    assert {tuple(row) for row in spark.table(name).collect()} == live


def test_rows_in_the_partition_of_null_and_in_that_of_its_text_are_replaced_in_one_commit(
    iceberg, model, spark
):
    engine = iceberg(partitioning=Partitioning("city"))
    changes = [Change(1, "none"), Change(1, "none"), Change(2, "null"), Change(2, "null")]
    batch = model.commit(changes, writers=1)
    (path,) = batch.paths
    logged = pq.read_table(path)
    for column in ("user_city", "before_user_city"):
        cities = [None if city == "none" else city for city in logged[column].to_pylist()]
        place = logged.schema.get_field_index(column)
        logged = logged.set_column(place, column, pa.array(cities, pa.string()))
    pq.write_table(logged, path)
    engine.commit(batch, batch.spec.at_ms)
    assert rows_of(spark, engine) == {1: (None, 2), 2: ("null", 4)}


def test_a_load_fills_its_files_to_three_quarters_of_the_target_and_more(iceberg, spark, tmp_path):
    target_bytes, none = MIB // 2, Partitioning()
    workload = Upsert(10, 2, 150_000).sized_for(target_bytes, 7, none)
    log = ensure_change_log(lambda: spark, tmp_path, workload, 7, 1, 60_000, lambda done, total: None)
    engine = iceberg(target_file_size_bytes=target_bytes)
    load = next(iter(workload.shape(7, 1, 60_000, none)))
    engine.commit(Batch(load, log.paths(log.commits[0]), log.commits[0].size_bytes), 0)
    sizes = [file.size_bytes for file in engine.state(0).data_files]
    assert len(sizes) == commit_layout(load).data_files_count
    assert all(0.75 * target_bytes <= size <= target_bytes for size in sizes), sizes


class Upserts(RuleBasedStateMachine):
    """Commits, conversions, rewrites, merges and expiry in any order; the content is right after each.

    Explicit rewrites are executed by Spark and without it in turns.
    """

    make: staticmethod
    scratch: object
    steps: ClassVar[Counter[str]] = Counter()

    @initialize(
        format_version=st.sampled_from([2, 2, 3]),
        by=st.sampled_from(["none", "none", "city"]),
        mode=st.sampled_from(["equality-delete", "merge-on-read"]),
        seed=st.integers(0, 2**32),
    )
    def start(self, format_version, by, mode, seed):
        assume(seed)  # Hypothesis draws the simplest sequence first, which is nothing but commits
        table = {"format_version": format_version, "upsert_mode": mode, "partitioning": Partitioning(by)}
        self.engine, self.format_version = type(self).make(**table), format_version
        self.model = ModelTable(type(self).scratch / str(seed))
        self.random, self.pending, self.at_ms = random.Random(seed), [], 0
        self.did("start")
        self._commit(upserts(1, 12))

    def did(self, what):
        type(self).steps[what] += 1

    def _commit(self, changes):
        batch = self.model.commit([Change(*change) for change in changes])
        self.at_ms = batch.spec.at_ms
        self.engine.commit(batch, self.at_ms)

    @rule(changes=drawn_changes(CITIES))
    def commit(self, changes):
        self.did("commit")
        self._commit(changes)

    def _stir(self):
        """A small commit, so that there is something to do: rules alone seldom draw one before another."""
        self.did("commit before a step")
        keys = [self.random.randint(1, 16) for _ in range(self.random.randint(1, 4))]
        self._commit([(key, self.random.choice([*CITIES, None])) for key in keys])

    def _some(self, files, share):
        return [file for file in files if self.random.random() < share]

    def _random_plan(self):
        """Files rewritten, converted or left alone by chance; deletes dropped: all, some, or what is safe."""
        state = self.engine.state(self.at_ms)
        busy = frozenset().union(*(p.paths for p in state.pending))
        free = [f for f in state.data_files if f.path not in busy]
        rewritten = self._some(free, self.random.choice([0, 0.3, 1]))
        converted = self._some([f for f in free if f not in rewritten], self.random.choice([0, 0.5, 1]))
        drops = [d.key for d in state.delete_files if d.key not in busy]
        choice = self.random.choice(["all", "some", "safe"])
        if choice == "some":
            drops = self._some(drops, 0.5)
        sort_columns = self.random.choice([(), ("user_id", "order_id")])
        named = grouped(state, rewritten, converted, drops, sort_columns)
        if choice == "safe":
            (action,) = named.actions
            drops = [
                key for key in drops if resurrected(replace(action, removed_deletes=(key,)), state) is None
            ]
            named = grouped(state, rewritten, converted, drops, sort_columns)
        return named if named.actions[0].groups or drops else None

    def _executor(self, chosen):
        """One by chance: the executor without Spark neither sorts nor writes format version 3."""
        is_sorted = any(group.sort_columns for group in chosen.actions[0].groups)
        return None if is_sorted or self.format_version > 2 else self.random.choice([None, SINGLE_NODE])

    @rule()
    def compact(self):
        self._stir()
        chosen = self._random_plan()
        if chosen is not None:
            executor = self._executor(chosen)
            outcome = execute(self.engine, chosen, self.at_ms, executor)
            self.did(f"explicit by {executor or 'spark'} {outcome.status}")
            assert outcome.status in ("ok", "vetoed", "noop"), outcome.error

    @rule()
    def convert_all(self):
        self._stir()
        state = self.engine.state(self.at_ms)
        if state.delete_files and not state.pending:
            chosen = converting(state)
            executor = self._executor(chosen)
            outcome = execute(self.engine, chosen, self.at_ms, executor)
            self.did(f"conversion of all by {executor or 'spark'}")
            assert outcome.status == "ok", outcome.error

    @rule()
    def schedule(self):
        chosen = self._random_plan()
        if chosen is not None and not self.pending:
            executor = self._executor(chosen)
            due_at_ms = self.at_ms + 60_000
            self.pending.append(self.engine.schedule(chosen, self.at_ms, due_at_ms, executor))
            self.did(f"schedule by {executor or 'spark'}")

    @rule()
    def complete(self):
        if self.pending:
            self._stir()
            outcome = self.engine.complete(self.pending.pop(), self.at_ms)
            self.did(f"delayed {outcome.status}")

    @rule(
        planner=st.sampled_from(
            [
                RewriteDataFiles(options={"rewrite-all": True}),
                RewriteDataFiles(options={"delete-file-threshold": 2, "remove-dangling-deletes": True}),
                RewritePositionDeleteFiles(options={"rewrite-all": True}),
                ExpireSnapshots(retain_ms=60_000),
            ]
        )
    )
    def native(self, planner):
        self._stir()
        chosen = planner.decide(self.engine.state(self.at_ms))
        if chosen is not None:
            outcome = execute(self.engine, chosen, self.at_ms)
            self.did(f"{chosen.actions[0].command} {outcome.status}")

    @invariant()
    def content_is_right(self):
        if hasattr(self, "engine"):
            assert rows_of(self.engine._spark, self.engine) == self.model.rows

    def teardown(self):
        if hasattr(self, "engine"):
            self.engine.drop()


def test_no_sequence_of_steps_loses_a_row_or_brings_one_back(iceberg, tmp_path, capsys):
    """15 rules each, most of two steps: a commit and something done to it. A step takes a second or two."""
    Upserts.make, Upserts.scratch = staticmethod(iceberg), tmp_path
    examples = by_profile(ordinary=1, thorough=3, exhaustive=85)
    run_state_machine_as_test(
        Upserts, settings=settings(max_examples=examples, stateful_step_count=15, phases=[Phase.generate])
    )
    with capsys.disabled():
        print(f"\n{Upserts.steps.total()} steps: {dict(Upserts.steps.most_common())}")
    assert Upserts.steps.total() >= by_profile(ordinary=1, thorough=30, exhaustive=2_000)
