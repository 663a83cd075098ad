"""The keys of [table] of a Delta table, names of its properties, and the capabilities of its engines."""

from collections.abc import Mapping
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from bench.engines.contract import TableSpec
from bench.engines.keys import Identifier, TableKeys, error_at
from strategies.delta.commands import Command
from strategies.plan import Capability

NAME = "delta"

# MERGE rewrites the files that it changes, unless the table has deletion vectors, which open-source Delta
# leaves off (delta.enableDeletionVectors).
DEFAULT_UPSERT_MODE = "copy-on-write"
MERGE_ON_READ = "merge-on-read"
UPSERT_MODES: Mapping[str, str] = {  # with the command that updates and deletes rows
    DEFAULT_UPSERT_MODE: "MERGE INTO", MERGE_ON_READ: "MERGE INTO with deletion vectors",
}  # fmt: skip

# Delta 3.3 has no table property for the codec of data files: this setting of Spark decides.
CODEC_CONF = "spark.sql.parquet.compression.codec"
DEFAULT_CODEC = "snappy"

VECTORS = "delta.enableDeletionVectors"
CHECKPOINT_INTERVAL = "delta.checkpointInterval"
DEFAULT_CHECKPOINT_INTERVAL = 10
AUTO_COMPACT = "delta.autoOptimize.autoCompact"
AUTO_OPTIMIZE = "delta.autoOptimize"  # its older name, which wins if it is true
OPTIMIZE_WRITE = "delta.autoOptimize.optimizeWrite"
INDEXED_COUNT = "delta.dataSkippingNumIndexedCols"  # the number of leading columns with statistics; -1 is all
STATS_COLUMNS = "delta.dataSkippingStatsColumns"  # names the columns with statistics, and wins
_NAMES = {
    name.lower(): name
    for name in (
        VECTORS, CHECKPOINT_INTERVAL, AUTO_COMPACT, AUTO_OPTIMIZE, OPTIMIZE_WRITE, INDEXED_COUNT,
        STATS_COLUMNS,
    )
}  # fmt: skip

REAL_CAPABILITIES = frozenset[str]({
    Capability.COMPACT, Capability.MERGE, Capability.VECTORS, Capability.ROW_FILTER, *Command,
})  # fmt: skip

# A simulated table has files but no rows, so no predicate can be evaluated on it.
SIMULATED_CAPABILITIES = REAL_CAPABILITIES - {Capability.ROW_FILTER}

DELTA_RS = "delta-rs"  # an executor
DELTA_RS_CAPABILITIES = frozenset[str]({Command.OPTIMIZE})

INSTEAD: Mapping[str, str] = {  # Delta's replacement for a capability
    Capability.REWRITE: "delta.optimize, which chooses the files itself, within its options minFileSize and "
    "maxFileSize and its where, days_ago or min_small_files (`layers` in scenario delta-repacking)",
    Capability.CONVERT: "deletion vectors, which MERGE writes (writer.upsert_mode) and delta.optimize and "
    "delta.reorg apply",
    Capability.DELAYED_COMMIT: 'compaction_delay = "0s", since OPTIMIZE plans and commits in one call',
}

CLUSTERING_COLUMNS_MAX = 4  # spark.databricks.delta.clusteredTable.numClusteringColumnsLimit, which is static


class DeltaKeys(TableKeys):
    """[table] of a Delta table. `cluster_by` are the columns of liquid clustering."""

    format: Literal["delta"] = Field(examples=["delta"])
    cluster_by: tuple[Identifier, ...] = Field(default=(), strict=False)  # a list in a scenario

    @field_validator("cluster_by")
    @classmethod
    def _check_columns(cls, columns: tuple[str, ...]) -> tuple[str, ...]:
        if len(columns) > CLUSTERING_COLUMNS_MAX:
            raise PydanticCustomError(
                "out-of-range",
                "Delta clusters by at most {limit} columns, not {count}",
                {"limit": CLUSTERING_COLUMNS_MAX, "count": len(columns)},
            )
        twice = sorted({name for name in columns if columns.count(name) > 1})
        if twice:
            problem = "repeats {names}: name each column once"
            raise PydanticCustomError("repeated", problem, {"names": ", ".join(twice)})
        return columns

    @model_validator(mode="after")
    def _check_clustering(self) -> Self:
        if self.cluster_by and self.partitioning != "none":
            raise error_at(
                "cluster_by",
                "a table with liquid clustering has no partitions: leave out cluster_by or partitioning",
                code="exclusive",
            )
        return self


def property_name(name: str) -> str:
    """The spelling under which Delta stores a table property, of which it accepts any case.

    Properties that nothing here reads keep their spelling. Source: DeltaConfigs.validateConfigurations of
    delta-spark 3.3.2.
    """
    return _NAMES.get(name.lower(), name)


def clustering_columns_of(spec: TableSpec) -> tuple[str, ...]:
    return spec.keys.cluster_by if isinstance(spec.keys, DeltaKeys) else ()
