from dataclasses import astuple, dataclass, replace
from itertools import pairwise

import pytest
from fake_engine import CompactAll, Costs, FakeEngine
from hypothesis import given
from hypothesis import strategies as st
from noting_planner import EverySecond
from replay import KeptRecords, batches, replay
from scenario_builder import load, maintenance

from bench.engines.contract import Batch
from bench.errors import EngineError
from bench.replay.active_strategy import ActiveStrategy
from bench.replay.clock import ModelledClock
from bench.replay.replay import replay as replay_stream
from bench.replay.step_log import ReplayTimes
from bench.results.records import (
    CommitRecord,
    CompactionRecord,
    ControlRecord,
    DecisionRecord,
    MaintenanceRecord,
    ObserveRecord,
    QueryRecord,
    SpeedRecord,
)
from bench.results.values import Cost
from strategies.never import Never
from strategies.plan import Compact, Plan, Reason
from strategies.planner import Answer
from strategies.strategy import Rule, Strategy
from strategies.triggers import AfterCommits, Every, FileCount

EVERY_2 = Rule(Every(120_000), CompactAll())
EVERY_1 = Rule(Every(60_000), CompactAll())
NEVER = Rule(AfterCommits(1), Never())

# Ticks as the log of a replay writes them.
BEGIN = "commit ok, observe after commit, query after_commit"
IDLE = f"{BEGIN}, decision mine 0 not_due, query settled"


@pytest.fixture
def scenario(tmp_path):
    """A commit a minute of 8 files into an unpartitioned table; `scenario("3min", ...)`."""
    return lambda duration, **changes: load(tmp_path, duration=duration, **changes)


def test_a_tick_is_commit_probe_decide_compact_settle(scenario):
    recorder, _ = replay(scenario("3min"), EVERY_2)
    assert recorder.ticks() == [
        f"1 {IDLE}",
        f"2 {BEGIN}, decision mine 0 planned, observe after compaction, compaction ok of 120s, query settled",
        f"3 {IDLE}",
    ]


def test_a_planner_that_remembers_finds_its_note_at_the_next_tick_of_its_rule(scenario):
    recorder, _ = replay(scenario("8min"), Rule(Every(120_000), EverySecond()))
    planned = [record.tick for record in recorder.of(DecisionRecord) if record.status == "planned"]
    assert planned == [4, 8]


def test_each_probe_runs_right_after_the_commit_and_at_the_end_of_the_tick(scenario):
    recorder, _ = replay(scenario("2min"), EVERY_2)
    probes = ["min_order", "key_lookup", "range", "aggregate"]
    assert [(q.tick, q.probe, q.when, q.primary) for q in recorder.of(QueryRecord)] == [
        (tick, name, when, name == "min_order")
        for tick in (1, 2)
        for when in ("after_commit", "settled")
        for name in probes
    ]


def test_the_primary_probe_comes_first_wherever_the_scenario_has_it(scenario):
    other = [{"name": "mine", "sql": "SELECT count(*) FROM orders", "primary": True}]
    recorder, _ = replay(scenario("1min", probes=other), NEVER)
    assert [q.probe for q in recorder.of(QueryRecord)][::5] == ["mine", "mine"]


def test_the_other_probes_run_at_a_cadence_of_their_own_in_the_same_ticks(scenario):
    slow = scenario("8min", probe_every="2min", side_probe_every="4min", probe_phase="fixed")
    recorder, _ = replay(slow, NEVER)
    queries = recorder.of(QueryRecord)
    for when in ("after_commit", "settled"):
        assert [q.tick for q in queries if (q.probe, q.when) == ("min_order", when)] == [2, 4, 6, 8]
        assert [q.tick for q in queries if (q.probe, q.when) == ("range", when)] == [4, 8]


