"""Amplifications: bytes written, opened and stored per byte of the final content.

The denominator is the same for all runs of a scenario in one mode, including variants in another format. So
the layout of the content does not affect the figure of a policy or format, only how much it writes, opens or
stores.
"""

from collections.abc import Iterable

import numpy as np

from bench.results.arithmetic import ratio, total
from bench.results.figures import RunFigures
from bench.results.folders import RunResult
from bench.results.latency import OverTime, over_time
from bench.results.records import CompactionRecord, ObserveRecord, QueryRecord
from bench.results.table_content import content_share, met_by
from bench.results.tables import Records, together


def content_bytes(run: RunResult) -> int | None:
    """The size of the final content in a run: as written by the content check, or live files if smaller."""
    measured = run.end.content_bytes if run.end is not None else None
    live_bytes = [int(size) for size in run.of(ObserveRecord).column("live_bytes")[-1:]]
    return min((size for size in (measured, *live_bytes) if size is not None), default=None)


def common_content_bytes(runs: Iterable[RunResult]) -> int | None:
    """The least content bytes of `runs`, which have the same content.

    This is at most the size of any run's live files, which the run has written and stores. So neither space
    nor write amplification is below 1.
    """
    return min((size for run in runs if (size := content_bytes(run)) is not None), default=None)


def written_bytes(f: RunFigures) -> float:
    """Bytes of the data and delete files written by the load, the stream, compaction and maintenance."""
    compactions = f.run.of(CompactionRecord)  # including compactions that the load ran itself
    return total(together("added_bytes", f.loads, f.commits, compactions, f.maintenance))


def write_amplification(f: RunFigures) -> float | None:
    return _per_content_byte(f, written_bytes(f))


def compaction_amplification(f: RunFigures) -> float | None:
    return _per_content_byte(f, total(f.compactions.column("added_bytes")))


def space_amplification(f: RunFigures) -> float | None:
    return _per_content_byte(f, float(f.observed.column("storage_bytes")[-1])) if f.observed else None


def read_amplification(run: RunResult, queries: OverTime, content: int | None) -> float | None:
    """Mean over time of the bytes that a query opened per byte of content; None if one is unknown.

    The content at a time is the final content times the share of rows committed so far. `queries` must not
    include queries of a table without rows.
    """
    if not content:
        return None
    shares = content_share(run)(queries.queries.column("tick"))
    return queries.mean(queries.queries.column("opened_bytes") / (content * shares))


def opened_share(run: RunResult, queries: Records[QueryRecord], mean: OverTime) -> float | None:
    """Mean over time of the bytes that a query opened per live byte; None if one is unknown.

    Above 1 if delete files were opened for several data files each. Queries of a table without files, whose
    rows have all been deleted, are left out. `mean` has the weights of all queries.
    """
    is_counted = _live_bytes(run, queries) != 0
    counted = mean if is_counted.all() else over_time(run, queries.where(is_counted))
    return counted.mean(counted.queries.column("opened_bytes") / _live_bytes(run, counted.queries))


def _live_bytes(run: RunResult, queries: Records[QueryRecord]) -> np.ndarray:
    """The live bytes of each query's table; NaN if the table is not known."""
    live_bytes = np.append(run.of(ObserveRecord).column("live_bytes"), np.nan)
    return np.asarray(live_bytes[met_by(run, queries)])


def _per_content_byte(f: RunFigures, size_bytes: float) -> float | None:
    return None if f.content_bytes is None else ratio(size_bytes, f.content_bytes)
