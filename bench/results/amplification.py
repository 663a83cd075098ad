"""Amplifications: bytes written, opened and stored per byte of the final content.

The denominator is the same for all runs of a scenario in one mode, those of its variants in another format
included. Neither a policy nor a format can therefore improve or worsen its figure by how it lays the same
content out, only by how much it writes, opens or stores.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate

from bench.results.figures import RunFigures, ratio, total
from bench.results.folders import RunResult
from bench.results.latency import mean_over_time
from bench.results.records import (
    CommitRecord,
    CompactionRecord,
    MaintenanceRecord,
    ObserveRecord,
    QueryRecord,
)


def content_bytes(run: RunResult) -> int | None:
    """The least bytes that a run shows the final content to take; None if it shows none.

    Either those that the content check wrote it in, or those of its live files at the end.
    """
    measured = run.end.content_bytes if run.end is not None else None
    observed = run.of(ObserveRecord)
    live_bytes = observed[-1].live_bytes if observed else None
    return min((size for size in (measured, live_bytes) if size is not None), default=None)


def common_content_bytes(runs: Iterable[RunResult]) -> int | None:
    """The least of the content bytes of `runs`, whose content is the same.

    No run can have stored or written less: its live files, of which these are at most the bytes, were all
    written by it and are all on storage. So no space or write amplification is below 1.
    """
    return min((size for run in runs if (size := content_bytes(run)) is not None), default=None)


def written_bytes(f: RunFigures) -> float:
    """Bytes of the data and delete files written by the load, the stream, compaction and maintenance."""
    compactions = f.run.of(CompactionRecord)  # those that the load ran by itself included
    steps: tuple[CommitRecord | CompactionRecord | MaintenanceRecord, ...]
    steps = (*f.loads, *f.commits, *compactions, *f.maintenance)
    return total(step.added_bytes for step in steps)


def write_amplification(f: RunFigures) -> float | None:
    """Bytes written, without metadata, per byte of the final content."""
    return _per_content_byte(f, written_bytes(f))


def compaction_amplification(f: RunFigures) -> float | None:
    """Of the bytes written, those that compaction wrote."""
    return _per_content_byte(f, total(c.added_bytes for c in f.compactions))


def space_amplification(f: RunFigures) -> float | None:
    """Bytes on storage at the end, metadata included, per byte of the final content."""
    return _per_content_byte(f, f.observed[-1].storage_bytes) if f.observed else None


def read_amplification(run: RunResult, queries: Sequence[QueryRecord], content: int | None) -> float | None:
    """Mean over time of the bytes a query opened per byte of the content there was; None unless known of all.

    The content there was is the share of the final content that rows committed so far are of all rows. A
    query of a table without rows has no amplification and is left out.
    """
    if not content:
        return None
    share_at = content_share(run)
    filled = [query for query in queries if share_at(query.tick)]
    return mean_over_time(
        run.manifest,
        filled,
        lambda q: None if q.opened_bytes is None else q.opened_bytes / (content * share_at(q.tick)),
    )


def opened_share(run: RunResult, queries: Sequence[QueryRecord]) -> float | None:
    """Mean over time of the bytes a query opened per live byte of the table; None unless known of all.

    The rest was skipped. It is above 1 where delete files were opened for several data files each. A query of
    a table without files is left out.
    """
    live_bytes = {o.version: o.live_bytes for o in run.of(ObserveRecord) if o.version is not None}

    def share(query: QueryRecord) -> float | None:
        live = live_bytes.get(query.version or "")
        return None if live is None or query.opened_bytes is None else query.opened_bytes / live

    filled = [query for query in queries if live_bytes.get(query.version or "") != 0]
    return mean_over_time(run.manifest, filled, share)


def content_share(run: RunResult) -> Callable[[int], float]:
    """The share of all rows that had been committed by the end of a tick, the load included."""
    commits = sorted((c for c in run.of(CommitRecord) if c.status == "ok"), key=lambda c: c.tick)
    by_tick = dict(zip((c.tick for c in commits), accumulate(c.rows for c in commits), strict=True))
    rows = max(by_tick.values(), default=0)
    return lambda tick: by_tick.get(tick, 0) / rows if rows else 0.0


def _per_content_byte(f: RunFigures, size_bytes: float) -> float | None:
    return None if f.content_bytes is None else ratio(size_bytes, f.content_bytes)