def test_every_strategy_runs_the_same_queries_on_the_cadence(scenario):
    rules = [(), (NEVER,), (EVERY_1,), (EVERY_2,), (Rule(Every(180_000), CompactAll()),)]

    def asked(rules, **changes):
        recorder, _ = replay(scenario("6min", **changes), *rules)
        on_cadence = [q for q in recorder.of(QueryRecord) if q.when in ("after_commit", "settled")]
        return [(q.tick, q.probe, q.when) for q in on_cadence], len(recorder.of(QueryRecord))

    every_tick = [asked(mine) for mine in rules]
    assert all(queries == every_tick[0] and queries[1] == len(queries[0]) for queries in every_tick)
    assert len({tuple(asked(mine, probe_every="3min")[0]) for mine in rules}) == 1


def test_the_control_query_runs_before_the_probes_of_each_tick_of_the_cadence(scenario):
    engine = FakeEngine(Costs(control_s=0.5))
    recorder, times = replay(scenario("4min", probe_every="2min", probe_phase="fixed"), NEVER, engine=engine)
    controls = recorder.of(ControlRecord)
    costs = [(c.tick, c.at_ms, c.cost.wall_s, c.cost.cpu_s) for c in controls]
    assert costs == [(2, 120_000, 0.5, 1.0), (4, 240_000, 0.5, 1.0)]
    log = recorder.log()
    assert log[log.index("2 control ok") + 1] == "2 query after_commit"
    recorded_s = sum(r.cost.wall_s for r in recorder.records if r.kind != "observe")
    assert times.measured_s == pytest.approx(recorded_s + 4 * 0.5)  # and preparing four batches


def test_the_speed_of_the_machine_is_read_at_each_tick_of_the_cadence(scenario):
    changes = {"probe_every": "2min", "probe_phase": "fixed"}
    recorder, times = replay(scenario("4min", **changes), NEVER, fixed_work=lambda: Cost(0.25, 0.2))
    speeds = [(s.tick, s.span.wall_s, s.cost.cpu_s) for s in recorder.of(SpeedRecord)]
    assert speeds == [(2, 0.25, 0.2), (4, 0.25, 0.2)]
    _, without = replay(scenario("4min", **changes), NEVER)
    assert times.measured_s == pytest.approx(without.measured_s + 2 * 0.25)


def test_each_query_runs_once_by_each_kind_of_session_and_decides_by_the_last(scenario):
    engine = FakeEngine()
    engine.sessions = ("new", "long-lived")
    rule = Rule(Every(60_000), EverySecond())
    recorder, _ = replay(scenario("2min", probe_every="2min", probe_phase="fixed"), rule, engine=engine)
    primary = [(q.tick, q.when, q.session) for q in recorder.of(QueryRecord) if q.primary]
    assert primary == [
        (2, when, session) for when in ("after_commit", "settled") for session in ("new", "long-lived")
    ]


def test_the_page_cache_is_dropped_before_each_query(scenario):
    dropped = []
    engine = FakeEngine()
    query = engine.query
    engine.query = lambda probe, session: (dropped.append(probe.name), query(probe))[1]
    replay(scenario("1min"), NEVER, engine=engine, drop_page_cache=lambda: dropped.append("dropped"))
    assert dropped[::2] == ["dropped"] * 8
    assert "dropped" not in dropped[1::2]


def test_off_the_cadence_a_compaction_gets_a_probe_before_it(scenario):
    recorder, _ = replay(scenario("3min", probe_every="3min", probe_phase="fixed"), EVERY_2)
    assert recorder.ticks() == [
        "1 commit ok, observe after commit, decision mine 0 not_due",
        "2 commit ok, observe after commit, decision mine 0 planned, "
        "query before, observe after compaction, compaction ok of 120s, query after",
        f"3 {IDLE}",
    ]


