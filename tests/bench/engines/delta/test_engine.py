"""Delta on Spark: upserts, commands and their effects, and whatever is done to a table: no row is lost."""

import json
import math
import random
import time
from collections import Counter
from contextlib import nullcontext
from pathlib import Path
from typing import ClassVar
from urllib.parse import unquote

import pyarrow.parquet as pq
import pytest
from change_batches import Change, ModelTable, commit, drawn_changes, keyed_rows, upserts
from delta_sheets import make_real
from delta_simulations import make as make_replayed
from engine_streams import batches, commit_all, execute, plan
from hypothesis import Phase, assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from upsert_commits import commit_specs

from bench.engines.contract import Probe
from bench.engines.delta.columns import key_problem, layout_of, planner_problem
from bench.engines.delta.existing_table import import_history, open_existing
from bench.engines.delta.log import DeltaLog
from bench.engines.delta.table_keys import CODEC_CONF, DELTA_RS
from bench.engines.existing import TableAddress
from bench.engines.spark.session import configured, stored_bytes
from bench.errors import EngineError
from strategies.delta.commands import Command
from strategies.delta.planners import Optimize, Reorg, Repartition, Vacuum, ZOrder
from strategies.delta.preview import preview_action
from strategies.plan import Compact, Native
from strategies.state import TableState
from workloads.history import History
from workloads.history_file import write_history
from workloads.partitioning import Partitioning
from workloads.schema import SCHEMAS

pytestmark = pytest.mark.spark

CITIES = ("Oslo", "Rome", "São Paulo/%")
MODES = ("copy-on-write", "merge-on-read")
AUTO = {"delta.autoOptimize.autoCompact": "true"}

OPTIMIZE = Optimize().decide(TableState(0, 1))


def rows_of(engine, version=None):
    """The rows that a reader of a version gets, of the last one by default."""
    # Not by VERSION AS OF: tests share a session with Hudi, whose SQL parser takes that for its own.
    reader = engine._spark.read.format("delta")
    as_of = reader if version is None else reader.option("versionAsOf", version)
    return keyed_rows(as_of.load(engine._location).select("order_id", "user_city", "user_id"))


def log_of(engine):
    return list(DeltaLog(engine._location).commits_after(-1))


def by_delta_itself(engine):
    """The live files by Delta's own account: path, size, and the cardinality of the vector."""
    jvm = engine._spark._jvm
    none = jvm.scala.Option.empty()
    log = jvm.org.apache.spark.sql.delta.DeltaLog.forTable(engine._spark._jsparkSession, engine._location)
    files = log.update(False, none, none).allFiles().toJSON()
    actions = [json.loads(text) for text in files.collectAsList()]
    return sorted(
        (unquote(a["path"]), a["size"], a.get("deletionVector", {}).get("cardinality", 0)) for a in actions
    )


def by_our_state(engine):
    state = engine.state(0)
    dead = {vector.data_file: vector.rows for vector in state.delete_files}
    return sorted((file.path, file.size_bytes, dead.get(file.path, 0)) for file in state.data_files)


def merged_bytes(state):
    """The sizes of the files in each group that OPTIMIZE merges."""
    groups = preview_action(OPTIMIZE.actions[0], state).groups
    return sorted(sorted(file.size_bytes for file in group.files) for group in groups)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("by", ["none", "bucket"])
def test_merge_writes_what_its_mode_says(delta, model, mode, by):
    engine = delta(upsert_mode=mode, partitioning=Partitioning(by))
    commit(engine, model, *upserts(1, 30))
    out = commit(engine, model, (1, "Rome"), (2, None), (31, "Rome"), (31, "Oslo"))
    assert rows_of(engine) == model.rows
    assert by_our_state(engine) == by_delta_itself(engine)
    places = (engine._location, f"{engine._location}/_delta_log")
    stored = tuple(stored_bytes(engine._spark, place) for place in places)
    assert (out.observed.table.storage_bytes, out.observed.table.metadata_storage_bytes) == stored
    assert [(version.operation, version.tag.step) for version in out.versions] == [("MERGE", "commit-2")]
    vectors = engine.state(0).delete_files
    is_marked = mode == "merge-on-read"
    assert sum(vector.rows for vector in vectors) == (2 if is_marked else 0)
    assert (out.change.files_removed_count > 0) == (not vectors) == (not is_marked)


