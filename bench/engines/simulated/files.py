"""The data files of a simulated table: the bytes of so many rows, and the rows of what a rewrite makes."""

from bench.engines.simulated.costs import Coefficients
from strategies.preview import RewriteGroup
from workloads.schema import Schema


def table_bytes(schema: Schema, coefficients: Coefficients, rows: int, files: int = 1) -> int:
    """The bytes of data files: plain Parquet of the same rows, and what the format adds to it."""
    data = coefficients.data
    return schema.expected_bytes(rows, files) + files * data.file_bytes + round(rows * data.bytes_per_row)


def rows_of_outputs(group: RewriteGroup, live_rows: int) -> tuple[int, ...]:
    """The rows that each task of a group writes: a share of the live rows, in proportion to what it reads."""
    all_rows = max(1, sum(task.rows for task in group.tasks))
    before, made = 0, []
    for task in group.tasks:
        made.append(live_rows * (before + task.rows) // all_rows - live_rows * before // all_rows)
        before += task.rows
    return tuple(made)