@pytest.mark.parametrize(
    ("every", "ticks"),
    [
        ("300ms", [3, 6, 9, 10]),  # the last window is short; in seconds 3 x 0.1 would be 0.30000000000000004
        ("100ms", list(range(1, 11))),  # in seconds 0.9 % 0.1 would be 0.09999999999999995
    ],
)
def test_a_cadence_holds_at_times_that_are_no_round_numbers(scenario, every, ticks):
    fixed = scenario("1s", commit_interval="100ms", probe_every=every, probe_phase="fixed")
    recorder, _ = replay(fixed, NEVER)
    assert [q.tick for q in recorder.of(QueryRecord) if q.primary and q.when == "settled"] == ticks


def test_off_the_cadence_a_delayed_compaction_is_probed_when_it_completes(scenario):
    slow = scenario("4min", probe_every="4min", probe_phase="fixed")
    recorder, _ = replay(replace(slow, compaction_delay_ms=60_000), EVERY_2)
    probed = [(q.tick, q.when) for q in recorder.of(QueryRecord) if q.primary]
    # The plan of 240 s is carried out after the last tick, which has been probed.
    assert probed == [(3, "before"), (3, "after"), (4, "after_commit"), (4, "settled"), (4, "after")]


def test_a_delayed_compaction_completes_when_due_with_commits_landing_between(scenario):
    slow = replace(scenario("6min"), compaction_delay_ms=120_000)
    recorder, _ = replay(slow, EVERY_2)
    assert recorder.ticks() == [
        f"1 {IDLE}",
        f"2 {BEGIN}, decision mine 0 planned, query settled",
        f"3 {IDLE}",
        f"4 {BEGIN}, observe after compaction, compaction ok of 120s, decision mine 0 planned, query settled",
        f"5 {IDLE}",
        f"6 {BEGIN}, observe after compaction, compaction ok of 240s, decision mine 0 planned, "
        "query settled, observe after compaction, compaction ok of 360s, query after",
    ]
    first = recorder.of(CompactionRecord)[0]
    # Scheduled over the 16 files of two commits; 16 more had landed when it completed.
    assert first.change.files_removed_count == 16
    assert (first.before.data_files_count, first.after.data_files_count) == (32, 17)


def test_a_delay_between_two_commits_ends_at_the_next(scenario):
    recorder, _ = replay(replace(scenario("4min"), compaction_delay_ms=90_000), EVERY_2)
    ends = [(c.tick, c.scheduled_at_ms) for c in recorder.of(CompactionRecord)]
    assert ends == [(4, 120_000), (4, 240_000)]


def test_compactions_that_overlap_are_pending_together_and_end_in_order(scenario):
    engine = FakeEngine()
    recorder, _ = replay(replace(scenario("3min"), compaction_delay_ms=600_000), EVERY_1, engine=engine)
    assert [len(state.pending) for state in engine.states] == [0, 1, 2]
    ended = [(c.tick, c.scheduled_at_ms, c.status) for c in recorder.of(CompactionRecord)]
    # At the end the first merges its 8 files; the others planned them too and find them gone.
    assert ended == [(3, 60_000, "ok"), (3, 120_000, "failed"), (3, 180_000, "failed")]


def test_maintenance_is_apart_from_compaction_and_two_due_at_once_both_run(scenario):
    rules = [
        maintenance("iceberg.expire_snapshots", "2min", retain="1min"),
        maintenance("iceberg.rewrite_manifests", "2min"),
    ]
    recorder, _ = replay(scenario("2min", maintenance=rules), EVERY_2)
    assert recorder.ticks()[1] == (
        f"2 {BEGIN}, decision mine 0 planned, observe after compaction, compaction ok of 120s, "
        "maintenance iceberg.expire_snapshots ok, observe after maintenance, "
        "maintenance iceberg.rewrite_manifests ok, observe after maintenance, query settled"
    )
    first, second = recorder.of(MaintenanceRecord)
    (merged,) = recorder.of(CompactionRecord)
    assert first.command == "iceberg.expire_snapshots(older_than_at_ms=60000, retain_last=1)"
    # The merged files, then none.
    assert (first.freed_bytes, second.freed_bytes) == (merged.change.replaced_bytes, 0)


