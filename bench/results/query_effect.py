"""The effect of compactions on readers: the primary queries just before and after each of them."""

from bisect import bisect_left
from dataclasses import dataclass

from bench.results.folders import RunResult
from bench.results.records import CompactionRecord, QueryRecord
from bench.results.sessions import queries_by


@dataclass(frozen=True, slots=True)
class QueryEffect:
    """A compaction and the wall seconds of the primary queries around it.

    A query is None if the compaction did not commit or if no such query ran. No query runs between a commit
    and a compaction within it, and the query before a concurrent compaction is of an unrelated state. Between
    the end of a concurrent compaction and the query after it, the stream may have committed again.
    """

    compaction: CompactionRecord
    query_before_s: float | None = None
    query_after_s: float | None = None


def query_effects(run: RunResult) -> tuple[QueryEffect, ...]:
    """The effect of every compaction of a run, in order.

    The query before a compaction is the last one of the same tick to begin earlier; the query after it is the
    first to begin after its end.
    """
    queries = [query for query in queries_by(run) if query.primary and query.span is not None]
    starts_s = [query.span.started_s for query in queries if query.span is not None]
    return tuple(_effect(compaction, queries, starts_s) for compaction in run.of(CompactionRecord))


def _effect(compaction: CompactionRecord, queries: list[QueryRecord], starts_s: list[float]) -> QueryEffect:
    if compaction.status != "ok" or compaction.is_inline or compaction.span is None:
        return QueryEffect(compaction)
    first_later = bisect_left(starts_s, compaction.span.ended_s)
    last_earlier = bisect_left(starts_s, compaction.span.started_s) - 1  # a commit may take no modelled time
    has_before = last_earlier >= 0 and queries[last_earlier].tick == compaction.tick
    return QueryEffect(
        compaction,
        queries[last_earlier].cost.wall_s if has_before and not compaction.is_beside_stream else None,
        queries[first_later].cost.wall_s if first_later < len(queries) else None,
    )
