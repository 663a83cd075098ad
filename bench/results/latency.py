"""Means over scenario time of what the queries of one probe took or opened.

A mean begins with the first commit and ends one commit interval after the last: the time of an empty table is
excluded. Between two ticks the table does not change, so a settled query represents the time until the next
tick. Scenario time is divided into windows of `probe_every`, and one tick in each is probed: the only one if
`probe_every` is the commit interval, else one drawn at random (`probe_phase`). The length of its window is
the weight of a settled query in the mean over the probed ticks.

If not every tick is probed, that mean depends on which states of a policy's cycle they meet: with one tick of
two, a policy that compacts every third commit is found compacted in 0 to 67 % of twelve ticks. What is known
of all ticks is the table as each left it: its data files, its delete files, and whether it has any delete
files, since the first one changes how the table is read. So the mean over time is

    mean over the probed ticks + slopes * (mean table over all ticks - mean table over the probed ticks)

with the slopes of a line fitted to all queries of the probe: settled, after the commit, before and after a
compaction. This regression estimator does not need a true line: whatever else settled queries have in common
stays in the mean over the probed ticks. It is a weighted mean of the queries with the same weights for every
value, so planning and execution still add up to the latency. Source: Särndal, Swensson and Wretman, Model
Assisted Survey Sampling, 1992, chapter 6.

Where readers ask at a changing rate (`queries.arrival` of the scenario), a moment counts as much as queries
arrive then: a settled query has the weight of its window times the rate of its own tick, and the mean tables
are means over the queries of the ticks. So the mean is the latency of a random query. The rate of the whole
window would be another weight, and a biased one where the table is slow to read just when readers come.

Simulated hours of 12 ticks, with a compaction after every 1, 2, 3, 5, 6 or 12 commits and a noise of 5 % in
each query. Largest bias and root mean square error of the mean of three runs, and standard deviation of one
run, in % of the truth:

                                      probed ticks        regression        line alone          balanced
    linear, 1 tick of 2             0.2 / 3.4 / 11.1   0.2 / 1.3 / 2.2   0.2 / 0.9 / 1.5   1.2 / 4.0 / 6.8
    power 0.6, 1 tick of 2          0.2 / 3.4 / 10.9   0.2 / 1.3 / 2.3   0.3 / 0.9 / 1.6   1.0 / 3.7 / 6.3
    any delete file, 1 tick of 2    0.3 / 4.4 / 14.7   0.2 / 1.3 / 2.3   0.2 / 0.9 / 1.6   0.9 / 4.5 / 7.8
    warming up, 1 tick of 2         0.3 / 3.2 / 10.6   0.5 / 1.3 / 2.5   2.5 / 2.3 / 1.8   1.4 / 3.9 / 6.4
    linear, 1 tick of 4             0.9 / 5.1 / 17.9   1.1 / 2.1 / 3.6   1.1 / 1.6 / 2.9  2.7 / 7.2 / 13.2
    power 0.6, 1 tick of 4          0.8 / 5.0 / 17.7   0.7 / 2.1 / 3.6   0.5 / 1.6 / 3.0  2.4 / 7.0 / 12.2
    any delete file, 1 tick of 4    1.7 / 7.1 / 25.5   1.8 / 2.5 / 4.5   1.9 / 2.1 / 3.9 4.7 / 10.1 / 16.5
    warming up, 1 tick of 4         1.0 / 4.9 / 17.4   1.3 / 2.4 / 4.2   3.6 / 3.2 / 3.4  3.5 / 7.6 / 12.6

"Any delete file" adds 0.8 s to 0.2 s; in "warming up" queries become 20 % faster during a run, and those
right after a commit are 5 % slower. "Line alone" is the mean of the fitted line over all ticks, "balanced"
the mean over ticks drawn so that a run meets all residues of 2 to 6 about equally often. Reproduced by
`make noise`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bench.results.arithmetic import known_mean
from bench.results.folders import RunResult
from bench.results.query_rate import query_weights
from bench.results.records import CommitRecord, CompactionRecord, Manifest, ObserveRecord, QueryRecord
from bench.results.table_content import as_committed, as_left, content_share, met_by
from bench.results.tables import Records, own_cost

_ALIKE = 0.05  # of the largest spread of tables, below which a direction in which they differ is not fitted


@dataclass(frozen=True, slots=True)
class OverTime:
    """Queries of one probe, with their weights in means over time.

    A weight may be negative, and weights are right only all together.
    """

    queries: Records[QueryRecord]
    weights: np.ndarray

    def mean(self, values: np.ndarray | str) -> float | None:
        """The mean of a column, or of values of the queries; None without any or if one is unknown."""
        return known_mean(self.queries.column(values) if isinstance(values, str) else values, self.weights)

    @property
    def wall_s(self) -> float | None:
        return self.mean(latencies_s(self.queries))

    @property
    def cpu_s(self) -> float | None:
        return self.mean(own_cost("cpu_s", self.queries))


def settled_of(queries: Records[QueryRecord]) -> Records[QueryRecord]:
    """The queries that stand for a random moment: the settled ones, or all that readers ask by a schedule."""
    when = queries.column("when")
    return queries.where((when == "settled") | (when == "due"))


def latencies_s(queries: Records[QueryRecord]) -> np.ndarray:
    """Wall seconds of queries; of those that readers ask by a schedule, since they were due."""
    waited_s = queries.column("waited_s")
    return np.asarray(queries.column("wall_s") + np.where(np.isnan(waited_s), 0.0, waited_s))


def window_ms(every_ms: np.ndarray, duration_ms: int, at_ms: np.ndarray) -> np.ndarray:
    """The lengths of the windows of `every_ms` that contain scenario times `at_ms`.

    A window includes its end, not its start. The last one ends with the scenario.
    """
    end_ms = -(-at_ms // every_ms) * every_ms
    return np.asarray(np.minimum(end_ms, duration_ms) - (end_ms - every_ms))


def over_probed_ticks(manifest: Manifest, queries: Records[QueryRecord]) -> OverTime:
    """Queries of one probe and one moment of the tick, each weighted by its window and its tick's rate."""
    rates = query_weights(manifest, queries.column("tick"))
    return OverTime(queries, _windows_ms(manifest, queries) * rates)


