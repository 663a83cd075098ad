"""The options of a Hudi table that determine how new rows are packed into base files.

Source: HoodieCompactionConfig and UpsertPartitioner of Hudi 1.2.0.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from strategies.java_values import MAX_INT, parse_boolean, parse_int
from strategies.options import at_least

SMALL_FILE_LIMIT = "hoodie.parquet.small.file.limit"
AUTO_SPLIT = "hoodie.copyonwrite.insert.auto.split"
SPLIT_ROWS = "hoodie.copyonwrite.insert.split.size"
ROW_BYTES = "hoodie.copyonwrite.record.size.estimate"
_SMALL_RATIO = 5 / 6  # Hudi's default of small.file.limit (100 MiB) to max.file.size (120 MiB)
_DEFAULT_SPLIT_ROWS = 500_000
DEFAULT_ROW_BYTES = 1024


@dataclass(frozen=True, slots=True)
class Packing:
    """Base files below `small_file_bytes` (0: none) get new rows up to `max_file_bytes`.

    A new file gets `split_rows`, or with None as many as make `max_file_bytes`. A row is taken for
    `first_row_bytes` until commits allow an estimate.
    """

    max_file_bytes: int
    small_file_bytes: int
    split_rows: int | None
    first_row_bytes: int


def packing(properties: Mapping[str, str], max_file_bytes: int) -> Packing:
    """Raises ValueError for options that Hudi rejects, or with which it would not terminate."""
    is_automatic = parse_boolean(properties.get(AUTO_SPLIT, "true"))
    split_rows = at_least(SPLIT_ROWS, parse_int, 1).read(properties, _DEFAULT_SPLIT_ROWS)
    return Packing(
        max_file_bytes,
        at_least(SMALL_FILE_LIMIT, parse_int, 0).read(properties, default_small_file_bytes(max_file_bytes)),
        None if is_automatic else split_rows,
        at_least(ROW_BYTES, parse_int, 1).read(properties, DEFAULT_ROW_BYTES),
    )


def default_small_file_bytes(max_file_bytes: int) -> int:
    """In the ratio of Hudi's own defaults. Hudi reads it as an int."""
    return min(round(max_file_bytes * _SMALL_RATIO), MAX_INT)