def test_the_initial_load_is_no_tick_of_the_stream(scenario):
    workload = {"initial_rows": 80, "initial_files": 4}
    recorder, _ = replay(scenario("2min", workload=workload), Rule(AfterCommits(2), CompactAll()))
    assert recorder.ticks() == [
        "0 commit ok, observe after initial",
        f"1 {IDLE}",
        f"2 {BEGIN}, decision mine 0 planned, observe after compaction, compaction ok of 120s, query settled",
    ]
    assert [c.is_initial for c in recorder.of(CommitRecord)] == [True, False, False]


def test_a_tick_without_rows_is_a_tick_without_a_commit(scenario):
    first, second = batches(scenario("2min"))
    empty = Batch(replace(second.spec, rows=0, inserts=0, partitions=()))
    recorder, _ = replay(scenario("2min"), EVERY_2, stream=[first, empty])
    assert recorder.ticks()[1] == (
        "2 observe after commit, query after_commit, decision mine 0 planned, "
        "observe after compaction, compaction ok of 120s, query settled"
    )


def test_a_commit_record_holds_what_the_engine_and_the_log_say(scenario):
    recorder, _ = replay(scenario("1min"), NEVER)
    (batch,) = batches(scenario("1min"))
    (commit,) = recorder.of(CommitRecord)
    assert (commit.rows, commit.change.files_added_count, commit.ingested_bytes) == (80, 8, batch.size_bytes)
    assert commit.change.added_bytes == batch.spec.expected_bytes // 8 * 8  # the fake's files are all alike
    assert (commit.cost.wall_s, commit.cost.cpu_s, commit.prepare_s) == (1.0, 2.0, 0.5)
    assert (commit.change.metadata_bytes, commit.change.metadata_files_count) == (100, 2)


def test_probes_around_a_compaction_are_told_for_effective_ones_only(scenario):
    engine = FakeEngine(fates={2: "failed", 3: "vetoed"})
    recorder, _ = replay(scenario("4min"), EVERY_1, engine=engine)
    # 0.01 s a file: 8 files become 1; 9 and 17 stay; 25 become 1.
    assert [
        (e.compaction.status, e.compaction.error, e.query_before_s, e.query_after_s) for e in recorder.effects
    ] == [
        ("ok", None, 0.08, 0.01),
        ("failed", "made to be failed", None, None),
        ("vetoed", "made to be vetoed", None, None),
        ("ok", None, 0.25, 0.01),
    ]
    # The settled probe of each tick is the query after its compaction, and runs without one too.
    assert [line for line in recorder.log() if "query" in line and "commit" not in line] == [
        f"{tick} query settled" for tick in (1, 2, 3, 4)
    ]


def test_a_noop_is_recorded_as_one(scenario):
    recorder, _ = replay(scenario("1min", workload={"files_per_commit": 1}), EVERY_1)
    (record,) = recorder.of(CompactionRecord)
    assert (record.status, record.change.files_removed_count) == ("noop", 0)
    assert recorder.effects[0].query_before_s is None


def test_a_compaction_record_tells_files_and_bytes_around_it(scenario):
    recorder, _ = replay(scenario("2min"), EVERY_2)
    (record,) = recorder.of(CompactionRecord)
    assert (record.before.data_files_count, record.after.data_files_count) == (16, 1)
    assert (record.change.files_removed_count, record.change.files_added_count) == (16, 1)
    assert record.before.live_bytes == record.after.live_bytes == record.change.replaced_bytes
    assert record.change.replaced_bytes == record.change.added_bytes
    assert (record.before.rows, record.after.rows) == (160, 160)  # two commits of 80
    assert (record.reason, record.actions) == ("scheduled", ["compact(all partitions)"])
    assert (record.cost.wall_s, record.cost.cpu_s) == (4.0, 8.0)


