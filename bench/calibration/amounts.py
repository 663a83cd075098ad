"""Which amounts of work explain the cost of an operation.

They were chosen by what each format does in the operation, not by a search: runs do not tell rows, bytes and
files apart everywhere, and an amount without a reason fits noise.
"""

from collections.abc import Mapping

from bench.engines.simulated.steps import QUERIES, Operation

# A probe reads a few columns, so its rows count and not the bytes of all columns.
_QUERY = ("s", "s_per_file", "s_per_million_rows", "s_with_deletes", "s_per_delete_file", "s_per_delete_mib")
_METADATA_TABLE = "s_with_metadata_table"
# A reader of Hudi reports no rows before it has merged log files. A base file that it merges is read row by
# row: with any log files at all, tables of 22 and of 2.5 MiB cost 0.8 and 0.15 CPU seconds more.
_HUDI_QUERY = (
    "s", "s_per_file", "s_per_mib", "s_with_deletes", "s_per_delete_file", "s_per_delete_mib",
    "s_per_merged_mib", _METADATA_TABLE,
)  # fmt: skip
_COMMIT = ("s", "s_per_partition", "s_per_file", "s_per_mib")
_REWRITE = (
    "s",
    "s_per_live_file",
    "s_per_task",
    "s_per_file",
    "s_per_mib",
    "s_per_million_rows",
    "s_per_delete_file",
)

EXPLAINING: Mapping[str, Mapping[Operation, tuple[str, ...]]] = {
    "iceberg": {
        Operation.COMMIT: _COMMIT,
        Operation.UPSERT: ("s", "s_per_file", "s_per_delete_file", "s_per_mib"),
        Operation.MERGE: (
            "s", "s_per_file", "s_per_delete_file", "s_per_mib", "s_per_replaced_file", "s_per_scanned_file",
            "s_per_million_scanned_rows",
        ),
        Operation.REWRITE: (*_REWRITE, "s_per_million_delete_rows"),
        Operation.SORT: _REWRITE,
        Operation.CONVERT: (
            "s", "s_per_live_file", "s_per_task", "s_per_file", "s_per_mib", "s_per_converted_file",
            "s_per_million_converted_rows", "s_per_delete_file", "s_per_million_delete_rows",
        ),
        Operation.SINGLE_NODE: (
            "s", "s_per_live_file", "s_per_file", "s_per_mib", "s_per_converted_file", "s_per_delete_file",
            "s_per_million_delete_rows",
        ),
        Operation.NOOP: ("s", "s_per_live_file"),
        **dict.fromkeys(QUERIES.values(), _QUERY),
        Operation.MAINTENANCE: ("s", "s_per_deleted_file", "s_per_expired_version"),
    },
    "delta": {
        Operation.COMMIT: (*_COMMIT, "s_per_checkpoint", "s_per_checkpointed_file"),
        Operation.MERGE: (
            "s", "s_per_file", "s_per_delete_file", "s_per_mib", "s_per_replaced_file",
            "s_per_million_replaced_rows", "s_per_scanned_file", "s_per_million_scanned_rows",
            "s_per_checkpoint",
        ),
        Operation.REWRITE: _REWRITE,
        Operation.SORT: _REWRITE,
        Operation.NOOP: ("s", "s_per_live_file"),
        **dict.fromkeys(QUERIES.values(), _QUERY),
        Operation.MAINTENANCE: ("s", "s_per_deleted_file"),
    },
    "hudi": {
        Operation.COMMIT: (*_COMMIT, _METADATA_TABLE),
        Operation.UPSERT: (
            "s", "s_per_file", "s_per_delete_file", "s_per_mib", "s_per_looked_up_file",
            "s_per_replaced_file", _METADATA_TABLE,
        ),
        Operation.REWRITE: (
            "s", "s_per_task", "s_per_mib", "s_per_million_rows", "s_per_delete_file", "s_per_delete_mib",
            _METADATA_TABLE,
        ),
        Operation.CLUSTER: (*_REWRITE[:-1], _METADATA_TABLE),
        Operation.SORT: _REWRITE[:-1],
        Operation.NOOP: ("s", "s_per_live_file"),
        **dict.fromkeys(QUERIES.values(), _HUDI_QUERY),
        Operation.MAINTENANCE: ("s", "s_per_deleted_file", "s_per_expired_version", _METADATA_TABLE),
    },
}  # fmt: skip
