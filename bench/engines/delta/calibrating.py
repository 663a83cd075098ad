"""How the cost model of Delta is calibrated."""

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
    Operation.COMMIT: (*COMMIT, "s_per_checkpoint", "s_per_checkpointed_file"),
    Operation.MERGE: (
        "s", "s_per_file", "s_per_delete_file", "s_per_mib", "s_per_replaced_file",
        "s_per_million_replaced_rows", "s_per_scanned_file", "s_per_million_scanned_rows",
        "s_per_checkpoint",
    ),
    Operation.REWRITE: REWRITE,
    Operation.SORT: REWRITE,
    Operation.NOOP: NOOP,
    **dict.fromkeys(QUERIES.values(), QUERY),
    Operation.MAINTENANCE: ("s", "s_per_deleted_file"),
}  # fmt: skip


def _levels() -> Iterator[Level]:
    yield from appends({"type": "delta.optimize"})
    purge: Document = {"writer": {"upsert_mode": "merge-on-read"}, **every(4, {"type": "delta.reorg"})}
    yield Level("merge-small", upsert(100_000, 100, 4), purge)
    yield Level("merge-large", upsert(2_000_000, 4_000, 4), purge)
    yield Level("copy-on-write", upsert(500_000, 1_000, 4), every(4, {"type": "delta.optimize"}))
    yield Level("sort", append(20_000, 8), every(1, {"type": "delta.zorder", "columns": ["order_id"]}))


CALIBRATING = Calibrating(_EXPLAINING, [*_levels()], [rule(4, {"type": "delta.vacuum", "retain": "2min"})])
