"""How the cost model of Iceberg is calibrated."""

from collections.abc import Iterator

from bench.engines.calibrating import (
    COMMIT,
    NOOP,
    QUERY,
    REWRITE,
    Calibrating,
    Document,
    Level,
    append,
    appends,
    every,
    rule,
    upsert,
)
from bench.engines.simulated.steps import QUERIES, Operation

_EXPLAINING = {
    Operation.COMMIT: COMMIT,
    Operation.UPSERT: ("s", "s_per_file", "s_per_delete_file", "s_per_mib"),
    Operation.MERGE: (
        "s", "s_per_file", "s_per_delete_file", "s_per_mib", "s_per_replaced_file", "s_per_scanned_file",
        "s_per_million_scanned_rows",
    ),
    Operation.REWRITE: (*REWRITE, "s_per_million_delete_rows"),
    Operation.SORT: REWRITE,
    Operation.CONVERT: (
        "s", "s_per_live_file", "s_per_task", "s_per_file", "s_per_mib", "s_per_converted_file",
        "s_per_million_converted_rows", "s_per_delete_file", "s_per_million_delete_rows",
    ),
    Operation.SINGLE_NODE: (
        "s", "s_per_live_file", "s_per_file", "s_per_mib", "s_per_converted_file", "s_per_delete_file",
        "s_per_million_delete_rows",
    ),
    Operation.NOOP: NOOP,
    **dict.fromkeys(QUERIES.values(), QUERY),
    Operation.MAINTENANCE: ("s", "s_per_deleted_file", "s_per_expired_version"),
}  # fmt: skip
_MERGE_ON_READ: Document = {"writer": {"upsert_mode": "merge-on-read"}}


def _levels() -> Iterator[Level]:
    rewrite = {"type": "iceberg.rewrite_data_files", "options": {"delete-file-threshold": 1}}
    convert = {"type": "iceberg.convert_deletes"}
    yield from appends({"type": "iceberg.rewrite_data_files"})
    order = {"type": "iceberg.rewrite_data_files", "strategy": "sort", "sort_order": "order_id"}
    yield Level("sort", append(20_000, 8), every(1, order))
    for name, rows, files in (("many-small-files", 640, 64), ("few-large-files", 200_000, 2)):
        yield Level(f"single-node-{name}", append(rows, files), _without_spark(2))
    yield Level("upsert-few-keys", upsert(1_000_000, 100, 8), every(4, rewrite))
    yield Level("upsert-many-keys", upsert(100_000, 10_000, 2), every(3, rewrite))
    yield Level("merge-small", upsert(100_000, 100, 4), {**_MERGE_ON_READ, **every(4, rewrite)})
    yield Level("merge-large", upsert(800_000, 400, 2), {**_MERGE_ON_READ, **every(4, rewrite)})
    yield Level("convert-small", upsert(200_000, 400, 8), every(3, convert))
    yield Level("convert-large", upsert(3_000_000, 4_000, 4), every(4, convert))


def _without_spark(minutes: int) -> Document:
    """Merges of all files below the target, which a plan has to name for this executor."""
    options = {"self-optimizing.minor.trigger.file-count": 2, "self-optimizing.fragment-ratio": 1}
    own = rule(minutes, {"type": "amoro", "options": options})
    return {"rules": [{**own, "executor": "single-node"}]}


CALIBRATING = Calibrating(
    _EXPLAINING,
    [*_levels()],
    [
        rule(4, {"type": "iceberg.expire_snapshots", "retain": "2min"}),
        rule(5, {"type": "iceberg.rewrite_manifests"}),
    ],
)
