"""Key ranges of files, and Iceberg's rule of when a delete may meet a data file's keys, case by case."""

from hypothesis import strategies as st

from strategies.state import KeyRange

_BOUNDS = st.tuples(st.integers(0, 9), st.integers(0, 9)).map(sorted) | st.just((None, None))
NARROW = st.just(KeyRange(None, None)) | st.integers(0, 4).flatmap(
    lambda low: st.builds(KeyRange, st.just(low), st.integers(low, min(low + 1, 4)))
)
KNOWN = st.builds(lambda bounds, nulls: KeyRange(*bounds, nulls), _BOUNDS, st.booleans())
KEY_RANGES = st.none() | KNOWN | st.just(KeyRange(None, None, nulls=True, values=False))


def may_meet(left, right):
    """As DeleteFileIndex.canContainEqDeletesForFile asks, but with sets of keys instead of bounds."""
    left, right = (KeyRange(None, None, nulls=True) if keys is None else keys for keys in (left, right))
    if left.nulls and right.nulls:
        return True
    if not (left.values and right.values):  # nothing but nulls on one side, none on the other
        return False
    if left.low is None or right.low is None:
        return True
    return not {*range(left.low, left.high + 1)}.isdisjoint(range(right.low, right.high + 1))
