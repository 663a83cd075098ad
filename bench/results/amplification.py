"""Amplifications: bytes written, opened and stored per byte of the final content.

The denominator is the same for all runs of a scenario in one mode, including variants in another format. So
the layout of the content does not affect the figure of a policy or format, only how much it writes, opens or
stores.
"""

from collections.abc import Iterable, Sequence

from bench.results.arithmetic import ratio, total
from bench.results.figures import RunFigures
from bench.results.folders import RunResult
from bench.results.latency import OverTime, over_time
from bench.results.records import (
    CommitRecord,
    CompactionRecord,
    MaintenanceRecord,
    ObserveRecord,
    QueryRecord,
)
from bench.results.table_content import content_share


def content_bytes(run: RunResult) -> int | None:
    """The size of the final content in a run: as written by the content check, or live files if smaller."""
    measured = run.end.content_bytes if run.end is not None else None
    observed = run.of(ObserveRecord)
    live_bytes = observed[-1].table.live_bytes if observed else None
    return min((size for size in (measured, live_bytes) if size is not None), default=None)


def common_content_bytes(runs: Iterable[RunResult]) -> int | None:
    """The least content bytes of `runs`, which have the same content.

    This is at most the size of any run's live files, which the run has written and stores. So neither space
    nor write amplification is below 1.
    """
    return min((size for run in runs if (size := content_bytes(run)) is not None), default=None)


def written_bytes(f: RunFigures) -> float:
    """Bytes of the data and delete files written by the load, the stream, compaction and maintenance."""
    compactions = f.run.of(CompactionRecord)  # including compactions that the load ran itself
    steps: tuple[CommitRecord | CompactionRecord | MaintenanceRecord, ...]
    steps = (*f.loads, *f.commits, *compactions, *f.maintenance)
    return total(step.change.added_bytes for step in steps)


def write_amplification(f: RunFigures) -> float | None:
    return _per_content_byte(f, written_bytes(f))


def compaction_amplification(f: RunFigures) -> float | None:
    return _per_content_byte(f, total(c.change.added_bytes for c in f.compactions))


def space_amplification(f: RunFigures) -> float | None:
    return _per_content_byte(f, f.observed[-1].table.storage_bytes) if f.observed else None


def read_amplification(run: RunResult, queries: OverTime, content: int | None) -> float | None:
    """Mean over time of the bytes that a query opened per byte of content; None if one is unknown.

    The content at a time is the final content times the share of rows committed so far. `queries` must not
    include queries of a table without rows.
    """
    if not content:
        return None
    share_at = content_share(run)
    return queries.mean(
        lambda q: None if q.work.opened_bytes is None else q.work.opened_bytes / (content * share_at(q.tick))
    )


def opened_share(run: RunResult, queries: Sequence[QueryRecord]) -> float | None:
    """Mean over time of the bytes that a query opened per live byte; None if one is unknown.

    Above 1 if delete files were opened for several data files each. Queries of a table without files, whose
    rows have all been deleted, are left out.
    """
    live_bytes = {o.version: o.table.live_bytes for o in run.of(ObserveRecord)}

    def share(query: QueryRecord) -> float | None:
        live, opened_bytes = live_bytes.get(query.version), query.work.opened_bytes
        return None if live is None or opened_bytes is None else opened_bytes / live

    return over_time(run, [query for query in queries if live_bytes.get(query.version) != 0]).mean(share)


def _per_content_byte(f: RunFigures, size_bytes: float) -> float | None:
    return None if f.content_bytes is None else ratio(size_bytes, f.content_bytes)
