import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_file_tables import MINUTE_MS, TARGET, after, checked_groups, small_file_tables

from strategies.iceberg.files import IcebergDataFile, IcebergState
from strategies.round_costs import SPARK
from strategies.state import MIB, DataFile, TableState
from strategies.tiered import Tiered


def merged_sizes(sizes, target=1024, **options):
    files = tuple(DataFile(f"f{n:02}", size, 1) for n, size in enumerate(sizes))
    plan = Tiered(**options).decide(TableState(0, target, files)).plan
    groups = [] if plan is None else plan.actions[0].groups
    return sorted(sorted(sizes[int(path[1:])] for path in group.paths) for group in groups)


def test_a_tier_is_merged_once_it_has_ratio_files():
    # Tiers of ratio 4 at a target of 1024: (128, 512], (32, 128], (8, 32].
    assert merged_sizes([20, 20, 20], ratio=4) == []
    assert merged_sizes([20, 20, 20, 33, 129, 600], ratio=4) == []
    assert merged_sizes([9, 20, 20, 32], ratio=4) == [[9, 20, 20, 32]]


def test_what_a_merge_makes_may_fill_the_next_tier():
    assert merged_sizes([20] * 4 + [100] * 3, ratio=4) == [[20] * 4 + [100] * 3]
    assert merged_sizes([20] * 4 + [100] * 2, ratio=4) == [[20] * 4]


def test_files_above_half_of_the_target_are_left_alone():
    assert merged_sizes([513] * 9, ratio=2) == []
    assert merged_sizes([512] * 2, ratio=2) == [[512] * 2]


def test_groups_are_packed_to_the_target():
    assert merged_sizes([300] * 7, ratio=4) == [[300] * 3, [300] * 3]


def test_the_files_below_a_size_are_one_tier():
    sizes = [1, 3, 9, 30]
    assert merged_sizes(sizes, ratio=4) == []
    assert merged_sizes(sizes, ratio=4, levelled_below_bytes=31) == [sizes]
    assert merged_sizes(sizes, ratio=4, levelled_below_bytes=30) == []


@given(small_file_tables(), st.integers(2, 9), st.sampled_from((0, 1000, TARGET)))
def test_plans_keep_what_all_plans_keep(state, ratio, levelled):
    planner = Tiered(ratio, levelled)
    plan = planner.decide(state).plan
    assert plan == planner.decide(state).plan
    if plan is not None:
        assert all(len(files) > 1 for files in checked_groups(state, plan))


@given(small_file_tables(), st.integers(2, 9), st.randoms(use_true_random=False))
def test_the_order_of_files_does_not_matter(state, ratio, random):
    shuffled = list(state.data_files)
    random.shuffle(shuffled)
    assert Tiered(ratio).decide(state) == Tiered(ratio).decide(replace(state, data_files=tuple(shuffled)))


@given(small_file_tables(max_files=60), st.integers(2, 6), st.sampled_from((0, 10_000)))
def test_without_new_files_it_comes_to_an_end(state, ratio, levelled):
    planner, rounds = Tiered(ratio, levelled), 0
    state = replace(state, pending=())
    while (plan := planner.decide(state).plan) is not None:
        before, rounds = len(state.data_files), rounds + 1
        state = after(state, plan, at_ms=rounds)
        assert len(state.data_files) < before


def most_rewrites(size, ratio):
    """The docstring's bound for a byte that arrives in a file of this size."""
    if 2 * size > TARGET:
        return 0
    return math.floor(math.log(TARGET / (2 * size)) / math.log(ratio) + 1e-9) + 1


@settings(deadline=None)
@given(
    st.lists(st.lists(st.integers(1, TARGET), min_size=1, max_size=6), min_size=20, max_size=60),
    st.integers(2, 6),
)
def test_the_bytes_written_are_bounded(commits, ratio):
    planner, state = Tiered(ratio), IcebergState(0, TARGET)
    rewritten_bytes = 0
    for at, sizes in enumerate(commits):
        new = [IcebergDataFile(f"c{at}-{n}", size, size, added_at_ms=at) for n, size in enumerate(sizes)]
        state = replace(state, observed_at_ms=at * MINUTE_MS, data_files=(*state.data_files, *new))
        plan = planner.decide(state).plan
        if plan is not None:
            rewritten_bytes += sum(file.size_bytes for group in checked_groups(state, plan) for file in group)
            state = after(state, plan)
    bound = sum(size * most_rewrites(size, ratio) for sizes in commits for size in sizes)
    assert rewritten_bytes <= bound


@settings(deadline=None)
@given(st.integers(1, 400), st.integers(20, 150), st.integers(2, 5), st.integers(1, TARGET // 4))
def test_below_levelled_below_a_byte_is_rewritten_once_for_ratio_minus_1_files(
    size, commits, ratio, levelled
):
    planner, state, rewritten_bytes = Tiered(ratio, levelled), IcebergState(0, TARGET), 0
    for at in range(commits):
        file = IcebergDataFile(f"c{at}", size, 1, added_at_ms=at)
        state = replace(state, observed_at_ms=at, data_files=(*state.data_files, file))
        plan = planner.decide(state).plan
        if plan is not None:
            rewritten_bytes += sum(file.size_bytes for group in checked_groups(state, plan) for file in group)
            state = after(state, plan)
    in_level = commits / (ratio - 1) + 1 if size < levelled else 0
    assert rewritten_bytes <= commits * size * (in_level + most_rewrites(max(size, 1), ratio))


def test_figures_count_the_tiers():
    files = tuple(DataFile(f"f{n}", 20, 1) for n in range(3))
    assert Tiered(ratio=4).decide(TableState(0, 1024, files)).figures == {"tiers": 1, "fullest_tier_files": 3}


def test_figures_say_what_a_round_is_expected_to_cost():
    files = tuple(DataFile(f"f{n}", MIB, 1) for n in range(4))
    costs = replace(SPARK, fixed_cpu_s=10, cpu_s_per_file=1, cpu_s_per_mib=0.5)
    state = TableState(0, 1024 * MIB, files, cost_priors={"spark": costs})
    assert Tiered(ratio=4).decide(state).figures["round_cpu_s"] == 10 + 4 * 1 + 2 * 4 * 0.5


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"ratio": 1}, "ratio=1"),
        ({"ratio": -2}, "ratio=-2"),
        ({"levelled_below_bytes": -1}, "levelled_below"),
    ],
)
def test_a_bad_option_is_named(options, name):
    with pytest.raises(ValueError, match=f"{name}.* must be a number from"):
        Tiered(**options)
