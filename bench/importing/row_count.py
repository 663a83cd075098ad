"""How many rows of the `orders` table have the bytes of somebody's files."""

from bisect import bisect_left

from bench.engines.format import SizeModel

_FILE_ROWS = range(10**9)


def rows_of_file(size_bytes: float, size_of: SizeModel) -> int:
    """The rows of one file of so many bytes, at least one."""
    return max(1, bisect_left(_FILE_ROWS, size_bytes, key=lambda rows: size_of(rows, 1)))
