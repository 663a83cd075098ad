"""What the table of a run held over time: commits, content and live files."""

from bisect import bisect_right
from collections.abc import Callable, Iterable
from itertools import accumulate

from bench.results.folders import RunResult
from bench.results.records import CommitRecord, ObserveRecord, QueryRecord


def commits_of(run: RunResult) -> tuple[CommitRecord, ...]:
    """The commits of rows that succeeded, including the load."""
    return tuple(c for c in run.of(CommitRecord) if c.status == "ok" and c.rows)


def as_left(run: RunResult) -> tuple[ObserveRecord, ...]:
    """The table at the end of each commit interval, as it stays until the next commit.

    A mean over these is a mean over time, whether a strategy compacts within a commit or after it.
    """
    last = {record.tick: record for record in run.of(ObserveRecord) if record.after != "initial"}
    return tuple(last.values())


def as_committed(run: RunResult) -> tuple[ObserveRecord, ...]:
    """The table right after each commit of the stream, or after a tick without one."""
    return tuple(record for record in run.of(ObserveRecord) if record.after == "commit")


def content_share(run: RunResult) -> Callable[[int], float]:
    """The share of all rows, including the load, that had been committed by the end of a tick."""
    commits = sorted(commits_of(run), key=lambda c: c.tick)
    ticks = [commit.tick for commit in commits]
    rows = [0, *accumulate(commit.rows for commit in commits)]
    return lambda tick: rows[bisect_right(ticks, tick)] / rows[-1] if ticks else 0.0


def of_content(run: RunResult, queries: Iterable[QueryRecord]) -> tuple[QueryRecord, ...]:
    """The queries that succeeded, except queries of a table without rows."""
    share_at = content_share(run)
    return tuple(query for query in queries if query.status == "ok" and share_at(query.tick))
