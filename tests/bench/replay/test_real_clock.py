from dataclasses import replace

import pytest
from fake_engine import CompactAll, Costs, FakeEngine
from replay import replay
from scenario_builder import load

from bench.results.records import CompactionRecord, DecisionRecord, QueryRecord
from strategies.strategy import Rule
from strategies.triggers import Every

EVERY_1, EVERY_2 = (Rule(Every(minutes * 60_000), CompactAll()) for minutes in (1, 2))
BEGIN = "commit ok, observe after commit, query after_commit"
IDLE = f"{BEGIN}, decision mine 0 not_due, query settled"
END = "query before, observe after compaction, compaction ok of {}s, query after, query settled"


@pytest.fixture
def at_once(tmp_path):
    """A replay with a real clock in which a compaction takes so many seconds; a commit is each minute."""

    def run(duration, seconds, *rules):
        scenario = replace(load(tmp_path, duration=duration), has_real_clock=True)
        recorder, _ = replay(scenario, *rules, engine=FakeEngine(Costs(expected_s=seconds)))
        return recorder

    return run


def test_a_compaction_commits_between_two_commits_and_meanwhile_no_rule_is_evaluated(at_once):
    recorder = at_once("5min", 90, EVERY_2)
    assert recorder.ticks() == [
        f"1 {IDLE}",
        f"2 {BEGIN}, decision mine 0 planned, query settled",
        f"3 {BEGIN}, " + END.format(120),
        f"4 {BEGIN}, decision mine 0 planned, query settled",
        f"5 {BEGIN}, " + END.format(240),
    ]
    first, second = recorder.of(CompactionRecord)
    assert (first.at_ms, second.at_ms) == (210_000, 330_000)
    # It read the 16 files of two commits; 8 more came while it ran.
    assert first.change.files_removed_count == 16
    assert (first.before.data_files_count, first.after.data_files_count) == (24, 9)
    settled = [query for query in recorder.of(QueryRecord) if query.when == "settled" and query.primary]
    assert [query.at_ms for query in settled] == [60_000 * tick for tick in range(1, 6)]


def test_one_that_ends_before_the_next_commit_sees_none(at_once):
    first, *_ = at_once("4min", 20, EVERY_2).of(CompactionRecord)
    assert (first.tick, first.at_ms) == (2, 140_000)
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
