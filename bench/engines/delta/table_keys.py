"""The keys of a Delta table, what they allow, and what each engine of it can do."""

from collections.abc import Mapping
from typing import Literal, NoReturn, Self

from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from bench.engines.contract import TableSpec
from bench.engines.keys import Identifier, TableKeys
from strategies.delta.commands import Command
from strategies.plan import Capability

NAME = "delta"

# MERGE rewrites the files that it changes, unless the table has deletion vectors, which open-source Delta
# leaves off (delta.enableDeletionVectors).
DEFAULT_UPSERT_MODE = "copy-on-write"
MERGE_ON_READ = "merge-on-read"
UPSERT_MODES: Mapping[str, str] = {  # with what updates and deletes rows
    DEFAULT_UPSERT_MODE: "MERGE INTO", MERGE_ON_READ: "MERGE INTO with deletion vectors",
}  # fmt: skip

# Delta has no table property for the codec of data files (3.3): Spark's setting of this name decides.
CODEC_CONF = "spark.sql.parquet.compression.codec"
DEFAULT_CODEC = "snappy"

VECTORS = "delta.enableDeletionVectors"
CHECKPOINT_INTERVAL = "delta.checkpointInterval"
DEFAULT_CHECKPOINT_INTERVAL = 10
AUTO_COMPACT = "delta.autoOptimize.autoCompact"
AUTO_OPTIMIZE = "delta.autoOptimize"  # its older name, which wins if it is true
OPTIMIZE_WRITE = "delta.autoOptimize.optimizeWrite"
INDEXED_COUNT = "delta.dataSkippingNumIndexedCols"  # the first so many columns have statistics; -1 for all
STATS_COLUMNS = "delta.dataSkippingStatsColumns"  # these columns have them instead
_NAMES = {
    name.lower(): name
    for name in (
        VECTORS, CHECKPOINT_INTERVAL, AUTO_COMPACT, AUTO_OPTIMIZE, OPTIMIZE_WRITE, INDEXED_COUNT,
        STATS_COLUMNS,
    )
}  # fmt: skip

REAL_CAPABILITIES = frozenset[str]({
    Capability.COMPACT,
    Capability.MERGE,
    Capability.VECTORS,
    Capability.ROW_FILTER,
    *Command,
})  # fmt: skip

# A simulated table has files but no rows, so no predicate can be evaluated on it.
SIMULATED_CAPABILITIES = REAL_CAPABILITIES - {Capability.ROW_FILTER}

DELTA_RS = "delta-rs"  # an executor
DELTA_RS_CAPABILITIES = frozenset[str]({Command.OPTIMIZE})  # of the whole table, by rules of its own


INSTEAD: Mapping[str, str] = {  # what Delta has in place of a capability
    Capability.REWRITE: "delta.optimize, which chooses the files itself, within its options minFileSize and "
    "maxFileSize and its where, days_ago or min_small_files (`layers` in scenario delta-repacking)",
    Capability.CONVERT: "deletion vectors, which MERGE writes (writer.upsert_mode) and delta.optimize and "
    "delta.reorg apply",
    Capability.DELAYED_COMMIT: 'compaction_delay = "0s", since OPTIMIZE plans and commits in one call',
}

CLUSTERING_COLUMNS_MAX = 4  # spark.databricks.delta.clusteredTable.numClusteringColumnsLimit, which is static


def _refuse(problem: str) -> NoReturn:
    raise PydanticCustomError("cluster_by", "{problem}", {"problem": problem})


class DeltaKeys(TableKeys):
    """[table] of a Delta table. `cluster_by` are the columns of liquid clustering."""

    format: Literal["delta"] = Field(examples=["delta"])
    cluster_by: tuple[Identifier, ...] = Field(default=(), strict=False)  # a list in a scenario

    @field_validator("cluster_by")
    @classmethod
    def _check_columns(cls, columns: tuple[str, ...]) -> tuple[str, ...]:
        if len(columns) > CLUSTERING_COLUMNS_MAX:
            _refuse(f"names {len(columns)} columns, and Delta clusters by {CLUSTERING_COLUMNS_MAX} at most")
        twice = sorted({name for name in columns if columns.count(name) > 1})
        if twice:
            _refuse(f"names {', '.join(twice)} more than once: leave the others out")
        return columns

    @model_validator(mode="after")
    def _check_clustering(self) -> Self:
        if self.cluster_by and self.partitioning != "none":
            raise PydanticCustomError(
                "cluster_by",
                'cluster_by and partitioning = "{partitioning}" exclude each other: a table with liquid '
                "clustering has no partitions; leave one of them out",
                {"partitioning": self.partitioning},
            )
        return self


def property_name(name: str) -> str:
    """The name under which Delta stores a table property, which it reads in any case.

    Properties that decide nothing here keep their spelling. Source: DeltaConfigs.validateConfigurations of
    delta-spark 3.3.2.
    """
    return _NAMES.get(name.lower(), name)


def clustering_columns_of(spec: TableSpec) -> tuple[str, ...]:
    """The columns of liquid clustering that a table is created with; none if it has no clustering."""
    return spec.keys.cluster_by if isinstance(spec.keys, DeltaKeys) else ()
