import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.results.latency import window_ms
from bench.scenario.cadence import Cadence, default_side_probe_every_ms

MINUTE_MS = 60_000


def cadence(commits, every=1, side=1, phase="random", seed=7, repetition=1):
    """Commits a minute apart; `every` and `side` in windows of one and of `every` minutes."""
    every_ms = every * MINUTE_MS
    return Cadence(seed, commits, MINUTE_MS, every_ms, side * every_ms, phase, repetition)


def probed(made):
    return [tick for tick in range(made.commits_count + 1) if made.is_probed(tick)]


def side_probed(made):
    return [tick for tick in range(made.commits_count + 1) if made.is_side_probed(tick)]


def test_a_window_of_one_commit_is_probed_at_every_tick_but_the_initial_load():
    assert probed(cadence(5)) == [1, 2, 3, 4, 5]
    assert not cadence(5).is_probed(6)  # the stream has ended


def test_a_fixed_phase_is_the_last_tick_of_each_window():
    assert probed(cadence(10, 3, phase="fixed")) == [3, 6, 9, 10]
    assert side_probed(cadence(10, 3, 2, phase="fixed")) == [6, 10]


@given(st.integers(1, 200), st.integers(1, 12), st.integers(1, 6), st.integers(0, 2**32), st.booleans())
def test_each_window_is_probed_once_and_the_other_probes_run_at_some_of_the_ticks(
    commits, every, side, seed, is_random
):
    made = cadence(commits, every, side, "random" if is_random else "fixed", seed)
    ticks, side_ticks = probed(made), side_probed(made)
    assert tuple(ticks) == made.ticks
    assert [(tick - 1) // every for tick in ticks] == list(range(math.ceil(commits / every)))
    windows = [(tick - 1) // (every * side) for tick in side_ticks]
    assert windows == list(range(math.ceil(commits / every / side)))
    assert set(side_ticks) <= set(ticks)


@given(st.integers(1, 200), st.integers(1, 12), st.integers(0, 2**32))
def test_the_windows_that_queries_stand_for_add_up_to_the_scenario(commits, every, seed):
    made = cadence(commits, every, seed=seed)
    duration_ms = commits * MINUTE_MS
    weights = [window_ms(made.probe_every_ms, duration_ms, tick * MINUTE_MS) for tick in probed(made)]
    assert sum(weights) == duration_ms


@given(st.integers(1, 12), st.integers(1, 5), st.integers(0, 2**32))
def test_random_phases_all_occur_in_as_many_windows_as_there_are_phases(every, blocks, seed):
    phases = [(tick - 1) % every for tick in probed(cadence(every * every * blocks, every, seed=seed))]
    for start in range(0, len(phases), every):
        assert sorted(phases[start : start + every]) == list(range(every))


def test_random_phases_come_in_a_random_order_that_the_seed_determines():
    # 2000 blocks: at each place 400 of each phase are expected, and 4.5 standard deviations are 80.
    phases = [(tick - 1) % 5 for tick in probed(cadence(25 * 2000, 5))]
    for place in range(5):
        counts = Counter(phases[place::5])
        assert all(abs(counts[phase] - 400) < 80 for phase in range(5))
    assert probed(cadence(50, 5, seed=1)) != probed(cadence(50, 5, seed=2))
    assert probed(cadence(100, 5))[:10] == probed(cadence(50, 5))


def test_random_phases_give_a_mean_over_time_and_a_fixed_one_that_coincides_does_not():
    """A table that a policy compacts at every fifth tick: 1, 2, 3, 4 files, and then none to merge."""
    files = {tick: tick % 5 for tick in range(1, 5 * 4000 + 1)}
    fixed = [files[tick] for tick in probed(cadence(len(files), 5, phase="fixed"))]
    drawn = [files[tick] for tick in probed(cadence(len(files), 5))]
    assert set(fixed) == {0}
    assert sum(drawn) / len(drawn) == 2  # the mean over time


@pytest.mark.parametrize(
    ("minutes", "every", "expected"),
    [
        (60, 1, 5),  # append-only: 12 executions
        (60, 5, 15),  # upsert: 4
        (8, 1, 2),  # quickstart: 4
        (3, 1, 1),
        (10, 3, 3),
        (10_000, 1, 5),
    ],
)
def test_by_default_the_other_probes_run_a_fifth_as_often_but_four_times(minutes, every, expected):
    found_ms = default_side_probe_every_ms(every * MINUTE_MS, minutes * MINUTE_MS)
    assert found_ms == expected * MINUTE_MS


@given(st.integers(1, 9), st.integers(1, 40), st.integers(0, 99))
def test_in_as_many_repetitions_as_a_window_has_ticks_each_of_them_is_probed_once(every, windows, seed):
    repetitions = [
        cadence(every * windows, every, seed=seed, repetition=number) for number in range(1, every + 1)
    ]
    assert sorted(tick for made in repetitions for tick in made.ticks) == list(range(1, every * windows + 1))
    assert all(made.is_probed(tick) for made in repetitions for tick in made.ticks)
