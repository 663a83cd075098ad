from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies.state import MIB, DataFile, TableState
from strategies.triggers import AfterCommits, At, Every, FileCount, RuleMemory, TriggerTraits, trigger_traits


def look(at_ms=0, commits=0, sizes=(), target=128 * MIB):
    files = tuple(DataFile(f"f{i}", size, 1) for i, size in enumerate(sizes))
    return TableState(at_ms, target, data_files=files, commits_total_count=commits)


def firings(trigger, looks_at_ms):
    """The times at which a rule that looks at each of `looks_at_ms` fires."""
    memory, fired_at_ms = RuleMemory(), []
    for count, at_ms in enumerate(looks_at_ms, start=1):
        state = look(at_ms, commits=count)
        if trigger.due(state, memory):
            fired_at_ms.append(at_ms)
            memory = replace(memory, commits_at_fire_count=count)
        memory = replace(memory, evaluated_at_ms=at_ms)
    return fired_at_ms


def test_every_fires_first_at_its_interval_and_never_at_zero():
    assert firings(Every(600_000), [60_000 * i for i in range(31)]) == [600_000, 1_200_000, 1_800_000]


def test_every_fires_once_however_late_the_look():
    assert firings(Every(10_000), [3000, 47_000, 48_000, 50_000]) == [47_000, 50_000]


def test_every_fires_at_the_very_millisecond_of_a_boundary():
    # In seconds 0.1 + 0.2 would be 0.30000000000000004, and 0.3 + 0.3 + 0.3 would be 0.8999999999999999.
    assert firings(Every(300), [100, 100 + 200, 599, 600, 300 + 300 + 300]) == [300, 600, 900]


@given(looks=st.integers(1, 300), look_ms=st.integers(1, 100_000), interval_ms=st.integers(1, 10_000_000))
def test_every_fires_as_often_as_boundaries_lie_in_different_looks(looks, look_ms, interval_ms):
    expected = len({i * look_ms // interval_ms for i in range(1, looks + 1)} - {0})
    assert len(firings(Every(interval_ms), [i * look_ms for i in range(1, looks + 1)])) == expected


@given(interval_ms=st.integers(2, 1000), until_ms=st.integers(0, 3000), data=st.data())
def test_an_offset_shifts_the_times_of_the_interval(interval_ms, until_ms, data):
    offset_ms = data.draw(st.integers(1, interval_ms - 1))
    fired = firings(Every(interval_ms, offset_ms), range(1, until_ms + 1))
    assert fired == list(range(offset_ms, until_ms + 1, interval_ms))


@pytest.mark.parametrize("offset_ms", [0, -1, 60_000, 60_001])
def test_an_offset_lies_within_the_interval(offset_ms):
    with pytest.raises(ValueError, match="offset_ms"):
        Every(60_000, offset_ms)


@given(times=st.sets(st.integers(1, 500), min_size=1), look_ms=st.integers(1, 50))
def test_at_fires_at_the_first_look_after_each_time(times, look_ms):
    expected = sorted({-(-time // look_ms) * look_ms for time in times})
    assert firings(At(tuple(times)), range(look_ms, 501 + look_ms, look_ms)) == expected


@pytest.mark.parametrize("times_ms", [(), (0,), (60_000, -1)])
def test_at_needs_times_after_the_start(times_ms):
    with pytest.raises(ValueError, match="times_ms"):
        At(times_ms)


@given(ticks=st.integers(1, 200), commits=st.integers(1, 50))
def test_after_commits_fires_each_time_so_many_have_landed(ticks, commits):
    assert len(firings(AfterCommits(commits), range(1, ticks + 1))) == ticks // commits


def test_after_commits_counts_from_its_last_firing():
    memory = RuleMemory(commits_at_fire_count=7)
    assert not AfterCommits(3).due(look(commits=9), memory)
    assert AfterCommits(3).due(look(commits=10), memory)


def test_file_count_counts_files_below_three_quarters_of_the_target():
    # 0.75 x 100 = 75: Iceberg's lower bound; a file of exactly that size is large enough.
    assert FileCount(2).due(look(sizes=[74, 74, 75, 100], target=100), RuleMemory())
    assert not FileCount(3).due(look(sizes=[74, 74, 75, 100], target=100), RuleMemory())


def test_file_count_takes_a_small_size_of_its_own():
    assert FileCount(3, small_bytes=76).due(look(sizes=[74, 74, 75, 100], target=100), RuleMemory())


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Every(0), r"interval_ms=0"),
        (lambda: Every(float("nan")), r"interval_ms=nan"),
        (lambda: AfterCommits(0), r"commits=0"),
        (lambda: FileCount(0), r"files=0"),
        (lambda: FileCount(1, small_bytes=0), r"small_bytes=0"),
    ],
)
def test_triggers_refuse_impossible_options(make, text):
    with pytest.raises(ValueError, match=text):
        make()


def test_a_trigger_declares_its_interval():
    assert trigger_traits(Every(60_000)) == TriggerTraits(interval_ms=60_000, reads_state=False)
    assert trigger_traits(AfterCommits(2)).interval_ms is None


def test_neither_the_time_nor_the_number_of_commits_is_a_reading_of_the_table():
    without = (Every(60_000), At((60_000,)), AfterCommits(2))
    assert [trigger_traits(trigger).reads_state for trigger in (*without, FileCount(4, 100))] == [
        False, False, False, True,
    ]  # fmt: skip
