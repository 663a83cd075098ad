"""AutoComp, against OpenHouse's scorer and selector written down once more, as they are in Java."""

import heapq
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_file_tables import TARGET, after, checked_groups, small_file_tables

from strategies.autocomp import AutoComp, Candidate, ranked
from strategies.state import GIB, MIB, DataFile, TableState


def openhouse_scores(gains, costs, gain_weight, cost_weight):
    """`SimpleWeightedSumDataLayoutStrategyScorer`."""

    def normalized(value, values):
        return 0.0 if max(values) == min(values) else (value - min(values)) / (max(values) - min(values))

    return [
        gain_weight * normalized(gain, gains) + -1 * cost_weight * normalized(cost, costs)
        for gain, cost in zip(gains, costs, strict=True)
    ]


def openhouse_selected(scores, costs, max_cost, max_tables):
    """`GreedyMaxBudgetCandidateSelector`: polls a heap while the budget is not used up."""
    heap = [(-score, place) for place, score in enumerate(scores)]
    heapq.heapify(heap)
    result, total_cost, total_tables = [], 0.0, 0
    while heap and total_cost < max_cost and total_tables < max_tables:
        _, place = heapq.heappop(heap)
        result.append(place)
        total_cost += costs[place]
        total_tables += 1
    return result


# Whole numbers, so that sums of costs do not depend on their order.
TRAITS = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=1, max_size=12)
WEIGHTS = st.sampled_from((0.0, 0.3, 0.5, 0.7, 1.0))


def candidates_of(traits):
    return [Candidate((f"p={n:02}", 0), [], gain, float(cost)) for n, (gain, cost) in enumerate(traits)]


@given(TRAITS, WEIGHTS)
def test_candidates_are_ranked_as_by_openhouse(traits, weight):
    scores = openhouse_scores(*zip(*traits, strict=True), weight, 1 - weight)
    order = openhouse_selected(scores, [0] * len(traits), 1, len(traits))
    assert [one.place[0] for one in ranked(candidates_of(traits), weight)] == [f"p={n:02}" for n in order]


@given(TRAITS, WEIGHTS, st.integers(1, 60), st.integers(1, 12))
def test_the_choice_is_openhouses_without_the_one_that_exceeds_the_budget(traits, weight, budget, most):
    costs = [cost for _, cost in traits]
    scores = openhouse_scores(*zip(*traits, strict=True), weight, 1 - weight)
    theirs = [f"p={n:02}" for n in openhouse_selected(scores, costs, budget, most)]
    planner = AutoComp(gain_weight=weight, budget_gb_hours=budget, max_partitions=most)
    chosen = planner._chosen(ranked(candidates_of(traits), weight))
    ours = [one.place[0] for one in chosen]
    spent = sum(one.gb_hours for one in chosen)
    assert spent <= budget
    if len(ours) < len(theirs):
        assert ours == theirs[:-1]
        assert spent + costs[int(theirs[-1][2:])] > budget
    else:
        assert ours[: len(theirs)] == theirs
        assert all(costs[int(place[2:])] == 0 for place in ours[len(theirs) :])  # room for what is free


def table(**sizes):
    files = tuple(
        DataFile(f"{name}{n}", size, 1, f"p={name}")
        for name, of_partition in sizes.items()
        for n, size in enumerate(of_partition)
    )
    return TableState(0, TARGET, files)


def partitions_of(state, **options):
    plan = AutoComp(**options).decide(state).plan
    return [] if plan is None else sorted({group.partition for group in plan.actions[0].groups})


def test_traits_are_files_saved_and_gb_hours():
    (one,) = AutoComp()._candidates(table(a=[600_000, 500_000, 100], b=[750_001, 900_000]))
    # Of 1,100,100 bytes two files are left of three; 2 GB x 1.1 MB / 2 MiB a second, in hours.
    assert (one.place, one.files_saved) == (("p=a", 0), 1)
    assert one.gb_hours == pytest.approx(2 * 1_100_100 / (2 * MIB) / 3600)
    (twice,) = AutoComp(memory_bytes=4 * GIB, bytes_per_s=MIB)._candidates(table(a=[600_000, 500_000, 100]))
    assert twice.gb_hours == pytest.approx(4 * one.gb_hours)


def test_a_partition_of_whose_files_no_two_fit_is_no_candidate():
    assert AutoComp()._candidates(table(a=[600_000] * 3, b=[10])) == []


def test_the_budget_takes_the_best_partitions_first():
    state = table(a=[1000] * 3, b=[1000] * 30, c=[1000] * 10)
    assert partitions_of(state) == ["p=a", "p=b", "p=c"]
    assert partitions_of(state, max_partitions=1) == ["p=b"]
    assert partitions_of(state, max_partitions=2) == ["p=b", "p=c"]
    assert partitions_of(state, min_files_saved=10) == ["p=b"]
    assert partitions_of(state, gain_weight=0, max_partitions=1) == ["p=a"]


def test_a_single_candidate_is_planned_whatever_its_score():
    # Both traits are scaled to 0, as 0/0 says nothing: alone it is the best.
    state = table(a=[1000] * 3)
    assert partitions_of(state, gain_weight=0) == ["p=a"]
    assert partitions_of(state, gain_weight=1) == ["p=a"]
    assert partitions_of(state, min_files_saved=3) == []


def test_a_budget_below_the_cheapest_candidate_plans_nothing_and_figures_say_so():
    answer = AutoComp(budget_gb_hours=1e-9).decide(table(a=[1000] * 3, b=[1000] * 5))
    assert answer.plan is None
    assert answer.figures["candidates"] == 2
    assert answer.figures["partitions_chosen"] == 0
    assert answer.figures["cheapest_gb_hours"] > 1e-9


@given(small_file_tables(), WEIGHTS, st.sampled_from((None, 1e-5, 1e-3)))
def test_plans_keep_what_all_plans_keep(state, weight, budget):
    planner = AutoComp(gain_weight=weight, budget_gb_hours=budget)
    answer = planner.decide(state)
    assert answer == planner.decide(state)
    if budget is not None:
        assert answer.figures["gb_hours"] <= budget
    if answer.plan is not None:
        assert all(len(files) > 1 for files in checked_groups(state, answer.plan))


@given(small_file_tables(), st.randoms(use_true_random=False))
def test_the_order_of_files_does_not_matter(state, random):
    shuffled = list(state.data_files)
    random.shuffle(shuffled)
    assert AutoComp().decide(state) == AutoComp().decide(replace(state, data_files=tuple(shuffled)))


@given(small_file_tables())
def test_what_it_writes_is_no_candidate_of_the_next_plan(state):
    plan = AutoComp().decide(state).plan
    if plan is not None:
        assert AutoComp().decide(after(state, plan)).plan is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("gain_weight", 1.1), ("gain_weight", float("nan")), ("budget_gb_hours", -1.0),
        ("budget_gb_hours", float("nan")), ("max_partitions", 0), ("min_files_saved", 0), ("memory_bytes", 0),
        ("bytes_per_s", 0),
    ],
)  # fmt: skip
def test_a_bad_option_is_named(name, value):
    with pytest.raises(ValueError, match=f"{name}=.* must be a number from"):
        AutoComp(**{name: value})
