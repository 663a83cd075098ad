import itertools
from dataclasses import replace
from threading import Thread

import pytest
from fake_engine import CompactAll, Costs, FakeEngine
from live_roles import ManualClock, SlowEngine
from records import query
from replay import KeptRecords, batches
from scenario_builder import load

from bench.engines.contract import CommitConflictError
from bench.errors import EngineError
from bench.replay.active_strategy import ActiveStrategy
from bench.replay.claims import Claims
from bench.replay.history import History
from bench.replay.roles.live import Compacting, Looks, compactor, maintainer, reader, writer
from bench.replay.step_log import StepLog
from bench.results.records import (
    CommitRecord,
    CompactionRecord,
    DecisionRecord,
    MaintenanceRecord,
    QueryRecord,
)
from bench.scenario.schema import WriterRole
from strategies.iceberg.commands import METADATA_COMMANDS
from strategies.plan import Compact, Native, Plan, Reason
from strategies.strategy import Rule, Strategy
from strategies.triggers import Every


def test_a_wait_ends_with_the_writer():
    clock = ManualClock(speed=2.0)
    clock.wait_unless(lambda: clock.at_s >= 1, at_ms=60_000)
    assert 1 <= clock.at_s < 1.5
    clock.wait_unless(lambda: False, at_ms=60_000)
    assert clock.at_s == pytest.approx(30)


def test_cpu_is_that_of_the_own_thread():
    elapsed = ManualClock().stopwatch()
    other = Thread(target=sum, args=(range(10_000_000),))
    other.start()
    other.join()
    cost = elapsed()
    assert cost.cpu_s < 0.5 * cost.wall_s


