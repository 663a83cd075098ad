from hypothesis import given
from hypothesis import strategies as st

from bench.engines.hudi.model.coefficients import HudiCoefficients
from bench.engines.iceberg.model.coefficients import IcebergCoefficients
from bench.engines.simulated.rolling import PAGE_ROWS, rolled, rows_of_a_full_file
from strategies.state import MIB
from workloads.schema import ORDERS


def length(rows, compressed, buffered):
    """The length of a file as its writer sees it, by its definition."""
    pages, rest = divmod(rows, PAGE_ROWS)
    return pages * PAGE_ROWS * compressed + rest * buffered


def test_a_file_of_a_small_table_ends_in_its_first_page():
    # 1,000,000 bytes are 5,000 rows of 200 bytes in memory.
    assert rows_of_a_full_file(1e6, 20, 200, 1) == 5_000
    assert rows_of_a_full_file(1e6, 20, 200, 3_000) == 6_000


def test_a_large_file_has_many_compressed_pages_and_one_in_memory():
    # A page in memory takes up to 4 MB. Of 10 MB, 6 MB are 15 compressed pages of 0.4 MB.
    assert rows_of_a_full_file(10e6, 20, 200, 1) == 15 * PAGE_ROWS + 20_000
    assert rows_of_a_full_file(10.1e6, 20, 200, 1) == 16 * PAGE_ROWS + 18_500


@given(
    max_bytes=st.floats(1e3, 1e9), compressed=st.floats(5, 100), factor=st.floats(1, 20),
    checked=st.sampled_from([1, 1000]),
)  # fmt: skip
def test_a_full_file_is_the_first_one_that_is_long_enough(max_bytes, compressed, factor, checked):
    rows = rows_of_a_full_file(max_bytes, compressed, compressed * factor, checked)
    assert rows % checked == 0
    if rows % PAGE_ROWS:
        assert length(rows, compressed, compressed * factor) >= max_bytes * (1 - 1e-9)
    if rows > checked and (rows - checked) // PAGE_ROWS == rows // PAGE_ROWS:
        assert length(rows - checked, compressed, compressed * factor) < max_bytes * (1 + 1e-9)


@given(rows=st.integers(0, 10**6), full=st.integers(1, 10**6))
def test_files_of_a_task_have_all_its_rows(rows, full):
    full = max(full, rows // 100 + 1)
    files = [*rolled(rows, full)]
    assert sum(files) == rows
    assert all(0 < count <= full for count in files)
    assert len(files) == -(-rows // full)


def test_the_shipped_writers_end_files_as_in_the_published_runs():
    # `formats-append` has a target of 1 MiB. Iceberg's limit is 1.4 times that.
    assert IcebergCoefficients.read().full_file_rows(ORDERS, round(1.4 * MIB)) == 8_000
    assert 4_000 <= HudiCoefficients.read().full_file_rows(ORDERS, MIB) < 4_300
