"""The keys of an Iceberg table, what they allow, and what each engine of it can do."""

from collections.abc import Mapping
from typing import ClassVar, Literal, get_args

from pydantic import Field

from bench.engines.contract import TableSpec
from bench.engines.keys import TableKeys
from strategies.iceberg.commands import Command
from strategies.plan import Capability

NAME = "iceberg"
FormatVersion = Literal[2, 3]
DEFAULT_VERSION: Literal[2] = 2
CODEC_PROPERTY = "write.parquet.compression-codec"
DEFAULT_CODEC = "zstd"  # PARQUET_COMPRESSION_DEFAULT_SINCE_1_4_0, of new tables
VECTORS_FROM = 3  # table spec: position delete files must not be added to tables of this format version

# By equality deletes as in Flink, or by MERGE with the table property `write.merge.mode` of that name.
DEFAULT_UPSERT_MODE = "equality-delete"
MERGE_ON_READ, COPY_ON_WRITE = "merge-on-read", "copy-on-write"
UPSERT_MODES: Mapping[str, str] = {  # with what updates and deletes rows
    DEFAULT_UPSERT_MODE: "equality deletes", MERGE_ON_READ: "MERGE INTO", COPY_ON_WRITE: "MERGE INTO",
}  # fmt: skip

REAL_CAPABILITIES = frozenset[str]({
    Capability.COMPACT,
    Capability.REWRITE,
    Capability.SORT,
    Capability.CONVERT,
    Capability.UPSERT,
    Capability.MERGE,
    Capability.VECTORS,
    Capability.DELAYED_COMMIT,
    Capability.ROW_FILTER,
    Capability.BRANCH,
    *Command,
})  # fmt: skip

SINGLE_NODE = "single-node"  # an executor
SINGLE_NODE_CAPABILITIES = frozenset[str]({
    Capability.REWRITE, Capability.CONVERT, Capability.DELAYED_COMMIT,
})  # fmt: skip

# A simulated table has files but no rows, so no predicate can be evaluated on it. The effects of merging
# position deletes and of deletion vectors are not modelled.
SIMULATED_CAPABILITIES = REAL_CAPABILITIES - {
    Capability.ROW_FILTER,
    Capability.BRANCH,
    Capability.VECTORS,
    Command.REWRITE_POSITION_DELETE_FILES,
}


class IcebergKeys(TableKeys):
    """[table] of an Iceberg table."""

    format: Literal["iceberg"] = Field(examples=["iceberg"])
    format_version: FormatVersion = DEFAULT_VERSION
    version_key: ClassVar[str] = "format_version"

    @property
    def version(self) -> int:
        return self.format_version

    @classmethod
    def versions(cls) -> tuple[int, ...]:
        return get_args(FormatVersion)


def format_version_of(spec: TableSpec) -> int:
    return spec.keys.format_version if isinstance(spec.keys, IcebergKeys) else DEFAULT_VERSION