def test_a_compaction_record_keeps_delete_files_apart(scenario):
    engine = FakeEngine(deletes=3)
    recorder, _ = replay(scenario("2min"), Rule(Every(120_000), CompactAll(kind="minor")), engine=engine)
    (record,) = recorder.of(CompactionRecord)
    # 2 commits of 8 data files and 3 delete files of 10 rows; of these the newest stays, by position.
    assert (record.change.files_removed_count, record.change.files_added_count) == (16, 1)
    assert (record.change.delete_files_removed_count, record.change.delete_files_added_count) == (5, 0)
    assert (record.before.delete_files_count, record.after.delete_files_count) == (6, 1)
    assert (record.after.delete_rows, record.after.equality_files_count) == (10, 0)
    assert record.plan_kind == "minor"


def test_a_look_at_the_table_counts_delete_files_and_their_rows(scenario):
    recorder, _ = replay(scenario("2min"), EVERY_2, engine=FakeEngine(deletes=3))
    told = [
        (o.after, o.table.delete_files_count, o.table.delete_rows, o.table.equality_files_count)
        for o in recorder.of(ObserveRecord)
    ]
    assert told == [("commit", 3, 30, 1), ("commit", 6, 60, 2), ("compaction", 1, 10, 0)]


def test_what_a_planner_makes_of_the_table_is_recorded_where_its_trigger_fired(scenario):
    class Counting:
        def decide(self, state):
            files_count = len(state.data_files)
            plan = Plan((Compact(),), Reason.SCHEDULED) if files_count > 20 else None
            return Answer(plan, figures={"files": files_count})

    recorder, _ = replay(scenario("4min"), Rule(Every(120_000), Counting()), Rule(Every(60_000), Never()))
    told = [(d.tick, d.rule, d.status, d.figures) for d in recorder.of(DecisionRecord)]
    assert told == [
        (1, 0, "not_due", None),
        (1, 1, "nothing_to_do", None),  # this planner has no figures
        (2, 0, "nothing_to_do", {"files": 16.0}),
        (2, 1, "nothing_to_do", None),
        (3, 0, "not_due", None),
        (3, 1, "nothing_to_do", None),
        (4, 0, "planned", {"files": 32.0}),  # of the table before the plan is carried out
    ]


class Counted(ModelledClock):
    """Each step of our own process takes a quarter of a second, half of it on the CPU."""

    def stopwatch(self):
        return lambda: Cost(0.25, 0.125)


def test_a_decision_costs_what_its_trigger_and_planner_take_and_the_state_they_look_at(scenario):
    waiting = Rule(Every(120_000), CompactAll())
    counting = Rule(FileCount(1_000), CompactAll())
    recorder, times = replay(scenario("2min"), NEVER, waiting, counting, EVERY_1, clock=Counted())
    told = [
        (d.tick, d.rule, d.status, d.cost.wall_s, d.cost.cpu_s, d.state_wall_s, d.state_cpu_s)
        for d in recorder.of(DecisionRecord)
    ]
    # The state, read in 0.25 s, goes to the first rule of a tick that has to look at it: neither to the
    # planner that never plans, nor to an interval that is not over.
    assert told == [
        (1, 0, "nothing_to_do", 0.25, 0.125, 0.0, 0.0),
        (1, 1, "not_due", 0.25, 0.125, 0.0, 0.0),
        (1, 2, "not_due", 0.25, 0.125, 0.25, 0.25),
        (1, 3, "planned", 0.25, 0.125, 0.0, 0.0),
        (2, 0, "nothing_to_do", 0.25, 0.125, 0.0, 0.0),
        (2, 1, "planned", 0.25, 0.125, 0.25, 0.25),
    ]
    recorded_s = sum(r.cost.wall_s for r in recorder.records if r.kind != "observe")
    assert times.measured_s == pytest.approx(recorded_s + 2 * 0.5)
    first, second = recorder.of(DecisionRecord)[:2]
    assert second.span.started_s == first.span.ended_s


