"""What a Delta table can be clustered, sorted and filtered by.

Delta checks it as well, but when the table is there: at its creation, or when the command runs.

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
    """How a table is laid out. `columns` have their full names, without those that only hold others.

    `has_days` says whether a partition column may hold days.
    """

    columns: tuple[str, ...]
    partitioned_by: tuple[str, ...]
    clustered_by: tuple[str, ...]
    has_days: bool
    properties: Mapping[str, str]


def layout_of(spec: TableSpec) -> Layout:
    """The layout of a table that is still to be created."""
    partitioning = spec.partitioning
    by = () if partitioning.column is None else (partitioning.column,)
    derived = tuple(name for name in by if name not in spec.schema.names)
    return Layout(
        (*spec.schema.names, *derived), by, clustering_columns_of(spec), partitioning.by == "day",
        table_properties(spec),
    )  # fmt: skip


def key_problem(spec: TableSpec) -> tuple[str, str] | None:
    """The key of [table] that names columns which the table cannot have for it, and what is wrong."""
    problem = _clustering_problem(spec, clustering_columns_of(spec))
    return None if problem is None else ("cluster_by", problem)


def _clustering_problem(spec: TableSpec, columns: tuple[str, ...]) -> str | None:
    unknown = unknown_columns(columns, spec.schema.names)
    if unknown is not None:
        return unknown
    booleans = {column.name for column in spec.schema.columns if column.spark_type == "BOOLEAN"}
    refused = [name for name in columns if name in booleans]
    if refused:
        return f"names {', '.join(refused)} of type BOOLEAN, by which Delta does not cluster: leave it out"
    return _statistics_problem(layout_of(spec), columns)


def planner_problem(layout: Layout, planner: Planner) -> str | None:
    """Why Delta would refuse all that a planner plans for a table, or why it never plans; None if neither."""
    match planner:
        case Optimize(where=str(where)) | Reorg(where=str(where)) | ZOrder(where=str(where)):
            problem = _filter_problem(layout, where)
        case Optimize(days_ago=(_, *_)) if not layout.has_days:
            problem = (
                "days_ago chooses partitions of days, and the table has none: take a table that is "
                "partitioned by day, or leave days_ago out"
            )
        case _:
            problem = None
    return problem or _sorting_problem(layout, planner)


def _filter_problem(layout: Layout, where: str) -> str | None:
    """OPTIMIZE and REORG filter by partitions alone, and by nothing on a table with liquid clustering."""
    if layout.clustered_by:
        return "filters by where, which Delta refuses on a table with liquid clustering: leave where out"
    words = set(re.findall(r"[\w.]+", code_of(where).lower()))
    others = [name for name in layout.columns if name.lower() in words and name not in layout.partitioned_by]
    if not others:
        return None
    known = ", ".join(layout.partitioned_by)
    instead = f"name some of {known}, or leave where out" if known else "leave where out"
    return f"where names {', '.join(others)}, and Delta filters by partition columns only: {instead}"


def _sorting_problem(layout: Layout, planner: Planner) -> str | None:
    traits = traits_of(planner)
    if Command.ZORDER not in traits.needs:
        return None
    if layout.clustered_by:
        return (
            "sorts, which Delta refuses on a table with liquid clustering: use delta.optimize, which "
            "clusters it"
        )
    return _statistics_problem(layout, traits.columns)


def _statistics_problem(layout: Layout, columns: tuple[str, ...]) -> str | None:
    kept = _with_statistics(layout)
    lacking = [name for name in columns if name not in kept]
    if not lacking:
        return None
    return (
        f"names {', '.join(lacking)}, of which the table keeps no statistics for data skipping: name some of "
        f"{', '.join(kept) or 'none'}, or change {INDEXED_COUNT} or {STATS_COLUMNS}"
    )


def _with_statistics(layout: Layout) -> tuple[str, ...]:
    """The columns with statistics, none where a property is not understood; partition columns have none."""
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
    """A column's name and those of the columns that hold it: a.b and a."""
    parts = name.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts) + 1)]
