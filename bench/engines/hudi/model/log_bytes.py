"""The expected sizes of log files.

A record that sets a row has all its columns in Avro, uncompressed, and Hudi's own, which are the same in any
width; one that deletes has the key and little else. Measured with Hudi 1.2.0 on log files of 12 to 150
records, 126 of them with 17 columns and 23 with each other number, by linear regression.
"""

from collections.abc import Mapping

from workloads.schema import Schema

# By the number of columns: the fixed size of a file, whose header has the schema, and its bytes per row.
_SIZES: Mapping[int, tuple[int, int]] = {3: (1_750, 144), 7: (2_240, 169), 17: (3_700, 233), 40: (6_870, 715)}
_DELETE_BYTES = 25  # with 17 columns 14, where deletes were fewest


def log_file_bytes(schema: Schema, rows: int, deletes: int) -> int:
    """The expected bytes of a log file with so many rows, and keys that are deleted."""
    fixed_bytes, row_bytes = _SIZES[len(schema.columns)]
    return fixed_bytes + row_bytes * rows + _DELETE_BYTES * deletes