def test_the_state_a_planner_sees_knows_how_often_how_fast_and_how_long_ago_the_table_was_read(scenario):
    seen = []

    class Spy:
        def decide(self, state):
            seen.append((state.observed_at_ms, state.probe_latency_s, state.probe_latency_age_ms))
            assert state.probe_rate_per_s == 1 / 120

    replay(scenario("4min", probe_every="2min", probe_phase="fixed"), Rule(Every(60_000), Spy()))
    # A probe every 120 s takes 0.01 s for each of 8 files a commit.
    assert seen == [(60_000, None, None), (120_000, 0.16, 0), (180_000, 0.16, 60_000), (240_000, 0.32, 0)]


def test_a_planner_sees_how_often_readers_ask_now(tmp_path):
    seen = []

    class Spy:
        def decide(self, state):
            seen.append(state.probe_rate_per_s)

    bursts = {"arrival": {"type": "bursts", "every": "2min", "length": "1min", "factor": 3.0}}
    changing = load(tmp_path, duration="4min", probe_every="2min", queries=bursts)
    replay(changing, Rule(Every(60_000), Spy()))
    assert seen == pytest.approx([1.5 / 120, 0.5 / 120] * 2)


def test_a_compaction_is_recorded_even_if_a_step_after_it_fails(scenario):
    class Broken(FakeEngine):
        compacted = False

        def complete(self, ticket, at_ms):
            self.compacted = True
            return super().complete(ticket, at_ms)

        def query(self, probe, session):
            if self.compacted:
                raise EngineError("the disk is gone", code="test")
            return super().query(probe, session)

    recorder, stream = KeptRecords(), batches(scenario("2min"))
    mine = ActiveStrategy(Strategy("mine", (EVERY_1,)))
    with pytest.raises(EngineError, match="the disk is gone"):
        replay_stream(scenario("2min"), mine, Broken(), stream, recorder, ModelledClock())
    assert [record.status for record in recorder.of(CompactionRecord)] == ["ok"]


def test_after_compaction_is_called_with_the_commits_so_far(scenario):
    called = []
    engine = FakeEngine(fates={2: "failed"})
    replay(scenario("4min"), EVERY_2, engine=engine, after_compaction=called.append)
    assert called == [2, 4]


def test_a_compaction_inside_a_commit_is_booked_as_one_and_the_commit_waits_for_it(scenario):
    engine = FakeEngine(Costs(commit_s=1.0, compaction_s=4.0), inline_at=frozenset({2}))
    recorder, times = replay(scenario("2min"), engine=engine)
    first, second = recorder.of(CommitRecord)
    commits = [(c.cost.wall_s, c.waited_s, c.change.files_added_count) for c in (first, second)]
    assert commits == [(1, 0, 8), (1, 4, 8)]
    (inline,) = recorder.of(CompactionRecord)
    assert (inline.is_inline, inline.role, inline.status, inline.cost.wall_s) == (True, "writer", "ok", 4)
    assert inline.actions == ["auto_compact()"]
    assert (inline.change.files_removed_count, inline.change.files_added_count) == (16, 1)
    # Each effect belongs to its own version, whoever observed the table afterwards.
    assert (first.versions, second.versions, inline.versions) == (["v1"], ["v2"], ["v3"])
    assert second.change.added_bytes == first.change.added_bytes
    assert inline.span.started_s == second.span.ended_s
    state = engine.ledger.state(120_000)
    assert state.commits_total_count == len(state.commits) == 2
    queries_s = sum(q.cost.wall_s for q in recorder.of(QueryRecord))
    assert times.measured_s == pytest.approx(2 * (0.5 + 1) + 4 + queries_s)


