from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_file_tables import TARGET, after, checked_groups, small_file_tables

from strategies.break_even import BreakEven, joined
from strategies.merging import small_runs
from strategies.planner import consult
from strategies.round_costs import SPARK, RoundCosts
from strategies.series import Files, Series
from strategies.state import MIB, CommitSeen, CostPriors, DataFile, TableState

PRICES = st.sampled_from((0.01, 0.5, 1.0, 60.0, 1e4))
# Bytes cost nothing and a file costs a query a second, so that debts can be added up by hand.
ROUND = CostPriors(
    fixed_cpu_s=10, cpu_s_per_file=1, cpu_s_per_mib=0, query_s_per_file=1, query_s_per_million_rows=0,
    query_s_per_delete=0, conversion_cpu_s=0, cpu_s_per_delete=0,
)  # fmt: skip


def table(ages_s, size=1000, costs=ROUND, now_s=1000, **fields):
    """Files of one partition by age."""
    files = tuple(
        DataFile(f"f{n}", size, 1, added_at_ms=round(1000 * (now_s - age))) for n, age in enumerate(ages_s)
    )
    return TableState(1000 * now_s, TARGET, files, cost_priors={"spark": costs}, **fields)


def decide(state, **options):
    return BreakEven(**{"queries_per_minute": 60.0, **options}).decide(state)


def test_a_round_is_made_once_the_files_have_cost_its_fixed_cost():
    # Five files of age t owe 5 t, less the fifth that the merged file goes on to owe: 4 t >= 10.
    assert decide(table([2.4] * 5)).plan is None
    plan = decide(table([2.5] * 5)).plan
    assert [set(group.paths) for group in plan.actions[0].groups] == [{f"f{n}" for n in range(5)}]
    assert "5 files join, which have paid 10 CPU s beyond their bytes" in plan.detail
    assert "the fixed cost of a round is 10 CPU s" in plan.detail


def test_cost_per_file_is_not_part_of_the_price():
    assert decide(table([2.5] * 5, costs=replace(ROUND, cpu_s_per_file=1000))).plan is not None


def test_the_commit_interval_ahead_counts_as_waited():
    state = table([2.0] * 5)
    assert decide(state).plan is None
    commits = tuple(CommitSeen(500 * n, 1, 1, 1) for n in range(4))
    assert decide(replace(state, commits=commits)).plan is not None


def test_the_interval_of_evaluations_counts_rather_than_that_of_commits():
    state = table([2.0] * 5, commits=(CommitSeen(0, 1, 1, 1), CommitSeen(1, 1, 1, 1)))
    answer = consult(BreakEven(60.0), replace(state, observed_at_ms=state.observed_at_ms))
    assert answer.plan is None
    assert answer.note == state.observed_at_ms
    assert consult(BreakEven(60.0), state, note=state.observed_at_ms - 500).plan is not None


def test_the_rate_is_that_of_the_probes_unless_given():
    state = table([2.5] * 5, probe_rate_per_s=1.0)
    assert BreakEven().decide(state).plan is not None
    assert BreakEven(queries_per_minute=59.0).decide(state).plan is None
    assert BreakEven().decide(replace(state, probe_rate_per_s=0.9)).plan is None


def test_while_nobody_asks_nothing_is_owed():
    assert BreakEven().decide(table([1e6] * 5, probe_rate_per_s=0.0)).plan is None


def test_an_unknown_rate_is_said_and_counts_as_one_a_minute():
    plan = BreakEven().decide(table([150.0] * 5)).plan
    assert "1 queries a minute, as their rate is unknown" in plan.detail
    assert BreakEven().decide(table([149.0] * 5)).plan is None


def test_a_file_of_unknown_age_counts_as_a_day_old():
    files = tuple(DataFile(f"f{n}", 1000, 1) for n in range(2))
    costs = {"spark": replace(ROUND, fixed_cpu_s=24 * 3600)}
    state = TableState(0, TARGET, files, cost_priors=costs)
    plan = decide(state).plan
    assert "2 files of unknown age count as a day old" in plan.detail
    assert (
        decide(replace(state, cost_priors={"spark": replace(ROUND, fixed_cpu_s=24 * 3600 + 1)})).plan is None
    )


# 0.4 MB read and written cost 0.4 x 2 x 100 CPU s a million bytes: 80.
DEAR_BYTES = replace(ROUND, cpu_s_per_mib=100 * MIB / 1e6, fixed_cpu_s=1)


def with_large(large_age_s, small_age_s):
    small = [DataFile(f"s{n}", 10, 1, added_at_ms=round(1000 * (1000 - small_age_s))) for n in range(5)]
    large = DataFile("large", 400_000, 1, added_at_ms=round(1000 * (1000 - large_age_s)))
    return TableState(1_000_000, TARGET, (*small, large), cost_priors={"spark": DEAR_BYTES})


def joining(state):
    return set(decide(state).plan.actions[0].groups[0].paths)


@pytest.mark.parametrize("age_s", [79.9, 80])
def test_a_large_file_joins_when_it_has_paid_for_its_bytes(age_s):
    small = {f"s{n}" for n in range(5)}
    assert joining(with_large(age_s, small_age_s=2)) == small | ({"large"} if age_s >= 80 else set())


