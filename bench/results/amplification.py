"""Amplifications: bytes written, opened and stored per byte of the final content.

The denominator is the same for all runs of a scenario in one mode, those of its variants in another format
included. Neither a policy nor a format can therefore improve or worsen its figure by how it lays the same
content out, only by how much it writes, opens or stores.
"""

from collections.abc import Iterable, Sequence

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
from bench.results.table_content import content_share


def content_bytes(run: RunResult) -> int | None:
    """The least bytes that a run shows the final content to take; None if it shows none.

    Either those that the content check wrote it in, or those of its live files at the end.
    """
    measured = run.end.content_bytes if run.end is not None else None
    observed = run.of(ObserveRecord)
    live_bytes = observed[-1].table.live_bytes if observed else None
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
    return total(step.change.added_bytes for step in steps)


def write_amplification(f: RunFigures) -> float | None:
    """Bytes written, without metadata, per byte of the final content."""
    return _per_content_byte(f, written_bytes(f))


def compaction_amplification(f: RunFigures) -> float | None:
    """Of the bytes written, those that compaction wrote."""
    return _per_content_byte(f, total(c.change.added_bytes for c in f.compactions))


def space_amplification(f: RunFigures) -> float | None:
    """Bytes on storage at the end, metadata included, per byte of the final content."""
    return _per_content_byte(f, f.observed[-1].table.storage_bytes) if f.observed else None


def read_amplification(run: RunResult, queries: Sequence[QueryRecord], content: int | None) -> float | None:
    """Mean over time of the bytes a query opened per byte of the content there was; None unless known of all.

    The content there was is the share of the final content that rows committed so far are of all rows. No
    query may be of a table without rows.
    """
    if not content:
        return None
    share_at = content_share(run)
    return mean_over_time(
        run.manifest,
        queries,
        lambda q: None if q.work.opened_bytes is None else q.work.opened_bytes / (content * share_at(q.tick)),
    )


def opened_share(run: RunResult, queries: Sequence[QueryRecord]) -> float | None:
    """Mean over time of the bytes a settled query opened per live byte; None unless known of all.

    The rest was skipped. It is above 1 where delete files were opened for several data files each. A query of
    a table without files, all of whose rows have been deleted, is left out.
    """
    live_bytes = {o.tick: o.table.live_bytes for o in run.of(ObserveRecord)}  # as the tick leaves it

    def share(query: QueryRecord) -> float | None:
        live, opened_bytes = live_bytes.get(query.tick), query.work.opened_bytes
        return None if live is None or opened_bytes is None else opened_bytes / live

    filled = [query for query in queries if live_bytes.get(query.tick) != 0]
    return mean_over_time(run.manifest, filled, share)


def _per_content_byte(f: RunFigures, size_bytes: float) -> float | None:
    return None if f.content_bytes is None else ratio(size_bytes, f.content_bytes)
