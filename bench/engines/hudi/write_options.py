"""The options of writes and table services of a Hudi table."""

from collections.abc import Mapping

from bench.engines.contract import TAG_PROPERTY, TableSpec, Tag
from bench.engines.hudi.inline import STRATEGY
from bench.engines.hudi.packing import SMALL_FILE_LIMIT, default_small_file_bytes
from bench.engines.hudi.table_keys import (
    INDEX,
    INDEX_BUCKETS,
    INLINE_COMPACTION,
    MAX_FILE_BYTES,
    METADATA_TABLE,
    TABLE_TYPE,
    is_merge_on_read,
    keys_of,
)
from strategies.hudi.compaction_strategies import class_names

LOCK_PROVIDER = "org.apache.hudi.client.transaction.lock.ZookeeperBasedImplicitBasePathLockProvider"
IS_DELETED = "_hoodie_is_deleted"  # a column: if true, the row deletes the row of its key
_TASKS = 2
HOST = "127.0.0.1"  # of the lock server
_LOCK_RETRIES = "2"  # each wait takes up to a minute; by default there are 50

# For small tables on one machine; a scenario's properties override it.
DEFAULTS: Mapping[str, str] = {
    # By default each commit also writes an index of files, the metadata table. A warm commit of 4,000 changes
    # then costs 2.9 instead of 1.3 s of CPU (medians of 12 in turns, on two shared cores).
    METADATA_TABLE: "false",
    # The filter takes 430 KB in every base file, and neither index here uses it. The row writer, which
    # clustering uses, writes it nevertheless.
    "hoodie.parquet.bloom.filter.enabled": "false",
    "hoodie.datasource.write.row.writer.enable": "false",
    **dict.fromkeys(
        (f"hoodie.{kind}.shuffle.parallelism" for kind in ("upsert", "insert", "bulkinsert", "delete")),
        str(_TASKS),
    ),
    # Strategies and the scenario's maintenance run the table services.
    INLINE_COMPACTION: "false",
    "hoodie.clean.automatic": "false",
    "hoodie.archive.automatic": "false",
}


def session_conf() -> dict[str, str]:
    return {
        "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
        "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
        "spark.sql.extensions": "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
    }


def shared_options(lock_address: str) -> dict[str, str]:
    """What processes that commit to one table need; see `lock_server` for the lock.

    Writes that fail are rolled back by the next cleaning, since what others are writing looks the same.
    """
    return {
        "hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL",
        "hoodie.clean.failed.writes.policy": "LAZY",
        "hoodie.write.lock.provider": LOCK_PROVIDER,
        "hoodie.write.lock.zookeeper.url": lock_address,
        "hoodie.write.lock.client.num_retries": _LOCK_RETRIES,
    }


def write_options(spec: TableSpec, table_name: str, lock_address: str | None = None) -> dict[str, str]:
    """With the address of a lock server, for a table that several processes write."""
    keys, column = keys_of(spec), spec.partitioning.column
    max_bytes = spec.target_file_size_bytes
    partitioned = {
        "hoodie.datasource.write.partitionpath.field": column or "",
        "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen."
        f"{'SimpleKeyGenerator' if column else 'NonpartitionedKeyGenerator'}",
    }
    return {
        **DEFAULTS,
        **partitioned,
        "hoodie.table.name": table_name,
        "hoodie.datasource.write.recordkey.field": "order_id",
        "hoodie.record.merge.mode": "COMMIT_TIME_ORDERING",
        TABLE_TYPE: "MERGE_ON_READ" if is_merge_on_read(spec) else "COPY_ON_WRITE",
        INDEX: keys.index.upper(),
        INDEX_BUCKETS: str(keys.index_buckets),
        MAX_FILE_BYTES: str(max_bytes),
        SMALL_FILE_LIMIT: str(default_small_file_bytes(max_bytes)),
        **(shared_options(lock_address) if lock_address is not None else {}),
        **spec.properties,
        **({STRATEGY: class_names(spec.properties[STRATEGY])} if STRATEGY in spec.properties else {}),
    }


def tag_options(tag: Tag) -> dict[str, str]:
    return {"hoodie.datasource.write.commitmeta.key.prefix": TAG_PROPERTY, TAG_PROPERTY: str(tag)}
