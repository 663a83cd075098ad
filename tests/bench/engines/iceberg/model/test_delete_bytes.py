import pytest

from bench.engines.iceberg.model.delete_bytes import equality_bytes, position_bytes


@pytest.mark.parametrize(("rows", "size_bytes"), [(1, 503), (10_000, 36_648)])
def test_equality_deletes_are_as_large_as_measured(rows, size_bytes):
    assert equality_bytes(rows) == pytest.approx(size_bytes, rel=0.01)
    assert equality_bytes(3 * rows, 3) == pytest.approx(3 * size_bytes, rel=0.01)


@pytest.mark.parametrize(("rows", "size_bytes"), [(1, 1_404), (10_000, 17_709)])
def test_position_deletes_are_as_large_as_measured(rows, size_bytes):
    assert position_bytes(rows) == pytest.approx(size_bytes, rel=0.02)
    assert position_bytes(3 * rows, 3) == pytest.approx(3 * size_bytes, rel=0.02)
