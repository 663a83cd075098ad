"""The keys of an Iceberg table, what they allow, and what each engine of it can do."""

from typing import Literal

from pydantic import Field

from bench.engines.contract import TableSpec
from bench.keys import TableKeys
from strategies.iceberg.commands import Command
from strategies.plan import Capability

NAME = "iceberg"
DEFAULT_VERSION: Literal[2] = 2
CODEC_PROPERTY = "write.parquet.compression-codec"
DEFAULT_CODEC = "zstd"  # PARQUET_COMPRESSION_DEFAULT_SINCE_1_4_0, of new tables
VECTORS_FROM = 3  # table spec: position delete files must not be added to tables of this format version

# By equality deletes as in Flink, or by MERGE with the table property `write.merge.mode` of that name.
UpsertMode = Literal["equality-delete", "merge-on-read", "copy-on-write"]
DEFAULT_UPSERT_MODE: UpsertMode = "equality-delete"

REAL_CAPABILITIES = frozenset[str]({
    Capability.COMPACT,
    Capability.REWRITE,
    Capability.CONVERT,
    Capability.UPSERT,
    Capability.MERGE,
    Capability.VECTORS,
    Capability.DELAYED_COMMIT,
    Capability.ROW_FILTER,
    Capability.BRANCH,
    *Command,
})  # fmt: skip

# A simulated table has files but no rows, so no predicate can be evaluated on it. The effects of merging
# position deletes, of MERGE and of deletion vectors are not modelled.
SIMULATED_CAPABILITIES = REAL_CAPABILITIES - {
    Capability.ROW_FILTER,
    Capability.BRANCH,
    Capability.MERGE,
    Capability.VECTORS,
    Command.REWRITE_POSITION_DELETE_FILES,
}


class IcebergKeys(TableKeys):
    """[table] of an Iceberg table."""

    format: Literal["iceberg"] = Field(examples=["iceberg"])
    format_version: Literal[2, 3] = DEFAULT_VERSION

    @property
    def version(self) -> int:
        return self.format_version


def format_version_of(spec: TableSpec) -> int:
    """The format version that a table is created with."""
    return spec.keys.format_version if isinstance(spec.keys, IcebergKeys) else DEFAULT_VERSION
