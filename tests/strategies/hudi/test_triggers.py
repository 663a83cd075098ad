import pytest
from hudi_tables import compaction, delta_commit, hudi_table
from hypothesis import given
from hypothesis import strategies as st

from strategies.hudi.triggers import (
    NumAndTime,
    NumCommits,
    NumCommitsAfterLastRequest,
    NumOrTime,
    TimeElapsed,
)
from strategies.triggers import RuleMemory

MINUTE_MS = 60_000


def is_due(trigger, timeline, at_ms=0):
    return trigger.due(hudi_table([], timeline, observed_at_ms=at_ms), RuleMemory())


def commits(*minutes):
    return [delta_commit(minute * MINUTE_MS) for minute in minutes]


def test_the_initial_load_counts():
    assert is_due(NumCommits(3), commits(0, 1, 2))
    assert not is_due(NumCommits(4), commits(0, 1, 2))


def test_only_a_completed_compaction_starts_the_count_anew():
    done = compaction(2 * MINUTE_MS, 2 * MINUTE_MS)
    assert not is_due(NumCommits(3), [*commits(0, 1, 2), done, *commits(3, 4)])
    assert is_due(NumCommits(3), [*commits(0, 1, 2), done, *commits(3, 4, 5)])
    assert is_due(NumCommits(3), [*commits(0, 1, 2), compaction(2 * MINUTE_MS)])


def test_a_pending_request_starts_the_other_count_anew():
    pending = compaction(2 * MINUTE_MS)
    assert not is_due(NumCommitsAfterLastRequest(3), [*commits(0, 1, 2), pending, *commits(3, 4)])
    assert is_due(NumCommitsAfterLastRequest(3), [*commits(0, 1, 2), pending, *commits(3, 4, 5)])


def test_commits_while_a_compaction_ran_count_after_it():
    ran = compaction(MINUTE_MS, 3 * MINUTE_MS)
    assert is_due(NumCommits(2), [*commits(0, 1), ran, *commits(2, 3)])


def test_time_counts_from_the_request_of_the_last_compaction_or_the_first_commit():
    assert not is_due(TimeElapsed(120_000), commits(1, 2), 3 * MINUTE_MS - 1000)
    assert is_due(TimeElapsed(120_000), commits(1, 2), 3 * MINUTE_MS)
    timeline = [*commits(1), compaction(2 * MINUTE_MS, 9 * MINUTE_MS)]
    assert is_due(TimeElapsed(120_000), timeline, 4 * MINUTE_MS)
    assert not is_due(TimeElapsed(0), [])


def test_no_trigger_fires_on_a_table_without_commits():
    for trigger in (NumCommits(0), NumCommitsAfterLastRequest(0), TimeElapsed(0), NumOrTime(0, 0)):
        assert not is_due(trigger, [], MINUTE_MS)
        assert is_due(trigger, commits(0), MINUTE_MS)


@given(st.integers(0, 4), st.integers(0, 4), st.integers(0, 5))
def test_and_and_or_are_of_the_two_others(count, elapsed_minutes, now_minutes):
    timeline, at_ms = commits(0, 1, 2), now_minutes * MINUTE_MS
    by_number = is_due(NumCommits(count), timeline, at_ms)
    by_time = is_due(TimeElapsed(elapsed_minutes * MINUTE_MS), timeline, at_ms)
    assert is_due(NumOrTime(count, elapsed_minutes * MINUTE_MS), timeline, at_ms) is (by_number or by_time)
    assert is_due(NumAndTime(count, elapsed_minutes * MINUTE_MS), timeline, at_ms) is (by_number and by_time)


@pytest.mark.parametrize("elapsed_ms", [-1000, 1500])
def test_elapsed_time_is_in_whole_seconds(elapsed_ms):
    with pytest.raises(ValueError, match="whole seconds"):
        TimeElapsed(elapsed_ms)


def test_the_timeline_is_no_reading_of_the_table():
    hudi = (NumCommits(), NumCommitsAfterLastRequest(), TimeElapsed(), NumOrTime(), NumAndTime())
    assert not any(trigger.traits().reads_state for trigger in hudi)
