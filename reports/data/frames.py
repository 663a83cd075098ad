"""Tidy frames of the records of runs: a line per record, with the columns that identify its run.

The frames of a group contain its usable runs only.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from bench.results.columns import FlatColumn, columns_of
from bench.results.folders import RunResult
from bench.results.latency import settled_of
from bench.results.query_effect import QueryEffect, QueryEffects, query_effects
from bench.results.records import DecisionRecord, ObserveRecord, QueryRecord
from bench.results.sessions import queries_by
from bench.results.table_content import stream_compactions_of
from bench.results.tables import Records
from reports.data.group import RunGroup

RUN_COLUMNS = ("run_id", "scenario", "workload", "format", "mode", "strategy", "repetition")
_IN_FORCE = {"strategy": "strategy_in_force"}  # of a decision, beside that of its run
Columns = Records[Any] | QueryEffects
_GROUPS = 8  # with frames in memory, since several charts draw them


@lru_cache(_GROUPS)
def latency(group: RunGroup) -> pd.DataFrame:
    """The settled primary query: wall_s, planning_s, execution_s over at_ms, NaN where it failed.

    Runs with invalid timings are left out.
    """
    names = ("at_ms", "status", "wall_s", "waited_s", "planning_s", "execution_s")
    primary = frame(group.timed_runs, QueryRecord, _settled, names)
    primary["wall_s"] += primary.pop("waited_s").astype(float).fillna(0.0)
    timings = ["wall_s", "planning_s", "execution_s"]
    primary[timings] = primary[timings].astype(float).mask(primary["status"] != "ok")
    return primary


def _settled(run: RunResult) -> Records[QueryRecord]:
    return settled_of(queries_by(run).having(primary=True))


@lru_cache(_GROUPS)
def observations(group: RunGroup) -> pd.DataFrame:
    """The table at each instant, as the last step of it left the table."""
    counts = ("data_files_count", "delete_files_count", "equality_files_count", "delete_rows")
    observed = frame(group.usable_runs, ObserveRecord, names=("at_ms", *counts))
    return observed.drop_duplicates(["run_id", "at_ms"], keep="last")


@lru_cache(_GROUPS)
def health(group: RunGroup) -> pd.DataFrame:
    """The health scores that planners reported (`health_score`), a line per evaluation, in order."""
    decisions = frame(group.usable_runs, DecisionRecord, names=("at_ms", "figures"))
    decisions["health_score"] = [(figures or {}).get("health_score") for figures in decisions["figures"]]
    return decisions.dropna(subset="health_score").astype({"health_score": float})


@lru_cache(_GROUPS)
def compactions(group: RunGroup) -> pd.DataFrame:
    return frame(group.usable_runs, QueryEffect)


def band(figures: pd.DataFrame, value: str) -> Mapping[str, pd.DataFrame]:
    """Median, low and high over the runs of each strategy, by at_ms."""
    return {
        str(label): _median_and_range(part, value)
        for label, part in figures.groupby("strategy", sort=False)[["at_ms", value]]
    }


def _median_and_range(part: pd.DataFrame, value: str) -> pd.DataFrame:
    if part["at_ms"].duplicated().any():
        return part.groupby("at_ms")[value].agg(["median", "min", "max"]).reset_index()
    values = part[value].to_numpy(dtype=float)  # of one run, which is its own median
    line = part[["at_ms"]].assign(median=values, min=values, max=values)
    return line.sort_values("at_ms", ignore_index=True)


def cumulative(group: RunGroup, column: str, runs: Sequence[RunResult]) -> Mapping[str, pd.DataFrame]:
    """The running total of a compaction figure as a step function: median, min and max over `runs`."""
    totals: dict[str, list[pd.Series[float]]] = {}
    times_ms = (stream_compactions_of(run).column("at_ms") for run in group.usable_runs)
    grid = np.unique(np.concatenate([[0.0, group.manifest.duration_ms], *times_ms]))
    for run in runs:
        records = stream_compactions_of(run)
        sums = np.concatenate([[0.0], np.cumsum(records.column(column))])
        steps = sums[np.searchsorted(records.column("at_ms"), grid, side="right")]
        totals.setdefault(run.manifest.strategy, []).append(pd.Series(steps, index=grid))
    return {label: _spread(series) for label, series in totals.items()}


def _spread(series: list["pd.Series[float]"]) -> pd.DataFrame:
    side_by_side = pd.concat(series, axis=1)
    columns = {
        "median": side_by_side.median(axis=1),
        "min": side_by_side.min(axis=1),
        "max": side_by_side.max(axis=1),
    }
    return pd.DataFrame(columns).rename_axis("at_ms").reset_index()


def frame(
    runs: Iterable[RunResult],
    kind: type[Any],
    choose: Callable[[RunResult], Columns] | None = None,
    names: Sequence[str] | None = None,
) -> pd.DataFrame:
    """The records of one kind as a tidy frame, a line per record, with the columns that identify the run.

    Compactions come with the queries around them (`QueryEffect`). `choose` may choose among the records,
    and `names` among the columns, which exist even without a record.
    """
    columns = _columns(kind)
    if names is not None:
        columns = {name: columns[name] for name in names}
    parts = [_part(run, records_of(run, kind) if choose is None else choose(run), columns) for run in runs]
    known = [part for part in parts if len(part)]
    if not known:
        return pd.DataFrame(columns=[*RUN_COLUMNS, *columns])
    lines = pd.concat(known, ignore_index=True)
    whole = [name for name, column in columns.items() if column.type is int and lines[name].notna().all()]
    return lines.astype(dict.fromkeys(whole, "int64"))


def _part(run: RunResult, records: Columns, columns: Mapping[str, FlatColumn]) -> pd.DataFrame:
    identity = {name: getattr(run.manifest, name) for name in RUN_COLUMNS}
    values = {name: records.column(column.name) for name, column in columns.items()}
    index = pd.RangeIndex(len(records))
    return pd.DataFrame({**identity, **values}, index=index)


def each_once(values: list[Any], make: Callable[[Any], Any]) -> list[Any]:
    """What a function makes of each value; records share most of theirs, and each object is made once."""
    known = {id(value): value for value in values}
    made = {key: make(value) for key, value in known.items()}
    return [made[id(value)] for value in values]


def records_of(run: RunResult, kind: type[Any]) -> Columns:
    return query_effects(run) if kind is QueryEffect else run.of(kind)


def column_types(kind: type[Any]) -> dict[str, type]:
    """The plain type of each column a record adds to its frame; `dict` for anything structured."""
    return {name: column.type for name, column in _columns(kind).items()}


def _columns(kind: type[Any]) -> dict[str, FlatColumn]:
    """The columns by name; one with the same name as a column of the run is renamed."""
    renamed = _IN_FORCE if kind is DecisionRecord else {}
    return {renamed.get(column.name, column.name): column for column in columns_of(kind)}
