"""Latency figures of one probe: means over scenario time, from queries that each stand for a part of it.

The mean begins with the first commit and ends one commit interval after the last: the time of an empty table
is excluded.

Between two ticks the table does not change, so a settled query represents the time until the next tick.
Scenario time is divided into windows of `probe_every`, and one tick in each is probed: the only one if
`probe_every` is the commit interval, else one drawn at random (`probe_phase`). A settled query is therefore a
fair sample of the states in its window and has the length of the window as its weight. All windows have the
same length, except that the last one may be shorter.
"""

from collections.abc import Callable, Sequence
from statistics import fmean

from bench.results.figures import all_known
from bench.results.records import Manifest, QueryRecord


def window_ms(every_ms: int, duration_ms: int, at_ms: int) -> int:
    """The length of the window of `every_ms` that contains scenario time `at_ms`.

    A window includes its end, not its start. The last one ends with the scenario.
    """
    end_ms = -(-at_ms // every_ms) * every_ms
    return min(end_ms, duration_ms) - (end_ms - every_ms)


def mean_over_time(
    manifest: Manifest, queries: Sequence[QueryRecord], value_of: Callable[[QueryRecord], float | None]
) -> float | None:
    """The mean of a value of the queries of one probe, each weighted by the length of its window.

    None if there are no queries or if one of the values is None.
    """
    values = all_known(value_of(query) for query in queries)
    return fmean(values, [_weight_ms(manifest, query) for query in queries]) if values else None


def mean_wall_s(manifest: Manifest, queries: Sequence[QueryRecord]) -> float | None:
    return mean_over_time(manifest, queries, lambda query: query.cost.wall_s)


def mean_cpu_s(manifest: Manifest, queries: Sequence[QueryRecord]) -> float | None:
    return mean_over_time(manifest, queries, lambda query: query.cost.own_cpu_s)


def _weight_ms(manifest: Manifest, query: QueryRecord) -> int:
    every_ms = manifest.probe_every_ms if query.primary else manifest.side_probe_every_ms
    return window_ms(every_ms, manifest.duration_ms, query.at_ms)
