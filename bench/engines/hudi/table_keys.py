"""The keys of [table] of a Hudi table, names of its options, and the capabilities of its engines."""

from collections.abc import Mapping
from datetime import date
from typing import Literal

from pydantic import Field

from bench.engines.contract import TableSpec
from bench.engines.keys import TableKeys
from strategies.hudi.commands import Command
from strategies.java_values import parse_boolean
from strategies.partitions import HIVE_NULL, decoded, fields_of, is_null
from strategies.plan import Capability

NAME = "hudi"

DAY_COLUMN = "partition_day"

# The two types of a table (hoodie.datasource.write.table.type), with the files that an upsert writes.
MERGE_ON_READ = "merge-on-read"
COPY_ON_WRITE = "copy-on-write"
DEFAULT_UPSERT_MODE = MERGE_ON_READ
UPSERT_MODES: Mapping[str, str] = {MERGE_ON_READ: "log files", COPY_ON_WRITE: "new base files"}

CODEC = "hoodie.parquet.compression.codec"
DEFAULT_CODEC = "gzip"
INDEX = "hoodie.index.type"
INLINE_COMPACTION = "hoodie.compact.inline"  # after a commit, in the same call
INDEX_BUCKETS = "hoodie.bucket.index.num.buckets"
METADATA_TABLE = "hoodie.metadata.enable"
_METADATA_PARTITIONS = "hoodie.table.metadata.partitions"  # empty without a metadata table
MAX_FILE_BYTES = "hoodie.parquet.max.file.size"
TABLE_TYPE = "hoodie.datasource.write.table.type"

# Who loses where a commit and a table service overlap, see docs/real-clock.md.
CONFLICT_RESOLUTION = "hoodie.write.lock.conflict.resolution.strategy"
_PREFERS_WRITER = "org.apache.hudi.client.transaction.PreferWriterConflictResolutionStrategy"

CAPABILITIES = frozenset[str]({Capability.UPSERT, Capability.DELAYED_COMMIT, *Command})

READ_OPTIMIZED = "orders_ro"  # as in Hive's catalogs
VIEWS: Mapping[str, str] = {READ_OPTIMIZED: "the read-optimised view, of base files only"}

INSTEAD: Mapping[str, str] = {  # Hudi's replacement for a capability
    Capability.COMPACT: "hudi.compaction, whose strategies and options choose partitions and file slices",
    Capability.REWRITE: "hudi.compaction for log files and hudi.clustering for small base files, which "
    "choose the files themselves",
    Capability.CONVERT: "hudi.log_compaction, which merges log files into larger ones",
}


class HudiKeys(TableKeys):
    """With `index = "bucket"`, the hash of a key chooses one of `index_buckets` file groups of its partition.

    With "simple", new rows go to small base files first, and changes to the file group that has their key.
    """

    format: Literal["hudi"] = Field(examples=["hudi"])
    index: Literal["bucket", "simple"] = "bucket"
    index_buckets: int = Field(default=2, ge=1, le=10_000)


def keys_of(spec: TableSpec) -> HudiKeys:
    if isinstance(spec.keys, HudiKeys):
        return spec.keys
    return HudiKeys.model_validate({"format": NAME, "target_file_size": f"{spec.target_file_size_bytes}B"})


def is_merge_on_read(spec: TableSpec) -> bool:
    return (spec.upsert_mode or DEFAULT_UPSERT_MODE) == MERGE_ON_READ


def has_metadata_table(properties: Mapping[str, str]) -> bool:
    """Whether each commit also writes to Hudi's metadata table, which readers list files from.

    `properties` are options of the writer, or those that the table stores.
    """
    is_enabled = parse_boolean(properties.get(METADATA_TABLE, "false"))
    return is_enabled or bool(properties.get(_METADATA_PARTITIONS))


def prefers_writer(properties: Mapping[str, str]) -> bool:
    """Whether a clustering loses to a commit that changes its file groups, rather than the commit."""
    return properties.get(CONFLICT_RESOLUTION) == _PREFERS_WRITER


def path_of(partition: str) -> str:
    """The value of a workload's partition.

    Source: KeyGenUtils.getPartitionPath of Hudi 1.2.0, by which null and "" are one partition.
    """
    for name, value in fields_of(partition).items():
        if not value or is_null(value):
            return HIVE_NULL
        return hudi_day(date.fromisoformat(value)) if name == DAY_COLUMN else decoded(value)
    return ""


def hudi_day(day: date) -> str:
    """A day as Hudi's strategies read it: 2026/01/01."""
    return day.isoformat().replace("-", "/")  # %Y would not pad years before 1000


def partition_columns(properties: Mapping[str, str]) -> tuple[str, ...]:
    """Without the kinds that a key generator may store with them ("day:SIMPLE")."""
    fields = properties.get("hoodie.table.partition.fields", "").split(",")
    return tuple(field.partition(":")[0].strip() for field in fields if field.strip())
