from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from fake_engine import CompactAll, Costs, FakeEngine
from hypothesis import given
from hypothesis import strategies as st
from replay import replay
from scenario_builder import load

from bench.engines.contract import InlineCompaction, Outcome, Ticket, TicketId, Version
from bench.engines.iceberg.ledger import iceberg_ledger
from bench.engines.ledger import HISTORY_LIMIT
from bench.replay.history import History, probe_seen
from bench.results.records import CompactionRecord, QueryRecord
from bench.results.values import NO_COST, Change, Cost, ScanWork
from strategies.plan import Compact, Plan, Reason
from strategies.preview import NoPreview, PlanPreview, Preview, RewriteGroup
from strategies.series import Series
from strategies.state import DataFile, PartitionStats, ProbeSeen
from strategies.strategy import Rule
from strategies.triggers import Every

MINUTE_MS = 60_000
STATE = iceberg_ledger(100, {}).state(7 * MINUTE_MS)


@dataclass
class Noting:
    """Compacts everything, and keeps the states that it was shown."""

    states: list = field(default_factory=list)

    def decide(self, state):
        self.states.append(state)
        return CompactAll("minor").decide(state)


def told(history):
    return history.added_to(STATE, 0.25)


def probe(at_ms=0, latency_s=1.0):
    return ProbeSeen(at_ms, latency_s, 2.0, 3, 4)


def outcome(removed_count, status="ok"):
    change = Change(1, removed_count, added_bytes=5, replaced_bytes=6)
    return Outcome(status, NO_COST, (Version("v", "replace", change),), None)


def ticket(*previews, executor=None):
    plan = Plan((Compact(),), Reason.SCHEDULED, kind="minor")
    return Ticket(TicketId(1), plan, PlanPreview("v", previews), 60_000, 120_000, executor=executor)


def preview(*files):
    return Preview((RewriteGroup("", files, 0, 0, 1, 1, ()),))


RULES = st.lists(
    st.builds(
        Rule,
        st.builds(Every, st.sampled_from([MINUTE_MS, 2 * MINUTE_MS, 3 * MINUTE_MS])),
        st.just(CompactAll()),
        delay_ms=st.sampled_from([None, 30_000, MINUTE_MS, 2 * MINUTE_MS]),
        is_inline=st.booleans(),
    ),
    min_size=1,
    max_size=3,
)


@given(
    rules=RULES,
    probe_every=st.sampled_from(["1min", "2min", "3min"]),
    clock=st.sampled_from(["virtual", "real"]),
    expected_s=st.sampled_from([5.0, 45.0, 100.0]),
    failed=st.sets(st.integers(1, 8)),
    inline_at=st.frozensets(st.integers(1, 8)),
)
def test_planners_see_the_compactions_that_reports_show_with_the_same_queries(
    rules, probe_every, clock, expected_s, failed, inline_at
):
    noting = Noting()
    rules = (*(replace(rule, planner=noting) for rule in rules), Rule(Every(MINUTE_MS), noting))
    if clock == "real":
        rules = tuple(replace(rule, delay_ms=None, is_inline=False) for rule in rules)
    with TemporaryDirectory() as folder:
        scenario = load(Path(folder), duration="8min", probe_every=probe_every, clock=clock)
    engine = FakeEngine(Costs(expected_s=expected_s), dict.fromkeys(failed, "failed"), inline_at=inline_at)
    recorder, _ = replay(scenario, *rules, engine=engine)
    shown = [
        (e.compaction.at_ms, e.compaction.status, e.compaction.cost.wall_s, e.query_before_s, e.query_after_s)
        for e in recorder.effects
    ]
    for state in noting.states:
        seen = [(c.at_ms, c.status, c.wall_s, c.query_before_s, c.query_after_s) for c in state.compactions]
        if seen and seen[-1] == (*shown[len(seen) - 1][:-1], None):  # the query after it has still to run
            del seen[-1]
        assert seen == shown[: len(seen)]


def test_a_planner_sees_when_a_compaction_was_planned_and_what_ran_it(tmp_path):
    noting = Noting()
    scenario = load(tmp_path, duration="4min")
    rule = Rule(Every(2 * MINUTE_MS), noting, delay_ms=MINUTE_MS, executor="another")
    recorder, _ = replay(scenario, rule)
    (seen,), (record, _) = noting.states[-1].compactions, recorder.of(CompactionRecord)
    assert (seen.kind, seen.scheduled_at_ms, seen.at_ms) == ("minor", 2 * MINUTE_MS, 3 * MINUTE_MS)
    assert (seen.reason, seen.executor) == (Reason.SCHEDULED, "another")
    assert (seen.files_removed_count, seen.added_bytes) == (16, record.change.added_bytes)
    assert seen.cpu_s == record.cost.cpu_s