def test_its_history_is_imported_from_its_log(delta, model, tmp_path):
    """And a simulation replays what the stream alone did to its files, and plans the compaction that ran."""
    engine = delta(upsert_mode="merge-on-read", partitioning=Partitioning("bucket", buckets=2))
    commit(engine, model, *upserts(1, 30))
    commit(engine, model, (1, "Rome"), (2, None))
    commit(engine, model, *upserts(31, 40))
    alone, planned = by_our_state(engine), merged_bytes(engine.state(200_000))
    assert planned
    assert execute(engine, OPTIMIZE, 200_000).status == "ok"
    history = import_history(TableAddress(engine._location), None)
    assert [c.is_compaction for c in history.commits] == [False, False, False, True]
    dead = {file.targets[0]: file.rows for file in history.live_after().values() if not file.is_data}
    live = [(f.size_bytes, dead.get(f.id, 0)) for f in history.live_after().values() if f.is_data]
    assert sorted(live) == sorted((size, rows) for _, size, rows in by_delta_itself(engine))
    write_history(history, tmp_path / "history.parquet")
    stream = History(str(tmp_path / "history.parquet"))
    replayed = make_replayed(schema=stream.schema)
    commit_specs(replayed, *stream.shape(7, 3, 60_000, Partitioning()))
    assert replayed.model.live_rows == len(model.rows)
    assert sorted(row[1:] for row in by_our_state(replayed)) == sorted(row[1:] for row in alone)
    assert merged_bytes(replayed.state(200_000)) == planned

    # Once the log up to a checkpoint is cleaned up, what it committed is the start.
    jvm_log = engine._spark._jvm.org.apache.spark.sql.delta.DeltaLog
    jvm_log.forTable(engine._spark._jsparkSession, engine._location).checkpoint()
    cleaned = [*Path(engine._location, "_delta_log").glob("*.json")]
    commit(engine, model, *upserts(41, 50))
    for path in cleaned:
        path.unlink()
    left = import_history(TableAddress(engine._location), None)
    assert [c.is_compaction for c in left.commits] == [False]
    assert len(left.start) == len(history.live_after())
    assert any("the log has been cleaned up" in note for note in left.facts.notes)


def test_a_query_tells_the_files_and_vectors_it_opened(delta, model):
    engine = delta(upsert_mode="merge-on-read")
    commit(engine, model, *upserts(1, 30))
    commit(engine, model, (1, "Rome"))
    state = engine.state(0)
    work = engine.query(Probe("all", "SELECT sum(order_id + user_id) FROM orders")).work
    assert (work.files_count, work.delete_files_count) == (len(state.data_files), 1)
    assert work.opened_bytes == state.size_bytes
    assert work.metadata_files_count is None
    # Answered from the log alone: nothing is opened, which is known and not unknown.
    assert engine.query(Probe("count", "SELECT count(*) FROM orders")).work.files_count == 0


def test_a_predicate_rewrites_its_partitions_only_and_adds_no_new_rows(delta, log, tmp_path):
    """Also for readers of the stream: a streaming query over the table gets no row from OPTIMIZE."""
    partitioning = Partitioning("bucket", buckets=3)
    engine = delta(partitioning=partitioning)
    commit_all(engine, batches(log, partitioning)[:3])
    spark = engine._spark
    stream = (
        spark.readStream.format("delta").load(engine._location).writeStream.format("delta")
        .option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True)
    )  # fmt: skip

    def seen_rows():
        stream.start(str(tmp_path / "seen")).awaitTermination()
        return spark.read.format("delta").load(str(tmp_path / "seen")).count()

    assert seen_rows() == 140
    chosen = Native(Command.OPTIMIZE, {"where": "partition_bucket = 1"})
    assert execute(engine, plan(chosen), 200_000).status == "ok"
    last = log_of(engine)[-1]
    assert last.operation == "OPTIMIZE"
    assert {a.fields["partitionValues"]["partition_bucket"] for a in (*last.added, *last.removed)} == {"1"}
    assert not any(action.fields["dataChange"] for action in (*last.added, *last.removed))
    assert execute(engine, plan(Compact(("partition_bucket=2",))), 300_000).status == "ok"
    counts = Counter(file.partition for file in engine.state(0).data_files)
    assert counts["partition_bucket=1"] == counts["partition_bucket=2"] == 1 < counts["partition_bucket=0"]
    assert seen_rows() == 140


