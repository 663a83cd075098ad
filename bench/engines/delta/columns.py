"""By which columns a Delta table can be clustered and sorted: those that it keeps statistics of.

Delta checks it as well, but when the table is there: at its creation, or at the first ZORDER BY.

Source: StatisticsCollection, ClusteredTableUtils and OptimizeTableCommand of delta-spark 3.3.2.
"""

from bench.engines.contract import TableSpec
from bench.engines.delta.properties import table_properties
from bench.engines.delta.table_keys import INDEXED_COUNT, STATS_COLUMNS, clustering_columns_of
from bench.keys import unknown_columns
from strategies.delta.commands import Command
from strategies.strategy import PlannerTraits

_DEFAULT_INDEXED_COUNT = "32"


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
    return _statistics_problem(spec, columns)


def planner_problem(spec: TableSpec, traits: PlannerTraits) -> str | None:
    """Why the table cannot be sorted as a planner does it; None for one that does not sort."""
    if Command.ZORDER not in traits.needs:
        return None
    if clustering_columns_of(spec):
        return (
            "sorts, which Delta refuses on a table with liquid clustering: use delta.optimize, which "
            "clusters it, or leave table.cluster_by out"
        )
    return _statistics_problem(spec, traits.columns)


def _statistics_problem(spec: TableSpec, columns: tuple[str, ...]) -> str | None:
    kept = _with_statistics(spec)
    lacking = [name for name in columns if name not in kept]
    if not lacking:
        return None
    return (
        f"names {', '.join(lacking)}, of which the table keeps no statistics for data skipping: name some of "
        f"{', '.join(kept) or 'none'}, or change {INDEXED_COUNT} or {STATS_COLUMNS}"
    )


def _with_statistics(spec: TableSpec) -> tuple[str, ...]:
    """The columns with statistics, none where a property is not understood; partition columns have none."""
    columns = tuple(name for name in spec.schema.names if name != spec.partitioning.column)
    properties = table_properties(spec)
    named = properties.get(STATS_COLUMNS)
    if named is not None:
        wanted = {name.strip().strip("`").lower() for name in named.split(",")}
        return tuple(name for name in columns if name.lower() in wanted)
    count = properties.get(INDEXED_COUNT, _DEFAULT_INDEXED_COUNT)
    if count == "-1":
        return columns
    return columns[: int(count)] if count.isdecimal() else ()
