import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies.plan import (
    Capability,
    Compact,
    FileGroup,
    Native,
    Plan,
    PlanError,
    Reason,
    Rewrite,
    capabilities_of,
    check_plan,
)
from strategies.state import DataFile, PartitionStats, PendingPlan, TableState

STATE = TableState(
    observed_at_s=60.0,
    target_file_size_bytes=100,
    data_files=(DataFile("a", 1, 1, "p=1"), DataFile("b", 1, 1, "p=1"), DataFile("c", 1, 1, "p=2")),
    partitions={"p=1": PartitionStats(2, 2, 2), "p=2": PartitionStats(1, 1, 1)},
    pending=(PendingPlan(0.0, 120.0, "scheduled", frozenset({"c"})),),
)


def rewrite(*groups, target=100):
    return Plan((Rewrite(groups, target),), Reason.SMALL_FILES)


def test_check_plan_accepts_what_keeps_the_contract():
    check_plan(STATE, rewrite(FileGroup(("b", "a"), "p=1")))
    check_plan(STATE, Plan((Compact(), Compact(("p=2",))), Reason.SIZE))
    check_plan(STATE, Plan((Native(Capability.REWRITE_MANIFESTS),), Reason.SCHEDULED))


@pytest.mark.parametrize(
    ("plan", "text"),
    [
        (Plan((), Reason.OTHER), "at least one action"),
        (Plan((Compact(("p=3",)),), Reason.SIZE), r"\['p=3'\] are not in the table"),
        (Plan((Compact(()),), Reason.SIZE), "are not in the table"),
        (rewrite(FileGroup((), "p=1")), "must not be empty"),
        (rewrite(FileGroup(("z",), "p=1")), "z is not a live data file"),
        (rewrite(FileGroup(("a",), "p=2")), "a is in partition 'p=1', not 'p=2'"),
        (rewrite(FileGroup(("c",), "p=2")), "c is already being rewritten"),
        (rewrite(FileGroup(("a", "a"), "p=1")), "a is named twice"),
        (rewrite(FileGroup(("a",), "p=1"), FileGroup(("a",), "p=1")), "a is named twice"),
        (rewrite(FileGroup(("a",), "p=1"), target=0), "target_file_size_bytes=0 must be > 0"),
        (rewrite(), "needs at least one group"),
    ],
)
def test_check_plan_refuses_what_breaks_the_contract(plan, text):
    with pytest.raises(PlanError, match=text):
        check_plan(STATE, plan)


def test_check_plan_refuses_a_file_named_in_two_actions():
    group = FileGroup(("a",), "p=1")
    with pytest.raises(PlanError, match="a is named twice"):
        check_plan(STATE, Plan((Rewrite((group,), 100), Rewrite((group,), 100)), Reason.OTHER))


@given(st.permutations(STATE.data_files), st.permutations(["a", "b"]))
def test_check_plan_does_not_depend_on_order(files, paths):
    state = TableState(60.0, 100, data_files=tuple(files), partitions=STATE.partitions)
    check_plan(state, rewrite(FileGroup(tuple(paths), "p=1"), FileGroup(("c",), "p=2")))


def test_capabilities_of_a_plan_are_those_of_its_actions():
    actions = (Compact(), Rewrite((), 1), Native(Capability.EXPIRE_SNAPSHOTS))
    expected = {Capability.COMPACT, Capability.REWRITE, Capability.EXPIRE_SNAPSHOTS}
    assert capabilities_of(Plan(actions, Reason.OTHER)) == expected


def test_a_row_filter_and_a_branch_are_capabilities_of_their_own():
    command = Capability.REWRITE_DATA_FILES
    narrowed = Native(command, {"where": "order_id < 5", "branch": "audit", "strategy": "sort"})
    expected = {command, Capability.ROW_FILTER, Capability.BRANCH}
    assert capabilities_of(Plan((narrowed,), Reason.OTHER)) == expected
