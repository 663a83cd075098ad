import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from records import commit, compaction, end, maintenance, query, run

from reports.data.group import run_groups
from reports.page.sections.keeping_up import keeping_up
from reports.verdicts.keeping_up import lags, loads

HOUR_S = 3600


def group(*runs):
    (made,) = run_groups(runs)
    return made


def one(label, wall_s, tasks_s, cores=2, **manifest):
    """A run whose only compaction takes so long, with so much CPU time of tasks."""
    return run(
        commit(is_initial=True, wall_s=9 * HOUR_S), commit(), query(),
        compaction(wall_s=wall_s, executor_cpu_s=tasks_s), end(), strategy=label, cores=cores, **manifest,
    )  # fmt: skip


@given(
    st.floats(0, 10 * HOUR_S), st.floats(0, 10 * HOUR_S), st.integers(1, 64),
)  # fmt: skip
def test_the_needed_cores_are_the_fewest_with_which_steps_take_less_time_than_the_stream(
    serial_s, tasks_s, cores
):
    (load,) = loads(group(one("a", serial_s + tasks_s / cores, tasks_s, cores)))

    def share(count):
        return (serial_s + tasks_s / count) / HOUR_S

    assert load.share == pytest.approx(share(cores))
    if load.needed_cores == math.inf:
        assert serial_s >= HOUR_S * (1 - 1e-9)
    else:
        assert share(load.needed_cores) < 1 + 1e-9
        assert load.needed_cores == 1 or share(load.needed_cores - 1) > 1 - 1e-9
    if abs(load.share - 1) > 1e-9:
        assert load.keeps_up == (load.needed_cores <= cores)


def test_commits_compactions_and_maintenance_count_and_the_load_does_not():
    made = run(
        commit(is_initial=True, wall_s=99), compaction(tick=0, is_inline=True, wall_s=99),
        commit(wall_s=36), compaction(wall_s=72),
        maintenance(wall_s=252), end(), strategy="a",
    )  # fmt: skip
    (load,) = loads(group(made))
    assert load.share == pytest.approx(0.1)


def said(*runs):
    return [str(line) for line in keeping_up(group(*runs))]


def test_the_first_sentence_says_whether_all_keep_up():
    runs = [one("never", 0, 0), one("often", 900, 900)]
    assert said(*runs) == [
        "All strategies keep up with the stream on 2 cores: one after the other, commits, compactions and "
        "maintenance take 0 % (never) to 25 % (often) of its time."
    ]
    assert said(runs[1]) == [
        "often keeps up with the stream on 2 cores: one after the other, commits, compactions and "
        "maintenance take 25 % of its time."
    ]


def test_strategies_that_do_not_keep_up_are_named_with_the_cores_they_need():
    runs = [one("never", 0, 0), one("often", 5400, 10000), one("serial", 7200, 100)]
    assert said(*runs) == [
        "often and serial cannot keep up with the stream on 2 cores: one after the other, commits, "
        "compactions and maintenance take 1.5x its time under often (4 cores would do) and 2.0x its time "
        "under serial (more cores would not help)."
    ]


def test_how_many_cores_would_do_is_not_said_where_those_of_the_run_are_not_known():
    assert said(one("often", 5400, 10000, cores=None)) == [
        "often cannot keep up with the stream: one after the other, commits, compactions and maintenance "
        "take 1.5x its time under often."
    ]


def test_a_simulation_says_so_and_withheld_times_are_left_out():
    simulated = {"mode": "simulated", "options": {"coefficients": {"operations": {"query": {}}}}}
    assert said(one("a", 36, 36, **simulated))[0].startswith("As modelled, a keeps up ")
    unfitted = end(beyond_fit={"unfitted_operations": ["sort"]})
    sorting = run(commit(), compaction(wall_s=9), unfitted, strategy="a", cores=2, **simulated)
    assert said(sorting) == []


def test_all_keep_up_only_if_all_were_judged():
    simulated = {"mode": "simulated", "options": {"coefficients": {"operations": {"query": {}}}}}
    unfitted = end(beyond_fit={"unfitted_operations": ["sort"]})
    sorting = [
        run(commit(), compaction(wall_s=9), query(), unfitted, strategy=f"s{number}", cores=2, **simulated)
        for number in range(6)
    ]
    (told,) = said(one("a", 36, 36, **simulated), one("b", 72, 72, **simulated), *sorting)
    assert told == (
        "As modelled, 2 of 8 strategies keep up with the stream on 2 cores: one after the other, commits, "
        "compactions and maintenance take 1 % (a) to 2 % (b) of its time; not judged, because the cost model "
        "does not cover them: s0, s1, s2, s3 and 2 more."
    )
    (told,) = said(one("a", 7200, 36, **simulated), sorting[0])
    assert told.startswith("As modelled, a cannot keep up ")
    assert told.endswith("; not judged, because the cost model does not cover them: s0.")


def late(label, *waited_s):
    """A run with a real clock and a commit a minute."""
    commits = [commit(tick=tick, waited_s=seconds) for tick, seconds in enumerate(waited_s, start=1)]
    return run(
        *commits, query(), end(), strategy=label, notes={"clock": "real"}, mode="simulated",
        commit_interval_ms=60_000,
    )  # fmt: skip


def test_with_a_real_clock_the_last_commits_tell_who_keeps_up():
    caught_up, behind = late("a", 300, 0, 30), late("b", 0, 60, 120)
    by_label = {lag.strategy: lag for lag in lags(group(caught_up, behind))}
    assert (by_label["a"].late_s, by_label["a"].keeps_up) == (30, True)
    assert (by_label["b"].late_s, by_label["b"].keeps_up) == (120, False)
    (told,) = keeping_up(group(caught_up, behind))
    assert str(told) == (
        "As modelled, b cannot keep up with the stream: the last commits are late, by 2 min under b."
    )
    (told,) = keeping_up(group(caught_up))
    assert str(told) == "As modelled, all strategies keep up with the stream."