@pytest.mark.parametrize(
    ("properties", "settings"),
    [
        ({"delta.autooptimize.autocompact": "true"}, {}),
        ({}, {"spark.databricks.delta.autoCompact.enabled": "true"}),
    ],
)
def test_an_automatic_compaction_is_booked_apart_from_its_commit(delta, model, spark, properties, settings):
    with configured(spark, settings):
        engine = delta(properties=properties, files_per_commit=2)
        first, second = (commit(engine, model, *upserts(n, n + 20)) for n in (1, 21))
    # The first commit to a partition sets it off already.
    ((inline,), (version,)) = first.compactions, first.compactions[0].versions
    assert (version.operation, version.tag) == ("OPTIMIZE", None)
    assert (version.change.files_removed_count, version.change.files_added_count) == (2, 1)
    assert version.rewritten == {""}  # of files that no observation has seen
    assert min(inline.cost.wall_s, first.cost.wall_s) > 0
    assert (first.change.files_removed_count, first.observed.table.data_files_count) == (0, 1)
    assert second.compactions == ()
    assert rows_of(engine) == model.rows


def test_vacuum_deletes_by_scenario_time(delta, model):
    engine = delta()
    commit(engine, model, *upserts(1, 20))
    commit(engine, model, *upserts(1, 20, "Rome"))
    folder = engine._folder / engine._namespace / "orders"
    stored = set(folder.glob("*.parquet"))
    assert execute(engine, Vacuum(60_000).decide(engine.state(120_001)), 120_001).status == "ok"
    assert set(folder.glob("*.parquet")) == stored  # the versions of 120 s need what was replaced then
    done = execute(engine, Vacuum(60_000).decide(engine.state(200_000)), 200_000)
    assert [version.operation for version in done.versions] == ["VACUUM START", "VACUUM END"]
    assert len(list(folder.glob("*.parquet"))) == len(engine.state(0).data_files) < len(stored)


def test_sorting_and_clustering_put_near_rows_together(delta, log):
    stream = batches(log)[:4]
    selective = Probe("some", "SELECT sum(product_prices) FROM orders WHERE user_id BETWEEN 1 AND 20000")
    plain, small = delta(), {"maxFileSize": "20000"}
    commit_all(plain, stream)
    opened = plain.query(selective).work.files_count
    zorder = plan(Native(Command.ZORDER, {"columns": "user_id"}, small))
    assert execute(plain, zorder, 300_000).status == "ok"
    assert plain.query(selective).work.files_count < opened
    plain.drop()
    clustered = delta(cluster_by=["user_id"])
    commit_all(clustered, stream)
    assert execute(clustered, plan(Native(Command.OPTIMIZE, {}, small)), 300_000).status == "ok"
    files = clustered.state(0).data_files
    assert {(f.clustering_provider, f.z_cube.columns) for f in files} == {("liquid", ("user_id",))}
    assert execute(clustered, plan(Native(Command.OPTIMIZE)), 400_000).status == "noop"
    existing = open_existing(TableAddress(clustered._location))
    assert existing.state.clustering_columns == ("user_id",)
    assert {f.path for f in existing.state.data_files} == {f.path for f in files}


