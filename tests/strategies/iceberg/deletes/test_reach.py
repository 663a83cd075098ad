from dataclasses import replace

from delete_rule import applies
from hypothesis import given
from hypothesis import strategies as st
from key_ranges import KEY_RANGES

from strategies.iceberg.deletes.index import index_deletes
from strategies.iceberg.deletes.ranked import FileSums
from strategies.iceberg.deletes.reach import DeleteSet
from strategies.iceberg.files import DeleteKind, IcebergDataFile, IcebergDeleteFile, KeyBounds

EQUALITY, POSITION = DeleteKind.EQUALITY, DeleteKind.POSITION
PARTITIONS = st.sampled_from(["p=a", "p=b", ""])
FILES = st.lists(
    st.builds(
        IcebergDataFile, st.sampled_from("fghij"), st.just(9), st.just(9), PARTITIONS, st.integers(0, 6),
        st.integers(0, 1), key_bounds=KEY_RANGES,
    ),
    unique_by=lambda file: file.path,
)  # fmt: skip
DELETES = st.lists(
    st.tuples(
        st.sampled_from([EQUALITY, POSITION]), st.integers(0, 9), st.integers(0, 9), PARTITIONS,
        st.integers(0, 7), st.integers(0, 1), st.none() | st.sampled_from("fgh"), KEY_RANGES,
    ).map(list)
)  # fmt: skip


@given(FILES, DELETES)
def test_reach_equals_a_look_at_every_pair(files, fields):
    deletes = [IcebergDeleteFile(f"d{n}", *field, kind=kind) for n, (kind, *field) in enumerate(fields)]
    deletes = [
        d if d.kind is POSITION else replace(d, referenced_data_file=None) for d in deletes
    ]  # equality deletes name no data file
    reach = DeleteSet(index_deletes(deletes), files)
    by_kind = {kind: [d for d in deletes if d.kind is kind and any(applies(d, f) for f in files)]
             for kind in (EQUALITY, POSITION)}  # fmt: skip
    assert reach.keys == {d.path for group in by_kind.values() for d in group}
    for kind, sums in ((EQUALITY, reach.equality), (POSITION, reach.position)):
        group = by_kind[kind]
        assert sums == FileSums(len(group), sum(d.size_bytes for d in group), sum(d.rows for d in group))
    assert sorted(d.path for d in reach.position_files) == sorted(d.path for d in by_kind[POSITION])


def test_an_equality_delete_reaches_a_file_of_its_keys_that_is_older():
    oldest, other = (
        IcebergDataFile(p, 1, 1, "", n, key_bounds=KeyBounds(n, n)) for p, n in (("old", 1), ("other", 5))
    )
    deletes = [
        IcebergDeleteFile(f"d{n}", 1, 1, "", n, key_bounds=KeyBounds(5, 9), kind=EQUALITY) for n in (4, 5, 6)
    ]
    assert DeleteSet(index_deletes(deletes), [oldest, other]).keys == {"d6"}


def test_reach_of_many_files_and_deletes_looks_at_no_pair():
    # 20,000 x 20,000 pairs in each of which something applies.
    deletes = [IcebergDeleteFile(f"d{n}", 1, 1, "", n, kind=EQUALITY) for n in range(1, 20_001)]
    reach = DeleteSet(index_deletes(deletes), [IcebergDataFile(f"f{n}", 1, 1, "", n) for n in range(20_000)])
    assert reach.equality.files_count == 20_000