def _windows_ms(manifest: Manifest, queries: Records[QueryRecord]) -> np.ndarray:
    return window_ms(_every_ms(manifest, queries), manifest.duration_ms, queries.column("at_ms"))


def probed_mean_s(manifest: Manifest, settled: Records[QueryRecord]) -> float | None:
    """Mean latency over the probed ticks alone; None if these are all that the mean over time counts."""
    is_sampled = (_every_ms(manifest, settled) > manifest.commit_interval_ms).any()
    if not is_sampled or manifest.probe_phase == "fixed" or manifest.is_live:
        return None
    return over_probed_ticks(manifest, settled).wall_s


def over_time(
    run: RunResult, queries: Records[QueryRecord], when: Literal["settled", "after_commit"] = "settled"
) -> OverTime:
    """The weights for means over the table at one moment of all ticks, from all queries of one probe.

    They are those of the probed ticks if every tick is probed or the phase is fixed, if the tables of all
    queries are alike, or if there are not more queries than coefficients of the line. So they are of older
    results with steps that overlap in one process, where which table a query met is not known.
    """
    if run.manifest.is_live:
        due = queries.having(when="due" if when == "settled" else when)
        return OverTime(due, np.ones(len(due)))
    is_of_moment = queries.column("when") == when
    if when == "settled" and run.manifest.is_at_once:
        return _by_spans(run, queries)
    probed = over_probed_ticks(run.manifest, queries.where(is_of_moment))
    if run.of(CompactionRecord).column("is_shared").any():
        return probed
    left_out = _left_out(run, probed.queries, when)
    if not (probed.weights.any() and len(left_out)):
        return probed
    ticks = np.concatenate([probed.queries.column("tick"), left_out.column("tick")])

    def mean_table(of_probed: np.ndarray) -> np.ndarray:
        tables = np.concatenate([of_probed, _regressors(left_out)])
        return np.asarray(np.average(tables, axis=0, weights=query_weights(run.manifest, ticks)))

    return _over_all_ticks(run, queries, is_of_moment, probed, mean_table)


def _by_spans(run: RunResult, queries: Records[QueryRecord]) -> OverTime:
    """The weights with a real clock, by which commits and compactions take scenario time.

    While a commit runs, readers see the table that the tick before has left. From its end to that of the last
    compaction in the tick the query after the commit represents the table, and then the settled one, which is
    as late as the next commit.
    """
    committed, left = _shares(run)
    is_settled = queries.column("when") == "settled"
    is_counted = is_settled | (queries.column("when") == "after_commit")
    probed = over_probed_ticks(run.manifest, queries.where(is_counted))
    ticks, is_settled = probed.queries.column("tick"), probed.queries.column("when") == "settled"
    weights = _windows_ms(run.manifest, probed.queries) * np.where(is_settled, left[ticks], committed[ticks])
    if weights.sum() > 0:  # unless commits run all the time
        probed = OverTime(probed.queries, weights)
    if not (probed.weights.any() and len(_left_out(run, probed.queries, "settled"))):
        return probed
    return _over_all_ticks(run, queries, is_counted, probed, lambda _: _mean_table(run, committed, left))