@pytest.mark.parametrize(
    ("columns", "is_refused"),
    [(("user_id",), False), (("order_id", "user_id"), False), (("user_age",), True), (("user_city",), True)],
)
def test_delta_sorts_by_the_columns_that_are_not_refused(delta, log, columns, is_refused):
    partitioning, properties = Partitioning("city"), {"delta.dataSkippingStatsColumns": "user_id,order_id"}
    engine = delta(partitioning=partitioning, properties=properties)
    commit_all(engine, batches(log, partitioning)[:2])
    sort = ZOrder(columns)
    assert (planner_problem(layout_of(engine._spec), sort) is not None) == is_refused
    outcome = execute(engine, sort.decide(engine.state(0)), 300_000)
    assert outcome.status == ("failed" if is_refused else "ok")


@pytest.mark.parametrize(
    "table",
    [
        {"cluster_by": ["carrier"]},
        {"cluster_by": ["device"]},
        {"cluster_by": ["is_subscriber"]},
        {"cluster_by": ["User_ID"]},
        {"cluster_by": ["device"], "properties": {"delta.dataskippingnumindexedcols": "-1"}},
        {"cluster_by": ["user_id"], "properties": {"delta.dataSkippingNumIndexedCols": "0"}},
        {"cluster_by": ["user_id"], "properties": {"delta.dataSkippingStatsColumns": "`user_id`, device"}},
    ],
)
def test_delta_clusters_by_the_columns_that_are_not_refused(workshop, table):
    engine = make_real(workshop, schema=SCHEMAS[40], **table)
    refused = pytest.raises(EngineError) if key_problem(engine._spec) else nullcontext()
    with refused:
        engine.create()


def test_compacting_by_hand_changes_no_data(delta, log):
    partitioning = Partitioning("bucket", buckets=2)
    engine = delta(partitioning=partitioning)
    commit_all(engine, batches(log, partitioning)[:3])
    assert execute(engine, Repartition(2).decide(engine.state(0)), 300_000).status == "ok"
    counts = Counter(f.partition for f in engine.state(0).data_files)
    assert counts == {"partition_bucket=0": 2, "partition_bucket=1": 2}
    for logged in log_of(engine)[-2:]:
        assert not any(action.fields["dataChange"] for action in (*logged.added, *logged.removed))
    assert Repartition(2).decide(engine.state(0)) is None


def test_delta_rs_compacts_a_table_of_spark(delta, model):
    engine = delta(upsert_mode="merge-on-read", files_per_commit=2)
    commit(engine, model, *upserts(1, 30))
    commit(engine, model, (1, "Rome"), (2, None), *upserts(30, 60))
    started_s = time.perf_counter()
    done = execute(engine, OPTIMIZE, 300_000, DELTA_RS)
    assert 0 < done.cost.wall_s < time.perf_counter() - started_s
    assert (done.status, done.observed.table.data_files_count) == ("ok", 1)
    assert rows_of(engine) == model.rows
    assert by_our_state(engine) == by_delta_itself(engine)
    commit(engine, model, (3, "Rome"))
    assert rows_of(engine) == model.rows


@pytest.mark.parametrize("codec", ["snappy", "zstd"])
def test_spark_and_delta_rs_write_the_same_codec(delta, log, codec):
    written = {}
    for executor in (None, DELTA_RS):
        engine = delta()
        with configured(engine._spark, {CODEC_CONF: codec}):
            commit_all(engine, batches(log)[:3])
            done = execute(engine, OPTIMIZE, 300_000, executor)
        (file,) = engine.state(0).data_files
        row_group = pq.read_metadata(f"{engine._location}/{file.path}").row_group(0)
        codecs = {row_group.column(index).compression for index in range(row_group.num_columns)}
        written[executor] = codecs, done.change.replaced_bytes, done.change.files_removed_count
        engine.drop()
    assert written[DELTA_RS] == written[None]
    assert written[DELTA_RS][0] == {codec.upper()}


