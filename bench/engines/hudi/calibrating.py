"""How the cost model of Hudi is calibrated."""

from collections.abc import Iterator

from bench.engines.calibrating import (
    COMMIT,
    NOOP,
    REWRITE,
    Calibrating,
    Document,
    Level,
    append,
    every,
    rule,
    upsert,
)
from bench.engines.simulated.steps import QUERIES, Operation

_METADATA_TABLE = "s_with_metadata_table"
# A reader reports no rows before it has merged log files. A base file that it merges is read row by row: with
# any log files at all, tables of 22 and of 2.5 MiB cost 0.8 and 0.15 CPU seconds more.
_QUERY = (
    "s", "s_per_file", "s_per_mib", "s_with_deletes", "s_per_delete_file", "s_per_delete_mib",
    "s_per_merged_mib", _METADATA_TABLE,
)  # fmt: skip
_MERGE = REWRITE[:-1]  # of base files alone
_EXPLAINING = {
    Operation.COMMIT: (*COMMIT, _METADATA_TABLE),
    Operation.UPSERT: (
        "s", "s_per_file", "s_per_delete_file", "s_per_mib", "s_per_looked_up_file", "s_per_replaced_file",
        _METADATA_TABLE,
    ),
    Operation.REWRITE: (
        "s", "s_per_task", "s_per_mib", "s_per_million_rows", "s_per_delete_file", "s_per_delete_mib",
        _METADATA_TABLE,
    ),
    Operation.CLUSTER: (*_MERGE, _METADATA_TABLE),
    Operation.SORT: _MERGE,
    Operation.NOOP: NOOP,
    **dict.fromkeys(QUERIES.values(), _QUERY),
    Operation.MAINTENANCE: ("s", "s_per_deleted_file", "s_per_expired_version", _METADATA_TABLE),
}  # fmt: skip


def _levels() -> Iterator[Level]:
    """Inserts write as many base files as in other formats, which takes Hudi's own sizing to be off."""
    for name, rows, files, columns in (
        ("many-small-files", 640, 64, 17), ("few-large-files", 200_000, 2, 17), ("narrow", 80_000, 8, 3),
        ("wide", 40_000, 8, 40), ("one-file", 1_000, 1, 17),
    ):  # fmt: skip
        properties = {
            "hoodie.parquet.small.file.limit": "0",
            "hoodie.copyonwrite.insert.auto.split": "false",
            "hoodie.copyonwrite.insert.split.size": str(rows // files),
        }
        table: Document = {"index": "simple", "properties": properties}
        yield Level(name, append(rows, files, columns), every(4, {"type": "hudi.clustering"}), table)
    merge = every(4, {"type": "hudi.compaction", "strategy": "UnBounded"})
    for name, initial_rows, rows, buckets in (
        ("upsert-few-keys", 1_000_000, 100, 4), ("upsert-many-keys", 100_000, 10_000, 4),
        ("upsert-many-groups", 500_000, 2_000, 16), ("upsert-one-group", 50_000, 1_000, 1),
    ):  # fmt: skip
        yield Level(name, upsert(initial_rows, rows, 4), merge, _buckets(buckets))
    in_place = {"writer": {"upsert_mode": "copy-on-write"}}
    yield Level("copy-on-write", upsert(500_000, 1_000, 4), in_place, _buckets(4))


def _buckets(count: int) -> Document:
    return {"index": "bucket", "index_buckets": count}


CALIBRATING = Calibrating(
    _EXPLAINING,
    [*_levels()],
    [
        rule(3, {"type": "hudi.clean", "retain_commits": 3}),
        rule(4, {"type": "hudi.archive", "min_commits": 4, "max_commits": 6}),
    ],
)
