"""What Amoro keeps of a table between evaluations; the classes and methods named are upstream's."""

from dataclasses import replace

import pytest
from amoro_tables import amoro, applied, data, files, ran, rewrite_of, table
from hypothesis import given
from hypothesis import strategies as st

from strategies.amoro.note import AmoroNote
from strategies.planner import consult
from strategies.state import PendingPlan

S = 1000
HOUR = 3600 * S
A, B = files(*[1] * 12, partition="p=a"), files(*[1] * 12, partition="p=b")
EARLIER = (ran("minor", 0),)  # so that no plan may be made before 60 s
FREEZING = amoro(partitions=100)
LIKE_UPSTREAM = replace(FREEZING, max_pending_partitions=0)


def at(at_s, version, *live_files, ran=EARLIER, **more):
    return table(*live_files, at_ms=at_s * S, version=version, ran=ran, **more)


def evaluations(planner, *states):
    """The plans of successive evaluations, and the note after the last."""
    plans, note = [], None
    for state in states:
        answer = consult(planner, state, note)
        plans, note = [*plans, answer.plan], answer.note
    return plans, note


def partitions(plan):
    return None if plan is None else {group.partition for group in rewrite_of(plan).groups}


def planned(planner, *states):
    return [partitions(plan) for plan in evaluations(planner, *states)[0]]


def test_a_partition_that_fills_while_the_table_is_pending_waits_for_the_plan_after():
    # At 30 s p=a has its 12 fragments and no plan may be made; at 60 s p=b has them too.
    first, second = at(30, "v1", A, B[:11]), at(60, "v2", A, B)
    third = at(120, "v3", data("p=a/merged", 12, "p=a"), B, ran=(*EARLIER, ran("minor", 60 * S)))
    assert planned(FREEZING, first, second, third) == [None, {"p=a"}, {"p=b"}]
    assert planned(FREEZING, second) == [{"p=a", "p=b"}]


def test_without_a_limit_the_plan_takes_what_is_worth_it_by_then_as_upstream_loses_the_pending_partitions():
    # PendingInput.partitions is @JsonIgnore, getState deserializes: the filter is alwaysTrue (#4122).
    first, second = at(30, "v1", A, B[:11]), at(60, "v2", A, B)
    assert planned(LIKE_UPSTREAM, first, second) == [None, {"p=a", "p=b"}]
    assert type(LIKE_UPSTREAM)().max_pending_partitions == 100


def test_a_plan_takes_100_partitions_and_without_a_limit_all():
    many = [files(*[1] * 12, partition=f"p={n}") for n in range(101)]
    budget = {"budget": 10**6}
    assert len(planned(replace(amoro(**budget), max_pending_partitions=0), at(60, "v1", *many))[0]) == 101
    assert len(planned(amoro(**budget), at(60, "v1", *many))[0]) == 100


def test_a_pending_table_is_not_evaluated_again():
    # tryEvaluatingPendingInput: only in status IDLE. p=b, found at 40 s alone, is not added.
    states = at(30, "v1", A), at(40, "v2", A, B), at(60, "v3", A, B)
    assert planned(FREEZING, *states) == [None, None, {"p=a"}]


def test_a_pending_partition_is_planned_with_the_files_it_has_by_then():
    first = at(30, "v1", A)
    newer = [*A[3:], *files(*[1] * 9, partition="p=a", prefix="new")]
    (_, plan), _ = evaluations(FREEZING, first, at(60, "v2", newer, B))
    assert {path for group in rewrite_of(plan).groups for path in group.paths} == {f.path for f in newer}


def test_at_most_so_many_partitions_are_kept():
    # b comes before a in Java's hash map of the two.
    states = at(30, "v1", A, B), at(60, "v2", A, B)
    assert planned(replace(FREEZING, max_pending_partitions=1), *states) == [None, {"p=b"}]


def test_an_empty_plan_ends_the_waiting_and_judges_its_version():
    # completeEmptyProcess: p=a alone was pending and has been merged by another, so p=b waits for a commit.
    merged = data("p=a/merged", 12, "p=a")
    states = at(30, "v1", A), at(60, "v2", merged, B), at(120, "v2", merged, B), at(121, "v3", merged, B)
    assert planned(FREEZING, *states) == [None, None, None, {"p=b"}]
    assert evaluations(FREEZING, *states[:2])[1] == AmoroNote("v2", planned_at_ms=60 * S)


def test_an_empty_plan_delays_the_next_by_the_plan_interval():
    # triggerAsyncPlanning sets lastPlanTime whether there is a process or not.
    merged = data("p=a/merged", 12, "p=a")
    emptied = at(30, "v1", A), at(60, "v2", merged)
    assert planned(FREEZING, *emptied, at(119, "v3", A), at(120, "v3", A)) == [None, None, None, {"p=a"}]


def test_a_plan_ends_the_waiting():
    _, note = evaluations(FREEZING, at(30, "v1", A), at(60, "v2", A))
    assert note == AmoroNote(planned_at_ms=60 * S, planned_version="v2")


