from dataclasses import replace

import pytest
from delete_tables import applying, converted, tables
from hypothesis import given
from hypothesis import strategies as st
from small_file_tables import TARGET, after, checked_groups, small_file_tables

from strategies.break_even import BreakEven
from strategies.iceberg.break_even import IcebergBreakEven
from strategies.iceberg.files import DeleteKind, IcebergDataFile, IcebergDeleteFile, IcebergState
from strategies.iceberg.preview import preview_action
from strategies.iceberg.resurrection import resurrection
from strategies.plan import Reason
from strategies.state import MIB, CompactionSeen, CostPriors, PendingPlan

NOW_S = 1000
# A pair costs each query a second, and a file nothing, so that debts can be added up by hand.
COSTS = CostPriors(
    10, 0, 0, query_s_per_file=0, query_s_per_million_rows=0, query_s_per_delete=1, conversion_cpu_s=2,
    cpu_s_per_delete=0.5,
)  # fmt: skip


def data(name, size=TARGET, number=1, age_s=500, rows=100):
    return IcebergDataFile(name, size, rows, data_sequence_number=number, added_at_ms=1000 * (NOW_S - age_s))


def equality(name, number=2, age_s=10):
    return IcebergDeleteFile(
        name, 10, 5, data_sequence_number=number, kind=DeleteKind.EQUALITY,
        added_at_ms=1000 * (NOW_S - age_s),
    )  # fmt: skip


def own_positions(name, rows, number=3, age_s=0):
    return IcebergDeleteFile(
        f"own-{name}", 10, rows, data_sequence_number=number, referenced_data_file=name,
        kind=DeleteKind.POSITION, added_at_ms=1000 * (NOW_S - age_s),
    )  # fmt: skip


def table(files, deletes, costs=COSTS, **fields):
    return IcebergState(
        1000 * NOW_S, TARGET, tuple(files), tuple(deletes), cost_priors={"spark": costs}, **fields
    )


def decide(state, **options):
    return IcebergBreakEven(**{"queries_per_minute": 60.0, **options}).decide(state)


def conversion(cpu_s):
    return CompactionSeen(0, "ok", "deletes", 1, 0, 0, 0, 1.0, cpu_s, kind="conversion")


def test_pairs_owe_since_their_delete_file_was_added_but_for_one_that_stays():
    # Two data files with three deletes of age 10: each owes 2 x 10 s.
    state = table([data("a"), data("b")], [equality(f"e{n}") for n in range(3)])
    figures = decide(state).figures
    assert figures["pairs_owed_cpu_s"] == pytest.approx(40)
    assert figures["conversion_cpu_s"] == pytest.approx(2 + 6 * 0.5)


def test_a_conversion_costs_what_the_last_ones_did():
    state = table([data("a"), data("b")], [equality(f"e{n}") for n in range(3)])
    due, not_due = (
        decide(replace(state, compactions=tuple(map(conversion, (1e6, cost, cost, cost)))))
        for cost in (40.0, 40.1)
    )
    assert due.plan.kind == "conversion"
    assert due.plan.reason is Reason.DELETES
    assert "deletes of files that stay owe 40 CPU s, a conversion costs 40 CPU s" in due.plan.detail
    assert not_due.plan is None


def test_a_conversion_converts_all_files_that_stay_and_merges_the_small_ones():
    small = [data(f"s{n}", 1000) for n in range(3)]
    state = table([data("a"), data("b"), *small], [equality(f"e{n}") for n in range(9)])
    (action,) = decide(state).plan.actions
    assert sorted(path for group in action.groups for path in group.convert_paths) == ["a", "b"]
    assert sorted(path for group in action.groups for path in group.paths) == ["s0", "s1", "s2"]
    assert sorted(action.removed_deletes) == [f"e{n}" for n in range(9)]


def test_pairs_of_small_files_count_towards_merging_them():
    small = [data(f"s{n}", 1000) for n in range(2)]
    state = table(small, [equality("e", age_s=19)])  # 2 x 19 s, less what the merged file goes on to owe
    assert decide(state).plan.kind == "merge"
    assert decide(state).plan.actions[0].removed_deletes == ("e",)
    assert decide(table(small, [equality("e", age_s=9)])).plan is None


def test_a_file_is_rewritten_where_filtering_has_cost_as_much():
    costs = replace(
        COSTS, fixed_cpu_s=0.1, cpu_s_per_mib=0.05, query_s_per_delete=0.0, query_s_per_million_rows=0.5
    )
    large = data("a", 100 * MIB, age_s=NOW_S, rows=100_000)

    def with_deleted(rows):
        return replace(table([large], [own_positions("a", rows)], costs), target_file_size_bytes=128 * MIB)

    # 1000 queries read a share d of 0.1 M rows at 0.5 s a million in vain, half of it on average: 25 d.
    # Rewriting reads 100 and writes 100 (1 - d) MiB at 0.05 CPU s: 10 - 5 d. They are equal at d = 1/3.
    assert decide(with_deleted(33_000)).figures["files_applied"] == 0
    answer = decide(with_deleted(34_000))
    assert [group.paths for group in answer.plan.actions[0].groups] == [("a",)]
    assert answer.plan.actions[0].removed_deletes == ("own-a",)
    costs = "that costs 8.3 CPU s, and filtering has cost 8.5 CPU s"
    assert f"0.34 of whose rows are deleted, are cheaper to rewrite: {costs}" in answer.plan.detail


