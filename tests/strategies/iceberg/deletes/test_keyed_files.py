import pytest
from hypothesis import given
from hypothesis import strategies as st
from key_ranges import KEY_RANGES, NARROW, may_meet

from strategies.iceberg.deletes.keyed_files import KeyedFiles
from strategies.iceberg.deletes.series import FileSums, sums_of
from strategies.state import DataFile, KeyRange

ANY = KeyRange(None, None)
NULLS = KeyRange(None, None, nulls=True, values=False)


@pytest.mark.parametrize(
    ("left", "right", "meets"),
    [
        (KeyRange(1, 3), KeyRange(3, 5), True),
        (KeyRange(1, 3), KeyRange(4, 5), False),
        (KeyRange(1, 9), KeyRange(4, 5), True),
        (KeyRange("a", "b"), KeyRange("b", "c"), True),
        (KeyRange(1, 3), None, True),
        (NULLS, None, True),
        (KeyRange(1, 3), ANY, True),
        (ANY, ANY, True),
        (NULLS, NULLS, True),
        (NULLS, KeyRange(1, 3), False),
        (NULLS, ANY, False),
        (NULLS, KeyRange(1, 3, nulls=True), True),
        (KeyRange(1, 3, nulls=True), KeyRange(4, 5), False),
        (KeyRange(1, 3, nulls=True), KeyRange(4, 5, nulls=True), True),
    ],
)
def test_key_ranges_meet_where_a_key_can_be_in_both(left, right, meets):
    assert left.meets(right) is meets
    if right is not None:
        assert right.meets(left) is meets


# Files alike in nulls and values share a tree, so most lists are of those alone.
FILES = st.sampled_from([KEY_RANGES, NARROW, NARROW]).flatmap(
    lambda ranges: st.lists(
        st.builds(
            lambda size, number, keys: DataFile("f", size, 2 * size, "", number, keys=keys),
            st.integers(0, 9), st.integers(0, 5), ranges,
        ),
        max_size=20,
    )
)  # fmt: skip
ASKED = [
    None, ANY, NULLS, KeyRange(None, None, nulls=True),
    *(KeyRange(low, high, nulls) for low in range(5) for high in range(low, 5) for nulls in (False, True)),
]  # fmt: skip


@given(FILES, st.integers(-1, 6))
def test_meeting_equals_a_look_at_every_file(files, beyond):
    keyed = KeyedFiles(files, lambda file: file.sequence_number)
    newer = [f for f in files if f.sequence_number > beyond]
    for keys in ASKED:
        assert keyed.meeting(beyond, keys) == sums_of(f for f in newer if may_meet(f.keys, keys))
    assert keyed.is_empty == (not files)
    parts = (series.sums_since(start) for series, start in keyed.parts(beyond))
    assert sum(parts, FileSums()) == sums_of(newer)
