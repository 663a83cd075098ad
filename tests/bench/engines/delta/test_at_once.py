"""Roles that work on one Delta table at the same time, each with a Spark session in one JVM."""

import pytest
from change_batches import ModelTable, commit, keyed_rows, upserts

from bench.engines.contract import CommitConflictError, Probe, TableSpec
from bench.engines.delta.engine import CONFLICTS, DeltaEngine, ReadingDeltaEngine
from bench.engines.spark.meter import ProcessMeter
from bench.errors import EngineError
from strategies.delta.planners import Optimize
from strategies.state import MIB

pytestmark = pytest.mark.spark

SPEC = TableSpec(8 * MIB, upsert_mode="merge-on-read")
COUNT = Probe("sum", "SELECT sum(order_id) FROM orders")


@pytest.fixture
def engine_of(workshop, tmp_path):
    """Makes the engine of a role, with a session of its own."""

    def make(kind, **options):
        session = workshop.spark().newSession()
        return kind(session, ProcessMeter(session, workshop.settings), tmp_path / "delta", SPEC, **options)

    return make


@pytest.fixture
def writer(engine_of, workshop):
    engine = engine_of(DeltaEngine, namespace=workshop.namespace, is_shared=True)
    engine.create()
    return engine


@pytest.fixture
def model(tmp_path):
    return ModelTable(tmp_path / "log")


class Transaction:
    """A transaction on an engine's table that has read all of it, and removes one of its files."""

    def __init__(self, engine):
        self._jvm = engine._spark._jvm
        log = log_of(engine)
        self._transaction = log.startTransaction()
        self._removed = self._transaction.filterFiles().head().remove()

    def commit(self, *_):
        operation = getattr(self._jvm.org.apache.spark.sql.delta, "DeltaOperations$ManualUpdate$")
        actions = self._jvm.PythonUtils.toSeq([self._removed])
        self._transaction.commit(actions, getattr(operation, "MODULE$"))


def log_of(engine):
    logs = engine._spark._jvm.org.apache.spark.sql.delta.DeltaLog
    return logs.forTable(engine._spark._jsparkSession, engine._location)


def paths_of(engine):
    return {file.path for file in engine.state(0).data_files}


def rows_of(engine):
    frame = engine._spark.read.format("delta").load(engine._location)
    return keyed_rows(frame.select("order_id", "user_city", "user_id"))


def test_a_role_attaches_to_the_table_and_sees_what_others_commit(writer, engine_of, workshop, model):
    commit(writer, model, *upserts(1, 30))
    compactor = engine_of(DeltaEngine, namespace=workshop.namespace, is_shared=True)
    compactor.attach()
    assert paths_of(compactor) == paths_of(writer)
    commit(writer, model, *upserts(20, 40, "Rome"))
    compactor.refresh(180_000)
    assert paths_of(compactor) == paths_of(writer)
    outcome = compactor.complete(compactor.schedule(Optimize().decide(compactor.state(0)), 0, 0), 180_000)
    assert outcome.status == "ok"
    assert [(version.operation, version.tag.role) for version in outcome.versions] == [
        ("OPTIMIZE", "compactor")
    ]
    assert [version.tag.step for version in commit(writer, model, (1, "Oslo")).versions] == ["commit-3"]
    assert rows_of(writer) == model.rows


def test_a_commit_that_others_have_overtaken_is_a_conflict_and_not_in_the_table(writer, model, monkeypatch):
    commit(writer, model, *upserts(1, 30))
    overtaken, rows = Transaction(writer), dict(model.rows)
    commit(writer, model, *upserts(5, 10, "Rome"))
    rows = dict(model.rows)
    monkeypatch.setattr(writer, "_change", overtaken.commit)
    with pytest.raises(CommitConflictError) as caught:
        commit(writer, model, *upserts(1, 3, "Rome"))
    assert "Concurrent" in caught.value.reason
    assert not any(name in caught.value.reason for name in CONFLICTS)
    assert caught.value.cost.wall_s > 0
    assert rows_of(writer) == rows


def test_a_compaction_that_others_have_overtaken_is_a_conflict(writer, model, monkeypatch):
    commit(writer, model, *upserts(1, 30))
    commit(writer, model, *upserts(30, 60))
    plan, overtaken = Optimize().decide(writer.state(0)), Transaction(writer)
    commit(writer, model, *upserts(1, 60, "Rome"))
    monkeypatch.setattr(writer, "execute", overtaken.commit)
    outcome = writer.complete(writer.schedule(plan, 0, 0), 300_000)
    assert (outcome.status, outcome.versions) == ("conflict", ())
    assert "Concurrent" in outcome.error


def test_a_commit_that_lost_by_what_delta_says_and_is_in_the_log_fails(writer, model, monkeypatch):
    """It would be done again, and be there twice."""
    commit(writer, model, *upserts(1, 30))
    overtaken, change = Transaction(writer), writer._change

    def change_and_lose(changes, tag):
        change(changes, tag)
        overtaken.commit()

    monkeypatch.setattr(writer, "_change", change_and_lose)
    with pytest.raises(EngineError, match="its version is in the log"):
        commit(writer, model, *upserts(1, 3, "Rome"))


def test_a_commit_whose_version_is_not_in_the_log_fails(writer, model, monkeypatch):
    """As if another process had overwritten it."""
    commit(writer, model, *upserts(1, 30))
    monkeypatch.setattr(writer, "_change", lambda changes, tag: None)
    with pytest.raises(EngineError, match="no version of the log has its tag"):
        commit(writer, model, *upserts(1, 3, "Rome"))


def test_a_merge_without_effect_makes_no_version(writer, model):
    commit(writer, model, *upserts(1, 30))
    outcome = commit(writer, model, (100, None))
    assert (outcome.versions, rows_of(writer)) == ((), model.rows)


def test_a_reader_drops_no_log_of_those_who_commit(engine_of, model):
    writer, reader = engine_of(DeltaEngine, is_shared=True), engine_of(ReadingDeltaEngine)
    writer.create()
    commit(writer, model, *upserts(1, 30))
    reader.attach()
    of_writer, of_reader = log_of(writer), log_of(reader)
    commit(writer, model, *upserts(30, 60))
    work = reader.query(COUNT).work
    assert work.files_count == len(paths_of(writer))
    assert log_of(writer).equals(of_writer)
    assert not log_of(reader).equals(of_reader)
    assert not of_writer.equals(of_reader)
    assert [version.operation for version in reader._log.read(0).versions] == ["MERGE"]  # none of its own
    writer.drop()
