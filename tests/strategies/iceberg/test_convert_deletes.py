from dataclasses import replace

import pytest
from delete_tables import EQUALITY, POSITION, VECTOR, applies, applying, converted, tables
from hypothesis import given
from hypothesis import strategies as st
from resurrected import resurrected

from strategies.iceberg.delete_planners import ConvertDeletes
from strategies.iceberg.files import IcebergDataFile, IcebergDeleteFile, IcebergState, KeyBounds
from strategies.plan import FileGroup, Reason, Rewrite, capabilities_of, check_plan
from strategies.state import PendingPlan


def data(path, number=1, partition="", spec_id=0, keys=None):
    return IcebergDataFile(path, 9, 9, partition, number, spec_id, key_bounds=keys)


def delete(path, kind=EQUALITY, number=5, names=None, partition="", spec_id=0, keys=None):
    return IcebergDeleteFile(path, 3, 3, partition, number, spec_id, names, keys, kind=kind)


def decide(*files, min_delete_files=1, pending=()):
    """What becomes of the data files and deletes: paths by group, keys removed."""
    deletes = tuple(file for file in files if isinstance(file, IcebergDeleteFile))
    others = tuple(file for file in files if isinstance(file, IcebergDataFile))
    state = IcebergState(0, 100, data_files=others, delete_files=deletes, pending=pending)
    plan = ConvertDeletes(min_delete_files).decide(state)
    if plan is None:
        return None
    check_plan(state, plan)
    (action,) = plan.actions
    assert not any(group.paths for group in action.groups)
    return [group.convert_paths for group in action.groups], action.removed_deletes


def test_files_with_deletes_are_converted_and_the_deletes_go():
    state = IcebergState(
        0, 100, data_files=(data("g"), data("f"), data("new", 5)), delete_files=(delete("d"), delete("e"))
    )
    plan = ConvertDeletes().decide(state)
    assert plan.actions == (Rewrite((FileGroup((), "", ("f", "g")),), 100, ("d", "e")),)
    assert (plan.reason, plan.detail) == (Reason.DELETES, "2 data files with 1 or more delete files")
    assert capabilities_of(plan) == ConvertDeletes().traits().needs


def test_a_group_is_of_one_partition_and_spec():
    files = [data("f", 1, "p=b", 1), data("g", 1, "p=a", 1), data("h", 1, "p=a", 2), data("i")]
    assert decide(*files, delete("d")) == ([("i",), ("g",), ("h",), ("f",)], ("d",))


def test_a_file_with_one_delete_file_of_its_own_is_left_alone():
    vector, own = delete("o", VECTOR, names="f"), delete("o", POSITION, names="f")
    equality, position = delete("e"), delete("e", POSITION, names="f")
    assert decide(data("f"), own) is None
    assert decide(data("f"), own, equality) == ([("f",)], ("e", "o"))
    assert decide(data("f"), own, position) == ([("f",)], ("e", "o"))
    assert decide(data("f"), vector) is None
    assert decide(data("f"), vector, equality) == ([("f",)], ("e", "o#f"))
    # A vector stands for the position deletes of its file.
    assert decide(data("f"), vector, position) == ([], ("e",))


def test_one_position_delete_file_of_several_data_files_is_converted():
    assert decide(data("f"), delete("d", POSITION)) == ([("f",)], ("d",))


def test_a_vector_hides_the_position_deletes_its_file_shares():
    # Without its vector f had as many as g; h has one of them alone.
    files = [data("f"), data("g"), data("h", 5), delete("v", VECTOR, names="f")]
    deletes = [delete("d", POSITION, 4), delete("e", POSITION, 5)]
    assert decide(*files, *deletes, min_delete_files=2) == ([("g", "h")], ("d", "e"))
    shared = [delete(name, number=2) for name in ("e1", "e2", "e3")]  # an equality delete is never hidden
    assert decide(*files, *shared, min_delete_files=3) == ([("f", "g")], ("e1", "e2", "e3", "v#f"))
    newer = [data("f", 2), data("g"), delete("v", VECTOR, names="f"), delete("e4", number=3)]
    assert decide(*newer, *shared, min_delete_files=4) == ([("f", "g")], ("e1", "e2", "e3", "e4", "v#f"))


def test_files_with_too_few_deletes_wait_unless_they_share_one_with_those_that_have_enough():
    old, new, apart = data("old", 1), data("new", 4), data("apart", 4, "p=a", 1)
    first, second = delete("d1", number=3), delete("d2", number=5)
    mine = delete("d3", number=5, partition="p=a", spec_id=1)
    assert decide(old, new, first, second, min_delete_files=3) is None
    assert decide(old, new, first, second, min_delete_files=2) == ([("new", "old")], ("d1", "d2"))
    scoped = [replace(delete, partition="p=b", spec_id=1) for delete in (first, second)]
    held = [replace(file, partition="p=b", spec_id=1) for file in (old, new)]
    assert decide(*held, apart, *scoped, mine, min_delete_files=2) == ([("new", "old")], ("d1", "d2"))


def test_files_that_share_through_a_third_are_converted_too():
    # Two deletes apply to a: 1 and 4. The second applies to b too, whose other one, 8, applies to c.
    files = [
        data(path, keys=KeyBounds(*keys)) for path, keys in (("a", (1, 4)), ("b", (4, 8)), ("c", (8, 9)))
    ]
    deletes = [delete(f"d{key}", keys=KeyBounds(key, key)) for key in (1, 4, 8)]
    assert decide(*files[:2], *deletes[:2], min_delete_files=2) == ([("a", "b")], ("d1", "d4"))
    assert decide(*files, *deletes, min_delete_files=2) == ([("a", "b", "c")], ("d1", "d4", "d8"))


def test_nothing_is_planned_while_a_plan_is_pending():
    assert decide(data("f"), delete("d"), pending=(PendingPlan(0, 9000, "deletes"),)) is None


def test_fewer_than_one_delete_file_is_refused():
    with pytest.raises(ValueError, match="min_delete_files"):
        ConvertDeletes(0)


@given(tables(), st.integers(1, 4))
def test_a_plan_names_what_it_must_and_drops_what_nothing_needs(state, count):
    plan = ConvertDeletes(count).decide(state)
    chosen, removed = set(), set()
    if plan is not None:
        check_plan(state, plan)
        (action,) = plan.actions
        assert resurrected(action, state) is None
        chosen = {path for group in action.groups for path in group.convert_paths}
        removed = set(action.removed_deletes)
    left = [file for file in state.data_files if file.path not in chosen]
    assert removed == {d.key for d in state.delete_files if not any(applies(d, f, state) for f in left)}
    for file in state.data_files:
        deletes = applying(state, file)
        is_own = len(deletes) == 1 and deletes[0].referenced_data_file is not None
        is_due = len(deletes) >= count and not is_own
        shares = any(
            applies(d, other, state)
            for d in deletes for other in state.data_files if other is not file and other.path in chosen
        )  # fmt: skip
        assert (file.path in chosen) == (is_due or shares)


@given(tables(), st.integers(1, 4), st.sampled_from([POSITION, VECTOR]), st.booleans())
def test_a_second_look_after_a_conversion_finds_nothing_to_do(state, count, kind, has_rows):
    if kind is POSITION:  # a table of format version 2 has no vectors
        state = replace(state, delete_files=tuple(d for d in state.delete_files if d.kind is not VECTOR))
    plan = ConvertDeletes(count).decide(state)
    if plan is not None:
        after = converted(state, plan.actions[0], kind, lambda path: has_rows or path < "h")
        assert ConvertDeletes(count).decide(after) is None
