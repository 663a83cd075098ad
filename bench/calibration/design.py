"""The calibration runs of each format: small scenarios that move the amounts of work apart.

In one scenario all commits are alike, so its runs cannot tell what a file costs from what its rows cost. Here
files, rows and columns change independently of each other, and so do the rows of a table and the changes to
them. Each scenario stays small: seconds per unit are wanted, not large totals.
"""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.scenario.load import scenario_of
from bench.scenario.scenario import Scenario

_Document = dict[str, Any]
SEED = 20260101
_COMMITS = 8


@dataclass(frozen=True, slots=True)
class _Level:
    """Keys of [workload] and [table] of one scenario, and the keys of its only strategy."""

    name: str
    workload: _Document
    strategy: _Document
    table: _Document


def design(table_format: str) -> list[Scenario]:
    """The scenarios of a format, in an order that is the same each time and mixes large and small."""
    levels = [*{"iceberg": _iceberg, "delta": _delta, "hudi": _hudi}[table_format]()]
    random.Random(SEED).shuffle(levels)  # noqa: S311
    return [
        scenario_of(Path(f"calibrate-{table_format}-{level.name}.toml"), _document(table_format, level))
        for level in levels
    ]


def _document(table_format: str, level: _Level) -> _Document:
    return {
        "description": f"A calibration run of {table_format}: {level.name}.",
        "seed": SEED,
        "duration": f"{_COMMITS}min",
        "commit_interval": "1min",
        "probe_every": "2min",
        "table": {"format": table_format, "target_file_size": "16MiB", **level.table},
        "workload": level.workload,
        "strategies": [{"label": "calibrate", **level.strategy}],
        "maintenance": _MAINTENANCE[table_format],
    }


def _rule(minutes: int, planner: _Document) -> _Document:
    """The planner's rule, which fires at this interval."""
    return {"trigger": {"type": "every", "interval": f"{minutes}min"}, "planner": planner}


_MAINTENANCE: Mapping[str, list[_Document]] = {
    "iceberg": [
        _rule(4, {"type": "iceberg.expire_snapshots", "retain": "2min"}),
        _rule(5, {"type": "iceberg.rewrite_manifests"}),
    ],
    "delta": [_rule(4, {"type": "delta.vacuum", "retain": "2min"})],
    "hudi": [
        _rule(3, {"type": "hudi.clean", "retain_commits": 3}),
        _rule(4, {"type": "hudi.archive", "min_commits": 4, "max_commits": 6}),
    ],
}


def _every(minutes: int, planner: _Document) -> _Document:
    """The keys of a strategy that runs the planner at this interval."""
    return {"rules": [_rule(minutes, planner)]}


def _without_spark(minutes: int) -> _Document:
    """Merges of all files below the target, which a plan has to name for this executor."""
    options = {"self-optimizing.minor.trigger.file-count": 2, "self-optimizing.fragment-ratio": 1}
    rule = _rule(minutes, {"type": "amoro", "options": options})
    return {"rules": [{**rule, "executor": "single-node"}]}


def _append(rows: int, files: int, columns: int = 17) -> _Document:
    return {"type": "append", "rows_per_commit": rows, "files_per_commit": files, "columns": columns}


def _upsert(initial_rows: int, rows: int, files: int) -> _Document:
    return {
        "type": "upsert", "initial_rows": initial_rows, "rows_per_commit": rows, "files_per_commit": files,
        "columns": 17, "insert_share": 0.5, "delete_share": 0.05,
    }  # fmt: skip


def _appends(compact: _Document) -> Iterator[_Level]:
    often, seldom = _every(2, compact), _every(4, compact)
    yield _Level("many-small-files", _append(640, 64), often, {})
    yield _Level("few-large-files", _append(200_000, 2), seldom, {})
    yield _Level("narrow", _append(80_000, 8, columns=3), often, {})
    yield _Level("wide", _append(40_000, 8, columns=40), often, {})
    yield _Level("one-file", _append(1_000, 1), seldom, {})
    days = {**_append(3_000, 1), "late_share": 1.0, "late_by": "30d"}
    yield _Level("partitions", days, seldom, {"partitioning": "day"})


