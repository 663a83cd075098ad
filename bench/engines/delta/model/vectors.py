"""The expected sizes of deletion vectors."""

import math

_CONTAINER_ROWS = 2**16
_CONTAINER_BYTES_MAX = 2**13  # above 4,096 rows a container is a bitmap of all its rows
_ROW_BYTES = 2
_HEADER_BYTES = 24  # magic number, number of bitmaps, and the header of one bitmap with its key
_CONTAINER_HEADER_BYTES = 8

# Around each vector in its file are its length and its checksum, and before the first one a version byte.
FRAME_BYTES = 8
FIRST_OFFSET = 1


def vector_bytes(deleted_rows: int, file_rows: int) -> int:
    """The bytes of a vector whose rows are spread over a data file.

    500 rows of a file of 1,000 take 24 + 8 + 500 x 2 = 1,032, as measured. Runs of deleted rows, which take
    less, do not occur in it. Source: RoaringBitmapArray in its portable format, delta-spark 3.3.2.
    """
    containers = min(deleted_rows, math.ceil(file_rows / _CONTAINER_ROWS))
    if not containers:
        return _HEADER_BYTES
    rows_bytes = min(_CONTAINER_BYTES_MAX, math.ceil(deleted_rows / containers * _ROW_BYTES))
    return _HEADER_BYTES + containers * (_CONTAINER_HEADER_BYTES + rows_bytes)
