"""What a run committed, how much of it the table holds at a tick, and the queries of a table with rows."""

from bisect import bisect_right
from collections.abc import Callable, Iterable
from itertools import accumulate

from bench.results.folders import RunResult
from bench.results.records import CommitRecord, QueryRecord


def commits_of(run: RunResult) -> tuple[CommitRecord, ...]:
    """The commits that succeeded, the load included. Older results have some without rows: they are none."""
    return tuple(c for c in run.of(CommitRecord) if c.status == "ok" and c.rows)


def content_share(run: RunResult) -> Callable[[int], float]:
    """The share of all rows that had been committed by the end of a tick, the load included."""
    commits = sorted(commits_of(run), key=lambda c: c.tick)
    ticks = [commit.tick for commit in commits]
    rows = [0, *accumulate(commit.rows for commit in commits)]
    return lambda tick: rows[bisect_right(ticks, tick)] / rows[-1] if ticks else 0.0


def of_content(run: RunResult, queries: Iterable[QueryRecord]) -> tuple[QueryRecord, ...]:
    """The queries that succeeded, but for those of a table without rows, whose latency is nobody's."""
    share_at = content_share(run)
    return tuple(query for query in queries if query.status == "ok" and share_at(query.tick))
