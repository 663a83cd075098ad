import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies.iceberg.commands import Command
from strategies.iceberg.files import DeleteKind, IcebergDataFile, IcebergDeleteFile, IcebergState
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
    describe_action,
)
from strategies.state import PartitionStats, PendingPlan

STATE = IcebergState(
    observed_at_ms=60_000,
    target_file_size_bytes=100,
    data_files=(
        IcebergDataFile("a", 1, 1, "p=1"),
        IcebergDataFile("b", 1, 1, "p=1"),
        IcebergDataFile("c", 1, 1, "p=2"),
    ),
    partitions={"p=1": PartitionStats(2, 2, 2), "p=2": PartitionStats(1, 1, 1)},
    delete_files=(
        IcebergDeleteFile("d", 1, 1, kind=DeleteKind.EQUALITY),
        IcebergDeleteFile("e", 1, 1, kind=DeleteKind.POSITION),
        IcebergDeleteFile("v", 1, 1, referenced_data_file="a", kind=DeleteKind.DELETION_VECTOR),
    ),
    pending=(PendingPlan(0, 120_000, "scheduled", frozenset({"c", "e"})),),
)


def rewrite(*groups, target=100, removed=()):
    return Plan((Rewrite(groups, target, removed),), Reason.SMALL_FILES)


def converting(*paths, rewritten=(), partition="p=1"):
    return FileGroup(rewritten, partition, paths)


def test_check_plan_accepts_what_keeps_the_contract():
    check_plan(STATE, rewrite(FileGroup(("b", "a"), "p=1")))
    check_plan(STATE, rewrite(converting("b", rewritten=("a",)), removed=("v#a", "d")))
    check_plan(STATE, rewrite(converting("b"), FileGroup(("a",), "p=1")))
    check_plan(STATE, Plan((Compact(), Compact(("p=2",))), Reason.SIZE))
    check_plan(STATE, Plan((Native(Command.REWRITE_MANIFESTS),), Reason.SCHEDULED))


@pytest.mark.parametrize(
    ("plan", "text"),
    [
        (Plan((), Reason.OTHER), "at least one action"),
        (Plan((Compact(("p=3",)),), Reason.SIZE), "p=3"),
        (Plan((Compact(()),), Reason.SIZE), "not in the table"),
        (rewrite(FileGroup((), "p=1")), "must not be empty"),
        (rewrite(FileGroup((), "p=1", ("a",), ("user_id",))), "sort_columns"),
        (rewrite(FileGroup(("z",), "p=1")), "z is not"),
        (rewrite(FileGroup(("a",), "p=2")), "'p=1', not 'p=2'"),
        (rewrite(FileGroup(("c",), "p=2")), "c is already"),
        (rewrite(FileGroup(("a", "a"), "p=1")), "a is named twice"),
        (rewrite(FileGroup(("a",), "p=1"), FileGroup(("a",), "p=1")), "a is named twice"),
        (rewrite(FileGroup(("a",), "p=1"), target=0), "target_file_size_bytes"),
        (rewrite(), "a group or a delete"),
        (rewrite(converting("z")), "z is not"),
        (rewrite(converting("d")), "d is not"),
        (rewrite(converting("a", partition="p=2")), "'p=1', not 'p=2'"),
        (rewrite(converting("c", partition="p=2")), "c is already"),
        (rewrite(converting("a", "a")), "a is named twice"),
        (rewrite(converting("a", rewritten=("a",))), "a is named twice"),
        (rewrite(converting("a"), FileGroup(("a",), "p=1")), "a is named twice"),
        (rewrite(converting("a"), removed=("z",)), "z is not"),
        (rewrite(converting("a"), removed=("b",)), "b is not"),
        (rewrite(converting("a"), removed=("v",)), "v is not"),
        (rewrite(converting("a"), removed=("e",)), "e is already"),
        (rewrite(converting("a"), removed=("d", "d")), "d is named twice"),
    ],
)
def test_check_plan_refuses_what_breaks_the_contract(plan, text):
    with pytest.raises(PlanError, match=text):
        check_plan(STATE, plan)


