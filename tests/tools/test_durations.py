from datetime import UTC, datetime, timedelta

import pytest
from records import commit, end, run

from bench.scenario.durations import RunDuration
from tools.durations import is_as_shipped, newest_duration, run_duration
from tools.publishing import Entry

BEGUN = datetime(2026, 1, 5, 9, tzinfo=UTC)


def took(seconds, status="finished", strategy="never", begun=BEGUN, **changes):
    """A run of so many seconds."""
    last = end(status, written_utc=(begun + timedelta(seconds=seconds)).isoformat())
    return run(commit(), last, strategy=strategy, started_utc=begun.isoformat(), **changes)


RUNS = [*map(took, (10, 12, 20)), took(40, strategy="hourly"), took(7, strategy="other")]


def test_a_run_takes_the_mean_over_strategies_of_the_mean_of_their_runs():
    assert run_duration(RUNS, ["never", "hourly"]) == RunDuration(run_s=27, runs=4)


def test_the_newest_runs_of_all_strategies_count_alone():
    both = ("never", "hourly")
    old, new, part = (
        [took(seconds, strategy=label, begun=BEGUN + timedelta(days=day)) for label in labels]
        for day, seconds, labels in ((0, 10, both), (2, 30, both), (3, 9, ("never",)))
    )
    assert newest_duration([new, part, old], both) == RunDuration(run_s=30, runs=2)
    assert newest_duration([part], both) is None


def test_nothing_is_known_without_runs_of_all_strategies():
    assert run_duration(RUNS, ["never", "daily"]) is None


@pytest.mark.parametrize(
    "more",
    [
        took(99, "failed"),
        run(commit(), started_utc=BEGUN.isoformat()),
        took(99, machine={"cpu": "Example CPU", "cores": 8}),
    ],
)
def test_runs_that_did_not_finish_or_had_other_cores_do_not_count(more):
    assert run_duration([*RUNS, more], ["never"]) == RunDuration(run_s=14, runs=3)


def test_runs_of_other_sizes_simulations_and_earlier_scenarios_are_left_out():
    commands = ("run upsert --set duration=20min", "run upsert --simulate", "run upsert --repetitions 3")
    listed = [Entry("a", f"compactbench {command}", ()) for command in commands]
    assert [*map(is_as_shipped, listed)] == [False, False, True]
    assert not is_as_shipped(Entry("a", "compactbench run upsert", (), earlier="0123456"))
