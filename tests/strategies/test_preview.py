from hypothesis import given
from hypothesis import strategies as st

from strategies.preview import equal_shares


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(1, 50))
def test_equal_shares_differ_by_one_at_most(input_bytes, rows, count):
    shares = equal_shares(input_bytes, rows, count)
    assert len(shares) == count
    assert sum(t.input_bytes for t in shares) == input_bytes
    assert sum(t.rows for t in shares) == rows
    for values in ([t.input_bytes for t in shares], [t.rows for t in shares]):
        assert max(values) - min(values) <= 1
