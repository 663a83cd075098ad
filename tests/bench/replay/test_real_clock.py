import pytest
from fake_engine import CompactAll, Costs, FakeEngine
from replay import replay
from scenario_builder import load

from bench.results.records import CommitRecord, CompactionRecord, DecisionRecord, QueryRecord
from strategies.strategy import Rule
from strategies.triggers import Every

EVERY_1, EVERY_2 = (Rule(Every(minutes * 60_000), CompactAll()) for minutes in (1, 2))
COMMIT, READ = "commit ok, observe after commit", "query after_commit"
IDLE = f"{COMMIT}, decision mine 0 not_due, {READ}, query settled"
BEGIN = f"{COMMIT}, decision mine 0 planned, {READ}, query settled"
END = (
    f"{COMMIT}, {READ}, query before, observe after compaction, compaction ok of {{}}s, query after, "
    "query settled"
)


@pytest.fixture
def at_once(tmp_path):
    """A replay with a real clock in which a compaction takes so many seconds; a commit is each minute."""

    def run(duration, seconds, *rules, resources=None, **costs):
        scenario = load(tmp_path, duration=duration, resources=resources or {}, clock="real")
        recorder, _ = replay(scenario, *rules, engine=FakeEngine(Costs(expected_s=seconds, **costs)))
        return recorder

    return run


def test_a_compaction_commits_between_two_commits_and_meanwhile_no_rule_is_evaluated(at_once):
    recorder = at_once("5min", 90, EVERY_2)
    assert recorder.ticks() == [
        f"1 {IDLE}",
        f"2 {BEGIN}",
        f"3 {END.format(120)}",
        f"4 {BEGIN}",
        f"5 {END.format(240)}",
    ]
    first, second = recorder.of(CompactionRecord)
    assert (first.at_ms, second.at_ms) == (211_000, 331_000)  # a commit takes 1 s, and the compaction 90
    # It read the 16 files of two commits; 8 more came while it ran.
    assert first.change.files_removed_count == 16
    assert (first.before.data_files_count, first.after.data_files_count) == (24, 9)
    settled = [query for query in recorder.of(QueryRecord) if query.when == "settled" and query.primary]
    assert [query.at_ms for query in settled] == [60_000 * tick for tick in range(1, 6)]


def test_one_that_ends_before_the_next_commit_sees_none(at_once):
    first, *_ = at_once("4min", 20, EVERY_2).of(CompactionRecord)
    assert (first.tick, first.at_ms) == (2, 141_000)
    assert (first.before.data_files_count, first.after.data_files_count) == (16, 1)


def test_a_compactor_that_cannot_keep_up_falls_behind(at_once):
    recorder = at_once("10min", 150, EVERY_1)
    assert [c.scheduled_at_ms // 60_000 for c in recorder.of(CompactionRecord)] == [1, 4, 7, 10]
    assert [d.tick for d in recorder.of(DecisionRecord)] == [1, 4, 7, 10]


def test_what_is_not_done_at_the_end_is_completed_then(at_once):
    (only,) = at_once("3min", 600, EVERY_2).of(CompactionRecord)
    assert (only.status, only.tick) == ("ok", 3)


def test_a_compaction_that_takes_no_time_is_that_of_a_virtual_clock(at_once, tmp_path):
    at_once_ends = at_once("6min", 0, EVERY_2).of(CompactionRecord)
    in_turn, _ = replay(load(tmp_path, duration="6min"), EVERY_2)
    virtual = in_turn.of(CompactionRecord)
    assert [(c.tick, c.at_ms, c.change) for c in at_once_ends] == [
        (c.tick, c.at_ms, c.change) for c in virtual
    ]


def test_steps_that_run_at_the_same_time_share_cores(at_once):
    """Commit and compaction want two cores, a query one."""
    recorder = at_once("3min", 90, EVERY_2, resources={"shared_cores": 2}, compaction_s=90.0)
    alone, beside = recorder.of(CommitRecord)[0], recorder.of(CommitRecord)[2]
    assert (alone.cost.wall_s, beside.cost.wall_s) == (pytest.approx(1), pytest.approx(2))
    assert alone.cost.cpu_s == beside.cost.cpu_s
    (compaction,) = recorder.of(CompactionRecord)
    assert compaction.cost.wall_s == pytest.approx(91)  # half as fast in the 2 s of the commit
    assert compaction.at_ms == 121_000 + 91_000
    after_commit = [q for q in recorder.of(QueryRecord) if q.when == "after_commit" and q.primary]
    assert [q.cost.wall_s / (0.01 * 8 * q.tick) for q in after_commit] == [pytest.approx(1)] * 3
    recorder = at_once("3min", 90, EVERY_2, resources={"shared_cores": 1}, compaction_s=90.0)
    after_commit = [q for q in recorder.of(QueryRecord) if q.when == "after_commit" and q.primary]
    assert [q.cost.wall_s / (0.01 * 8 * q.tick) for q in after_commit] == [
        pytest.approx(slower) for slower in (1, 2, 2)
    ]


def test_a_writer_that_cannot_keep_up_is_ever_later(at_once):
    commits = at_once("4min", 0, commit_s=90.0).of(CommitRecord)
    assert [commit.waited_s for commit in commits] == [0, 30, 60, 90]


def test_scenario_time_begins_after_the_initial_load(tmp_path):
    scenario = load(
        tmp_path, duration="2min", clock="real",
        workload={"type": "upsert", "initial_rows": 10, "rows_per_commit": 4, "files_per_commit": 1},
    )  # fmt: skip
    recorder, _ = replay(scenario, engine=FakeEngine(Costs(commit_s=45.0)))
    commits = recorder.of(CommitRecord)
    assert [commit.is_initial for commit in commits] == [True, False, False]
    assert [commit.waited_s for commit in commits] == [0, 0, 0]


def test_delayed_plans_end_in_the_order_of_their_ends(at_once):
    slow = Rule(Every(60_000), CompactAll(), delay_ms=150_000, is_inline=True)
    recorder = at_once("5min", 0, slow)
    ends = [compaction.at_ms for compaction in recorder.of(CompactionRecord)]
    assert ends == sorted(ends)
    assert [c.scheduled_at_ms for c in recorder.of(CompactionRecord)] == [60_000 * n for n in range(1, 6)]
