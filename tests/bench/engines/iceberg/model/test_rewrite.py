import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.engines.iceberg.conflicts import Effect, Kind, conflict_between
from bench.engines.iceberg.model.rewrite import Prepared, Replacement, conflict, effect_of
from bench.engines.live_files import LiveFiles
from strategies.iceberg.files import DeleteKind, IcebergDataFile, IcebergDeleteFile

EQUALITY, POSITION = DeleteKind.EQUALITY, DeleteKind.POSITION


def data(path, sequence_number=1, partition=""):
    return IcebergDataFile(path, 10, 10, partition, sequence_number)


def delete(path, sequence_number, kind=EQUALITY, partition="", named=None):
    return IcebergDeleteFile(path, 1, 1, partition, sequence_number, referenced_data_file=named, kind=kind)


def prepared(replaced=(), converted=(), removed=(), keeps_age=True):
    groups = tuple(Replacement((file,), file.partition, (1,), 10) for file in replaced)
    return Prepared(4, groups, tuple((file, 1) for file in converted), tuple(removed), keeps_age)


@pytest.mark.parametrize(
    ("made", "problem"),
    [
        (prepared([data("a")], removed=["e"]), None),
        (prepared([data("gone")]), "missing required files to delete: gone"),
        (prepared(converted=[data("gone")]), "missing required files to delete: gone"),
        (prepared([data("a")], removed=["lost"]), "missing required files to delete: lost"),
        (prepared([data("b")]), "found new position delete for replaced data file: b"),
        (prepared(converted=[data("b")]), None),
        (prepared([data("a")], keeps_age=False), "found new delete for replaced data file: a"),
        (prepared([data("d", partition="x")], keeps_age=False), None),  # the equality deletes are not of x
        (prepared([data("c")]), None),  # its position delete was known when the rewrite was prepared
    ],
)
def test_commits_since_a_rewrite_was_prepared_may_keep_it_from_its_own(made, problem):
    files = LiveFiles()
    for path in ("a", "b", "c"):
        files.add(data(path))
    files.add(data("d", partition="x"))
    deletes = [delete("e", 4), delete("new", 6), delete("p", 6, POSITION, named="b"),
               delete("q", 4, POSITION, named="c")]  # fmt: skip
    assert conflict(made, files, {d.path: d for d in deletes}, 6) == problem


PATHS = st.frozensets(st.sampled_from("abcd"), max_size=2)


@given(
    replaced=PATHS,
    converted=PATHS,
    landed=st.lists(st.builds(Effect, st.just(Kind.MERGE_ON_READ), removed=PATHS, marked=PATHS), max_size=3),
)
def test_the_table_tells_of_commits_since_then_what_their_effects_would(replaced, converted, landed):
    files, deletes = LiveFiles(), {}
    for path in "abcd":
        files.add(data(path))
    for number, effect in enumerate(landed, 5):
        for path in effect.removed & set(files):
            files.remove(files[path])
        for path in effect.marked:
            deletes[f"{number}{path}"] = delete(f"{number}{path}", number, POSITION, named=path)
    made = prepared(map(data, sorted(replaced)), map(data, sorted(converted - replaced)))
    found = conflict(made, files, deletes, 4 + len(landed))
    assert (found is None) == (conflict_between(effect_of(made), landed) is None)
