"""Results as tidy tables for one's own questions: a folder of Parquet files or one DuckDB file."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from bench.results.folders import RunResult
from bench.results.records import (
    CommitRecord,
    CompactionRecord,
    ContentRecord,
    DecisionRecord,
    MaintenanceRecord,
    Manifest,
    ObserveRecord,
    QueryRecord,
    RunRecord,
)
from bench.results.rows import METRICS, content_of, usable
from reports.load import RUN_COLUMNS, column_types, frame, sections

RECORD_TABLES: Mapping[str, type[Any]] = {
    "commits": CommitRecord,
    "queries": QueryRecord,
    "compactions": CompactionRecord,
    "observations": ObserveRecord,
    "decisions": DecisionRecord,
    "maintenance": MaintenanceRecord,
    "truths": ContentRecord,
}
_ARROW = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string(), dict: pa.string()}
_OF_RUN: Mapping[str, type] = {name: column_types(Manifest)[name] for name in RUN_COLUMNS}


def export(
    runs: Iterable[RunResult], destination: Path, kind: Literal["parquet", "duckdb"]
) -> tuple[Path, ...]:
    """Write `runs`, `metrics` and a table for each kind of record; returns the files written.

    Nested values (options, lists of actions) become JSON text. Runs whose figures may not be used are in
    all tables but `metrics`; `runs.usable` tells them apart. Raises ValueError where `destination` exists.
    """
    if destination.exists():
        raise ValueError(f"{destination} exists already: choose another place or remove it first")
    made = tables(runs)
    if kind == "parquet":
        destination.mkdir(parents=True)
        for name, table in made.items():
            pq.write_table(table, destination / f"{name}.parquet")
        return tuple(destination / f"{name}.parquet" for name in made)
    destination.parent.mkdir(parents=True, exist_ok=True)
    with duckdb.connect(str(destination)) as database:
        for name, table in made.items():
            database.register("source", table)
            database.execute(f"create table {name} as select * from source")  # noqa: S608 - a name of ours
            database.unregister("source")
    return (destination,)


def tables(runs: Iterable[RunResult]) -> dict[str, pa.Table]:
    """Every table by name, with all its columns even where no record fills it."""
    everything = tuple(runs)
    made = {"runs": _runs(everything), "metrics": _metrics(everything)}
    for name, kind in RECORD_TABLES.items():
        types = {**_OF_RUN, **column_types(kind)}
        made[name] = _table(frame(everything, kind).to_dict("records"), types)
    return made


def _runs(runs: tuple[RunResult, ...]) -> pa.Table:
    added: dict[str, type] = {"folder": str, "content": str, "usable": bool}
    ends = {name: kind for name, kind in column_types(RunRecord).items() if name not in ("tick", "at_ms")}
    lines = [
        {**dict(run.manifest), **({name: getattr(run.end, name) for name in ends} if run.end else {}),
         "folder": str(run.folder), "content": content_of(run), "usable": usable(run)}
        for run in runs
    ]  # fmt: skip
    return _table(lines, {**column_types(Manifest), **ends, **added})


def _metrics(runs: tuple[RunResult, ...]) -> pa.Table:
    """A line for each usable run and metric; a figure that does not apply is null."""
    lines = []
    for section in sections(runs):
        for row in section.rows:
            used = [run.manifest for run in section.usable_runs if run.manifest.strategy == row.strategy]
            used.sort(key=lambda manifest: manifest.repetition)  # the order of `run_values`
            for metric in METRICS:
                for manifest, value in zip(used, row.run_values[metric.name], strict=True):
                    columns = {name: getattr(manifest, name) for name in RUN_COLUMNS}
                    lines.append({**columns, "metric": metric.name, "unit": metric.unit, "value": value})
    return _table(lines, {**_OF_RUN, "metric": str, "unit": str, "value": float})


def _table(lines: Iterable[Mapping[Any, Any]], types: Mapping[str, type]) -> pa.Table:
    known = tuple(lines)
    schema = pa.schema([(name, _ARROW[kind]) for name, kind in types.items()])
    columns = {name: [_plain(line.get(name), kind) for line in known] for name, kind in types.items()}
    return pa.table(columns, schema=schema)


def _plain(value: Any, kind: type) -> Any:
    """One value as its column holds it; pandas turned a None among numbers into NaN."""
    if value is None or value != value:
        return None
    return json.dumps(value, sort_keys=True) if kind is dict else kind(value)
