"""What the table of a run held over time: commits, content and live files."""

from collections.abc import Callable, Mapping
from itertools import repeat

import numpy as np

from bench.results.folders import RunResult
from bench.results.records import CommitRecord, CompactionRecord, ObserveRecord, QueryRecord
from bench.results.tables import Records, RunRecords


def commits_of(run: RunResult) -> Records[CommitRecord]:
    """The commits of rows that succeeded, including the load."""
    return run.records.once(_commits)


def _commits(records: RunRecords) -> Records[CommitRecord]:
    commits = records.of(CommitRecord).having(status="ok")
    return commits.where(commits.column("rows") > 0)


def stream_commits_of(run: RunResult) -> Records[CommitRecord]:
    """The same without the load."""
    commits = commits_of(run)
    return commits.having(is_initial=False)


def stream_compactions_of(run: RunResult) -> Records[CompactionRecord]:
    """All compactions, whatever became of them, without those that the load ran itself."""
    compactions = run.of(CompactionRecord)
    return compactions.where(compactions.column("tick") > 0)


def as_left(run: RunResult) -> Records[ObserveRecord]:
    """The table at the end of each commit interval, as it stays until the next commit.

    A mean over these is a mean over time, whether a strategy compacts within a commit or after it.
    """
    return run.records.once(_as_left)


def _as_left(records: RunRecords) -> Records[ObserveRecord]:
    observed = records.of(ObserveRecord)
    observed = observed.where(observed.column("after") != "initial")
    _, last = np.unique(observed.column("tick")[::-1], return_index=True)
    return observed.take(len(observed) - 1 - last)


def as_committed(run: RunResult) -> Records[ObserveRecord]:
    """The table right after each commit of the stream, or after a tick without one."""
    return run.of(ObserveRecord).having(after="commit")


def content_share(run: RunResult) -> Callable[[np.ndarray], np.ndarray]:
    """The share of all rows, including the load, that had been committed by the end of each of some ticks.

    Commits of an imported table state the rows of their files, not how many of them are new. There it is the
    share of the rows at the end that the table had.
    """
    return run.records.once(_observed_share if run.manifest.is_imported else _content_share)


def _observed_share(records: RunRecords) -> Callable[[np.ndarray], np.ndarray]:
    observed = records.once(_as_left)
    rows = observed.column("rows").astype(float)
    shares = np.concatenate([[0.0], rows / rows[-1:]])
    return lambda at: np.asarray(shares[np.searchsorted(observed.column("tick"), at, side="right")])


def _content_share(records: RunRecords) -> Callable[[np.ndarray], np.ndarray]:
    commits = records.once(_commits)
    order = np.argsort(commits.column("tick"), kind="stable")
    ticks, rows = commits.column("tick")[order], np.cumsum(commits.column("rows")[order])
    shares = np.concatenate([[0.0], rows / rows[-1:]])
    return lambda at: np.asarray(shares[np.searchsorted(ticks, at, side="right")])


def of_content(run: RunResult, queries: Records[QueryRecord]) -> Records[QueryRecord]:
    """The queries that succeeded, except queries of a table without rows."""
    has_rows = content_share(run)(queries.column("tick")) > 0
    return queries.where((queries.column("status") == "ok") & has_rows)


def met_by(run: RunResult, queries: Records[QueryRecord]) -> np.ndarray:
    """The place of each query's table among the observations of a run; -1 if it is not known."""
    place_of = run.records.once(_place_of)

    def places(every: Records[QueryRecord]) -> np.ndarray:
        known = map(place_of.get, every.column("version").tolist(), repeat(-1))
        return np.fromiter(known, dtype=np.int64, count=len(every))

    return queries.of_all(run.records, places)


def _place_of(records: RunRecords) -> Mapping[str, int]:
    """The place of the last observation of each version."""
    versions = records.of(ObserveRecord).column("version").tolist()
    return dict(zip(versions, range(len(versions)), strict=True))
