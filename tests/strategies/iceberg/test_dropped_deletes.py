import pytest

from strategies.iceberg.dropped_deletes import below_oldest, dangling, dropped_by
from strategies.iceberg.files import DeleteKind, IcebergDataFile, IcebergDeleteFile, IcebergState
from strategies.preview import Preview, RewriteGroup, ScanTaskGroup

EQUALITY, POSITION = DeleteKind.EQUALITY, DeleteKind.POSITION


def data(path, sequence_number=1, partition=""):
    return IcebergDataFile(path, 10, 10, partition, sequence_number)


def delete(path, sequence_number, kind=EQUALITY, partition="", spec_id=0):
    return IcebergDeleteFile(path, 1, 1, partition, sequence_number, spec_id, kind=kind)


def test_deletes_below_all_data_of_the_table_may_be_dropped_by_a_commit():
    deletes = [delete(f"e{number}", number) for number in (3, 4, 5)]
    assert below_oldest([4, 9], deletes) == ["e3"]
    assert below_oldest([], deletes) == []


def test_deletes_dangle_by_the_data_of_their_own_partition():
    deletes = [
        delete("e4", 4, partition="x"), delete("e5", 5, partition="x"), delete("e6", 6, partition="x"),
        delete("p4", 4, POSITION, "x"), delete("p5", 5, POSITION, "x"), delete("other", 9, partition="z"),
        delete("y", 2, partition="y"),
    ]  # fmt: skip
    files = [(("x", 0), 5), (("x", 0), 7), (("y", 0), 1)]
    # Equality deletes not above 5, position deletes below it, and all where no data is.
    assert dangling(files, deletes) == ["e4", "e5", "p4", "other"]


def test_data_of_another_partition_spec_does_not_keep_a_delete():
    deletes = [delete("old", 4, partition="x"), delete("new", 4, partition="x", spec_id=1)]
    assert dangling([(("x", 0), 2), (("x", 1), 5)], deletes) == ["new"]


FILES = (data("a", 2, "x"), data("b", 6, "x"), data("c", 8, "y"))
DELETES = (delete("e3", 3), delete("e7", 7), delete("x5", 5, partition="x"), delete("y9", 9, partition="y"))


def rewriting(*paths):
    files = tuple(file for file in FILES if file.path in paths)
    groups = (RewriteGroup("x", files, 0, 0, 100, 1, (ScanTaskGroup(20, 20),)),) if files else ()
    return Preview(groups)


@pytest.mark.parametrize(
    ("rewritten", "options", "dropped"),
    [
        ("", {}, ""),
        ("b", {}, ""),  # a is older than all deletes
        ("a", {}, "e3 x5"),  # b is the oldest then
        ("ab", {}, "e3 e7 x5"),  # c is; what is made keeps the age of the snapshot, 9
        ("abc", {}, "e3 e7 x5"),
        ("abc", {"use-starting-sequence-number": "false"}, "e3 e7 x5 y9"),
        ("b", {"remove-dangling-deletes": "true"}, "e3 e7"),  # of the empty partition, where no data is
    ],
)
def test_what_no_data_file_needs_after_a_rewrite_may_be_dropped(rewritten, options, dropped):
    state = IcebergState(0, 100, FILES, delete_files=DELETES)
    assert dropped_by(rewriting(*rewritten), options, state, 9) == frozenset(dropped.split())