def test_pairs_of_a_file_that_is_rewritten_anyway_ask_for_no_conversion():
    costs = replace(COSTS, fixed_cpu_s=5, cpu_s_per_mib=0.01)
    deletes = [own_positions("a", 50, age_s=900), replace(own_positions("a", 20, age_s=900), path="other")]
    state = table([data("a", 100 * MIB, age_s=900)], deletes, costs, compactions=(conversion(0.4),))
    answer = decide(replace(state, target_file_size_bytes=128 * MIB))
    assert answer.figures["pairs_owed_cpu_s"] == 0
    assert [group.paths for group in answer.plan.actions[0].groups] == [("a",)]


def test_unknown_ages_of_deletes_are_said():
    state = table([data("a")], [replace(equality(f"e{n}"), added_at_ms=None) for n in range(2)])
    answer = decide(state)
    assert answer.figures["pairs_owed_cpu_s"] == pytest.approx(24 * 3600)
    assert "2 delete files of unknown age count as a day old" in answer.plan.detail


def test_nothing_is_planned_while_another_plan_is_pending():
    state = table([data("a"), data("b")], [equality(f"e{n}") for n in range(30)])
    assert decide(state).plan is not None
    assert decide(replace(state, pending=(PendingPlan(0, 0, "cost"),))).plan is None


@given(small_file_tables())
def test_without_deletes_it_plans_as_break_even_does(state):
    assert IcebergBreakEven().decide(state) == BreakEven().decide(state)


PRICES = st.sampled_from((1e-3, 1.0, 1e4))


def priced(state, price):
    costs = CostPriors(0.1, 0.001, 0.01, 0.001, 0.01, 0.001, 1.25, 0.001)
    return replace(state, observed_at_ms=600_000, cost_priors={"spark": costs}, probe_rate_per_s=price)


@given(tables(), PRICES)
def test_no_plan_brings_back_a_deleted_row(state, price):
    state = priced(state, price)
    plan = IcebergBreakEven().decide(state).plan
    if plan is not None:
        checked_groups(state, plan)
        assert resurrection(plan.actions[0], preview_action(plan.actions[0], state), state) is None


@given(tables())
def test_at_a_price_of_0_it_never_compacts(state):
    assert IcebergBreakEven(cpu_s_per_query_second=0).decide(priced(state, 1.0)).plan is None


@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_files_does_not_matter(state, random):
    state = priced(state, 1.0)
    files, deletes = list(state.data_files), list(state.delete_files)
    random.shuffle(files)
    random.shuffle(deletes)
    shuffled = replace(state, data_files=tuple(files), delete_files=tuple(deletes))
    assert IcebergBreakEven().decide(state).plan == IcebergBreakEven().decide(shuffled).plan


@given(tables(), st.sampled_from((DeleteKind.POSITION, DeleteKind.DELETION_VECTOR)))
def test_after_a_conversion_there_is_none_until_new_deletes_come(state, kind):
    large = tuple(replace(file, size_bytes=99, rows=10**9) for file in state.data_files)
    state = priced(replace(state, data_files=large), 1e9)
    plan = IcebergBreakEven().decide(state).plan
    if plan is not None and plan.kind == "conversion":
        left = converted(state, plan.actions[0], kind)
        assert all(len(applying(left, file)) <= 1 for file in left.data_files)
        again = IcebergBreakEven().decide(left).plan
        assert again is None or again.kind != "conversion"


@given(
    tables(),
    st.lists(st.integers(0, 100), min_size=6, max_size=6),
    PRICES,
    st.sampled_from((DeleteKind.POSITION, DeleteKind.DELETION_VECTOR)),
)
def test_without_new_files_and_deletes_it_comes_to_rest(state, sizes, price, kind):
    """Each file may be converted once, and merged or rewritten once; no made file is rewritten alone."""
    files = zip(state.data_files, sizes, strict=False)
    state = priced(replace(state, data_files=tuple(replace(f, size_bytes=size) for f, size in files)), price)
    there = {file.path for file in state.data_files}
    for _ in range(2 * len(there) + 1):
        plan = IcebergBreakEven().decide(state).plan
        if plan is None:
            return
        assert all(len(group) > 1 or group[0].path in there for group in checked_groups(state, plan))
        left = converted(state, plan.actions[0], kind)
        state = replace(left, data_files=after(state, plan).data_files)
    pytest.fail("it goes on for more rounds than conversions and rewrites of each file")