def test_what_an_inline_rule_plans_is_completed_within_the_commit(scenario):
    inline = replace(EVERY_2, is_inline=True)
    recorder, times = replay(scenario("2min"), inline, engine=FakeEngine(Costs(compaction_s=4.0)))
    observed, queries = "commit ok, observe after commit", "query after_commit, query settled"
    assert recorder.ticks() == [
        f"1 {observed}, decision mine 0 not_due, {queries}",
        f"2 {observed}, decision mine 0 planned, compaction ok of 120s, {queries}",
    ]
    first, second = recorder.of(CommitRecord)
    assert [(c.cost.wall_s, c.waited_s) for c in (first, second)] == [(1, 0), (1, 4)]
    (done,) = recorder.of(CompactionRecord)
    assert (done.is_inline, done.role) == (True, "writer")
    assert [(effect.query_before_s, effect.query_after_s) for effect in recorder.effects] == [(None, None)]
    assert (done.before.data_files_count, done.after.data_files_count, done.cost.wall_s) == (16, 1, 4)
    assert done.span.started_s == second.span.ended_s
    queries_s = sum(q.cost.wall_s for q in recorder.of(QueryRecord))
    assert times.measured_s == pytest.approx(2 * (0.5 + 1) + 4 + queries_s)


def test_for_an_inline_rule_with_a_delay_the_commit_waits_until_it_is_scheduled(scenario):
    scheduling = replace(EVERY_1, is_inline=True, delay_ms=60_000)
    recorder, _ = replay(scenario("2min"), scheduling, engine=FakeEngine(Costs(staging_s=0.5)))
    assert [c.waited_s for c in recorder.of(CommitRecord)] == [0.5, 0.5]
    done = recorder.of(CompactionRecord)
    assert [(c.scheduled_at_ms, c.at_ms) for c in done] == [(60_000, 120_000), (120_000, 120_000)]
    assert not any(c.is_inline for c in done)


def test_the_delay_of_a_scenario_is_not_for_inline_rules(scenario):
    inline = replace(EVERY_1, is_inline=True)
    recorder, _ = replay(replace(scenario("1min"), compaction_delay_ms=60_000), inline)
    assert [(c.at_ms, c.is_inline) for c in recorder.of(CompactionRecord)] == [(60_000, True)]


def test_of_inline_rules_and_the_others_either_may_plan_in_a_tick(scenario):
    """Among each the first plan wins."""
    rules = (replace(EVERY_1, is_inline=True), replace(EVERY_1, is_inline=True), NEVER, EVERY_2)
    recorder, _ = replay(scenario("2min"), *rules)
    assert [(d.tick, d.rule, d.status) for d in recorder.of(DecisionRecord)] == [
        (1, 0, "planned"), (1, 2, "nothing_to_do"), (1, 3, "not_due"),
        (2, 0, "planned"), (2, 2, "nothing_to_do"), (2, 3, "planned"),
    ]  # fmt: skip


def test_a_rule_may_have_a_delay_of_its_own(scenario):
    delayed = replace(EVERY_1, delay_ms=60_000)
    recorder, _ = replay(scenario("2min"), delayed)
    done = [(c.scheduled_at_ms, c.at_ms) for c in recorder.of(CompactionRecord)]
    assert done == [(60_000, 120_000), (120_000, 120_000)]
    recorder, _ = replay(replace(scenario("2min"), compaction_delay_ms=60_000), replace(EVERY_1, delay_ms=0))
    assert [(c.scheduled_at_ms, c.at_ms) for c in recorder.of(CompactionRecord)] == [
        (60_000, 60_000), (120_000, 120_000),
    ]  # fmt: skip


def test_a_staged_plan_has_a_span_for_each_phase(scenario):
    delayed = replace(EVERY_1, delay_ms=60_000)
    engine = FakeEngine(Costs(compaction_s=4.0, staging_s=1.5))
    recorder, _ = replay(scenario("2min"), delayed, engine=engine)
    first, second = recorder.of(CompactionRecord)
    assert (first.staged.wall_s, first.span.wall_s, first.cost.wall_s) == (1.5, 2.5, 4.0)
    planned = [d for d in recorder.of(DecisionRecord) if d.status == "planned"]
    assert [c.staged.started_s >= d.span.ended_s for c, d in zip((first, second), planned, strict=True)]
    assert first.staged.ended_s < first.span.started_s  # a commit came in between


