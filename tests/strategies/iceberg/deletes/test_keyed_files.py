import pytest
from hypothesis import given
from hypothesis import strategies as st
from key_ranges import KEY_RANGES, NARROW, may_meet

from strategies.iceberg.deletes.keyed_files import KeyedFiles
from strategies.iceberg.deletes.ranked import FileSums, sums_of
from strategies.iceberg.files import IcebergDataFile, KeyBounds

ANY = KeyBounds(None, None)
NULLS = KeyBounds(None, None, nulls=True, values=False)


@pytest.mark.parametrize(
    ("left", "right", "meets"),
    [
        (KeyBounds(1, 3), KeyBounds(3, 5), True),
        (KeyBounds(1, 3), KeyBounds(4, 5), False),
        (KeyBounds(1, 9), KeyBounds(4, 5), True),
        (KeyBounds("a", "b"), KeyBounds("b", "c"), True),
        (KeyBounds(1, 3), None, True),
        (NULLS, None, True),
        (KeyBounds(1, 3), ANY, True),
        (ANY, ANY, True),
        (NULLS, NULLS, True),
        (NULLS, KeyBounds(1, 3), False),
        (NULLS, ANY, False),
        (NULLS, KeyBounds(1, 3, nulls=True), True),
        (KeyBounds(1, 3, nulls=True), KeyBounds(4, 5), False),
        (KeyBounds(1, 3, nulls=True), KeyBounds(4, 5, nulls=True), True),
    ],
)
def test_key_ranges_meet_where_a_key_can_be_in_both(left, right, meets):
    assert left.meets(right) is meets
    if right is not None:
        assert right.meets(left) is meets


@given(KEY_RANGES, KEY_RANGES)
def test_key_ranges_meet_as_their_sets_of_keys_do(left, right):
    if left is not None:
        assert left.meets(right) == may_meet(left, right)


# Files alike in nulls and values share a tree, so most lists are of those alone.
FILES = st.sampled_from([KEY_RANGES, NARROW, NARROW]).flatmap(
    lambda ranges: st.lists(
        st.builds(
            lambda size, number, keys: IcebergDataFile("f", size, 2 * size, "", number, key_bounds=keys),
            st.integers(0, 9), st.integers(0, 5), ranges,
        ),
        max_size=20,
    )
)  # fmt: skip
ASKED = [
    None, ANY, NULLS, KeyBounds(None, None, nulls=True),
    *(KeyBounds(low, high, nulls) for low in range(5) for high in range(low, 5) for nulls in (False, True)),
]  # fmt: skip


@given(FILES, st.integers(-1, 6))
def test_meeting_equals_a_look_at_every_file(files, beyond):
    keyed = KeyedFiles(files, lambda file: file.data_sequence_number)
    newer = [f for f in files if f.data_sequence_number > beyond]
    for keys in ASKED:
        assert keyed.meeting(beyond, keys) == sums_of(f for f in newer if may_meet(f.key_bounds, keys))
    assert keyed.is_empty == (not files)
    parts = (ranked.sums(start) for ranked, start in keyed.above(beyond))
    assert sum(parts, FileSums()) == sums_of(newer)
