"""The columns that a Delta table can be clustered, sorted and filtered by.

Delta checks this too, but only when it creates the table or runs the command.

Source: StatisticsCollection, ClusteredTableUtils, OptimizeTableCommand and DeltaCommand of delta-spark 3.3.2.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from bench.engines.contract import TableSpec
from bench.engines.delta.properties import table_properties
from bench.engines.delta.table_keys import INDEXED_COUNT, STATS_COLUMNS, clustering_columns_of
from bench.engines.keys import unknown_columns
from bench.engines.sql import code_of
from strategies.delta.commands import Command
from strategies.delta.planners import Optimize, Reorg, ZOrder
from strategies.planner import Planner, traits_of

_DEFAULT_INDEXED_COUNT = "32"


@dataclass(frozen=True, slots=True)
class Layout:
    """`columns` are the full names of the leaves of the schema; `has_days`: partitions may be days."""

    columns: tuple[str, ...]
    partitioned_by: tuple[str, ...]
    clustered_by: tuple[str, ...]
    has_days: bool
    properties: Mapping[str, str]


def layout_of(spec: TableSpec) -> Layout:
    partitioning = spec.partitioning
    by = () if partitioning.column is None else (partitioning.column,)
    derived = tuple(name for name in by if name not in spec.schema.names)
    return Layout(
        (*spec.schema.names, *derived), by, clustering_columns_of(spec), partitioning.by == "day",
        table_properties(spec),
    )  # fmt: skip


def key_problem(spec: TableSpec) -> tuple[str, str] | None:
    columns = clustering_columns_of(spec)
    booleans = {column.name for column in spec.schema.columns if column.spark_type == "BOOLEAN"}
    refused = ", ".join(name for name in columns if name in booleans)
    problem = unknown_columns(columns, spec.schema.names)
    if problem is None and refused:
        problem = f"Delta cannot cluster by BOOLEAN columns: leave out {refused}"
    problem = problem or _statistics_problem(layout_of(spec), columns)
    return None if problem is None else ("cluster_by", problem)


def planner_problem(layout: Layout, planner: Planner) -> str | None:
    """Why Delta refuses every plan of a planner, or why there will never be one; None if it is fine."""
    match planner:
        case Optimize(where=str(where)) | Reorg(where=str(where)) | ZOrder(where=str(where)):
            problem = _filter_problem(layout, where)
        case Optimize(days_ago=(_, *_)) if not layout.has_days:
            problem = (
                "days_ago chooses partitions by their day, but the table is not partitioned by day: "
                "partition it by day, or leave out days_ago"
            )
        case _:
            problem = None
    return problem or _sorting_problem(layout, planner)


def _filter_problem(layout: Layout, where: str) -> str | None:
    if layout.clustered_by:
        return "Delta refuses where on a table with liquid clustering: leave out where"
    words = set(re.findall(r"[\w.]+", code_of(where).lower()))
    others = [name for name in layout.columns if name.lower() in words and name not in layout.partitioned_by]
    if not others:
        return None
    known = ", ".join(layout.partitioned_by)
    remedy = f"use some of {known}, or leave out where" if known else "leave out where"
    return f"where can only use partition columns, and {', '.join(others)} is none: {remedy}"


def _sorting_problem(layout: Layout, planner: Planner) -> str | None:
    traits = traits_of(planner)
    if Command.ZORDER not in traits.needs:
        return None
    if layout.clustered_by:
        return "Delta refuses ZORDER on a table with liquid clustering: use delta.optimize, which clusters it"
    return _statistics_problem(layout, traits.columns)


def _statistics_problem(layout: Layout, columns: tuple[str, ...]) -> str | None:
    known = _with_statistics(layout)
    lacking = [name for name in columns if name not in known]
    if not lacking:
        return None
    return (
        f"the table has no statistics for data skipping on {', '.join(lacking)}, only on "
        f"{', '.join(known) or 'no column'}: use these, or change {INDEXED_COUNT} or {STATS_COLUMNS}"
    )


def _with_statistics(layout: Layout) -> tuple[str, ...]:
    """The columns with statistics; no partition column, and no column at all if a property is malformed."""
    columns = tuple(name for name in layout.columns if name not in layout.partitioned_by)
    named = layout.properties.get(STATS_COLUMNS)
    if named is not None:
        wanted = {name.strip().strip("`").lower() for name in named.split(",")}
        return tuple(name for name in columns if not wanted.isdisjoint(_with_parents(name.lower())))
    count = layout.properties.get(INDEXED_COUNT, _DEFAULT_INDEXED_COUNT)
    if count == "-1":
        return columns
    return columns[: int(count)] if count.isdecimal() else ()


def _with_parents(name: str) -> list[str]:
    """For a.b: a and a.b."""
    parts = name.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts) + 1)]