@pytest.mark.parametrize("waited_s", [79.9, 80])
def test_a_younger_file_joins_if_it_would_have_paid_by_the_next_round(waited_s):
    """The first file of this round has waited for `waited_s`, and the next round is as far off."""
    assert ("large" in joining(with_large(0, small_age_s=waited_s))) == (waited_s >= 80)


def test_what_a_younger_file_has_not_paid_does_not_delay_the_round():
    costs = replace(DEAR_BYTES, fixed_cpu_s=300)
    state = replace(with_large(0, small_age_s=80), cost_priors={"spark": costs})
    assert decide(state).plan is not None  # five files have paid 80 each, and the younger one nothing


def test_bytes_cost_nothing_extra_in_a_merge_that_finishes_the_files():
    costs = replace(ROUND, cpu_s_per_mib=1e9, fixed_cpu_s=1)
    state = table([1.0] * 2, size=250_000, costs=costs)
    assert len(decide(state).plan.actions[0].groups[0].paths) == 2
    assert decide(table([1.0] * 2, size=249_999, costs=costs)).plan is None


def test_partitions_share_the_fixed_cost():
    files = tuple(
        DataFile(f"{p}{n}", 10, 1, f"p={p}", added_at_ms=0) for p in "ab" for n in range(2)
    )  # fmt: skip
    state = TableState(5_000, TARGET, files, cost_priors={"spark": ROUND})
    assert decide(state).plan.actions[0].groups[0].partition == "p=a"
    assert len(decide(state).plan.actions[0].groups) == 2
    assert decide(replace(state, data_files=files[:2])).plan is None


def test_figures_say_what_is_owed_and_what_a_round_costs():
    figures = decide(table([2.4] * 5)).figures
    assert figures["files_joined"] == 5
    assert figures["surplus_cpu_s"] == pytest.approx(9.6)
    assert figures["round_cpu_s"] == pytest.approx(15)
    assert figures["rounds_learnt_from"] == 0


def test_a_plan_without_history_says_that_its_costs_are_defaults():
    files = tuple(DataFile(f"f{n}", 1000, 1, added_at_ms=0) for n in range(50))
    plan = decide(TableState(3_600_000, TARGET, files)).plan
    assert "default costs of spark, no round seen" in plan.detail
    expected = TableState(3_600_000, TARGET, files, cost_priors={"spark": SPARK})
    assert "expected costs of spark, no round seen" in decide(expected).plan.detail


def test_a_series_is_weighed_as_its_files_are():
    first = DataFile("f0000", 900, 1, added_at_ms=0)
    series = Files([Series(first, 2000, "f{:04}", 0)])
    state = TableState(60_000, TARGET, series)
    plain = replace(state, data_files=tuple(series))
    assert decide(state).plan == decide(plain).plan
    assert sorted(len(group.paths) for group in decide(state).plan.actions[0].groups) == [889, 1111]


@given(small_file_tables(), PRICES)
def test_plans_keep_what_all_plans_keep(state, price):
    answer = consult(BreakEven(cpu_s_per_query_second=price), state)
    assert answer == consult(BreakEven(cpu_s_per_query_second=price), state)
    if answer.plan is not None:
        assert all(len(files) > 1 for files in checked_groups(state, answer.plan))


@given(small_file_tables(), PRICES, st.randoms(use_true_random=False))
def test_the_order_of_files_does_not_matter(state, price, random):
    shuffled = list(state.data_files)
    random.shuffle(shuffled)
    planner = BreakEven(cpu_s_per_query_second=price)
    assert planner.decide(state).plan == planner.decide(replace(state, data_files=tuple(shuffled))).plan


@given(small_file_tables())
def test_at_a_price_of_0_it_never_compacts(state):
    assert BreakEven(cpu_s_per_query_second=0).decide(state).plan is None
    assert BreakEven(queries_per_minute=0).decide(state).plan is None


@given(small_file_tables(), PRICES)
def test_doubling_the_price_never_makes_it_wait_longer(state, price):
    once, twice = (BreakEven(cpu_s_per_query_second=p).decide(state) for p in (price, 2 * price))
    assert once.figures["surplus_cpu_s"] <= twice.figures["surplus_cpu_s"] * (1 + 1e-9)
    assert once.plan is None or twice.plan is not None


@given(small_file_tables(), PRICES)
def test_what_it_writes_is_no_candidate_of_the_next_plan(state, price):
    planner = BreakEven(cpu_s_per_query_second=price)
    plan = planner.decide(state).plan
    if plan is not None:
        assert planner.decide(after(state, plan)).plan is None


@given(small_file_tables(), st.sampled_from((0.0, 0.001, 0.1)))
def test_every_file_that_joined_pays_for_its_bytes_or_is_finished(state, owed_cpu_s):
    known = RoundCosts(SPARK, has_prior=True)
    for one in joined(small_runs(state, 0.45 * TARGET), lambda run: owed_cpu_s, known, TARGET):
        sizes = [run.first.size_bytes for run in one.runs]
        assert sum(sizes) >= TARGET / 2 or known.bytes_cpu_s(max(sizes)) <= owed_cpu_s
        assert sum(sizes) <= TARGET


@pytest.mark.parametrize("name", ["queries_per_minute", "cpu_s_per_query_second"])
@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf"), 1e10])
def test_a_bad_option_is_named(name, value):
    with pytest.raises(ValueError, match=f"{name}=.* must be a number from 0 to"):
        BreakEven(**{name: value})
