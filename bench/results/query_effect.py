"""The effect of compactions on readers: the primary queries just before and after each of them."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bench.results.folders import RunResult
from bench.results.records import CompactionRecord
from bench.results.sessions import queries_by
from bench.results.tables import Records


@dataclass(frozen=True, slots=True)
class QueryEffect:
    """A compaction and the wall seconds of the primary queries around it.

    A query is None if the compaction did not commit or if no such query ran. No query runs between a commit
    and a compaction within it.
    """

    compaction: CompactionRecord
    query_before_s: float | None = None
    query_after_s: float | None = None


class QueryEffects:
    """The effects of compactions, in columns (NaN for None); iterating over them makes objects."""

    def __init__(
        self, compactions: Records[CompactionRecord], before_s: np.ndarray, after_s: np.ndarray
    ) -> None:
        self.compactions, self.before_s, self.after_s = compactions, before_s, after_s

    def column(self, name: str) -> np.ndarray:
        own = {"query_before_s": self.before_s, "query_after_s": self.after_s}
        return own[name] if name in own else self.compactions.column(name)

    def where(self, mask: np.ndarray) -> "QueryEffects":
        return QueryEffects(self.compactions.where(mask), self.before_s[mask], self.after_s[mask])

    def __len__(self) -> int:
        return len(self.compactions)

    def __iter__(self) -> Iterator[QueryEffect]:
        times_s = zip(self.before_s.tolist(), self.after_s.tolist(), strict=True)
        for compaction, around_s in zip(self.compactions, times_s, strict=True):
            yield QueryEffect(compaction, *(None if time_s != time_s else time_s for time_s in around_s))


def query_effects(run: RunResult) -> QueryEffects:
    """The effect of every compaction of a run, in order.

    The query before a compaction is the last one of the same tick to begin earlier; the query after it is the
    first to begin after its end.
    """
    queries, compactions = queries_by(run), run.of(CompactionRecord)
    queries = queries.where(queries.column("primary") & ~np.isnan(queries.column("started_s")))
    starts_s = queries.column("started_s")
    walls_s = np.append(queries.column("wall_s"), np.nan)
    ticks = np.append(queries.column("tick"), -1)  # no tick, nor is the one of a query that does not exist
    began_s = compactions.column("started_s")
    counts = (compactions.column("status") == "ok") & ~compactions.column("is_inline") & ~np.isnan(began_s)
    counts &= not run.manifest.is_live  # queries that were due by themselves are of no compaction
    first_later = np.searchsorted(starts_s, compactions.column("ended_s"))
    last_earlier = np.searchsorted(starts_s, began_s) - 1  # a commit may take no modelled time
    has_before = counts & (ticks[last_earlier] == compactions.column("tick"))
    return QueryEffects(
        compactions,
        np.where(has_before, walls_s[last_earlier], np.nan),
        np.where(counts, walls_s[first_later], np.nan),
    )
