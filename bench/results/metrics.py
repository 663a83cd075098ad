"""The registry of metrics: name, unit, better direction, definition and formula.

A figure that does not apply is None, never 0. The definition of a metric is here; the functions that compute
it explain only what the definition does not say.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bench.results import amplification, cpu, money, requests
from bench.results import figures as fig
from bench.results.arithmetic import highest, known_mean, percentile, total
from bench.results.figures import RunFigures
from bench.results.latency import latencies_s, over_time, probed_mean_s
from bench.results.query_rate import in_query_words
from bench.results.records import FAILED_STATUSES, Manifest
from bench.results.tables import together

Unit = Literal["s", "ratio", "share", "bytes", "count", "queries/h", "money", "points"]


LATENCY = "query_mean_s"  # the headline among the latencies
PROBED_LATENCY = "query_probed_mean_s"  # of the ticks with a query alone, if these are not all
MIN_RUNS = 3  # pairs, or runs on each side, below which a timing has no interval


@dataclass(frozen=True, slots=True)
class Metric:
    """What a figure means. Its `basis` decides how exactly it repeats from run to run.

    count: exactly, except that the number of delete files a compaction drops may depend on the worker threads
    of the format's library. bytes: nearly, because the order of rows within merged files, which affects
    compression, and paths and timestamps in metadata differ. timing: with noise.
    """

    name: str
    unit: Unit
    better: Literal["lower", "higher", "neither"]
    basis: Literal["count", "bytes", "timing"]
    definition: str
    of_run: Callable[[RunFigures], float | None]
    is_mean_of_queries: bool = False  # over time, or over the queries where their rate changes

    @property
    def exact(self) -> bool:
        return self.basis != "timing"

    def definition_in(self, manifest: Manifest) -> str:
        """In the words of a run's scenario: by what its means of queries are weighted."""
        is_weighted = self.is_mean_of_queries and manifest.query_weights is not None
        return in_query_words(self.definition) if is_weighted else self.definition


def _settled(of: Callable[[np.ndarray], float | None]) -> Callable[[RunFigures], float | None]:
    return lambda f: of(latencies_s(f.settled))


def _since_due(of: Callable[[np.ndarray], float | None]) -> Callable[[RunFigures], float | None]:
    return lambda f: of(fig.since_due_s(f))


_QUANTILES: tuple[tuple[str, str, Callable[[np.ndarray], float | None]], ...] = (
    ("p50", "median", lambda values: percentile(values, 50)),
    ("p95", "95th percentile", lambda values: percentile(values, 95)),
    ("max", "maximum", highest),
)
# Of commits with a real clock, of which there are many.
_LATE_QUANTILES = (
    *_QUANTILES[:-1],
    ("p99", "99th percentile", lambda values: percentile(values, 99)),
    _QUANTILES[-1],
)


def _last_observed(field: str) -> Callable[[RunFigures], float | None]:
    return lambda f: float(f.observed.column(field)[-1]) if f.observed else None


def _data_storage_bytes(f: RunFigures) -> float | None:
    data_bytes = f.observed.column("storage_bytes") - f.observed.column("metadata_storage_bytes")
    return float(data_bytes[-1]) if f.observed else None


def _effect(column: str) -> Callable[[RunFigures], float | None]:
    """The mean of a latency over the compactions that have it."""

    def mean(f: RunFigures) -> float | None:
        latencies_s = f.effects.column(column)
        return known_mean(latencies_s[~np.isnan(latencies_s)])

    return mean


_CONTENT = "bytes of the final content as compacted files"
_PROCESS_CPU = "process CPU seconds (JVM, Python, children)"
_SETTLED = (
    "the settled primary query, which runs once per probe_every, at the end of a tick, by a long-lived "
    "session if the run has one"
)

