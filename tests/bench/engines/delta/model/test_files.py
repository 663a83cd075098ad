import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.engines.delta.model.files import vector_bytes


@pytest.mark.parametrize(
    ("deleted", "rows", "size_bytes"),
    [
        (500, 1_000, 1_032),  # measured
        (1, 1_000, 34),
        (4_096, 65_536, 24 + 8 + 8_192),
        (10_000, 65_536, 24 + 8 + 8_192),  # a bitmap
        (10_000, 131_072, 24 + 2 * (8 + 8_192)),
        (2, 10 * 65_536, 24 + 2 * (8 + 2)),  # in two of ten containers
    ],
)
def test_a_vector_takes_two_bytes_a_row_or_a_bit_for_each_row_of_the_file(deleted, rows, size_bytes):
    assert vector_bytes(deleted, rows) == size_bytes


@given(rows=st.integers(1, 10**6), data=st.data())
def test_a_vector_never_shrinks_as_rows_are_deleted(rows, data):
    deleted = data.draw(st.integers(1, rows))
    more = data.draw(st.integers(deleted, rows))
    assert vector_bytes(deleted, rows) <= vector_bytes(more, rows)
