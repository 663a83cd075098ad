"""The keys of a Delta table, what they allow, and what each engine of it can do."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field, model_validator

from bench.engines.contract import TableSpec
from bench.keys import TableKeys
from strategies.delta.commands import Command
from strategies.plan import Capability

NAME = "delta"
AUTO_COMPACT = "delta.autoOptimize.autoCompact"
OPTIMIZE_WRITE = "delta.autoOptimize.optimizeWrite"
VECTORS = "delta.enableDeletionVectors"

# MERGE rewrites the files it touches or, with deletion vectors, marks rows in them as deleted. Vectors are
# off by default in open-source Delta.
DEFAULT_UPSERT_MODE = "copy-on-write"
UPSERT_MODES: Mapping[str, str] = {  # with what updates and deletes rows
    DEFAULT_UPSERT_MODE: "MERGE INTO", "merge-on-read": "MERGE INTO with deletion vectors",
}  # fmt: skip

REAL_CAPABILITIES = frozenset[str]({
    Capability.COMPACT,
    Capability.MERGE,
    Capability.VECTORS,
    Capability.DELAYED_COMMIT,
    Capability.ROW_FILTER,
    *Command,
})  # fmt: skip

# A simulated table has files but no rows, so no predicate can be evaluated on it. The plans of delta-rs are
# not modelled.
SIMULATED_CAPABILITIES = REAL_CAPABILITIES - {Capability.ROW_FILTER, Command.DELTA_RS}


class DeltaKeys(TableKeys):
    """[table] of a Delta table. `cluster_by` are the columns of liquid clustering."""

    format: Literal["delta"] = Field(examples=["delta"])
    cluster_by: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _check_clustering(self) -> "DeltaKeys":
        if self.cluster_by and self.partitioning != "none":
            raise ValueError(
                f'cluster_by cannot be combined with partitioning = "{self.partitioning}": a clustered table '
                "has no partitions; leave one of them out"
            )
        return self


def clustering_of(spec: TableSpec) -> tuple[str, ...]:
    """The columns of liquid clustering that a table is created with."""
    return spec.keys.cluster_by if isinstance(spec.keys, DeltaKeys) else ()


def table_properties(spec: TableSpec) -> dict[str, str]:
    """All properties that the table is created with; the scenario's override ours."""
    has_vectors = (spec.upsert_mode or DEFAULT_UPSERT_MODE) == "merge-on-read"
    return {VECTORS: str(has_vectors).lower(), **spec.properties}
