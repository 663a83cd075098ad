import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies.iceberg.commands import Command
from strategies.iceberg.files import DeleteKind, IcebergDeleteFile, IcebergState
from strategies.iceberg.preview import preview_action
from strategies.plan import Native
from strategies.preview import PreviewError
from strategies.state import MIB

EQUALITY, POSITION, VECTOR = DeleteKind.EQUALITY, DeleteKind.POSITION, DeleteKind.DELETION_VECTOR
TARGET = "write.delete.target-file-size-bytes"


def deletes(*sizes, kind=POSITION, partition="", spec_id=0, prefix="d"):
    return [
        IcebergDeleteFile(f"{prefix}{n}", size, 3, partition, 1, spec_id, f"f{prefix}{n}", kind=kind)
        for n, size in enumerate(sizes)
    ]


def plan(*deletes, target=100, where=None, **options):
    """The groups' paths; without `target` it is Iceberg's default."""
    texts = {name.replace("_", "-"): str(value).lower() for name, value in options.items()}
    arguments = {} if where is None else {"where": where}
    properties = {} if target is None else {TARGET: str(target)}
    state = IcebergState(0, 1, delete_files=tuple(d for own in deletes for d in own), properties=properties)
    preview = preview_action(Native(Command.REWRITE_POSITION_DELETE_FILES, arguments, texts), state)
    assert preview.groups == ()
    return preview


def paths(*deletes, **options):
    return [[file.path for file in group.files] for group in plan(*deletes, **options).delete_groups]


def test_small_delete_files_are_merged_from_five_on_or_above_the_target():
    assert paths(deletes(1, 1, 1, 1)) == []
    assert paths(deletes(1, 1, 1, 1, 1)) == [["d0", "d1", "d2", "d3", "d4"]]
    assert paths(deletes(1, 1), min_input_files=2) == [["d0", "d1"]]
    assert paths(deletes(50, 50)) == []
    assert paths(deletes(50, 51)) == [["d0", "d1"]]


def test_only_files_of_a_wrong_size_are_taken():
    # 75 to 180 are right for a target of 100; one alone is rewritten where it is above them.
    assert paths(deletes(75, 180, 74, 181)) == [["d2", "d3"]]
    assert paths(deletes(181)) == [["d0"]]
    assert paths(deletes(74)) == []
    assert paths(deletes(100), rewrite_all=True) == [["d0"]]


def test_the_target_is_that_of_delete_files():
    assert paths(deletes(48 * MIB - 1, 48 * MIB, 48 * MIB - 1), target=None) == [["d0", "d2"]]  # 75 % of 64
    assert paths(deletes(50, 51), target=40) == []


def test_partitions_of_the_same_values_are_one_whatever_their_specs():
    old, new = (
        deletes(60, partition="p=a", spec_id=1),
        deletes(60, partition="p=a/q=null", spec_id=2, prefix="e"),
    )
    other = deletes(60, partition="p=b", spec_id=1, prefix="g")
    assert paths(old, new, other) == [["d0", "e0"]]


def test_a_value_that_ends_like_null_is_none():
    # The text "x=null": a value holds `=` as it is. Iceberg compares values, not texts of partitions.
    old, new = (
        deletes(60, partition="p=a", spec_id=1),
        deletes(60, partition="p=a/q=x=null", spec_id=2, prefix="e"),
    )
    assert paths(old, new) == []
    assert paths(old, deletes(60, partition="p=a/q=%6Eull", spec_id=2, prefix="e")) == []


def test_vectors_go_along_and_alone_give_no_reason():
    vectors, equality = deletes(60, 60, kind=VECTOR, prefix="v"), deletes(60, 60, kind=EQUALITY, prefix="e")
    assert paths(vectors, equality) == []
    assert paths(vectors, equality, deletes(1)) == [["v0", "v1", "d0"]]


def test_groups_are_counted_packed_and_ordered():
    sized = [deletes(60, 60, 60, partition="p=a"), deletes(70, 70, 70, 70, partition="p=b", prefix="e")]
    preview = plan(*sized, max_file_group_size_bytes=140, rewrite_job_order="bytes-desc")
    assert [[f.path for f in g.files] for g in preview.delete_groups] == [
        ["e0", "e1"],
        ["e2", "e3"],
        ["d0", "d1"],
    ]
    # Next fit: 60 goes to 74, though 70 before them had room; that is left alone.
    assert paths(deletes(70, 74, 60), max_file_group_size_bytes=140) == [["d1", "d2"]]


def test_what_the_command_does_not_have_is_refused():
    with pytest.raises(ValueError, match="delete-file-threshold"):
        plan(deletes(1), delete_file_threshold=1)
    with pytest.raises(PreviewError, match="where='p = 1'"):
        plan(deletes(1), where="p = 1")


SIZES = st.lists(st.integers(1, 400), max_size=12)


@given(SIZES, SIZES, st.integers(1, 6), st.integers(1, 500))
def test_every_file_is_in_one_group_of_its_partition_at_most(first, second, least, cap):
    tables = [deletes(*first, partition="p=a"), deletes(*second, partition="p=b", prefix="e")]
    groups = plan(*tables, min_input_files=least, max_file_group_size_bytes=cap).delete_groups
    named = [file.path for group in groups for file in group.files]
    assert len(named) == len(set(named))
    for group in groups:
        assert {file.partition for file in group.files} == {group.partition}
        assert group.input_bytes <= cap or len(group.files) == 1
