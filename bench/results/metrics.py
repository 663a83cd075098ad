"""The registry of metrics: name, unit, which way is better, definition.

Definitions are those of the design's table. A figure that does not apply is None, never 0.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from bench.results import figures as fig
from bench.results.figures import RunFigures, mean, percentile, ratio, total
from bench.results.records import FAILED_STATUSES

Unit = Literal["s", "ratio", "share", "bytes", "count", "GB-hours", "passes", "money", "points"]


@dataclass(frozen=True, slots=True)
class Metric:
    """What a figure means. `exact` figures are counted, not timed.

    They repeat for one scenario and version on every machine, but for bytes of metadata, whose paths and
    times differ, and delete files that a rewrite drops: how many depends on Iceberg's worker threads.
    """

    name: str
    unit: Unit
    better: Literal["lower", "higher", "neither"]
    exact: bool
    definition: str
    of_run: Callable[[RunFigures], float | None]


def _compaction_sum(field: str) -> Callable[[RunFigures], float]:
    return lambda f: total(getattr(c, field) for c in f.compactions)


def _effective_mean(field: str) -> Callable[[RunFigures], float | None]:
    def of_run(f: RunFigures) -> float | None:
        values = [getattr(c, field) for c in f.effective]
        return mean([v for v in values if v is not None])

    return of_run


def _latency(of: Callable[[Sequence[float]], float | None]) -> Callable[[RunFigures], float | None]:
    return lambda f: of(fig.latencies_s(f))


def _last_observed(field: str) -> Callable[[RunFigures], float | None]:
    return lambda f: float(getattr(f.observed[-1], field)) if f.observed else None


METRICS: tuple[Metric, ...] = (
    Metric("compactions", "count", "neither", True,
           "compactions that committed something", fig.count_with_status("ok")),
    Metric("noop_compactions", "count", "lower", True,
           "compactions tried that committed nothing", fig.count_with_status("noop")),
    Metric("failed_compactions", "count", "lower", True,
           "compactions that failed or were vetoed", fig.count_with_status(*FAILED_STATUSES)),
    Metric("vetoed_compactions", "count", "lower", True,
           "of the failed ones, those the engine refused to carry out", fig.count_with_status("vetoed")),
    Metric("ineffective_compactions", "count", "lower", True,
           "compactions that committed as many data files, delete files and rows as they took",
           fig.ineffective),
    Metric("noop_evaluations", "count", "neither", True,
           "looks at which a trigger fired and its planner found nothing to do", fig.noop_evaluations),
    Metric("pending_mean_s", "s", "lower", True,
           "scenario seconds from the decision for a compaction to its commit: mean", fig.pending_mean_s),
    Metric("since_compaction_mean_s", "s", "lower", True,
           "scenario seconds since a compaction last committed, or since the stream began, at each commit: "
           "mean; files it left alone have waited longer", fig.since_compaction_mean_s),
    Metric("compaction_s", "s", "lower", False,
           "wall seconds of all compactions, planning and commit included", _compaction_sum("wall_s")),
    Metric("compaction_cpu_s", "s", "lower", False,
           "process CPU seconds (JVM, Python, children) during all compactions", _compaction_sum("cpu_s")),
    Metric("compaction_executor_cpu_s", "s", "lower", False,
           "CPU seconds of the Spark tasks of all compactions; planning and commit are not in it",
           _compaction_sum("executor_cpu_s")),
    Metric("write_amplification", "ratio", "lower", True,
           "(bytes committed + bytes compaction wrote) / change-log bytes of the same rows; metadata apart",
           fig.write_amplification),
    Metric("compaction_amplification", "ratio", "lower", True,
           "bytes compaction wrote / bytes committed",
           lambda f: ratio(fig.compaction_added_bytes(f), fig.commit_added_bytes(f))),
    Metric("read_amplification", "ratio", "lower", True,
           "bytes the primary probe must open (each delete file once per data file it applies to) / live "
           "bytes, mean over the cadence", lambda f: fig.read_amplification(f.cadence)),
    Metric("space_amplification", "ratio", "lower", True,
           "bytes on storage at the end, old snapshots and metadata included / live bytes",
           fig.space_amplification),
    Metric("query_mean_s", "s", "lower", False,
           "primary probe at its fixed cadence: mean", _latency(mean)),
    Metric("query_p50_s", "s", "lower", False,
           "primary probe at its fixed cadence: median", _latency(lambda v: percentile(v, 50))),
    Metric("query_p95_s", "s", "lower", False,
           "primary probe at its fixed cadence: 95th percentile", _latency(lambda v: percentile(v, 95))),
    Metric("query_max_s", "s", "lower", False,
           "primary probe at its fixed cadence: maximum", _latency(lambda v: max(v, default=None))),
    Metric("query_before_s", "s", "lower", False,
           "primary probe just before each effective compaction: mean", _effective_mean("query_before_s")),
    Metric("query_after_s", "s", "lower", False,
           "primary probe just after each effective compaction: mean", _effective_mean("query_after_s")),
    Metric("commit_mean_s", "s", "lower", False,
           "wall seconds of a commit, the batch already prepared: mean",
           lambda f: mean([c.wall_s for c in f.commits])),
    Metric("commit_p95_s", "s", "lower", False,
           "wall seconds of a commit, the batch already prepared: 95th percentile",
           lambda f: percentile([c.wall_s for c in f.commits], 95)),
    Metric("files_end", "count", "lower", True,
           "live data files at the end", _last_observed("data_files_count")),
    Metric("delete_files_end", "count", "lower", True,
           "live delete and log files at the end", _last_observed("delete_files_count")),
    Metric("delete_files_mean", "count", "lower", True,
           "live delete and log files after each commit: mean", fig.deletes_mean("delete_files_count")),
    Metric("delete_rows_end", "count", "lower", True,
           "rows of the live delete files (keys of equality deletes, positions of the others) at the end",
           fig.deletes_end("delete_rows")),
    Metric("delete_rows_mean", "count", "lower", True,
           "rows of the live delete files after each commit: mean", fig.deletes_mean("delete_rows")),
    Metric("equality_files_end", "count", "lower", True,
           "live equality delete files at the end", fig.deletes_end("equality_files_count")),
    Metric("equality_files_mean", "count", "lower", True,
           "live equality delete files after each commit: mean", fig.deletes_mean("equality_files_count")),
    Metric("health_mean", "points", "higher", True,
           "health score (0 to 100) as the planner reports it at each look where its trigger fired: mean",
           lambda f: mean(fig.health_scores(f))),
    Metric("health_end", "points", "higher", True,
           "health score (0 to 100) at the last such look",
           lambda f: next(reversed(fig.health_scores(f)), None)),
    Metric("ingested_bytes", "bytes", "neither", True,
           "change-log bytes of the rows the stream committed",
           lambda f: total(c.ingested_bytes for c in f.commits)),
    Metric("commit_added_bytes", "bytes", "lower", True,
           "data and delete bytes the stream's commits wrote", fig.commit_added_bytes),
    Metric("compaction_added_bytes", "bytes", "lower", True,
           "data and delete bytes compaction wrote", fig.compaction_added_bytes),
    Metric("compaction_replaced_bytes", "bytes", "lower", True,
           "bytes of the data and delete files compaction replaced or dropped; what it read of files it "
           "left, such as keys to convert deletes by, is not in it", _compaction_sum("replaced_bytes")),
    Metric("metadata_bytes", "bytes", "lower", True,
           "metadata bytes written by commits, compactions and maintenance", fig.metadata_bytes),
    Metric("maintenance_s", "s", "lower", False,
           "wall seconds of the scenario's own maintenance, the same for every strategy",
           lambda f: total(m.wall_s for m in f.maintenance)),
    Metric("observe_s", "s", "neither", False,
           "wall seconds of reading the table state; part of no other figure",
           lambda f: total(o.wall_s for o in f.observed)),
    Metric("payback_passes", "passes", "lower", False,
           "compaction seconds / (mean query of `never` - mean query): how many probes repay the compaction",
           lambda f: None),  # needs the runs of `never`: `rows` fills it in
    Metric("degradation_rate", "share", "lower", False,
           "mean relative change between medians of successive blocks of 10 probes (LST-Bench's S_DR)",
           _latency(fig.degradation_rate)),
    Metric("gb_hours", "GB-hours", "lower", False,
           "memory of the compacting process x compaction hours", fig.gb_hours),
    Metric("overlapped_commits", "ratio", "lower", False,
           "longest compaction / commit interval; above 1 a real stream would have committed meanwhile",
           fig.overlapped_commits),
    Metric("duty_cycle", "share", "lower", False,
           "wall seconds of all compactions / scenario seconds", fig.duty_cycle),
    Metric("storage_requests", "count", "lower", True,
           "files opened and written by commits, compactions and the primary probe", fig.storage_requests),
    Metric("storage_request_model_s", "s", "lower", True,
           "MODELLED: storage requests x the scenario's seconds per request", fig.storage_request_model_s),
    Metric("compaction_money", "money", "lower", False,
           "gb_hours x the scenario's price of a GB-hour", fig.compaction_money),
)  # fmt: skip
METRIC_BY_NAME: Mapping[str, Metric] = {metric.name: metric for metric in METRICS}
