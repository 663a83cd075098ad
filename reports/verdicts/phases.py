"""What compactions that run at the same time do to queries, apart from what they do to the table.

A compaction ends what has piled up before it, so the queries beside it are those that open the most files:
a plain ratio of the two phases blames the compaction for the state of the table. Here

    wall seconds = level of the run + slopes * table + effect * phase + noise

with the data files and delete files that the query opened, and whether it opened any delete file, as the
table. The phase is 1 for a query that began while a compaction ran, whatever became of that, else 0. It goes
by the beginning, since a slow query is more likely to overlap with something. The ratio is the mean of the
queries beside compactions over what the line expects of them without.

The interval is a t-interval on the logarithm (delta method). Queries of one compaction share its moment, as
do those between two compactions, so the variance is that of the sums of residuals over such stretches, and
its degrees of freedom are those of the compactions. Source: Liang and Zeger, Biometrika 73(1), 1986;
residuals are divided by one minus their leverage (MacKinnon and White, Journal of Econometrics 29(3), 1985).

500 simulated strategies: 240 queries a run with noise of 20 %, 23 compactions of 2.3 s each, deletes that
more than double the latency until a compaction ends (`tests/reports/verdicts/test_phases.py`). The mean
ratio, how often the interval covers the truth, its half width, and how often it leaves out 1:

                          plain ratio  mean ratio  covered  half width  leaves out 1
    1 run, no effect             1.22        1.00     97 %        17 %           3 %
    1 run, 1.5x                  1.83        1.49     97 %        17 %         100 %
    3 runs, no effect            1.23        1.00     97 %         8 %           3 %
    3 runs, 1.5x                 1.84        1.50     97 %         8 %         100 %
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bench.results.figures import began_s, primary_queries_of
from bench.results.folders import RunResult
from bench.results.records import CompactionRecord
from reports.verdicts.confidence import reach

COMPACTIONS_MIN = 5  # with a query; below, the variance of their sums is hardly known
_UNIQUE_MIN = 0.1  # of the phase, apart from the table: a variance inflation above 10 is called collinear
# (Kutner, Nachtsheim, Neter and Li, Applied Linear Statistical Models, 2005, chapter 10)


class Queries(NamedTuple):
    """Queries in the order in which they began, run after run, with an entry or a row for each.

    `tables` are what they opened, `is_beside` is whether a compaction ran, `runs` the number of their run.
    """

    walls_s: np.ndarray
    tables: np.ndarray
    is_beside: np.ndarray
    runs: np.ndarray


@dataclass(frozen=True, slots=True)
class PhaseEffect:
    """How many times as long queries take beside compactions, with its interval, and how many they were."""

    ratio: float
    low: float
    high: float
    beside: int
    others: int


def phase_effect(runs: Iterable[RunResult]) -> PhaseEffect | None:
    """Of the primary queries of runs of one strategy whose roles worked at the same time."""
    parts = [_queries(run, number) for number, run in enumerate(runs)]
    return estimated(Queries(*map(np.concatenate, zip(*parts, strict=True)))) if parts else None


def estimated(queries: Queries) -> PhaseEffect | None:
    """None if it cannot be told.

    That is with too few compactions beside which queries met a table such as other queries met, if the phase
    follows from the table, or if the line expects no time.
    """
    queries = _at_tables_of_both(queries)
    beside = queries.is_beside.astype(float)
    stretches = _stretches(queries)
    if len(np.unique(stretches[queries.is_beside])) < COMPACTIONS_MIN:
        return None
    levels = (queries.runs[:, None] == np.unique(queries.runs)).astype(float)
    varied = queries.tables[:, np.ptp(queries.tables, axis=0) > 0]
    states = np.column_stack([levels, varied / varied.std(axis=0)])
    unique = beside - states @ (np.linalg.pinv(states) @ beside)
    if unique @ unique < _UNIQUE_MIN * len(beside) * beside.var():
        return None
    predictors = np.column_stack([states, beside])
    solved = np.linalg.pinv(predictors)
    mean_beside = beside / beside.sum()  # weights of the queries, as all that follows
    mean_without = mean_beside - solved[-1]
    took_s, expected_s = mean_beside @ queries.walls_s, mean_without @ queries.walls_s
    if not expected_s > 0:
        return None
    residuals = queries.walls_s - predictors @ (solved @ queries.walls_s)
    leverage = np.einsum("ij,ji->i", predictors, solved)
    residuals /= np.maximum(1 - leverage, _UNIQUE_MIN)
    influence = (mean_beside / took_s - mean_without / expected_s) * residuals
    error = math.sqrt(float((np.bincount(stretches, influence) ** 2).sum()))
    freedom = len(np.unique(stretches[queries.is_beside])) - 1
    factor = math.exp(reach(freedom) * error)
    ratio, count = float(took_s / expected_s), int(beside.sum())
    return PhaseEffect(ratio, ratio / factor, ratio * factor, count, len(beside) - count)


def _at_tables_of_both(queries: Queries) -> Queries:
    """Without queries beside compactions that opened more or less than any other query: those say nothing."""
    others = queries.tables[~queries.is_beside]
    if not len(others):
        return _of(queries, np.zeros(len(queries.runs), dtype=bool))
    is_within = (queries.tables >= others.min(axis=0)) & (queries.tables <= others.max(axis=0))
    return _of(queries, ~queries.is_beside | is_within.all(axis=1))


def _of(queries: Queries, mask: np.ndarray) -> Queries:
    return Queries(*(column[mask] for column in queries))


def _stretches(queries: Queries) -> np.ndarray:
    """The number of each query's stretch of one phase in one run."""
    is_new = (np.diff(queries.is_beside) != 0) | (np.diff(queries.runs) != 0)
    return np.concatenate([[0], np.cumsum(is_new)])[: len(queries.runs)]


def _queries(run: RunResult, number: int) -> Queries:
    queries = primary_queries_of(run).having(when="due")
    queries = queries.where(~np.isnan(queries.column("started_s")))
    queries = queries.take(np.argsort(queries.column("started_s"), kind="stable"))
    asked_s = queries.column("started_s")
    compactions = run.of(CompactionRecord)
    from_s, until_s = began_s(compactions)[:, None], compactions.column("ended_s")[:, None]
    is_beside = ((from_s <= asked_s) & (asked_s < until_s)).any(axis=0)  # never in a span that is not known
    files, delete_files = queries.column("files_count"), queries.column("delete_files_count")
    tables = np.column_stack([files, delete_files, delete_files > 0]).astype(float)
    return Queries(
        queries.column("wall_s"), tables, np.asarray(is_beside, dtype=bool), np.full(len(queries), number)
    )
