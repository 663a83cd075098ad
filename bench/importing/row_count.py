"""How many rows of the `orders` table have the bytes of somebody's files."""

from bisect import bisect_left

from bench.engines.format import Format, SizeModel
from workloads.schema import SCHEMAS

_FILE_ROWS = range(10**9)


def size_model(table_format: Format, columns: int) -> SizeModel:
    """The size of files of a table of this width."""
    return table_format.engines.size_model(SCHEMAS[columns]) or SCHEMAS[columns].expected_bytes


def rows_of_file(size_bytes: float, size_of: SizeModel) -> int:
    """The rows of one file of so many bytes, at least one."""
    return max(1, bisect_left(_FILE_ROWS, size_bytes, key=lambda rows: size_of(rows, 1)))