def looks_of(scenario, clock, is_over):
    """In the middle of each interval."""
    interval_ms = scenario.commit_interval_ms
    moments_ms = (number * interval_ms + interval_ms // 2 for number in itertools.count())
    return Looks(moments_ms, interval_ms, clock, is_over)


class Stage:
    """One role on a table of its own."""

    def __init__(self, scenario, engine=None, *, speed=1.0, conflicts=0):
        self.scenario, self.clock, self.recorder = scenario, ManualClock(speed), KeptRecords()
        self.engine = SlowEngine(self.clock, engine or FakeEngine(), conflicts)
        self.log = StepLog("orders", self.recorder, self.clock, observer="writer")
        self.noted, self.queries = [], []
        self.claims = Claims(scenario.file.parent, "compactor-1", METADATA_COMMANDS)

    def run(self, role):
        for at_ms in role:
            self.clock.wait_until(at_ms)
        return self.recorder

    def write(self, retries=0):
        role = WriterRole(retries=retries, backoff="1s")
        return self.run(writer(batches(self.scenario), self.engine, role, self.log, self.clock))

    def compacting(self, *rules, is_given_up=False):
        strategy = ActiveStrategy(Strategy("mine", rules))
        note = lambda fields, at_s: self.noted.append(fields and fields["status"])  # noqa: E731
        return Compacting(
            self.scenario, strategy, self.engine, History(), None, self.log, self.looks(), note, self.asked,
            self.claims, lambda: is_given_up,
        )  # fmt: skip

    def asked(self):
        """What the reader has recorded since the last call."""
        new, self.queries = self.queries, []
        return new

    def looks(self):
        """Once in each interval, until the stream ends."""
        ends_s = self.scenario.duration_ms / 1000
        return looks_of(self.scenario, self.clock, lambda: self.clock.at_s >= ends_s)

    def with_commits(self):
        """The table after all commits of the stream, which took no time."""
        for batch in batches(self.scenario):
            self.engine.engine.commit(batch, batch.spec.at_ms)
        return self


def due(commit):
    return round(commit.span.ended_s - commit.at_ms / 1000, 6)


def test_a_commit_begins_when_it_is_due(tmp_path):
    written = Stage(load(tmp_path, duration="3min")).write().of(CommitRecord)
    assert [(c.tick, c.at_ms, c.waited_s, due(c)) for c in written] == [
        (1, 60_000, 0, 1.5), (2, 120_000, 0, 1.5), (3, 180_000, 0, 1.5),
    ]  # fmt: skip
    assert [(c.conflicts, c.wasted_cpu_s) for c in written] == [([], 0.0)] * 3


def test_a_late_commit_begins_at_once_and_its_latency_counts_from_when_it_was_due(tmp_path):
    slow = FakeEngine(Costs(prepare_s=10.0, commit_s=80.0))
    written = Stage(load(tmp_path, duration="3min"), slow).write().of(CommitRecord)
    assert [(c.waited_s, due(c)) for c in written] == [(0, 90.0), (30.0, 120.0), (60.0, 150.0)]


def test_speed_shrinks_the_intervals_and_not_the_work(tmp_path):
    written = Stage(load(tmp_path, duration="3min"), speed=60.0).write().of(CommitRecord)
    assert [c.span.started_s for c in written] == [1.5, 3.0, 4.5]
    assert [c.waited_s for c in written] == [0.0, 0.5, 1.0]


def test_a_commit_that_loses_is_done_again_and_its_cost_is_kept(tmp_path):
    stage = Stage(load(tmp_path, duration="1min"), conflicts=2)
    (commit,) = stage.write(retries=2).of(CommitRecord)
    assert commit.conflicts == ["missing data files"] * 2
    assert commit.wasted_cpu_s == 6.0
    assert (commit.waited_s, due(commit)) == (1.5 + 1.0 + 1.5 + 2.0, 7.5)
    assert len(stage.engine.ledger.data_files) == 8


def test_a_commit_that_has_lost_too_often_fails_the_run(tmp_path):
    stage = Stage(load(tmp_path, duration="1min"), conflicts=2)
    with pytest.raises(CommitConflictError, match="missing data files"):
        stage.write(retries=1)
    assert stage.recorder.records == []


def test_a_reader_asks_when_a_query_is_due_and_counts_from_then(tmp_path):
    slow = FakeEngine(Costs(query_file_s=0.1))
    stage = Stage(load(tmp_path, duration="1min"), slow).with_commits()
    asked = stage.run(reader(stage.scenario, stage.engine, [500, 1000, 59_000], stage.log, stage.clock))
    queries = asked.of(QueryRecord)
    assert {(q.when, q.primary, q.role) for q in queries} == {("due", True, "reader")}
    assert {q.tick for q in queries} == {0}
    assert [q.waited_s for q in queries] == pytest.approx([0.0, 0.3, 0.0])
    assert [q.span.started_s for q in queries] == pytest.approx([0.5, 1.3, 59.0])


def test_a_compactor_looks_at_each_commit_and_compacts_when_its_rule_is_due(tmp_path):
    stage = Stage(load(tmp_path, duration="4min")).with_commits()
    done = stage.run(compactor(stage.compacting(Rule(Every(120_000), CompactAll("full")))))
    assert [d.at_ms // 60_000 for d in done.of(DecisionRecord)] == [0, 1, 2, 3]
    assert {d.role for d in done.of(DecisionRecord)} == {"compactor-1"}
    (first,) = done.of(CompactionRecord)
    assert (first.status, first.role, first.plan_kind, first.at_ms // 60_000) == (
        "ok",
        "compactor-1",
        "full",
        2,
    )
    assert (first.before.data_files_count, first.after.data_files_count) == (32, 1)
    assert stage.noted == ["unfinished", None]
    assert replace(stage.claims, role="compactor-2").others() == ()


def test_what_another_compactor_is_about_to_replace_is_busy_and_a_plan_for_it_is_vetoed(tmp_path):
    states = []

    class Noting(CompactAll):
        def decide(self, state):
            states.append(state)
            return super().decide(state)

    stage = Stage(load(tmp_path, duration="2min")).with_commits()
    other = replace(stage.claims, role="compactor-2")
    other.take(Plan((Compact(),), Reason.DELETES), at_ms=5)
    (refused,) = stage.run(compactor(stage.compacting(Rule(Every(60_000), Noting())))).of(CompactionRecord)
    (pending,) = states[0].pending
    assert (pending.role, pending.scheduled_at_ms, pending.reason) == ("compactor-2", 5, "deletes")
    assert states[0].busy == {file.path for file in states[0].data_files} != set()
    assert (refused.status, refused.cost.wall_s, refused.error) == (
        "vetoed", 0.0, "other compactors are at work on its files",
    )  # fmt: skip
    assert stage.noted == []
    assert stage.recorder.of(DecisionRecord)[1].status == "planned"
    assert len(other.others()) == 0


def test_planners_see_what_the_reader_has_asked(tmp_path):
    states = []

    class Noting:
        def decide(self, state):
            states.append(state)

    stage = Stage(load(tmp_path, duration="2min"))
    answered = query(0.5, at_ms=30_000, when="due")
    stage.queries = [answered, query(9.0, at_ms=40_000, when="due", status="failed")]
    stage.run(compactor(stage.compacting(Rule(Every(60_000), Noting()))))
    assert states[0].probe_latency_s == 0.5
    assert [probe.at_ms for probe in states[0].probes] == [30_000]


def test_planners_see_how_often_readers_ask_now(tmp_path):
    rates_per_s = []

    class Noting:
        def decide(self, state):
            rates_per_s.append(state.probe_rate_per_s)

    bursts = {"arrival": {"type": "bursts", "every": "2min", "length": "1min", "factor": 3.0}}
    stage = Stage(load(tmp_path, duration="4min", queries=bursts))
    stage.run(compactor(stage.compacting(Rule(Every(60_000), Noting()))))
    assert rates_per_s == pytest.approx([1.5 / 60, 0.5 / 60, 1.5 / 60])


def test_while_it_compacts_it_looks_at_nothing(tmp_path):
    slow = FakeEngine(Costs(compaction_s=150.0))
    stage = Stage(load(tmp_path, duration="6min"), slow).with_commits()
    done = stage.run(compactor(stage.compacting(Rule(Every(60_000), CompactAll()))))
    looked = [d.at_ms for d in done.of(DecisionRecord)]
    assert all(later >= earlier + 60_000 for earlier, later in itertools.pairwise(looked))
    assert looked[2] >= looked[1] + 150_000  # the first look is before the rule is due


def test_a_compaction_that_loses_is_a_conflict(tmp_path):
    stage = Stage(load(tmp_path, duration="2min"), FakeEngine(fates={1: "vetoed"})).with_commits()
    (lost,) = stage.run(compactor(stage.compacting(Rule(Every(60_000), CompactAll())))).of(CompactionRecord)
    assert lost.status == "conflict"
    assert lost.before == lost.after


@pytest.mark.parametrize(
    ("fate", "is_given_up", "status"),
    [("failed", True, "unfinished"), ("failed", False, "failed"), ("ok", True, "ok")],
)
def test_a_compaction_that_fails_since_it_is_cancelled_is_unfinished(tmp_path, fate, is_given_up, status):
    stage = Stage(load(tmp_path, duration="2min"), FakeEngine(fates={1: fate})).with_commits()
    of = stage.compacting(Rule(Every(60_000), CompactAll()), is_given_up=is_given_up)
    (done,) = stage.run(compactor(of)).of(CompactionRecord)
    assert (done.status, done.cost.wall_s > 0) == (status, True)


def test_the_maintainer_maintains_by_its_own_rules(tmp_path):
    class Expiring:
        def decide(self, state):
            return Plan((Native("expire_snapshots", {}),), Reason.SCHEDULED)

    stage = Stage(load(tmp_path, duration="3min")).with_commits()
    rule = ActiveStrategy(Strategy("m", (Rule(Every(120_000), Expiring()),)))
    (done,) = stage.run(maintainer(stage.compacting(), [rule])).of(MaintenanceRecord)
    assert (done.at_ms // 60_000, done.status, done.role) == (2, "ok", "maintainer")


def test_there_is_a_look_in_each_interval_and_those_that_have_passed_are_skipped(tmp_path):
    stage = Stage(load(tmp_path, duration="100min"))
    moments = []
    for at_ms in stage.looks():
        stage.clock.wait_until(at_ms)
        moments.append(at_ms)
    assert [at_ms // 60_000 for at_ms in moments] == [*range(101)]  # the last one finds that it is over
    stage.clock.at_s = 200.0
    assert next(iter(stage.looks())) == moments[3]


def test_looks_go_on_while_the_writer_is_late_and_end_with_it(tmp_path):
    scenario, clock = load(tmp_path, duration="2min"), ManualClock()
    looks = iter(looks_of(scenario, clock, lambda: clock.at_s > 250.0))
    moments = []
    for at_ms in looks:
        clock.wait_until(at_ms)
        moments.append(at_ms)
    assert [at_ms // 60_000 for at_ms in moments] == [0, 1, 2, 3, 4]


def test_a_query_whose_files_are_gone_has_failed_and_the_reader_goes_on(tmp_path):
    stage = Stage(load(tmp_path, duration="1min")).with_commits()
    answered = stage.engine.query
    failures = iter([EngineError("gone", code="step-failed")])

    def query(probe, session="new"):
        if error := next(failures, None):
            raise error
        return answered(probe, session)

    stage.engine.query = query
    asked = stage.run(reader(stage.scenario, stage.engine, [500, 1000], stage.log, stage.clock))
    assert [q.status for q in asked.of(QueryRecord)] == ["failed", "ok"]


def test_what_has_not_begun_when_the_stream_ends_is_not_asked(tmp_path):
    slow = FakeEngine(Costs(query_file_s=10.0))
    stage = Stage(load(tmp_path, duration="1min"), slow).with_commits()
    asked = stage.run(reader(stage.scenario, stage.engine, [1000, 2000], stage.log, stage.clock))
    (first, second) = asked.of(QueryRecord)
    assert (first.status, second.status, second.cost.wall_s) == ("ok", "failed", 0.0)
    assert (first.span is None, second.span is None) == (False, True)
    assert second.waited_s == pytest.approx(79.0)
