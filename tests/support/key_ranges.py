"""Key ranges of files, and Iceberg's rule of when a delete may meet a data file's keys, case by case."""

from hypothesis import strategies as st

from strategies.iceberg.files import KeyBounds

_BOUNDS = st.tuples(st.integers(0, 9), st.integers(0, 9)).map(sorted) | st.just((None, None))
NARROW = st.just(KeyBounds(None, None)) | st.integers(0, 4).flatmap(
    lambda low: st.builds(KeyBounds, st.just(low), st.integers(low, min(low + 1, 4)))
)
KNOWN = st.builds(lambda bounds, nulls: KeyBounds(*bounds, nulls), _BOUNDS, st.booleans())
KEY_RANGES = st.none() | KNOWN | st.just(KeyBounds(None, None, nulls=True, values=False))


def may_meet(left, right):
    """As DeleteFileIndex.canContainEqDeletesForFile asks, but with sets of keys instead of bounds."""
    left, right = (KeyBounds(None, None, nulls=True) if keys is None else keys for keys in (left, right))
    if left.nulls and right.nulls:
        return True
    if not (left.values and right.values):  # nothing but nulls on one side, none on the other
        return False
    if left.lower is None or right.lower is None:
        return True
    return not {*range(left.lower, left.upper + 1)}.isdisjoint(range(right.lower, right.upper + 1))
