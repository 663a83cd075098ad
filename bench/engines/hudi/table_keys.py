"""The keys of a Hudi table, what they allow, and what each engine of it can do."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from bench.engines.contract import TableSpec
from bench.engines.keys import TableKeys
from strategies.hudi.commands import Command
from strategies.partitions import decoded, fields_of
from strategies.plan import Capability

NAME = "hudi"

DAY_COLUMN = "partition_day"

# The two types of a table (hoodie.datasource.write.table.type), which say what an upsert writes.
MERGE_ON_READ = "merge-on-read"
COPY_ON_WRITE = "copy-on-write"
DEFAULT_UPSERT_MODE = MERGE_ON_READ
UPSERT_MODES: Mapping[str, str] = {MERGE_ON_READ: "log files", COPY_ON_WRITE: "new base files"}

CODEC = "hoodie.parquet.compression.codec"
DEFAULT_CODEC = "gzip"
INDEX = "hoodie.index.type"
INLINE_COMPACTION = "hoodie.compact.inline"  # after a commit, in the same call
INDEX_BUCKETS = "hoodie.bucket.index.num.buckets"
MAX_FILE_BYTES = "hoodie.parquet.max.file.size"
TABLE_TYPE = "hoodie.datasource.write.table.type"

CAPABILITIES = frozenset[str]({
    Capability.UPSERT, Capability.DELAYED_COMMIT, Capability.CONCURRENT, *Command,
})  # fmt: skip

READ_OPTIMIZED = "orders_ro"  # the name under which Hive's catalogs have the view, too
VIEWS: Mapping[str, str] = {READ_OPTIMIZED: "its base files alone, the read-optimised view"}

INSTEAD: Mapping[str, str] = {  # what Hudi has in place of a capability
    Capability.COMPACT: "hudi.compaction, whose strategies and options choose partitions and file slices",
    Capability.REWRITE: "hudi.compaction for log files and hudi.clustering for small base files, which "
    "choose the files themselves",
    Capability.CONVERT: "hudi.log_compaction, which merges log files into larger ones",
}


class HudiKeys(TableKeys):
    """[table] of a Hudi table.

    With `index = "bucket"` the rows of a partition go to `index_buckets` file groups by the hash of their
    key. With "simple" new rows go to small base files first, and changes to the file that has their key.
    """

    format: Literal["hudi"] = Field(examples=["hudi"])
    index: Literal["bucket", "simple"] = "bucket"
    index_buckets: int = Field(default=2, ge=1, le=10_000)


def keys_of(spec: TableSpec) -> HudiKeys:
    """The keys of a table, with their defaults where it has none."""
    if isinstance(spec.keys, HudiKeys):
        return spec.keys
    return HudiKeys.model_validate({"format": NAME, "target_file_size": f"{spec.target_file_size_bytes}B"})


def is_merge_on_read(spec: TableSpec) -> bool:
    """Whether commits write log files."""
    return (spec.upsert_mode or DEFAULT_UPSERT_MODE) == MERGE_ON_READ


def path_of(partition: str) -> str:
    """The path of a partition of a workload: `partition_day=2026-01-01` is 2026/01/01, another its value.

    Hudi's strategies read days in that form.
    """
    for name, value in fields_of(partition).items():
        return decoded(value).replace("-", "/") if name == DAY_COLUMN else decoded(value)
    return ""
