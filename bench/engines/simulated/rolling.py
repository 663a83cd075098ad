"""When a writer of Parquet closes a file and starts the next one.

Writers compare the length of a file with its limit while they write. The length counts finished pages as they
are, compressed, and the rows of the page being written as they lie in memory, which takes several times as
much. So files of a table that is small beside its limit end early.
"""

from collections.abc import Iterator

PAGE_ROWS = 20_000  # parquet.page.row.count.limit of Parquet-Java


def rows_of_a_full_file(
    max_bytes: float, compressed_row_bytes: float, buffered_row_bytes: float, checked_rows: int
) -> int:
    """After how many rows a file reaches `max_bytes`, if the writer looks every `checked_rows` rows."""
    page_bytes = PAGE_ROWS * compressed_row_bytes
    pages = max(0, -int((PAGE_ROWS * buffered_row_bytes - max_bytes) // page_bytes))
    rows = pages * PAGE_ROWS + (max_bytes - pages * page_bytes) / buffered_row_bytes
    return max(1, -int(-rows // checked_rows)) * checked_rows


def rolled(rows: int, full_rows: int) -> Iterator[int]:
    """The rows of each file that a task writes."""
    while rows > full_rows:
        yield full_rows
        rows -= full_rows
    if rows:
        yield rows
