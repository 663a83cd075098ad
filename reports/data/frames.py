"""Tidy frames of the records of runs: a line per record, with the columns that identify its run.

The frames of a group contain its usable runs only.
"""

import types
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import numpy as np
import pandas as pd

from bench.results.folders import RunResult
from bench.results.records import CompactionRecord, DecisionRecord, Manifest, ObserveRecord, QueryRecord
from reports.data.group import RunGroup

RUN_COLUMNS = ("run_id", "scenario", "workload", "format", "mode", "strategy", "repetition")
_IN_FORCE = {"strategy": "strategy_in_force"}  # in a decision: a switch may have changed it during the run
_GROUPS = 8  # whose frames stay in memory, since several charts draw them


@lru_cache(_GROUPS)
def latency(group: RunGroup) -> pd.DataFrame:
    """The settled primary query: wall_s, planning_s, execution_s over at_ms, NaN where it failed.

    Runs with invalid timings are left out.
    """
    queries = frame(group.timed_runs, QueryRecord)
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
    """Every compaction, in order."""
    return frame(group.usable_runs, CompactionRecord)


def band(figures: pd.DataFrame, value: str) -> Mapping[str, pd.DataFrame]:
    """Median, low and high over the runs of each strategy, by at_ms (and `place` where there is one)."""
    keys = ["at_ms", "place"] if "place" in figures else ["at_ms"]
    return {
        str(label): part.groupby(keys)[value].agg(["median", "min", "max"]).reset_index()
        for label, part in figures.groupby("strategy", sort=False)
    }


def cumulative(group: RunGroup, value: str, runs: Sequence[RunResult]) -> Mapping[str, pd.DataFrame]:
    """The running total of a compaction figure as a step function: median, min and max over `runs`."""
    totals: dict[str, list[pd.Series[float]]] = {}
    grid = np.unique([0.0, group.manifest.duration_ms, *compactions(group)["at_ms"].astype(float)])
    for run in runs:
        made = run.of(CompactionRecord)
        sums = np.concatenate([[0.0], np.cumsum([float(getattr(c, value)) for c in made])])
        steps = sums[np.searchsorted([c.at_ms for c in made], grid, side="right")]
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


def frame(runs: Iterable[RunResult], kind: type[Any]) -> pd.DataFrame:
    """The records of one kind as a tidy frame, a line per record, with the columns that identify the run.

    The columns exist even if there is no record.
    """
    fields = _columns(kind)
    lines = [
        {**_run_columns(run.manifest), **{column: getattr(record, name) for name, column in fields.items()}}
        for run in runs
        for record in run.of(kind)
    ]
    return pd.DataFrame(lines, columns=[*RUN_COLUMNS, *fields.values()])


def column_types(kind: type[Any]) -> dict[str, type]:
    """The plain type of each column a record adds to its frame; `dict` for anything structured."""
    return {
        column: _plain_type(kind.model_fields[name].annotation) for name, column in _columns(kind).items()
    }


def _columns(kind: type[Any]) -> dict[str, str]:
    """Field -> column; a record's field with the same name as a column of the run is renamed."""
    is_record = "kind" in kind.model_fields
    renamed = _IN_FORCE if is_record else {}
    return {name: renamed.get(name, name) for name in kind.model_fields if name != "kind"}


def _plain_type(annotation: Any) -> type:
    if get_origin(annotation) is Annotated:
        return _plain_type(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        return _plain_type(next(part for part in get_args(annotation) if part is not type(None)))
    if annotation in (bool, int, float, str):
        return annotation  # type: ignore[no-any-return]
    return str if get_origin(annotation) is Literal else dict


def _run_columns(manifest: Manifest) -> dict[str, Any]:
    return {name: getattr(manifest, name) for name in RUN_COLUMNS}
