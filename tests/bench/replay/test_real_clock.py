import itertools

import pytest
from fake_engine import CompactAll, Costs, FakeEngine
from replay import replay
from scenario_builder import load

from bench.engines.contract import CommitConflictError
from bench.replay.looks import looks_ms
from bench.results.records import CommitRecord, CompactionRecord, DecisionRecord, QueryRecord
from strategies.strategy import Rule
from strategies.triggers import Every

EVERY_1, EVERY_2 = (Rule(Every(minutes * 60_000), CompactAll()) for minutes in (1, 2))
COMMIT, READ = "commit ok, observe after commit", "query after_commit"
IDLE = f"{COMMIT}, {READ}, decision mine 0 not_due, query settled"
BEGIN = f"{COMMIT}, {READ}, decision mine 0 planned, query settled"
END = (
    f"{COMMIT}, {READ}, query before, observe after compaction, compaction ok of {{}}s, query after, "
    "query settled"
)


@pytest.fixture
def looks(monkeypatch):
    """Lets the compactor look so many milliseconds after each commit was due, 1 s unless told otherwise."""

    def after(offset_ms):
        def moments_ms(scenario, role, repetition):
            return (number * scenario.commit_interval_ms + offset_ms for number in itertools.count())

        monkeypatch.setattr("bench.replay.replay.looks_ms", moments_ms)

    after(1_000)
    return after


@pytest.fixture
def at_once(tmp_path, looks):
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
        f"3 {END.format(121)}",
        f"4 {BEGIN}",
        f"5 {END.format(241)}",
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
        (c.tick, c.at_ms + 1_000, c.change) for c in virtual
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


@pytest.fixture
def beside(tmp_path, looks):
    """A replay in which a commit takes 10 s and loses against a compaction that commits in it."""
    looks(10_000)

    def run(seconds, *rules, duration="4min", retries=10, backoff="3s", merges=True, **clock):
        roles = {"writer": {"retries": retries, "backoff": backoff}}
        scenario = load(tmp_path, duration=duration, roles=roles, clock="real", **clock)
        engine = FakeEngine(Costs(expected_s=seconds, commit_s=10.0), merges=merges)
        return replay(scenario, *rules, engine=engine)[0]

    return run


def test_a_commit_that_a_compaction_overtakes_is_done_again(beside):
    """The compaction begins at 130 s, when the commit of 120 s has ended, and ends at 185 s."""
    recorder = beside(55, EVERY_2, duration="3min")
    commits = recorder.of(CommitRecord)
    assert [commit.conflicts for commit in commits] == [[], [], ["missing data files"]]
    assert [commit.wasted_cpu_s for commit in commits] == [0, 0, 20]
    assert [commit.waited_s for commit in commits] == [0, 0, 10 + 3]
    assert [commit.cost.wall_s for commit in commits] == [10, 10, 10]
    (only,) = recorder.of(CompactionRecord)
    assert (only.status, only.at_ms) == ("ok", 185_000)


def test_one_that_ends_before_or_after_the_commit_is_no_conflict(beside):
    for seconds in (45, 65):
        commits = beside(seconds, EVERY_2, duration="3min").of(CommitRecord)
        assert [commit.conflicts for commit in commits] == [[], [], []]


def test_a_commit_that_has_no_retries_ends_the_run(beside):
    with pytest.raises(CommitConflictError):
        beside(55, EVERY_2, retries=0)


def test_scenario_time_that_passes_faster_makes_compactions_longer_in_it(beside):
    """Ten times as fast, a minute is 6 s: commits of 10 s are ever later."""
    recorder = beside(2, EVERY_2, duration="4min", merges=False, speed=10.0)
    assert [commit.waited_s for commit in recorder.of(CommitRecord)] == [
        pytest.approx(4 * tick) for tick in range(4)
    ]
    # The look is 13 s after the start, when the first commit runs, which ends after 16.
    first = recorder.of(CompactionRecord)[0]
    assert (first.scheduled_at_ms, first.at_ms) == (130_000, pytest.approx(180_000, abs=1))


def test_in_turns_no_commit_says_that_it_might_lose(tmp_path):
    recorder, _ = replay(load(tmp_path, duration="3min"), EVERY_2, engine=FakeEngine(merges=True))
    assert {commit.conflicts for commit in recorder.of(CommitRecord)} == {None}
    assert {commit.wasted_cpu_s for commit in recorder.of(CommitRecord)} == {None}


def test_a_compaction_that_begins_during_a_commit_does_not_see_it(beside, looks):
    """It begins 4 s after the commit did, and by its record so much later than that was due."""
    looks(4_000)
    recorder = beside(30, EVERY_2, duration="3min", merges=False)
    (only,) = recorder.of(CompactionRecord)
    assert (only.scheduled_at_ms, only.at_ms) == (124_000, 154_000)
    assert only.change.files_removed_count == 8  # those of the first commit
    assert [one.tick for one in recorder.of(DecisionRecord)] == [1, 2, 3]


def test_one_that_begins_and_ends_during_a_commit_overtakes_it(beside, looks):
    looks(4_000)
    recorder = beside(3, EVERY_2, duration="3min")
    assert [commit.conflicts for commit in recorder.of(CommitRecord)] == [[], ["missing data files"], []]
    assert [one.at_ms for one in recorder.of(CompactionRecord)] == [127_000]


def test_looks_are_one_in_each_interval_and_those_of_the_seed(tmp_path):
    scenario, other = load(tmp_path), load(tmp_path, seed=8)
    first, again, elsewhere = (
        [*itertools.islice(looks_ms(one, role, 1), 50)]
        for one, role in ((scenario, "compactor"), (scenario, "compactor"), (other, "compactor"))
    )
    assert [at_ms // 60_000 for at_ms in first] == [*range(50)]
    assert 20_000 < sum(at_ms % 60_000 for at_ms in first) / 50 < 40_000
    assert first == again != elsewhere
