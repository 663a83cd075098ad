import pytest
from delete_rule import applies
from hypothesis import given
from hypothesis import strategies as st
from key_ranges import KEY_RANGES

from strategies.iceberg.deletes.index import Applied, index_deletes
from strategies.iceberg.files import DeleteKind, IcebergDataFile, IcebergDeleteFile, KeyBounds
from strategies.state import StateError

EQUALITY, POSITION, VECTOR = DeleteKind.EQUALITY, DeleteKind.POSITION, DeleteKind.DELETION_VECTOR


def file(partition="p=a", sequence_number=5, spec_id=1, path="f", keys=None):
    return IcebergDataFile(path, 100, 10, partition, sequence_number, spec_id, key_bounds=keys)


def delete(kind, sequence_number, partition="p=a", spec_id=1, names=None, size_bytes=7, rows=3, keys=None):
    return IcebergDeleteFile(
        "d", size_bytes, rows, partition, sequence_number, spec_id, names, keys, kind=kind
    )


def count(deletes, data_file):
    return index_deletes(deletes).applying_to(data_file).files_count


# The sequence rules are those of the table spec, "Scan Planning".
@pytest.mark.parametrize(
    ("kind", "counts"), [(EQUALITY, {4: 0, 5: 0, 6: 1}), (POSITION, {4: 0, 5: 1, 6: 1})], ids=str
)
def test_deletes_apply_by_sequence_number(kind, counts):
    assert {n: count([delete(kind, n)], file()) for n in counts} == counts
    named = {n: count([delete(POSITION, n, names="f")], file()) for n in (4, 5)}
    assert named == {4: 0, 5: 1}


@pytest.mark.parametrize("kind", [EQUALITY, POSITION])
def test_deletes_stay_in_their_partition_and_spec(kind):
    deletes = [delete(kind, 9)]
    assert count(deletes, file("p=b")) == 0
    assert count(deletes, file(spec_id=2)) == 0


@pytest.mark.parametrize(
    "delete",
    [
        delete(EQUALITY, 1), delete(EQUALITY, 1, partition=""), delete(POSITION, 1),
        delete(POSITION, 1, names="f"), delete(VECTOR, 1, names="f"),
    ],
)  # fmt: skip
def test_an_index_is_empty_without_any_delete_file(delete):
    assert index_deletes([]).is_empty
    assert not index_deletes([delete]).is_empty


def test_equality_deletes_without_partition_apply_everywhere():
    deletes = [delete(EQUALITY, 9, partition="", spec_id=0)]
    assert [count(deletes, file(p, spec_id=s)) for p, s in (("p=a", 1), ("p=b", 2), ("", 0))] == [1, 1, 1]


def test_position_deletes_without_partition_apply_to_files_without_partition():
    deletes = [delete(POSITION, 9, partition="", spec_id=0)]
    assert [count(deletes, file(p, spec_id=s)) for p, s in (("p=a", 1), ("", 0))] == [0, 1]


def test_deletes_that_name_a_file_apply_to_it_whatever_their_partition():
    deletes = [delete(POSITION, 9, partition="p=other", names="f")]
    assert count(deletes, file()) == 1
    assert count(deletes, file(path="g")) == 0


def test_equality_deletes_apply_where_their_keys_meet_those_of_the_file():
    data_file = file(keys=KeyBounds(10, 20))
    ranges = {(1, 9): 0, (1, 10): 1, (12, 13): 1, (20, 99): 1, (21, 99): 0}
    for partition in ("p=a", ""):
        counted = {r: count([delete(EQUALITY, 9, partition, keys=KeyBounds(*r))], data_file) for r in ranges}
        assert counted == ranges
    assert count([delete(POSITION, 9, keys=KeyBounds(1, 9))], data_file) == 1


def test_own_rows_are_those_of_deletes_that_name_the_file():
    deletes = [delete(EQUALITY, 9), delete(POSITION, 9), delete(POSITION, 9, names="f", rows=2)]
    assert index_deletes(deletes).applying_to(file()) == Applied(
        files_count=3, size_bytes=21, file_scoped_rows=2, rows=8
    )