class DeltaSteps(RuleBasedStateMachine):
    """Random commits, MERGEs and commands. After each the rows are the model's, and so are the files.

    Readers of an older version that a VACUUM had to keep get what was in the table then.
    """

    steps: ClassVar[Counter] = Counter()
    retain_ms = 60_000

    @initialize(
        mode=st.sampled_from(MODES),
        by=st.sampled_from(["none", "city"]),
        compacts=st.booleans(),
        seed=st.integers(0, 2**32),
    )
    def create(self, mode, by, compacts, seed):
        assume(seed)  # Hypothesis draws the simplest sequence first, which is nothing but commits
        self.random = random.Random(seed)
        folder = type(self).scratch / str(type(self).steps.total())
        self.model = ModelTable(folder)
        self.engine = type(self).make(
            upsert_mode=mode, partitioning=Partitioning(by), properties=AUTO if compacts else {}
        )
        self.at_ms = self.keep_from_ms = 0
        self.versions = []  # of each version its number, when it was made, and its rows
        self._commit(upserts(1, 12))

    def did(self, what):
        type(self).steps[what] += 1

    def _commit(self, changes):
        batch = self.model.commit([Change(*change) for change in changes])
        self.at_ms = batch.spec.at_ms
        done = self.engine.commit(batch, self.at_ms)
        self.did("commit with a compaction" if done.compactions else "commit")
        self._saw(done.versions + sum((compaction.versions for compaction in done.compactions), ()))

    def _saw(self, versions):
        rows = dict(self.model.rows)
        self.versions += [(int(version.id), self.at_ms, rows) for version in versions]

    def _read_an_older_version(self, is_first):
        """One that was current since the last VACUUM's time; the first would lose its files first."""
        ends_ms = [made_ms for _, made_ms, _ in self.versions[1:]] + [math.inf]
        pairs = zip(self.versions, ends_ms, strict=True)
        readable = [version for version, end_ms in pairs if end_ms >= self.keep_from_ms]
        number, _, rows = readable[0] if is_first else self.random.choice(readable)
        assert rows_of(self.engine, number) == rows

    @rule(changes=drawn_changes(CITIES))
    def commit(self, changes):
        self._commit(changes)

    @rule(
        executor=st.sampled_from([None, DELTA_RS]),
        planner=st.sampled_from(
            [
                Optimize(),
                Optimize(min_small_files=1),
                Optimize(options={"maxDeletedRowsRatio": 0.0, "batchSize": 1}),
                ZOrder(("user_id",)),
                Reorg(),
                Repartition(1),
                Vacuum(retain_ms),
            ]
        ),
    )
    def run_command(self, planner, executor):
        self._commit([(self.random.randint(1, 16), self.random.choice([*CITIES, None]))])
        state = self.engine.state(self.at_ms)
        has_non_ascii = any("São" in file.partition for file in state.data_files)
        chosen = planner.decide(state)
        if chosen is not None:
            executor = executor if planner == Optimize() else None  # the others are beyond delta-rs
            done = execute(self.engine, chosen, self.at_ms, executor)
            self.did(f"{type(planner).__name__} {executor or ''} {done.status}")
            is_refused = executor == DELTA_RS and has_non_ascii
            assert (done.status == "failed") == is_refused, done.error
            self._saw(done.versions)
            if isinstance(planner, Vacuum):
                self.keep_from_ms = self.at_ms - self.retain_ms
            self._read_an_older_version(is_first=isinstance(planner, Vacuum))

    @invariant()
    def content_is_right(self):
        if hasattr(self, "engine"):
            assert rows_of(self.engine) == self.model.rows
            assert by_our_state(self.engine) == by_delta_itself(self.engine)

    def teardown(self):
        if hasattr(self, "engine"):
            self.engine.drop()


def test_no_sequence_of_steps_loses_a_row(delta, tmp_path, capsys):
    """A 33rd of the profile's examples, of 9 steps each: with its checks, a step takes several seconds."""
    DeltaSteps.make, DeltaSteps.scratch = staticmethod(delta), tmp_path
    examples = max(1, settings().max_examples // 33)
    run_state_machine_as_test(
        DeltaSteps, settings=settings(max_examples=examples, stateful_step_count=9, phases=[Phase.generate])
    )
    with capsys.disabled():
        print(f"\n{DeltaSteps.steps.total()} steps: {dict(DeltaSteps.steps.most_common())}")