def _over_all_ticks(
    run: RunResult,
    queries: Records[QueryRecord],
    is_probed: np.ndarray,
    probed: OverTime,
    mean_table: Callable[[np.ndarray], np.ndarray],
) -> OverTime:
    """`probed`, the queries of which `is_probed` holds, with weights that are right for all ticks.

    `mean_table` makes the mean table over all ticks from those that these queries met. Unchanged if the table
    of a query is not known, or if no line can be fitted.
    """
    fitted = queries.take(np.argsort(~is_probed, kind="stable"))
    met = met_by(run, fitted)
    if (met < 0).any():
        return probed
    tables, probed_count = _regressors(run.of(ObserveRecord).take(met)), len(probed.queries)
    own_weights = np.pad(probed.weights.astype(float), (0, len(fitted) - probed_count))
    weights = calibrated(own_weights, tables, mean_table(tables[:probed_count]))
    return probed if weights is None else OverTime(fitted, weights)


def _shares(run: RunResult) -> tuple[np.ndarray, np.ndarray]:
    """By tick, how long readers saw the table as its commit left it, and as it was at the end of the tick.

    In commit intervals at the mean rate of queries; the time before the first commit has ended is left out.
    """
    interval_ms = run.manifest.commit_interval_ms
    count = run.manifest.duration_ms // interval_ms
    commits, compactions = run.of(CommitRecord), run.of(CompactionRecord).having(status="ok")
    committing, compacted = np.zeros(count + 2), np.zeros(count + 2)
    took_ms = 1000 * (commits.column("waited_s") + commits.column("wall_s"))
    committing[commits.column("tick")] = np.minimum(took_ms / interval_ms, 1.0)
    committing[[0, -1]] = 0.0
    ticks = compactions.column("tick")
    np.maximum.at(compacted, ticks, np.minimum(compactions.column("at_ms") / interval_ms - ticks, 1.0))
    changed = np.maximum(committing, compacted)
    rates = np.append(query_weights(run.manifest, np.arange(count + 1)), 0.0)
    committed, left, as_before = (rates * share for share in (changed - committing, 1 - changed, committing))
    return committed[:-1], left[:-1] + as_before[1:]


def _mean_table(run: RunResult, committed: np.ndarray, left: np.ndarray) -> np.ndarray:
    """The regressors of the table, averaged over the time in which it had rows."""
    after, end = as_committed(run), as_left(run)  # one of each for every tick
    ticks = end.column("tick")
    has_rows = content_share(run)(ticks) > 0
    weights = np.stack([committed[ticks], left[ticks]])[:, has_rows, None]
    tables = np.stack([_regressors(after), _regressors(end)])[:, has_rows]
    return np.asarray((weights * tables).sum(axis=(0, 1)) / weights.sum())


def unmet_share(run: RunResult, queries: Records[QueryRecord]) -> float:
    """The share of ticks that left a table of a kind that no query of the probe met, so its slope is unknown.

    Their tables differ in a regressor in which those of all queries are alike. 0 for queries that readers ask
    by a schedule, whose mean counts no ticks.
    """
    if run.manifest.is_live:
        return 0.0
    settled = queries.having(when="settled")
    left_out = _left_out(run, settled, "settled")
    if not (len(queries) and len(left_out)):
        return 0.0
    places = met_by(run, queries)
    if (places < 0).any():
        return 0.0
    met, left = _regressors(run.of(ObserveRecord).take(places)), _regressors(left_out)
    count = np.sum(((np.ptp(met, axis=0) == 0) & (left != met[0])).any(axis=1))
    return float(count) / (len(settled) + len(left_out))


def _left_out(
    run: RunResult, probed: Records[QueryRecord], when: Literal["settled", "after_commit"]
) -> Records[ObserveRecord]:
    """The tables of the ticks that means over time count without a query."""
    observed = as_left(run) if when == "settled" else as_committed(run)
    ticks = observed.column("tick")
    is_left_out = (content_share(run)(ticks) > 0) & ~np.isin(ticks, probed.column("tick"))
    return observed.where(is_left_out & (run.manifest.probe_phase != "fixed"))


def calibrated(weights: np.ndarray, tables: np.ndarray, mean: np.ndarray) -> np.ndarray | None:
    """Weights of queries by which the mean of their tables becomes `mean`, that of all ticks.

    `weights` are 0 for queries that are not of the moment. A row of `tables` has the regressors of a query's
    table. None if the line cannot be fitted.
    """
    weights = weights / weights.sum()
    spread = tables.std(axis=0)
    varied = spread > 0
    if not varied.any() or len(tables) <= 1 + varied.sum():
        return None
    tables, mean = tables[:, varied] / spread[varied], mean[varied] / spread[varied]
    line = np.linalg.pinv(tables - tables.mean(axis=0), rcond=_ALIKE)
    return np.asarray(weights + (mean - weights @ tables) @ line)


def _regressors(tables: Records[ObserveRecord]) -> np.ndarray:
    files, delete_files = tables.column("data_files_count"), tables.column("delete_files_count")
    return np.column_stack([files, delete_files, delete_files > 0]).astype(float)


def _every_ms(manifest: Manifest, queries: Records[QueryRecord]) -> np.ndarray:
    return np.where(queries.column("primary"), manifest.probe_every_ms, manifest.side_probe_every_ms)
