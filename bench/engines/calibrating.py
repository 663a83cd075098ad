"""What a format says of its calibration: which amounts explain its costs, and runs that move them apart.

Amounts are chosen by what each format does in an operation, not by a search: runs do not tell rows, bytes
and files apart everywhere, and an amount without a reason fits noise.

In one scenario all commits are alike, so its runs cannot tell what a file costs from what its rows cost.
Over the levels of a format files, rows and columns change independently of each other, and so do the rows of
a table and the changes to them. Each scenario stays small: seconds per unit are wanted, not large totals.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.engines.simulated.steps import Operation

Document = dict[str, Any]  # keys of a scenario

# A probe reads a few columns, so its rows count and not the bytes of all columns.
QUERY = ("s", "s_per_file", "s_per_million_rows", "s_with_deletes", "s_per_delete_file", "s_per_delete_mib")
COMMIT = ("s", "s_per_partition", "s_per_file", "s_per_mib")
REWRITE = (
    "s",
    "s_per_live_file",
    "s_per_task",
    "s_per_file",
    "s_per_mib",
    "s_per_million_rows",
    "s_per_delete_file",
)
NOOP = ("s", "s_per_live_file")


@dataclass(frozen=True, slots=True)
class Level:
    """Keys of [workload] and [table] of one scenario, and the keys of its only strategy."""

    name: str
    workload: Document
    strategy: Document
    table: Document = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Calibrating:
    """The amounts that explain the cost of each operation, and the runs by which they are found.

    The `maintenance` is that of all of the `levels`.
    """

    explaining: Mapping[Operation, tuple[str, ...]]
    levels: Sequence[Level]
    maintenance: Sequence[Document]


def rule(minutes: int, planner: Document) -> Document:
    """The planner's rule, which fires at this interval."""
    return {"trigger": {"type": "every", "interval": f"{minutes}min"}, "planner": planner}


def every(minutes: int, planner: Document) -> Document:
    """The keys of a strategy that runs the planner at this interval."""
    return {"rules": [rule(minutes, planner)]}


def append(rows: int, files: int, columns: int = 17) -> Document:
    return {"type": "append", "rows_per_commit": rows, "files_per_commit": files, "columns": columns}


def upsert(initial_rows: int, rows: int, files: int) -> Document:
    return {
        "type": "upsert", "initial_rows": initial_rows, "rows_per_commit": rows, "files_per_commit": files,
        "columns": 17, "insert_share": 0.5, "delete_share": 0.05,
    }  # fmt: skip


def appends(compact: Document) -> Iterator[Level]:
    """Streams without changes, compacted by a planner."""
    often, seldom = every(2, compact), every(4, compact)
    yield Level("many-small-files", append(640, 64), often)
    yield Level("few-large-files", append(200_000, 2), seldom)
    yield Level("narrow", append(80_000, 8, columns=3), often)
    yield Level("wide", append(40_000, 8, columns=40), often)
    yield Level("one-file", append(1_000, 1), seldom)
    days = {**append(3_000, 1), "late_share": 1.0, "late_by": "30d"}
    yield Level("partitions", days, seldom, {"partitioning": "day"})
