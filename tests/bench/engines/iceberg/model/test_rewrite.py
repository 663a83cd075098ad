import pytest

from bench.engines.contract import NO_COST
from bench.engines.iceberg.model.rewrite import (
    Prepared,
    Replacement,
    below_oldest,
    conflict,
    dangling,
)
from strategies.iceberg.files import DeleteKind, IcebergDataFile, IcebergDeleteFile

EQUALITY, POSITION = DeleteKind.EQUALITY, DeleteKind.POSITION


def data(path, sequence_number=1, partition=""):
    return IcebergDataFile(path, 10, 10, partition, sequence_number)


def delete(path, sequence_number, kind=EQUALITY, partition="", named=None):
    return IcebergDeleteFile(path, 1, 1, partition, sequence_number, referenced_data_file=named, kind=kind)


def prepared(replaced=(), converted=(), removed=()):
    groups = (Replacement(tuple(replaced), "", (1,)),) if replaced else ()
    return Prepared(4, groups, tuple((file, 1) for file in converted), tuple(removed), NO_COST)


@pytest.mark.parametrize(
    ("made", "problem"),
    [
        (prepared([data("a")], removed=["e"]), None),
        (prepared([data("gone")]), "missing required files to delete: gone"),
        (prepared(converted=[data("gone")]), "missing required files to delete: gone"),
        (prepared([data("a")], removed=["lost"]), "missing required files to delete: lost"),
        (prepared([data("b")]), "found new position delete for replaced data file: b"),
        (prepared(converted=[data("b")]), None),
        (prepared([data("c")]), None),  # its position delete was known when the rewrite was prepared
    ],
)
def test_commits_since_a_rewrite_was_prepared_may_keep_it_from_its_own(made, problem):
    files = {file.path: file for file in (data("a"), data("b"), data("c"))}
    deletes = [delete("e", 4), delete("new", 6), delete("p", 6, POSITION, named="b"),
               delete("q", 4, POSITION, named="c")]  # fmt: skip
    assert conflict(made, files, {d.path: d for d in deletes}, 6) == problem


def test_deletes_below_all_data_of_the_table_may_be_dropped_by_a_commit():
    deletes = [delete(f"e{number}", number) for number in (3, 4, 5)]
    assert below_oldest([data("a", 4), data("b", 9)], deletes) == ["e3"]
    assert below_oldest([], deletes) == []


def test_deletes_dangle_by_the_data_of_their_own_partition():
    deletes = [
        delete("e4", 4, partition="x"), delete("e5", 5, partition="x"), delete("e6", 6, partition="x"),
        delete("p4", 4, POSITION, "x"), delete("p5", 5, POSITION, "x"), delete("other", 9, partition="z"),
        delete("y", 2, partition="y"),
    ]  # fmt: skip
    files = [data("a", 5, "x"), data("b", 7, "x"), data("c", 1, "y")]
    # Equality deletes not above 5, position deletes below it, and all where no data is.
    assert dangling(files, deletes) == ["e4", "e5", "p4", "other"]
