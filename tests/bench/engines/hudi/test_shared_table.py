"""Engines of several roles on one Hudi table, with a lock: who loses, and what is done again."""

from contextlib import ExitStack

import pytest
from change_batches import Change, commit, keyed_rows, upserts
from engine_streams import batches

from bench.engines.contract import CommitConflictError
from bench.engines.hudi.engine import HudiEngine
from bench.engines.hudi.lock_server import lock_server
from bench.errors import EngineError
from strategies.hudi.compaction_plan import INCREMENTAL
from strategies.hudi.planners import Clustering, Compaction
from workloads.partitioning import Partitioning

pytestmark = pytest.mark.spark

ALL = Compaction("UnBounded", {INCREMENTAL: False})


@pytest.fixture
def roles(hudi, tmp_path):
    """Makes a writer and a compactor of one table, and what holds its lock."""
    with ExitStack() as stack:

        def make(**table):
            made = hudi(**table)
            address = stack.enter_context(lock_server(made._spark, tmp_path))
            parts = made._spark, made._meter, made._folder, made._spec, made._namespace
            engines = [HudiEngine(*parts, lock_address=address) for _ in range(2)]
            for engine in engines:
                engine.attach()
            return engines

        yield make


def rows_of(engine):
    engine._forget()
    return keyed_rows(engine._spark.sql(f"SELECT order_id, user_city, user_id FROM {engine._name}"))


def rows_count(engine):
    engine._forget()
    return engine._spark.table(engine._name).count()


def scheduled(engine, planner):
    """The ticket of a plan that is pending on the table."""
    engine.refresh(0)
    return engine.schedule(planner.decide(engine.state(0)), 0, 0)


def test_a_commit_and_a_compaction_do_not_conflict(roles, model):
    writer, compactor = roles()
    for _ in range(2):
        commit(writer, model, *upserts(1, 6))
    ticket = scheduled(compactor, ALL)
    made = commit(writer, model, *upserts(4, 9))
    assert [version.tag.step for version in made.versions] == ["commit-3"]
    outcome = compactor.complete(ticket, 0)
    assert (outcome.status, outcome.error) == ("ok", None)
    assert [version.operation for version in outcome.versions] == ["commit"]
    assert rows_of(writer) == model.rows


def test_an_update_loses_while_a_clustering_of_its_files_is_pending(roles, model):
    writer, compactor = roles(index="simple", partitioning=Partitioning("city"))
    for first, city in ((1, "Oslo"), (5, "Rome")):
        commit(writer, model, *upserts(first, first + 4, city))
    ticket = scheduled(compactor, Clustering())
    batch = model.commit([Change(1, "Oslo")])
    with pytest.raises(CommitConflictError) as lost:
        writer.commit(batch, batch.spec.at_ms)
    assert "clustering" in lost.value.reason
    assert lost.value.cost.cpu_s > 0
    assert compactor.complete(ticket, 0).status == "ok"
    made = writer.commit(batch, batch.spec.at_ms)
    assert [version.tag.step for version in made.versions] == ["commit-3"]
    assert rows_of(writer) == model.rows


def test_a_clustering_that_fails_does_not_keep_updates_from_its_files(roles, model):
    """It fails once its plan is in flight, as does one that loses against a commit."""
    writer, compactor = roles(index="simple", partitioning=Partitioning("city"))
    for first, city in ((1, "Oslo"), (5, "Rome")):
        commit(writer, model, *upserts(first, first + 4, city))
    ticket = scheduled(compactor, Clustering())
    works = dict(compactor._services._options)
    compactor._services._options |= {"hoodie.clustering.execution.strategy.class": "no.such.Strategy"}
    outcome = compactor.complete(ticket, 0)
    assert (outcome.status, "no.such.Strategy" in outcome.error) == ("failed", True)
    assert not compactor.state(0).pending_groups
    commit(writer, model, (1, "Oslo"))
    compactor._services._options = works
    assert compactor.complete(scheduled(compactor, Clustering()), 0).status == "ok"
    assert rows_of(writer) == model.rows


def test_a_batch_that_is_done_again_is_in_the_table_once(roles, log, monkeypatch):
    """Its first commit reports a conflict, although it is on the table."""
    writer, _ = roles()
    load, batch = batches(log)[:2]
    writer.commit(load, load.spec.at_ms)
    write = HudiEngine._append

    def lost(self, rows, tag):
        write(self, rows, tag)
        raise ValueError("lost")

    with monkeypatch.context() as patch:
        patch.setattr(HudiEngine, "_append", lost)
        with pytest.raises(ValueError, match="lost"):
            writer.commit(batch, batch.spec.at_ms)
    made = writer.commit(batch, batch.spec.at_ms)
    assert [version.tag.step for version in made.versions] == ["commit-1"]
    assert rows_count(writer) == load.spec.rows + batch.spec.rows


def test_without_its_lock_a_run_cannot_go_on(roles, model):
    writer, compactor = roles()
    commit(writer, model, *upserts(1, 6))
    compactor._services._options |= {
        "hoodie.write.lock.zookeeper.url": "127.0.0.1:1",
        "hoodie.write.lock.zookeeper.connection_timeout_ms": "200",
        "hoodie.write.lock.num_retries": "0",
        "hoodie.write.lock.client.num_retries": "0",
    }
    with pytest.raises(EngineError) as problem:
        scheduled(compactor, ALL)
    assert problem.value.code == "no-lock"