def test_probes_are_those_of_the_last_session(tmp_path):
    class LongLived(FakeEngine):
        sessions = ("new", "long-lived")

        def query(self, probe, session="new"):
            outcome = super().query(probe)
            return replace(outcome, cost=Cost(1.0, 2.0)) if session == "new" else outcome

    noting = Noting()
    recorder, _ = replay(load(tmp_path, duration="2min"), Rule(Every(MINUTE_MS), noting), engine=LongLived())
    first, _ = [q for q in recorder.of(QueryRecord) if q.primary and q.session == "long-lived"][:2]
    (seen,) = noting.states[0].probes
    assert seen == ProbeSeen(MINUTE_MS, first.cost.wall_s, first.cost.cpu_s, 8, 0)
    assert [p.at_ms for p in noting.states[1].probes] == [MINUTE_MS, MINUTE_MS, 2 * MINUTE_MS]
    assert noting.states[1].probe_latency_s == noting.states[1].probes[-1].latency_s


def test_counts_of_a_query_that_are_not_known_are_none():
    assert probe_seen(5, Cost(1.0, 2.0), ScanWork()) == ProbeSeen(5, 1.0, 2.0, None, None)


def test_histories_are_bounded():
    history = History()
    for number in range(HISTORY_LIMIT + 3):
        history.saw_compaction(number, number, ticket(), outcome(2))
        history.saw_probe(number, probe(number, number))
    state = told(history)
    assert len(state.probes) == len(state.compactions) == HISTORY_LIMIT
    assert (state.probes[0].at_ms, state.compactions[0].at_ms) == (3, 3)  # the oldest three are gone
    assert [c.query_after_s for c in state.compactions] == list(range(3, HISTORY_LIMIT + 3))


def test_without_anything_seen_nothing_is_known():
    state = told(History())
    assert (state.probes, state.compactions, dict(state.cost_priors)) == ((), (), {})
    assert (state.probe_latency_s, state.probe_latency_age_ms, state.probe_rate_per_s) == (None, None, 0.25)


def test_a_state_keeps_its_history_when_the_query_after_a_compaction_has_run():
    history = History()
    history.saw_compaction(1, 60_000, ticket(), outcome(2))
    before = told(history)
    history.saw_probe(1, probe(latency_s=3.0))
    assert [c.query_after_s for c in (*before.compactions, *told(history).compactions)] == [None, 3.0]


def replaced_by(*previews, removed_count, status="ok"):
    history = History()
    history.saw_compaction(1, 60_000, ticket(*previews), outcome(removed_count, status))
    return told(history).compactions[0].replaced


def test_what_a_compaction_replaced_is_known_by_partition_if_its_preview_holds():
    oslo = [DataFile("a", 10, 2, "city=Oslo"), DataFile("b", 20, 3, "city=Oslo")]
    rome = Series(DataFile("c1", 5, 1, "city=Rome"), 3, "c{}", 1)
    previews = preview(*oslo), preview(*rome.files())
    totals = {"city=Oslo": PartitionStats(2, 30, 5), "city=Rome": PartitionStats(3, 15, 3)}
    assert replaced_by(*previews, removed_count=5) == totals
    assert replaced_by(*previews, removed_count=4) is None  # of a table that has changed since
    assert replaced_by(previews[0], NoPreview("unknown"), removed_count=5) is None
    assert replaced_by(NoPreview("unknown"), removed_count=0) == {}


def test_a_compaction_that_a_commit_runs_by_itself_is_executed_by_the_engine():
    history = History()
    history.saw_probe(1, probe())
    versions = (Version("v", "replace", Change(1, 2)),)
    history.saw_inline(60_000, [InlineCompaction(Cost(1.0, 2.0), versions, "optimize")])
    history.saw_probe(1, probe())
    (seen,) = told(history).compactions
    assert (seen.status, seen.reason, seen.kind, seen.executor) == ("ok", "inline", "", "spark")
    assert (seen.at_ms, seen.files_removed_count, seen.cpu_s, seen.replaced) == (60_000, 2, 2.0, None)
    assert (seen.query_before_s, seen.query_after_s) == (None, None)


@pytest.mark.parametrize(
    ("tick", "status", "expected"),
    [
        (1, "ok", 1.0),
        (2, "ok", None),  # commits have changed the table since
        (1, "failed", None),
    ],
)
def test_the_query_before_a_compaction_is_of_its_tick_and_its_table(tick, status, expected):
    history = History()
    history.saw_probe(1, probe())
    history.saw_compaction(tick, 60_000, ticket(), outcome(2, status))
    assert told(history).compactions[0].query_before_s == expected
