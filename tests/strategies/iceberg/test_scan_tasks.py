from hypothesis import given
from hypothesis import strategies as st

from strategies.iceberg.deletes.index import Applied
from strategies.iceberg.files import IcebergDataFile
from strategies.iceberg.scan_tasks import FileScan, lookback_of, scan_task_groups
from strategies.preview import ScanTaskGroup
from strategies.state import MIB


def candidate(size_bytes, rows=10, offsets=(), deletes_bytes=0):
    return FileScan(
        IcebergDataFile("f", size_bytes, rows, split_offsets=offsets), Applied(1, deletes_bytes, 0)
    )


def test_six_files_of_100_mib_leave_a_small_tail():
    # Iceberg 1.11.0 at its defaults made files of about 500 and 100 MiB of them: 5 + 1.
    tasks = scan_task_groups([candidate(100 * MIB)] * 6, 512 * MIB, 10)
    assert tasks == (ScanTaskGroup(500 * MIB, 50), ScanTaskGroup(100 * MIB, 10))


def test_a_file_without_offsets_is_cut_at_the_split_size():
    # By hand: 250 bytes at 100 are 100 + 100 + 50, and a tenth of a row more goes to the later piece.
    assert scan_task_groups([candidate(250, rows=9)], 100, 10) == (
        ScanTaskGroup(100, 3),
        ScanTaskGroup(100, 4),
        ScanTaskGroup(50, 2),
    )


def test_a_file_is_cut_at_its_row_groups_only():
    # What lies before the first row group, Parquet's four magic bytes, is read by nobody.
    assert scan_task_groups([candidate(250, 9, offsets=(4,))], 100, 10) == (ScanTaskGroup(246, 9),)
    cut = scan_task_groups([candidate(244, rows=9, offsets=(4, 84, 164))], 80, 10)
    assert cut == (ScanTaskGroup(80, 3), ScanTaskGroup(80, 3), ScanTaskGroup(80, 3))


def test_offsets_out_of_order_or_past_the_end_are_passed_over():
    for offsets in ((4, 90, 80), (4, 4), (4, 250), (300,)):
        assert [t.input_bytes for t in scan_task_groups([candidate(250, 9, offsets)], 100, 10)] == [
            100,
            100,
            50,
        ]


def test_deletes_weigh_on_every_piece_of_their_file():
    # By hand: 40 bytes and 30 of deletes are 70, so no two fit 100; without deletes two do.
    assert len(scan_task_groups([candidate(40, deletes_bytes=30)] * 4, 100, 10)) == 4
    assert len(scan_task_groups([candidate(40)] * 4, 100, 10)) == 2


def test_lookback_of_is_iceberg_s_default_or_the_table_s():
    assert lookback_of({}) == 10  # TableProperties.SPLIT_LOOKBACK_DEFAULT
    assert lookback_of({"read.split.planning-lookback": "3"}) == 3


@given(
    st.lists(st.tuples(st.integers(1, 900), st.integers(0, 99), st.integers(0, 50)), max_size=12),
    st.integers(1, 300),
    st.integers(1, 12),
)
def test_read_tasks_read_everything_once(files, split_bytes, lookback):
    tasks = scan_task_groups([candidate(size, rows, (), d) for size, rows, d in files], split_bytes, lookback)
    assert sum(t.input_bytes for t in tasks) == sum(size for size, _, _ in files)
    assert sum(t.rows for t in tasks) == sum(rows for _, rows, _ in files)
    assert all(0 < t.input_bytes <= split_bytes for t in tasks)
