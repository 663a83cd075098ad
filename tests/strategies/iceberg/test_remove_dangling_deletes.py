from dataclasses import replace

from delete_tables import applies, tables
from hypothesis import given

from strategies.iceberg.delete_planners import RemoveDanglingDeletes
from strategies.iceberg.files import DeleteKind, IcebergDataFile, IcebergDeleteFile, IcebergState
from strategies.plan import Reason, Rewrite, capabilities_of, check_plan
from strategies.state import PendingPlan


def state(*deletes, pending=()):
    return IcebergState(
        0, 100, data_files=(IcebergDataFile("f", 9, 9, "", 3),), delete_files=deletes, pending=pending
    )


def delete(path, kind=DeleteKind.EQUALITY, number=3, names=None):
    return IcebergDeleteFile(path, 3, 3, "", number, 0, names, kind=kind)


def test_deletes_that_apply_to_no_data_file_are_dropped():
    vectors = [delete("v", DeleteKind.DELETION_VECTOR, 3, name) for name in ("gone", "f")]
    plan = RemoveDanglingDeletes().decide(state(delete("old"), delete("new", number=4), *vectors))
    assert plan.actions == (Rewrite((), 100, ("old", "v#gone")),)
    assert (plan.reason, plan.detail) == (Reason.DELETES, "2 of 4 delete files apply to no data file")
    assert capabilities_of(plan) == RemoveDanglingDeletes().traits().needs


def test_deletes_that_a_pending_plan_names_are_left_to_it():
    pending = (PendingPlan(0, 9000, "deletes", frozenset({"old"})),)
    assert RemoveDanglingDeletes().decide(state(delete("old"), pending=pending)) is None


@given(tables())
def test_exactly_the_deletes_that_apply_to_nothing_are_dropped_once(state):
    plan = RemoveDanglingDeletes().decide(state)
    deletes = state.delete_files
    needed = [d for d in deletes if any(applies(d, file, state) for file in state.data_files)]
    if plan is None:
        assert len(needed) == len(deletes)
        return
    check_plan(state, plan)
    (action,) = plan.actions
    assert set(action.removed_deletes) == {d.key for d in deletes} - {d.key for d in needed}
    assert RemoveDanglingDeletes().decide(replace(state, delete_files=tuple(needed))) is None
