"""The registry of metrics: name, unit, better direction, definition.

A figure that does not apply is None, never 0.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from bench.results import figures as fig
from bench.results.figures import RunFigures, mean, percentile, ratio, total
from bench.results.records import FAILED_STATUSES

Unit = Literal["s", "ratio", "share", "bytes", "count", "GB-hours", "queries", "money", "points"]


@dataclass(frozen=True, slots=True)
class Metric:
    """What a figure means. `basis` is what it rests on, and so how far it repeats for one scenario.

    count: repeats in every run, with one exception: how many delete files a compaction drops may depend on
    the worker threads of the format's library. bytes: repeat except for the order of rows within merged
    files, which changes how well they compress, and for paths and timestamps in metadata. timing: noise.
    """

    name: str
    unit: Unit
    better: Literal["lower", "higher", "neither"]
    basis: Literal["count", "bytes", "timing"]
    definition: str
    of_run: Callable[[RunFigures], float | None]

    @property
    def exact(self) -> bool:
        """Whether the figure is counted, not timed."""
        return self.basis != "timing"


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
    Metric("compactions", "count", "neither", "count",
           "compactions that committed", fig.count_with_status("ok")),
    Metric("noop_compactions", "count", "lower", "count",
           "compactions that ran and had nothing to commit", fig.count_with_status("noop")),
    Metric("failed_compactions", "count", "lower", "count",
           "compactions that failed or were vetoed", fig.count_with_status(*FAILED_STATUSES)),
    Metric("vetoed_compactions", "count", "lower", "count",
           "failed compactions that the engine refused to execute", fig.count_with_status("vetoed")),
    Metric("ineffective_compactions", "count", "lower", "count",
           "compactions that replaced data files and left as many data files, delete files and rows as "
           "before",
           fig.ineffective),
    Metric("noop_evaluations", "count", "neither", "count",
           "evaluations whose trigger fired and whose planner found nothing to do", fig.noop_evaluations),
    Metric("pending_mean_s", "s", "lower", "count",
           "mean scenario seconds from the decision to compact to the commit", fig.pending_mean_s),
    Metric("since_compaction_mean_s", "s", "lower", "count",
           "mean scenario seconds, at each commit, since the last compaction that committed or since the "
           "stream began; files it did not touch have waited longer", fig.since_compaction_mean_s),
    Metric("compaction_s", "s", "lower", "timing",
           "wall seconds of all compactions, including planning and commit", _compaction_sum("wall_s")),
    Metric("compaction_cpu_s", "s", "lower", "timing",
           "process CPU seconds (JVM, Python, children) during all compactions", _compaction_sum("cpu_s")),
    Metric("compaction_executor_cpu_s", "s", "lower", "timing",
           "CPU seconds of the Spark tasks of all compactions, excluding planning and commit",
           _compaction_sum("executor_cpu_s")),
    Metric("write_amplification", "ratio", "lower", "bytes",
           "(bytes the stream wrote + bytes compaction wrote) / change-log bytes of the same rows; without "
           "metadata",
           fig.write_amplification),
    Metric("compaction_amplification", "ratio", "lower", "bytes",
           "bytes compaction wrote / bytes the stream wrote",
           lambda f: ratio(fig.compaction_added_bytes(f), fig.commit_added_bytes(f))),
    Metric("read_amplification", "ratio", "lower", "bytes",
           "mean of bytes the primary query opens (each delete file once per data file it applies to) / live "
           "bytes, at its fixed cadence", lambda f: fig.read_amplification(f.cadence)),
    Metric("space_amplification", "ratio", "lower", "bytes",
           "bytes on storage at the end, including old snapshots and metadata / live bytes",
           fig.space_amplification),
    Metric("query_mean_s", "s", "lower", "timing",
           "mean latency of the primary query at its fixed cadence", _latency(mean)),
    Metric("query_p50_s", "s", "lower", "timing",
           "median latency of the primary query at its fixed cadence", _latency(lambda v: percentile(v, 50))),
    Metric("query_p95_s", "s", "lower", "timing",
           "95th percentile of the latency of the primary query at its fixed cadence", _latency(lambda v:
           percentile(v, 95))),
    Metric("query_max_s", "s", "lower", "timing",
           "maximum latency of the primary query at its fixed cadence", _latency(lambda v: max(v,
           default=None))),
    Metric("query_before_s", "s", "lower", "timing",
           "mean latency of the primary query just before each compaction that committed",
           _effective_mean("query_before_s")),
    Metric("query_after_s", "s", "lower", "timing",
           "mean latency of the primary query just after each compaction that committed",
           _effective_mean("query_after_s")),
    Metric("commit_mean_s", "s", "lower", "timing",
           "mean wall seconds of a commit, without preparing its batch",
           lambda f: mean([c.wall_s for c in f.commits])),
    Metric("commit_p95_s", "s", "lower", "timing",
           "95th percentile of the wall seconds of a commit, without preparing its batch",
           lambda f: percentile([c.wall_s for c in f.commits], 95)),
    Metric("files_end", "count", "lower", "count",
           "live data files at the end", _last_observed("data_files_count")),
    Metric("delete_files_end", "count", "lower", "count",
           "live delete files at the end", _last_observed("delete_files_count")),
    Metric("delete_files_mean", "count", "lower", "count",
           "mean number of live delete files after each commit", fig.deletes_mean("delete_files_count")),
    Metric("delete_rows_end", "count", "lower", "count",
           "rows in the live delete files (keys of equality deletes, positions of the others) at the end",
           fig.deletes_end("delete_rows")),
    Metric("delete_rows_mean", "count", "lower", "count",
           "mean number of rows in the live delete files after each commit", fig.deletes_mean("delete_rows")),
    Metric("equality_files_end", "count", "lower", "count",
           "live equality delete files at the end", fig.deletes_end("equality_files_count")),
    Metric("equality_files_mean", "count", "lower", "count",
           "mean number of live equality delete files after each commit",
           fig.deletes_mean("equality_files_count")),
    Metric("health_mean", "points", "higher", "count",
           "mean health score (0 to 100) reported by the planner at each evaluation whose trigger fired",
           lambda f: mean(fig.health_scores(f))),
    Metric("health_end", "points", "higher", "count",
           "health score (0 to 100) at the last such evaluation",
           lambda f: next(reversed(fig.health_scores(f)), None)),
    Metric("ingested_bytes", "bytes", "neither", "bytes",
           "change-log bytes of the rows the stream committed",
           lambda f: total(c.ingested_bytes for c in f.commits)),
    Metric("commit_added_bytes", "bytes", "lower", "bytes",
           "bytes of data and delete files written by the commits of the stream", fig.commit_added_bytes),
    Metric("compaction_added_bytes", "bytes", "lower", "bytes",
           "bytes of data and delete files written by compaction", fig.compaction_added_bytes),
    Metric("compaction_replaced_bytes", "bytes", "lower", "bytes",
           "bytes of the data and delete files that compaction replaced or dropped; not what it read of "
           "other files, such as the keys needed to convert deletes", _compaction_sum("replaced_bytes")),
    Metric("metadata_bytes", "bytes", "lower", "bytes",
           "metadata bytes written by commits, compactions and maintenance", fig.metadata_bytes),
    Metric("maintenance_s", "s", "lower", "timing",
           "wall seconds of the scheduled maintenance of the scenario, which is the same for every strategy",
           lambda f: total(m.wall_s for m in f.maintenance)),
    Metric("observe_s", "s", "neither", "timing",
           "wall seconds of reading the table state; not part of any other figure",
           lambda f: total(o.wall_s for o in f.observed)),
    Metric("payback_queries", "queries", "lower", "timing",
           "compaction seconds / (mean query of `never` - mean query): after how many queries compaction "
           "pays for itself",
           lambda f: None),  # needs the runs of `never`: filled in by `rows`
    Metric("degradation_rate", "share", "lower", "timing",
           "mean relative change between the median latencies of successive blocks of 10 queries (S_DR of "
           "LST-Bench)",
           _latency(fig.degradation_rate)),
    Metric("gb_hours", "GB-hours", "lower", "timing",
           "memory of the compacting process in decimal GB x compaction hours", fig.gb_hours),
    Metric("overlapped_commits", "ratio", "lower", "timing",
           "longest compaction / commit interval; above 1, a real stream would have committed meanwhile",
           fig.overlapped_commits),
    Metric("duty_cycle", "share", "lower", "timing",
           "compaction seconds / scenario seconds", fig.duty_cycle),
    Metric("storage_requests", "count", "lower", "count",
           "files opened or written by commits, compactions and the primary query at its fixed cadence",
           fig.storage_requests),
    Metric("storage_request_model_s", "s", "lower", "count",
           "modelled: storage_requests x the scenario's seconds per request", fig.storage_request_model_s),
    Metric("compaction_money", "money", "lower", "timing",
           "gb_hours x the scenario's price per GB-hour", fig.compaction_money),
)  # fmt: skip
METRIC_BY_NAME: Mapping[str, Metric] = {metric.name: metric for metric in METRICS}
