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
from bench.results.query_effect import QueryEffect, query_effects
from bench.results.records import CompactionRecord, DecisionRecord, ObserveRecord, QueryRecord
from bench.results.sessions import queries_by
from reports.data.group import RunGroup

RUN_COLUMNS = ("run_id", "scenario", "workload", "format", "mode", "strategy", "repetition")
_IN_FORCE = {"strategy": "strategy_in_force"}  # in a decision: a switch may have changed it during the run
_GROUPS = 8  # with frames in memory, since several charts draw them


@lru_cache(_GROUPS)
def latency(group: RunGroup) -> pd.DataFrame:
    """The settled primary query: wall_s, planning_s, execution_s over at_ms, NaN where it failed.

    Runs with invalid timings are left out.
    """
    queries = frame(group.timed_runs, QueryRecord, queries_by)
    primary = queries[queries["primary"].astype(bool) & (queries["when"] == "settled")].reset_index(drop=True)
    timings = ["wall_s", "planning_s", "execution_s"]
    primary[timings] = primary[timings].astype(float).mask(primary["status"] != "ok")
    return primary


@lru_cache(_GROUPS)
def observations(group: RunGroup) -> pd.DataFrame:
    """The table after each commit and compaction, in order; `place` numbers the lines of one instant."""
    observed = frame(group.usable_runs, ObserveRecord)
    observed["place"] = observed.groupby(["run_id", "at_ms"]).cumcount()
    return observed


@lru_cache(_GROUPS)
def health(group: RunGroup) -> pd.DataFrame:
    """The health scores that planners reported (`health_score`), a line per evaluation, in order."""
    decisions = frame(group.usable_runs, DecisionRecord)
    decisions["health_score"] = [(figures or {}).get("health_score") for figures in decisions["figures"]]
    return decisions.dropna(subset="health_score").astype({"health_score": float})


@lru_cache(_GROUPS)
def compactions(group: RunGroup) -> pd.DataFrame:
    return frame(group.usable_runs, QueryEffect)


def band(figures: pd.DataFrame, value: str) -> Mapping[str, pd.DataFrame]:
    """Median, low and high over the runs of each strategy, by at_ms (and `place`, if it is a column)."""
    keys = ["at_ms", "place"] if "place" in figures else ["at_ms"]
    return {
        str(label): part.groupby(keys)[value].agg(["median", "min", "max"]).reset_index()
        for label, part in figures.groupby("strategy", sort=False)
    }


def cumulative(
    group: RunGroup, value_of: Callable[[CompactionRecord], float], runs: Sequence[RunResult]
) -> Mapping[str, pd.DataFrame]:
    """The running total of a compaction figure as a step function: median, min and max over `runs`."""
    totals: dict[str, list[pd.Series[float]]] = {}
    grid = np.unique([0.0, group.manifest.duration_ms, *compactions(group)["at_ms"].astype(float)])
    for run in runs:
        records = run.of(CompactionRecord)
        sums = np.concatenate([[0.0], np.cumsum([value_of(c) for c in records])])
        steps = sums[np.searchsorted([c.at_ms for c in records], grid, side="right")]
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
    records_of: Callable[[RunResult], Iterable[Any]] | None = None,
) -> pd.DataFrame:
    """The records of one kind as a tidy frame, a line per record, with the columns that identify the run.

    Compactions come with the queries around them (`QueryEffect`). `records_of` may choose among the records.
    The columns exist even without a record.
    """
    columns = _columns(kind)
    lines = [
        {
            **{name: getattr(run.manifest, name) for name in RUN_COLUMNS},
            **{name: column.value_in(record) for name, column in columns.items()},
        }
        for run in runs
        for record in (_records(run, kind) if records_of is None else records_of(run))
    ]
    return pd.DataFrame(lines, columns=[*RUN_COLUMNS, *columns])


def _records(run: RunResult, kind: type[Any]) -> Iterable[Any]:
    return query_effects(run) if kind is QueryEffect else run.of(kind)


def column_types(kind: type[Any]) -> dict[str, type]:
    """The plain type of each column a record adds to its frame; `dict` for anything structured."""
    return {name: column.type for name, column in _columns(kind).items()}


def _columns(kind: type[Any]) -> dict[str, FlatColumn]:
    """The columns by name; one with the same name as a column of the run is renamed."""
    renamed = _IN_FORCE if kind is DecisionRecord else {}
    return {renamed.get(column.name, column.name): column for column in columns_of(kind)}
