"""The series a trend is judged on: settled latency, control latency and what the table held, tick by tick."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, median

import numpy as np

from bench.results.folders import RunResult
from bench.results.records import ControlRecord, ObserveRecord, QueryRecord
from bench.results.table_content import of_content
from reports.data.group import RunGroup
from reports.verdicts.trend import Trend, TrendSeries, trend_of_runs

_Point = tuple[float, float, float, tuple[float, ...]]  # scenario seconds, latency, control, holdings


def latency_trends(group: RunGroup) -> Mapping[str, Trend]:
    """Whether the settled latency of each strategy rises against that of the control query.

    Modelled latencies have no trend of their own, so a simulation has none.
    """
    runs = () if group.is_simulated else group.timed_runs
    by_strategy = {
        label: [run for run in runs if run.manifest.strategy == label] for label in group.strategies
    }
    return {
        label: trend_of_runs([trend_series([run]) for run in own], trend_series(own))
        for label, own in by_strategy.items()
    }


def trend_series(runs: Iterable[RunResult]) -> TrendSeries:
    """The series of several runs of one strategy: means of logs of both latencies, medians of what was held.

    A tick at which a run has no control query, or no settled query that succeeded on a table with rows, is
    left out of that run.
    """
    by_tick: dict[int, list[_Point]] = {}
    for run in runs:
        for tick, point in _points(run).items():
            by_tick.setdefault(tick, []).append(point)
    points = [_combined(by_tick[tick]) for tick in sorted(by_tick)]
    if not points:
        return TrendSeries()
    at_s, values, control, held = zip(*points, strict=True)
    return TrendSeries(at_s, values, control, tuple(zip(*held, strict=True)))


def _points(run: RunResult) -> dict[int, _Point]:
    queries = of_content(run, run.of(QueryRecord))
    settled = {q.tick: q for q in queries if q.primary and q.when == "settled"}
    control = {c.tick: c.cost.wall_s for c in run.of(ControlRecord) if c.status == "ok" and c.cost.wall_s > 0}
    held = {o.tick: _holdings(o) for o in run.of(ObserveRecord) if o.after != "maintenance"}
    ticks = (tick for tick in settled if tick in control and tick in held and settled[tick].cost.wall_s > 0)
    return {
        tick: (settled[tick].at_ms / 1000, settled[tick].cost.wall_s, control[tick], held[tick])
        for tick in ticks
    }


def _holdings(observed: ObserveRecord) -> tuple[float, ...]:
    """Data files, delete files, bytes."""
    return (
        float(observed.table.data_files_count),
        float(observed.table.delete_files_count),
        float(observed.table.live_bytes),
    )


def _combined(points: Sequence[_Point]) -> _Point:
    at_s, latencies, controls, held = zip(*points, strict=True)
    return (
        fmean(at_s), _geometric_mean(latencies), _geometric_mean(controls),
        tuple(median(values) for values in zip(*held, strict=True)),
    )  # fmt: skip


def _geometric_mean(values: Sequence[float]) -> float:
    return float(np.exp(np.mean(np.log(values))))