def _iceberg() -> Iterator[_Level]:
    rewrite = {"type": "iceberg.rewrite_data_files", "options": {"delete-file-threshold": 1}}
    convert = {"type": "iceberg.convert_deletes"}
    yield from _appends({"type": "iceberg.rewrite_data_files"})
    order = {"type": "iceberg.rewrite_data_files", "strategy": "sort", "sort_order": "order_id"}
    yield _Level("sort", _append(20_000, 8), _every(1, order), {})
    for name, rows, files in (("many-small-files", 640, 64), ("few-large-files", 200_000, 2)):
        yield _Level(f"single-node-{name}", _append(rows, files), _without_spark(2), {})
    yield _Level("upsert-few-keys", _upsert(1_000_000, 100, 8), _every(4, rewrite), {})
    yield _Level("upsert-many-keys", _upsert(100_000, 10_000, 2), _every(3, rewrite), {})
    merge_on_read = {"writer": {"upsert_mode": "merge-on-read"}}
    yield _Level("merge-small", _upsert(100_000, 100, 4), {**merge_on_read, **_every(4, rewrite)}, {})
    yield _Level("merge-large", _upsert(800_000, 400, 2), {**merge_on_read, **_every(4, rewrite)}, {})
    yield _Level("convert-small", _upsert(200_000, 400, 8), _every(3, convert), {})
    yield _Level("convert-large", _upsert(3_000_000, 4_000, 4), _every(4, convert), {})


def _delta() -> Iterator[_Level]:
    yield from _appends({"type": "delta.optimize"})
    merge_on_read = {"writer": {"upsert_mode": "merge-on-read"}}
    purge = _every(4, {"type": "delta.reorg"})
    yield _Level("merge-small", _upsert(100_000, 100, 4), {**merge_on_read, **purge}, {})
    yield _Level("merge-large", _upsert(2_000_000, 4_000, 4), {**merge_on_read, **purge}, {})
    yield _Level("copy-on-write", _upsert(500_000, 1_000, 4), _every(4, {"type": "delta.optimize"}), {})
    order = _every(1, {"type": "delta.zorder", "columns": ["order_id"]})
    yield _Level("sort", _append(20_000, 8), order, {})


def _hudi() -> Iterator[_Level]:
    """Inserts write as many base files as in other formats, which takes Hudi's own sizing to be off."""
    merge = {"type": "hudi.compaction", "strategy": "UnBounded"}
    for name, rows, files, columns in (
        ("many-small-files", 640, 64, 17), ("few-large-files", 200_000, 2, 17), ("narrow", 80_000, 8, 3),
        ("wide", 40_000, 8, 40), ("one-file", 1_000, 1, 17),
    ):  # fmt: skip
        properties = {
            "hoodie.parquet.small.file.limit": "0",
            "hoodie.copyonwrite.insert.auto.split": "false",
            "hoodie.copyonwrite.insert.split.size": str(rows // files),
        }
        table: _Document = {"index": "simple", "properties": properties}
        cluster = _every(4, {"type": "hudi.clustering"})
        yield _Level(name, _append(rows, files, columns), cluster, table)
    for name, initial_rows, rows, buckets in (
        ("upsert-few-keys", 1_000_000, 100, 4), ("upsert-many-keys", 100_000, 10_000, 4),
        ("upsert-many-groups", 500_000, 2_000, 16), ("upsert-one-group", 50_000, 1_000, 1),
    ):  # fmt: skip
        table = {"index": "bucket", "index_buckets": buckets}
        yield _Level(name, _upsert(initial_rows, rows, 4), _every(4, merge), table)
    in_place = {"writer": {"upsert_mode": "copy-on-write"}}
    yield _Level(
        "copy-on-write", _upsert(500_000, 1_000, 4), in_place, {"index": "bucket", "index_buckets": 4}
    )