def test_a_plan_may_drop_deletes_alone():
    check_plan(STATE, rewrite(removed=("d",)))


def test_check_plan_refuses_a_file_named_in_two_actions():
    group = FileGroup(("a",), "p=1")
    with pytest.raises(PlanError, match="a is named twice"):
        check_plan(STATE, Plan((Rewrite((group,), 100), Rewrite((group,), 100)), Reason.OTHER))


@given(st.permutations(STATE.data_files), st.permutations(["a", "b"]))
def test_check_plan_does_not_depend_on_order(files, paths):
    state = IcebergState(60_000, 100, data_files=tuple(files), partitions=STATE.partitions)
    check_plan(state, rewrite(FileGroup(tuple(paths), "p=1"), FileGroup(("c",), "p=2")))


def test_capabilities_of_a_plan_are_those_of_its_actions():
    actions = (Compact(), Rewrite((), 1), Native(Command.EXPIRE_SNAPSHOTS))
    expected = {Capability.COMPACT, Capability.REWRITE, Command.EXPIRE_SNAPSHOTS}
    assert capabilities_of(Plan(actions, Reason.OTHER)) == expected


@pytest.mark.parametrize(
    ("action", "needs"),
    [
        (Rewrite((FileGroup(("a",)),), 1), {Capability.REWRITE}),
        (
            Rewrite((FileGroup(("a",)), FileGroup((), "", ("b",))), 1),
            {Capability.REWRITE, Capability.CONVERT},
        ),
        (Rewrite((FileGroup(("a",)),), 1, ("d",)), {Capability.REWRITE, Capability.CONVERT}),
    ],
)
def test_converting_and_dropping_deletes_is_a_capability_of_its_own(action, needs):
    assert capabilities_of(Plan((action,), Reason.OTHER)) == needs


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (Rewrite((FileGroup(("a", "b")), FileGroup(("c",))), 1), "rewrite(3 files in 2 groups)"),
        (
            Rewrite((FileGroup(("a",), "", ("b", "c")),), 1),
            "rewrite(1 file in 1 group, deletes of 2 files converted)",
        ),
        (
            Rewrite((FileGroup((), "", ("b",)),), 1, ("d", "e")),
            "rewrite(0 files in 1 group, deletes of 1 file converted, 2 delete files dropped)",
        ),
        (Rewrite((FileGroup(("a",)),), 1, ("d",)), "rewrite(1 file in 1 group, 1 delete file dropped)"),
        (Rewrite((), 1, ("d",)), "rewrite(1 delete file dropped)"),
        (
            Rewrite((FileGroup(("a", "b"), "", (), ("x", "y")), FileGroup(("c",))), 1),
            "rewrite(3 files in 2 groups, sorted by x, y)",
        ),
        (Compact(), "compact(all partitions)"),
        (Compact(("p=1", "p=2"), {"minFileSize": "10"}), "compact(p=1, p=2, minFileSize=10)"),
    ],
)
def test_an_action_is_told_in_words(action, text):
    assert describe_action(action) == text


def test_the_keys_of_a_rewrite_are_all_files_it_names():
    action = Rewrite((FileGroup(("a",), "", ("b",)), FileGroup(("c",))), 1, ("d",))
    assert list(action.keys) == ["a", "b", "c", "d"]


def test_a_row_filter_and_a_branch_are_capabilities_of_their_own():
    command = Command.REWRITE_DATA_FILES
    narrowed = Native(command, {"where": "order_id < 5", "branch": "audit", "strategy": "sort"})
    expected = {command, Capability.ROW_FILTER, Capability.BRANCH}
    assert capabilities_of(Plan((narrowed,), Reason.OTHER)) == expected
