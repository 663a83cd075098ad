"""Results as tidy tables for further analysis: a folder of Parquet files or one DuckDB file."""

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Literal

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bench.results.columns import columns_of
from bench.results.folders import RunResult
from bench.results.metrics import METRICS
from bench.results.query_effect import QueryEffect
from bench.results.records import (
    CommitRecord,
    ContentRecord,
    ControlRecord,
    DecisionRecord,
    MaintenanceRecord,
    Manifest,
    ObserveRecord,
    QueryRecord,
    RunRecord,
    SpeedRecord,
)
from bench.results.rows import content_of, usable
from reports.data.frames import RUN_COLUMNS, column_types, each_once, records_of
from reports.data.group import run_groups

RECORD_TABLES: Mapping[str, type[Any]] = {
    "commits": CommitRecord,
    "queries": QueryRecord,
    "compactions": QueryEffect,
    "observations": ObserveRecord,
    "controls": ControlRecord,
    "speeds": SpeedRecord,
    "decisions": DecisionRecord,
    "maintenance": MaintenanceRecord,
    "content_checks": ContentRecord,
}
_ARROW = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string(), dict: pa.string()}
_encode = json.JSONEncoder(sort_keys=True).encode
_OF_RUN: Mapping[str, type] = {name: column_types(Manifest)[name] for name in RUN_COLUMNS}


def export(
    runs: Iterable[RunResult], destination: Path, kind: Literal["parquet", "duckdb"]
) -> tuple[Path, ...]:
    """Write `runs`, `metrics` and a table for each kind of record; returns the files written.

    Nested values (options, lists of actions) become JSON text. Runs whose figures must not be used are in all
    tables except `metrics`; they have `runs.usable` = false. Raises ValueError where `destination` exists.
    """
    place = destination.absolute()  # a library might expand "~x" or parse "file:x"
    log = destination.with_name(f"{destination.name}.wal")  # DuckDB would use and delete it
    for existing in filter(os.path.lexists, (destination, *((log,) if kind == "duckdb" else ()))):
        raise ValueError(f"{existing} already exists: choose another destination or remove it first")
    all_runs = tuple(runs)
    destination.parent.mkdir(parents=True, exist_ok=True)
    if kind == "duckdb":
        with _whole(place, log.absolute()):
            _write_duckdb(all_runs, place)
        return (destination,)
    with _whole(place):
        _write_parquet(all_runs, place)
    return tuple(destination / f"{name}.parquet" for name in ("runs", "metrics", *RECORD_TABLES))


@contextmanager
def _whole(*places: Path) -> Iterator[None]:
    """Removes what an export that fails has written so far, which could pass for a whole one."""
    try:
        yield
    except BaseException:
        for place in places:
            if place.is_dir():
                shutil.rmtree(place)
            else:
                place.unlink(missing_ok=True)
        raise


def _write_parquet(runs: tuple[RunResult, ...], folder: Path) -> None:
    folder.mkdir()
    for name, of_table in tables(runs):
        with ExitStack() as files:
            file: pq.ParquetWriter | None = None
            for part in of_table:
                file = file or files.enter_context(pq.ParquetWriter(folder / f"{name}.parquet", part.schema))
                file.write_table(part)
                del part  # before the next one is made


def _write_duckdb(runs: tuple[RunResult, ...], file: Path) -> None:
    with duckdb.connect(str(file)) as database:
        for name, of_table in tables(runs):
            for number, part in enumerate(of_table):
                database.register("source", part)
                target = f"insert into {name}" if number else f"create table {name} as"
                database.execute(f"{target} select * from source")  # noqa: S608 - a name of ours
                database.unregister("source")
                del part


def tables(runs: tuple[RunResult, ...]) -> Iterator[tuple[str, Iterator[pa.Table]]]:
    """Every table by name, in parts; the first one has all columns even if there is no record."""
    for name in ("runs", "metrics", *RECORD_TABLES):
        yield name, parts(runs, name)


def parts(runs: tuple[RunResult, ...], name: str) -> Iterator[pa.Table]:
    """One of the tables, by its name."""
    of_runs = {"runs": _runs, "metrics": _metrics}
    return iter([of_runs[name](runs)]) if name in of_runs else _parts(runs, RECORD_TABLES[name])


def _parts(runs: tuple[RunResult, ...], kind: type[Any]) -> Iterator[pa.Table]:
    """The records of one kind, a part for each run that has some; at least one part."""
    schema = _schema({**_OF_RUN, **column_types(kind)})
    known = filter(len, (_part(run, kind, schema) for run in runs))
    yield next(known, schema.empty_table())
    yield from known


def _part(run: RunResult, kind: type[Any], schema: pa.Schema) -> pa.Table:
    records = records_of(run, kind)
    of_run = (pa.scalar(getattr(run.manifest, name), schema.field(name).type) for name in RUN_COLUMNS)
    arrays = [pa.repeat(value, len(records)) for value in of_run]
    arrays += [_array(records.column(column.name), column.type) for column in columns_of(kind)]
    run.records.release()  # the columns of long runs add up
    return pa.Table.from_arrays(arrays, schema=schema)


def _array(values: np.ndarray, kind: type) -> pa.Array:
    """A column; None and NaN are null."""
    plain = each_once(values.tolist(), _json_text) if kind is dict else values
    return pa.array(plain, _ARROW[kind], from_pandas=True)


def _json_text(value: Any) -> str | None:
    return None if value is None else _encode(value)


def _runs(runs: tuple[RunResult, ...]) -> pa.Table:
    added: dict[str, type] = {"folder": str, "content": str, "usable": bool}
    of_end = [column for column in columns_of(RunRecord) if column.name not in ("tick", "at_ms")]
    ends = {column.name: column.type for column in of_end}
    lines = [
        {**dict(run.manifest), **{column.name: column.value_in(run.end) for column in of_end},
         "folder": _text(run.folder), "content": content_of(run), "usable": usable(run)}
        for run in runs
    ]  # fmt: skip
    return _table(lines, {**column_types(Manifest), **ends, **added})


def _text(path: Path) -> str:
    r"""A path as text; bytes that are not UTF-8 are written \xNN."""
    return os.fsencode(path).decode(errors="backslashreplace")


def _metrics(runs: tuple[RunResult, ...]) -> pa.Table:
    """A line per usable run and metric; a value that does not apply is null."""
    lines = []
    for group in run_groups(runs):
        for row in group.rows:
            used = [run.manifest for run in group.usable_runs_of(row.strategy)]
            used.sort(key=lambda manifest: manifest.repetition)  # the order of `run_values`
            for metric in METRICS:
                for manifest, value in zip(used, row.run_values[metric.name], strict=True):
                    columns = {name: getattr(manifest, name) for name in RUN_COLUMNS}
                    lines.append({**columns, "metric": metric.name, "unit": metric.unit, "value": value})
    return _table(lines, {**_OF_RUN, "metric": str, "unit": str, "value": float})


def _table(lines: Iterable[Mapping[Any, Any]], types: Mapping[str, type]) -> pa.Table:
    rows = tuple(lines)
    columns = {name: [_plain(row.get(name), kind) for row in rows] for name, kind in types.items()}
    return pa.table(columns, schema=_schema(types))


def _schema(types: Mapping[str, type]) -> pa.Schema:
    return pa.schema([(name, _ARROW[kind]) for name, kind in types.items()])


def _plain(value: Any, kind: type) -> Any:
    """A value of its column's type; None among numbers may be NaN."""
    if value is None or value != value:
        return None
    return _encode(value) if kind is dict else kind(value)