@pytest.mark.parametrize("planner", [FREEZING, LIKE_UPSTREAM])
def test_a_version_without_anything_to_do_is_not_evaluated_again(planner):
    # TableRuntimeRefreshExecutor.execute: the minor interval ends, and nothing happens before a commit.
    hourly = replace(planner, options={**planner.options, "self-optimizing.minor.trigger.interval": HOUR})
    few = A[:2]
    early, late, next_commit = at(60, "v1", few), at(7200, "v1", few), at(7260, "v2", few)
    assert planned(hourly, early, late, next_commit) == [None, None, {"p=a"}]
    assert planned(hourly, late) == [{"p=a"}]


def test_a_version_that_is_not_known_is_always_evaluated():
    hourly = amoro(minor__trigger__interval=HOUR)
    assert planned(hourly, at(60, None, A[:2]), at(7200, None, A[:2])) == [None, {"p=a"}]


@pytest.mark.parametrize(
    ("status", "again"), [("ok", None), ("noop", None), ("failed", {"p=a"}), ("vetoed", {"p=a"})]
)
def test_a_process_that_succeeds_judges_the_version_it_was_planned_on(status, again):
    # completeProcess(success): lastOptimizedSnapshotId = targetSnapshotId; its own commit is another one.
    process = (*EARLIER, ran("minor", 60 * S, status))
    first, same = at(60, "v1", A), at(180, "v1", A, ran=process)
    assert planned(FREEZING, first, same) == [{"p=a"}, again]
    own_commit = at(180, "v2", B, ran=process)
    assert planned(FREEZING, first, own_commit) == [{"p=a"}, {"p=b"}]


def test_compactions_of_others_end_no_process_of_amoros():
    other = (*EARLIER, ran("optimize", 60 * S))
    assert planned(FREEZING, at(60, "v1", A), at(180, "v1", A, ran=other)) == [{"p=a"}, {"p=a"}]


def test_while_a_compaction_is_pending_nothing_is_noted():
    busy = (PendingPlan(30 * S, 90 * S, "size", frozenset({"other"})),)
    plans = evaluations(FREEZING, at(30, "v1", A), at(60, "v2", A, B, pending=busy), at(90, "v3", A, B))
    assert [partitions(plan) for plan in plans[0]] == [None, None, {"p=a"}]


def test_the_metadata_gate_is_asked_at_the_evaluation_and_not_of_a_pending_table():
    # isEvaluatingNecessary: a mean above the minimum of 96 stops an evaluation; PENDING is past it.
    planner = amoro(evaluation__fallback_interval=HOUR)
    small, large = at(30, "v1", A), at(60, "v2", A, data("p=a/large", 5000, "p=a"))
    assert planned(planner, small, large) == [None, {"p=a"}]
    assert planned(planner, large) == [None]


def test_the_metadata_gate_counts_from_the_last_plan_be_it_empty():
    # FULL finds the one file worth rewriting, and makes no task of it. Without a plan the gate lets nothing
    # through within the hour, so that v2 is not judged before.
    planner = amoro(evaluation__fallback_interval=HOUR, full__trigger__interval=0)
    clean = data("clean", 400)

    def judged(*states):
        return evaluations(planner, *states)[1].judged_version

    first, early, late = (
        at(at_s, version, clean, ran=()) for at_s, version in ((60, "v1"), (3659, "v2"), (3660, "v2"))
    )
    assert (judged(first), judged(first, early), judged(first, early, late)) == ("v1", "v1", "v2")


@pytest.mark.parametrize("planner", [FREEZING, LIKE_UPSTREAM, amoro(enabled=False)])
def test_notes_are_values(planner):
    for live_files in ((), (A,), (A, B)):
        for at_s in (30, 60):
            state = at(at_s, "v1", *live_files)
            first, second = (planner.decide(state).note for _ in range(2))
            assert first == second
            assert hash(first) == hash(second)


COMMITS = st.lists(
    st.lists(st.tuples(st.integers(1, 130), st.sampled_from(["", "p=a", "p=b", "p=c", "q=1"])), max_size=8),
    min_size=1,
    max_size=12,
)
PLANNERS = st.builds(
    lambda count, interval, full, pending_count, budget: replace(
        amoro(
            budget=budget,
            minor__trigger__file_count=count,
            minor__trigger__interval=interval,
            full__trigger__interval=full,
        ),
        max_pending_partitions=pending_count,
    ),
    st.integers(1, 6),
    st.sampled_from([-1, 0, 150 * S]),
    st.sampled_from([-1, 200 * S]),
    st.integers(0, 4),
    st.integers(1, 500),
)


@given(COMMITS, PLANNERS)
def test_notes_change_nothing_where_each_commit_is_evaluated_and_a_plan_may_follow(commits, planner):
    # Then nothing stays pending and no version is met twice: each decision is that of a first evaluation.
    state, note = table(at_ms=0), None
    for number, commit in enumerate(commits, 1):
        new = [data(f"{number:02}-{n}", size, p) for n, (size, p) in enumerate(commit)]
        state = table(
            [*state.data_files, *new], at_ms=number * 60 * S, ran=state.compactions, version=f"c{number}"
        )
        answer = consult(planner, state, note)
        plan, note = answer.plan, answer.note
        assert plan == planner.decide(state).plan
        assert not note.is_pending
        if plan is not None:
            state = applied(state, plan)
