from pathlib import Path

import pytest
from result_builder import manifest

from bench.results.folders import RunResult
from bench.results.records import RunRecord
from reports.verdicts.pairs import longest_repetitions, pairs, sittings

FOLDER = Path("results/append-small")


def run(strategy, repetition, minute, *, suite="first", folder=FOLDER, lasts=5, **changes):
    """A run that starts at a minute after nine and lasts five."""
    started, ended = (f"2026-01-05T{9 + m // 60:02}:{m % 60:02}:00Z" for m in (minute, minute + lasts))
    made = manifest(strategy, repetition, suite_id=suite, started_utc=started, **changes)
    end = RunRecord(tick=1, at_ms=1, written_utc=ended, status="finished")
    return RunResult(folder / f"{strategy}-{repetition}-{minute}", made, (end,))


def paired(a_runs, b_runs):
    """The minutes at which the runs of each pair started; None if they are not paired."""
    found = pairs(a_runs, b_runs, longest_repetitions([*a_runs, *b_runs]))
    return found and [tuple(one.folder.name for one in pair) for pair in found]


def test_a_repetition_lasts_from_its_first_start_to_its_last_end():
    runs = [run("a", 1, 0), run("b", 1, 7, lasts=2), run("a", 2, 20), run("b", 2, 90, suite="second")]
    assert longest_repetitions(runs) == {FOLDER: 9 * 60}


def test_runs_of_one_repetition_are_paired_in_its_order():
    a = [run("a", 2, 20), run("a", 1, 0)]
    b = [run("b", 1, 6), run("b", 2, 14)]
    assert paired(a, b) == [("a-1-0", "b-1-6"), ("a-2-20", "b-2-14")]


def test_a_repetition_resumed_at_once_is_paired_across_suites():
    # The first repetition took 11 minutes; the second was interrupted and resumed within that time.
    a = [run("a", 1, 0), run("a", 2, 12)]
    b = [run("b", 1, 6), run("b", 2, 22, suite="second")]
    assert paired(a, b) == [("a-1-0", "b-1-6"), ("a-2-12", "b-2-22")]


def test_a_repetition_resumed_much_later_is_not():
    a = [run("a", 1, 0), run("a", 2, 12)]
    b = [run("b", 1, 6), run("b", 2, 24, suite="second")]
    assert paired(a, b) is None


def test_a_run_without_partner_is_never_passed_over():
    a = [run("a", 1, 0), run("a", 2, 12)]
    assert paired(a, [run("b", 1, 6)]) is None
    assert paired(a, [run("b", 1, 6), run("b", 3, 18)]) is None


def test_of_two_runs_of_a_repetition_the_closest_are_paired():
    a = [run("a", 1, 0), run("a", 1, 20)]
    b = [run("b", 1, 24), run("b", 1, 6)]
    assert paired(a, b) == [("a-1-0", "b-1-6"), ("a-1-20", "b-1-24")]


@pytest.mark.parametrize(
    "other",
    [
        run("b", 1, 6, folder=Path("elsewhere/append-small")),
        run("b", 1, 6, scenario_hash="other"),
        run("b", 1, 6, change_log_hash="other"),
        run("b", 1, 6, seed=7),
    ],
)
def test_runs_of_other_folders_or_definitions_are_not_paired(other):
    assert paired([run("a", 1, 0)], [other]) is None


def test_a_suite_that_is_resumed_within_two_hours_goes_on_with_the_sitting():
    runs = [
        run("a", 1, 0), run("a", 2, 120, suite="second"), run("a", 3, 250, suite="third"),
        run("b", 1, 130, folder=Path("results/other")),
    ]  # fmt: skip
    first, resumed, later, elsewhere = (sittings(runs)[one.folder] for one in runs)
    assert first == resumed
    assert len({first, later, elsewhere}) == 3