METRICS: tuple[Metric, ...] = (
    Metric("compactions", "count", "neither", "count",
           "compactions that committed", fig.count_with_status("ok")),
    Metric("compaction_jobs", "count", "neither", "count",
           "compactions that are jobs of Spark of their own: not part of a commit, not vetoed, and not by "
           "another executor",
           money.compaction_jobs),
    Metric("noop_compactions", "count", "lower", "count",
           "compactions that ran and had nothing to commit", fig.count_with_status("noop")),
    Metric("failed_compactions", "count", "lower", "count",
           "compactions that failed or were vetoed", fig.count_with_status(*FAILED_STATUSES)),
    Metric("lost_compactions", "count", "lower", "timing",
           "compactions that could not commit because of what others had committed meanwhile, or were ended "
           "because they took too long after the stream; with a real clock",
           fig.lost_compactions),
    Metric("unfinished_compactions", "count", "lower", "timing",
           "lost compactions that were stopped because they still ran when the time to drain after the "
           "stream was over; with a real clock",
           fig.unfinished_compactions),
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
           "start of the stream; files that it left alone have waited longer", fig.since_compaction_mean_s),
    Metric("compaction_s", "s", "lower", "timing",
           "wall seconds of all compactions, including planning and commit",
           lambda f: total(f.compactions.column("wall_s"))),
    Metric("compaction_cpu_s", "s", "lower", "timing",
           f"{_PROCESS_CPU} during all compactions", cpu.compaction_cpu_s),
    Metric("compaction_executor_cpu_s", "s", "lower", "timing",
           "CPU seconds of the Spark tasks of all compactions, excluding planning and commit",
           cpu.compaction_executor_cpu_s),
    Metric("compaction_jit_cpu_s", "s", "lower", "timing",
           "the part of compaction_cpu_s that Java's compiler threads used",
           cpu.compaction_total("jit_cpu_s")),
    Metric("compaction_gc_cpu_s", "s", "lower", "timing",
           "the part of compaction_cpu_s that Java's garbage collector used",
           cpu.compaction_total("gc_cpu_s")),
    Metric("jit_share", "share", "lower", "timing",
           "compaction_jit_cpu_s / compaction_cpu_s", cpu.jit_share),
    Metric("wasted_cpu_s", "s", "lower", "timing",
           "CPU seconds of lost compactions, and of commits that had to be done again; with a real clock",
           fig.wasted_cpu_s),
    Metric("maintenance_s", "s", "lower", "timing",
           "wall seconds of the scenario's scheduled maintenance: all strategies have the same schedule, but "
           "not the same number of snapshots and files to maintain",
           lambda f: total(f.maintenance.column("wall_s"))),
    Metric("maintenance_cpu_s", "s", "lower", "timing",
           f"{_PROCESS_CPU} during the scheduled maintenance", cpu.maintenance_cpu_s),
    Metric("maintenance_freed_bytes", "bytes", "neither", "bytes",
           "bytes by which the scheduled maintenance reduced storage, minus the metadata that it wrote",
           lambda f: total(f.maintenance.column("freed_bytes"))),
    Metric("evaluation_cpu_s", "s", "lower", "timing",
           "CPU seconds of triggers and planners, and of reading the table state for them, once in each tick "
           "in which one of them needs it; incremental readers read only what the last step changed; not "
           "modelled in simulations",
           cpu.evaluation_cpu_s),
    Metric("policy_cpu_s", "s", "lower", "timing",
           "compaction_cpu_s + maintenance_cpu_s + evaluation_cpu_s; simulations have no evaluation_cpu_s",
           cpu.policy_cpu_s),
    Metric("commit_cpu_s", "s", "lower", "timing",
           f"{_PROCESS_CPU} during the commits of the stream, which a policy may slow down through metadata",
           cpu.commit_cpu_s),
    Metric("total_cpu_s", "s", "lower", "timing",
           "commit_cpu_s + policy_cpu_s, to compare strategies that differ in how they write",
           cpu.total_cpu_s),
    Metric("control_mean_s", "s", "neither", "timing",
           "mean latency of the control query: the primary query of a table of two commits that never "
           "changes, run by a new session, first after each commit of the stream",
           fig.control_mean_s),
    Metric("fixed_work_s", "s", "neither", "timing",
           "mean wall time of a fixed piece of work outside of the JVM, before the queries of each tick: how "
           "slow the machine was",
           fig.fixed_work_s),
    Metric("other_cores", "count", "neither", "timing",
           "mean number of cores that other processes used during the run; about 0 if the machine was idle",
           fig.other_cores),
    Metric("content_bytes", "bytes", "neither", "bytes",
           f"{_CONTENT}: as written by the content check, or the live files at the end of a run if these are "
           "smaller; the least over all runs of the scenario, so it is the same for all strategies",
           lambda f: None if f.content_bytes is None else float(f.content_bytes)),
    Metric("data_storage_bytes_end", "bytes", "lower", "bytes",
           "bytes of data and delete files on storage at the end, including those of old snapshots",
           _data_storage_bytes),
    Metric("metadata_storage_bytes_end", "bytes", "lower", "bytes",
           "bytes of metadata files on storage at the end, including those of old snapshots",
           _last_observed("metadata_storage_bytes")),
    Metric("storage_bytes_end", "bytes", "lower", "bytes",
           "data_storage_bytes_end + metadata_storage_bytes_end", _last_observed("storage_bytes")),
    Metric("write_amplification", "ratio", "lower", "bytes",
           "bytes of data and delete files written by the initial load, the stream, compaction and "
           "maintenance / content_bytes; without metadata, never below 1",
           amplification.write_amplification),
    Metric("compaction_amplification", "ratio", "lower", "bytes",
           "the part of write_amplification that compaction wrote", amplification.compaction_amplification),
    Metric("read_amplification", "ratio", "lower", "bytes",
           "bytes that the settled primary query opens (each delete file once per data file it applies to) / "
           "(content_bytes x rows committed so far / rows committed in all), mean over scenario time",
           lambda f: amplification.read_amplification(f.run, f.over_time, f.content_bytes), True),
    Metric("space_amplification", "ratio", "lower", "bytes",
           "storage_bytes_end / content_bytes; never below 1", amplification.space_amplification),
    Metric("query_mean_s", "s", "lower", "timing",
           f"mean latency over scenario time of {_SETTLED}, after any compaction: the latency at a random "
           "moment, because the table then stays as it is until the next commit",
           lambda f: f.over_time.wall_s, True),
    Metric("query_probed_mean_s", "s", "lower", "timing",
           "mean latency over the ticks with a query alone, where query_mean_s estimates the other ticks "
           "from the data and delete files of their table",
           lambda f: probed_mean_s(f.run.manifest, f.settled), True),
    Metric("query_new_session_mean_s", "s", "lower", "timing",
           "query_mean_s by new sessions, which read the table's metadata first",
           lambda f: over_time(f.run, f.by_new).wall_s),
    Metric("query_p50_s", "s", "lower", "timing",
           "median latency of the settled primary query over the probed ticks",
           _settled(lambda v: percentile(v, 50))),
    Metric("query_p95_s", "s", "lower", "timing",
           "95th percentile of the latency of the settled primary query",
           _settled(lambda v: percentile(v, 95))),
    Metric("query_max_s", "s", "lower", "timing",
           "maximum latency of the settled primary query", _settled(highest)),
    Metric("query_after_commit_s", "s", "lower", "timing",
           "mean latency over scenario time of the primary query right after a commit, in the same ticks: "
           "the worst state of each policy",
           lambda f: over_time(f.run, f.primary, "after_commit").wall_s, True),
    Metric("query_before_s", "s", "lower", "timing",
           "mean latency of the primary query just before each compaction that committed",
           _effect("query_before_s")),
    Metric("query_after_s", "s", "lower", "timing",
           "mean latency of the primary query after each compaction that committed",
           _effect("query_after_s")),
    Metric("query_cpu_s", "s", "lower", "timing",
           "mean process CPU seconds over scenario time of the settled primary query",
           lambda f: f.over_time.cpu_s, True),
    Metric("commit_mean_s", "s", "lower", "timing",
           "mean wall seconds of a commit, without preparing its batch",
           lambda f: known_mean(f.commits.column("wall_s"))),
    Metric("commit_p95_s", "s", "lower", "timing",
           "95th percentile of the wall seconds of a commit, without preparing its batch",
           lambda f: percentile(f.commits.column("wall_s"), 95)),
    Metric("commit_returned_p95_s", "s", "lower", "timing",
           "95th percentile of the wall seconds until the call of a commit returns, including compactions "
           "that it ran itself",
           lambda f: percentile(fig.returned_s(f), 95)),
    Metric("run_delay_s", "s", "neither", "timing",
           "seconds for which runnable threads of commits, compactions, maintenance and primary queries "
           "waited for a core, summed over threads; with a real clock on real tables",
           fig.run_delay_s),
    Metric("run_delay_per_cpu", "ratio", "neither", "timing",
           "run_delay_s for each CPU second of the same steps: how much threads waited for a core",
           fig.run_delay_per_cpu),
    *(Metric(f"commit_since_due_{name}_s", "s", "lower", "timing",
             f"{words} of the real seconds from the moment at which a commit was due until it was in the "
             "table; with a real clock", _since_due(of))
      for name, words, of in _LATE_QUANTILES),
    Metric("redone_commits", "count", "lower", "timing",
           "how often a commit was done again after a conflict; with a real clock",
           fig.redone_commits),
    Metric("staleness_mean_s", "s", "lower", "count",
           "mean age over scenario time of the newest rows in the table: it grows from 0 at each commit of "
           "the stream to the time of the next one; excludes the wall time of commits",
           fig.staleness_mean_s),
    Metric("files_end", "count", "lower", "count",
           "live data files at the end", _last_observed("data_files_count")),
    Metric("delete_files_end", "count", "lower", "count",
           "live delete files at the end", _last_observed("delete_files_count")),
    Metric("delete_files_mean", "count", "lower", "count",
           "mean number of live delete files over time", fig.deletes_mean("delete_files_count")),
    Metric("delete_rows_end", "count", "lower", "count",
           "rows in the live delete files (keys of equality deletes, positions of the others) at the end",
           fig.deletes_end("delete_rows")),
    Metric("delete_rows_mean", "count", "lower", "count",
           "mean number of rows in the live delete files, or records in the log files, over time: the "
           "changes that a reader misses if it does not apply them", fig.deletes_mean("delete_rows")),
    Metric("deletes_age_mean_s", "s", "lower", "count",
           "mean over time of the scenario seconds since the oldest live delete or log file was added: how "
           "far behind a reader may be if it does not apply them", fig.deletes_age_mean_s),
    Metric("equality_files_end", "count", "lower", "count",
           "live equality delete files at the end", fig.deletes_end("equality_files_count")),
    Metric("equality_files_mean", "count", "lower", "count",
           "mean number of live equality delete files over time",
           fig.deletes_mean("equality_files_count")),
    Metric("health_mean", "points", "higher", "count",
           "mean health score (0 to 100) reported by the planner at each evaluation whose trigger fired",
           lambda f: known_mean(fig.health_scores(f))),
    Metric("health_end", "points", "higher", "count",
           "health score (0 to 100) at the last evaluation whose trigger fired",
           lambda f: known_mean(fig.health_scores(f)[-1:])),
    Metric("ingested_bytes", "bytes", "neither", "bytes",
           "change-log bytes of the rows the stream committed",
           lambda f: total(f.commits.column("ingested_bytes"))),
    Metric("commit_added_bytes", "bytes", "lower", "bytes",
           "bytes of data and delete files written by the commits of the stream",
           lambda f: total(f.commits.column("added_bytes"))),
    Metric("compaction_added_bytes", "bytes", "lower", "bytes",
           "bytes of data and delete files written by compaction",
           lambda f: total(f.compactions.column("added_bytes"))),
    Metric("compaction_replaced_bytes", "bytes", "lower", "bytes",
           "bytes of the data and delete files that compaction replaced or dropped; other files that it "
           "read, such as keys to convert deletes, do not count",
           lambda f: total(f.compactions.column("replaced_bytes"))),
    Metric("metadata_bytes", "bytes", "lower", "bytes",
           "metadata bytes written by commits, compactions and maintenance",
           lambda f: total(together("metadata_bytes", *requests.writing_steps(f)))),
    Metric("observe_s", "s", "neither", "timing",
           "wall seconds of reading the table state after each step; evaluation_cpu_s includes the reading "
           "that strategies needed; not modelled in simulations",
           lambda f: None if f.is_simulated else total(f.observed.column("wall_s"))),
    Metric("overlapped_commits", "ratio", "lower", "timing",
           "longest compaction / commit interval; above 1, a real stream would have committed during it",
           fig.overlapped_commits),
    Metric("duty_cycle", "share", "lower", "timing",
           "compaction seconds / scenario seconds", fig.duty_cycle),
    *(Metric(f"{steps}_peak_{memory}_bytes", "bytes", "lower", "timing",
             f"highest {words} during {during}", cpu.highest(steps, f"peak_{memory}_bytes"))
      for memory, words in (("rss", "resident memory of the process"), ("heap", "use of the Java heap"))
      for steps, during in (("compaction", "a compaction"), ("commit", "a commit of the stream"),
                            ("query", "a primary query on the cadence"))),
    Metric("put_requests", "count", "lower", "count",
           "files written (data, delete and metadata files) by the stream, compactions and maintenance, each "
           "taken as one PUT; s3_put_requests counts real requests",
           money.files_written),
    Metric("get_requests", "count", "neither", "count",  # it grows with the cadence of the queries
           "files opened, each taken as one GET: files that compactions replaced or dropped, and the data, "
           "delete and metadata files of the settled primary queries; Parquet's ranged reads are not counted",
           money.files_opened),
    Metric("s3_put_requests", "count", "lower", "timing",
           "PUT, POST and LIST requests of commits, compactions and maintenance to S3, from its client's log",
           requests.s3_puts),
    Metric("s3_get_requests", "count", "lower", "timing",
           "GET and HEAD requests of commits, compactions and maintenance to S3, from its client's log; "
           "DELETE requests are free",
           requests.s3_gets),
    Metric("s3_gets_per_query", "count", "lower", "timing",
           "GET and HEAD requests to S3 of a settled primary query, mean over time",
           requests.gets_per_query, True),
    Metric("compute_money_per_day", "money", "lower", "timing",
           "commit_cpu_s + policy_cpu_s, and job_start on all cores for each of compaction_jobs, at the "
           "price of a core-hour, plus the memory of the process (of driver and executors on a cluster) for "
           "their wall seconds at the price of a GB-hour; one of the two prices is enough",
           money.compute_money_per_day),
    Metric("query_money_per_day", "money", "lower", "timing",
           "query_cpu_s at the price of a core-hour, and the memory of the process for query_mean_s at the "
           "price of a GB-hour, for queries_per_hour",
           money.query_money_per_day),
    Metric("storage_money_per_day", "money", "lower", "bytes",
           "storage_bytes_end (the end state, not the mean) for a day at the price of a GB-month of 30 days",
           money.storage_money_per_day),
    Metric("request_money_per_day", "money", "lower", "timing",
           "s3_put_requests and s3_get_requests at their prices, and s3_gets_per_query for queries_per_hour; "
           "if they were not counted, PUTs are put_requests, and GETs the files that compactions replaced or "
           "dropped and the files that a settled query opens", money.request_money_per_day),
    Metric("money_per_day", "money", "lower", "timing",
           "compute, queries, storage and requests, as far as the scenario's [prices] cover them, which must "
           "include compute; as if the scenario were repeated all day", money.money_per_day),
    Metric("break_even_queries_per_h", "queries/h", "lower", "timing",
           "queries per hour above which the policy saves more CPU than it costs: (policy_cpu_s + "
           "commit_cpu_s - the same sum of `never`) per scenario hour / (query_cpu_s of `never` - "
           "query_cpu_s)",
           lambda f: None, True),  # computed by `rows`, which has the runs of `never`
)  # fmt: skip
METRIC_BY_NAME: Mapping[str, Metric] = {metric.name: metric for metric in METRICS}