DELAYED = [replace(EVERY_1, delay_ms=60_000), replace(EVERY_2, delay_ms=120_000)]
RULES = st.sampled_from([EVERY_1, EVERY_2, *DELAYED, replace(EVERY_2, is_inline=True)])


@given(st.lists(RULES, max_size=3), st.sampled_from([0.0, 1.5]))
def test_no_record_ends_after_the_next_step_of_its_role_has_begun(tmp_path_factory, rules, staging_s):
    scenario = load(tmp_path_factory.mktemp("spans"), duration="6min", probe_every="3min")
    recorder, _ = replay(scenario, *rules, engine=FakeEngine(Costs(staging_s=staging_s)))
    by_role = {}
    for record in recorder.records:
        by_role.setdefault(record.role, []).append(record.span)
    for spans in by_role.values():
        assert all(a.ended_s <= b.started_s + 1e-9 for a, b in pairwise(sorted(spans, key=astuple)))


def test_records_say_when_a_step_began_and_ended_on_the_clock_of_the_run(scenario):
    costs = Costs(prepare_s=0.5, commit_s=1.0, query_file_s=0.125, compaction_s=4.0, observe_s=0.0)
    recorder, _ = replay(scenario("2min"), EVERY_2, engine=FakeEngine(costs))
    timed = [r for r in recorder.records if not isinstance(r, ObserveRecord | DecisionRecord)]
    by_start = sorted(timed, key=lambda r: r.span.started_s)
    assert by_start[0].span.started_s == 0.5  # the batch was prepared before
    assert all(r.span.ended_s == r.span.started_s + r.cost.wall_s for r in timed)
    assert all(a.span.ended_s <= b.span.started_s for a, b in pairwise(by_start))  # one step at a time
    assert {type(r).__name__: r.role for r in recorder.records} == {
        "CommitRecord": "writer", "ObserveRecord": "reader", "QueryRecord": "reader",
        "DecisionRecord": "compactor", "CompactionRecord": "compactor",
    }  # fmt: skip
    assert [r.version for r in recorder.of(ObserveRecord)] == ["v1", "v2", "v3"]


def test_seconds_are_split_into_measured_observing_and_own(scenario):
    costs = Costs(prepare_s=0.5, commit_s=1.0, query_file_s=0.125, compaction_s=4.0, observe_s=0.25)
    _, times = replay(scenario("2min"), EVERY_2, engine=FakeEngine(costs))
    # 2 commits of 0.5 + 1 s; 4 probes twice over 8 files, once over 16 and once over 1; one compaction.
    assert times.measured_s == 2 * 1.5 + (4 * 8 + 4 * 8 + 4 * 16 + 4 * 1) * 0.125 + 4.0
    assert times.observe_s == 3 * 0.25  # two commits, one compaction


def test_own_seconds_are_what_is_left_and_never_negative():
    assert ReplayTimes(loop_s=10.0, measured_s=7.0, observe_s=2.0).own_s == 1.0
    assert ReplayTimes(loop_s=1.0, measured_s=7.0, observe_s=2.0).own_s == 0.0


def test_each_rule_is_timed_by_itself(scenario):
    class Stopped(ModelledClock):
        """A stopwatch shows by how much it was advanced."""

        def stopwatch(self):
            began_s = self.now_s()
            return lambda: Cost(self.now_s() - began_s)

    clock = Stopped()

    @dataclass(frozen=True)
    class Thinking:
        takes_s: float

        def decide(self, state):
            clock.advance(self.takes_s)

    rules = (Rule(Every(60_000), Thinking(0.5)), Rule(Every(60_000), Thinking(0.25)))
    recorder, _ = replay(scenario("1min"), *rules, clock=clock)
    assert [record.cost for record in recorder.of(DecisionRecord)] == [Cost(0.5), Cost(0.25)]