def test_a_deletion_vector_hides_position_deletes_but_not_equality_deletes():
    others = [delete(POSITION, 9), delete(POSITION, 9, names="f"), delete(EQUALITY, 9)]
    deletes = [*others, delete(VECTOR, 9, names="f", size_bytes=1, rows=4)]
    assert index_deletes(deletes).applying_to(file()) == Applied(
        files_count=2, size_bytes=8, file_scoped_rows=4, rows=7
    )


@pytest.mark.parametrize(
    ("deletes", "text"),
    [
        ([delete(VECTOR, 9)], "does not name its data file"),
        ([delete(VECTOR, 9, names="f"), delete(VECTOR, 8, names="f")], "f has two deletion vectors"),
    ],
)
def test_index_deletes_refuses_what_iceberg_cannot_have(deletes, text):
    with pytest.raises(StateError, match=text):
        index_deletes(deletes)


DELETES = st.lists(
    st.builds(
        delete,
        st.sampled_from([EQUALITY, POSITION]),
        st.integers(1, 6),
        st.sampled_from(["p=a", "p=b", ""]),
        st.integers(0, 1),
        st.sampled_from([None, None, "f", "other"]),
        st.integers(0, 9),
        st.integers(0, 9),
        KEY_RANGES,
    )
)


@given(
    DELETES,
    st.booleans(),
    st.integers(0, 6),
    st.sampled_from(["p=a", "p=b", ""]),
    st.integers(0, 1),
    KEY_RANGES,
)
def test_the_index_agrees_with_the_rule_for_every_delete_file(
    deletes, has_vector, sequence_number, partition, spec_id, keys
):
    data_file = file(partition, sequence_number, spec_id, keys=keys)
    deletes = [*deletes, *([delete(VECTOR, 9, names="f", rows=4)] if has_vector else [])]
    applied = [d for d in deletes if applies(d, data_file, has_vector)]
    file_scoped = [d for d in applied if d.kind is not EQUALITY and d.referenced_data_file]
    expected = Applied(
        len(applied), sum(d.size_bytes for d in applied), sum(d.rows for d in file_scoped),
        sum(d.rows for d in applied),
    )  # fmt: skip
    assert index_deletes(deletes).applying_to(data_file) == expected


class Counted(int):
    """A number that counts how often any of them was compared."""

    comparisons = 0

    def __lt__(self, other):
        Counted.comparisons += 1
        return int(self) < int(other)

    def __le__(self, other):
        return not Counted.__lt__(other, self)

    def __gt__(self, other):
        return Counted.__lt__(other, self)

    def __ge__(self, other):
        return not Counted.__lt__(self, other)


@pytest.fixture
def comparisons():
    """Asserts that no look at each pair of 2,000 deletes and 2,000 files was needed: 4 million of them."""
    Counted.comparisons = 0
    yield
    assert 0 < Counted.comparisons < 100 * 2_000


@pytest.mark.usefixtures("comparisons")
def test_the_index_copes_with_every_delete_applying_to_every_file():
    deletes = [delete(EQUALITY, Counted(n), partition="", spec_id=0) for n in range(1, 2_001)]
    index = index_deletes(deletes)
    total = sum(index.applying_to(file(sequence_number=Counted(n))).files_count for n in range(2_000))
    assert total == 2_000 * 2_001 // 2


@pytest.mark.usefixtures("comparisons")
def test_the_index_copes_with_keys_that_follow_the_stream():
    # A file meets the eight deletes that follow it.
    def keys(low):
        return KeyBounds(Counted(low), Counted(low + 63))

    deletes = [delete(EQUALITY, n + 1, keys=keys(8 * n)) for n in range(2_000)]
    index = index_deletes(deletes)
    met = [
        index.applying_to(file(sequence_number=n, keys=KeyBounds(Counted(8 * n + 56), Counted(8 * n + 63))))
        for n in range(1_990)
    ]
    assert [one.files_count for one in met] == [8] * 1_990
