"""By which columns a Delta table can be clustered and sorted: those that it keeps statistics of.

Delta checks it as well, but when the table is there: at its creation, or at the first ZORDER BY.

Source: StatisticsCollection, ClusteredTableUtils and OptimizeTableCommand of delta-spark 3.3.2.
"""

from collections.abc import Mapping

from bench.engines.contract import TableSpec
from bench.engines.delta.table_keys import clustering_columns_of
from bench.keys import unknown_columns
from strategies.delta.commands import Command
from strategies.strategy import PlannerTraits

INDEXED_COUNT = "delta.dataSkippingNumIndexedCols"  # the first so many columns; -1 for all
STATS_COLUMNS = "delta.dataSkippingStatsColumns"  # these columns instead
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
    named = _property(spec.properties, STATS_COLUMNS)
    if named is not None:
        wanted = {name.strip().strip("`").lower() for name in named.split(",")}
        return tuple(name for name in columns if name.lower() in wanted)
    count = _property(spec.properties, INDEXED_COUNT) or _DEFAULT_INDEXED_COUNT
    if count == "-1":
        return columns
    return columns[: int(count)] if count.isdecimal() else ()


def _property(properties: Mapping[str, str], name: str) -> str | None:
    """The value of a property, whose name Delta reads in any case."""
    return next((value for key, value in properties.items() if key.lower() == name.lower()), None)
