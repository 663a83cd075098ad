"""The registry of metrics: name, unit, better direction, definition.

A figure that does not apply is None, never 0.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from bench.results import amplification, cpu, money, requests
from bench.results import figures as fig
from bench.results.figures import RunFigures, mean, percentile, total
from bench.results.latency import mean_cpu_s, mean_wall_s
from bench.results.query_effect import query_effects
from bench.results.records import FAILED_STATUSES

Unit = Literal["s", "ratio", "share", "bytes", "count", "queries/h", "money", "points"]


LATENCY = "query_mean_s"  # the headline among the latencies
MIN_RUNS = 3  # pairs, or runs on each side, below which a timing has no interval


@dataclass(frozen=True, slots=True)
class Metric:
    """What a figure means. `basis` is what it rests on, and so how far it repeats for one scenario.

    count: repeats in every run, with one exception: how many delete files a compaction drops may depend on
    the worker threads of the format's library. bytes: repeat but for the order of rows within merged files,
    which changes how well they compress, and for paths and timestamps in metadata. timing: noise.
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


def _query_mean(field: str) -> Callable[[RunFigures], float | None]:
    def of_run(f: RunFigures) -> float | None:
        values = [getattr(effect, field) for effect in query_effects(f.run) if effect.compaction.tick]
        return mean([value for value in values if value is not None])

    return of_run


def _settled(of: Callable[[Sequence[float]], float | None]) -> Callable[[RunFigures], float | None]:
    return lambda f: of([query.cost.wall_s for query in f.settled])


def _last_observed(field: str) -> Callable[[RunFigures], float | None]:
    return lambda f: float(getattr(f.observed[-1].table, field)) if f.observed else None


def _data_storage_bytes(f: RunFigures) -> float | None:
    last = f.observed[-1].table if f.observed else None
    return None if last is None else float(last.storage_bytes - last.metadata_storage_bytes)


# What the definitions of several metrics have in common.
_CONTENT = "bytes of the final content as compacted files"
_PROCESS_CPU = "process CPU seconds (JVM, Python, children)"
_SETTLED = "the settled primary query, which runs once per probe_every, at the end of a tick"

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
           "wall seconds of all compactions, including planning and commit",
           lambda f: total(c.cost.wall_s for c in f.compactions)),
    Metric("compaction_cpu_s", "s", "lower", "timing",
           f"{_PROCESS_CPU} during all compactions", cpu.compaction_cpu_s),
    Metric("compaction_executor_cpu_s", "s", "lower", "timing",
           "CPU seconds of the Spark tasks of all compactions, excluding planning and commit",
           cpu.compaction_executor_cpu_s),
    Metric("compaction_jit_cpu_s", "s", "lower", "timing",
           "of compaction_cpu_s, that of Java's compiler threads", cpu.known_total("compaction",
           "jit_cpu_s")),
    Metric("compaction_gc_cpu_s", "s", "lower", "timing",
           "of compaction_cpu_s, that of Java's garbage collector", cpu.known_total("compaction",
           "gc_cpu_s")),
    Metric("jit_share", "share", "lower", "timing",
           "compaction_jit_cpu_s / compaction_cpu_s", cpu.jit_share),
    Metric("maintenance_s", "s", "lower", "timing",
           "wall seconds of the scheduled maintenance of the scenario: the same schedule for every strategy, "
           "but more snapshots and files to maintain under some",
           lambda f: total(m.cost.wall_s for m in f.maintenance)),
    Metric("maintenance_cpu_s", "s", "lower", "timing",
           f"{_PROCESS_CPU} during the same", cpu.maintenance_cpu_s),
    Metric("maintenance_freed_bytes", "bytes", "neither", "bytes",
           "bytes by which the same maintenance reduced storage; metadata that it wrote is subtracted",
           lambda f: total(m.freed_bytes for m in f.maintenance)),
    Metric("evaluation_cpu_s", "s", "lower", "timing",
           "CPU seconds of triggers and planners, and of reading the table state for them, once per tick: "
           "where a trigger fired or had to look at the table. Where reading is incremental, that is of what "
           "the last step changed; not modelled in simulations",
           cpu.evaluation_cpu_s),
    Metric("policy_cpu_s", "s", "lower", "timing",
           "compaction_cpu_s + maintenance_cpu_s + evaluation_cpu_s (without the last in simulations)",
           cpu.policy_cpu_s),
    Metric("commit_cpu_s", "s", "lower", "timing",
           f"{_PROCESS_CPU} during the commits of the stream, which a policy may slow down through metadata",
           cpu.commit_cpu_s),
    Metric("total_cpu_s", "s", "lower", "timing",
           "commit_cpu_s + policy_cpu_s, to compare strategies that differ in how they write",
           cpu.total_cpu_s),
    Metric("control_mean_s", "s", "neither", "timing",
           "mean latency of the control query: the primary query of a table of two commits that never "
           "changes, asked first after each commit of the stream",
           fig.control_mean_s),
    Metric("content_bytes", "bytes", "neither", "bytes",
           f"{_CONTENT}: what the content check wrote it in, or the live files at the end of a run if these "
           "are smaller; the least over all runs of the scenario, and so one figure for all strategies",
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
           "of write_amplification, the part that compaction wrote", amplification.compaction_amplification),
    Metric("read_amplification", "ratio", "lower", "bytes",
           "bytes that the settled primary query opens (each delete file once per data file it applies to) / "
           "(content_bytes x rows committed so far / rows committed in all), mean over scenario time",
           lambda f: amplification.read_amplification(f.run, f.settled, f.content_bytes)),
    Metric("space_amplification", "ratio", "lower", "bytes",
           "storage_bytes_end / content_bytes; never below 1", amplification.space_amplification),
    Metric("query_mean_s", "s", "lower", "timing",
           f"mean latency over scenario time of {_SETTLED}, after any compaction: what a reader meets who "
           "queries at a random moment, as the table stays like that until the next commit",
           lambda f: mean_wall_s(f.run.manifest, f.settled)),
    Metric("query_p50_s", "s", "lower", "timing",
           "median latency of the settled primary query", _settled(lambda v: percentile(v, 50))),
    Metric("query_p95_s", "s", "lower", "timing",
           "95th percentile of the latency of the settled primary query", _settled(lambda v: percentile(v,
           95))),
    Metric("query_max_s", "s", "lower", "timing",
           "maximum latency of the settled primary query", _settled(lambda v: max(v, default=None))),
    Metric("query_after_commit_s", "s", "lower", "timing",
           "mean latency over scenario time of the primary query right after a commit, in the same ticks: "
           "each policy in its worst state",
           lambda f: mean_wall_s(f.run.manifest, f.after_commit)),
    Metric("query_before_s", "s", "lower", "timing",
           "mean latency of the primary query just before each compaction that committed",
           _query_mean("query_before_s")),
    Metric("query_after_s", "s", "lower", "timing",
           "mean latency of the primary query after each compaction that committed",
           _query_mean("query_after_s")),
    Metric("query_cpu_s", "s", "lower", "timing",
           "mean process CPU seconds over scenario time of the settled primary query",
           lambda f: mean_cpu_s(f.run.manifest, f.settled)),
    Metric("commit_mean_s", "s", "lower", "timing",
           "mean wall seconds of a commit, without preparing its batch",
           lambda f: mean([c.cost.wall_s for c in f.commits])),
    Metric("commit_p95_s", "s", "lower", "timing",
           "95th percentile of the wall seconds of a commit, without preparing its batch",
           lambda f: percentile([c.cost.wall_s for c in f.commits], 95)),
    Metric("commit_returned_p95_s", "s", "lower", "timing",
           "95th percentile of the wall seconds until the call of a commit returns: with compactions that it "
           "ran by itself, and with preparing its batch for as long as one ran beside the stream",
           lambda f: percentile(fig.returned_s(f), 95)),
    Metric("staleness_mean_s", "s", "lower", "count",
           "mean age over scenario time of the newest rows in the table: it grows from 0 at each commit of "
           "the stream to the time of the next one; the wall time of the commits is not in it",
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
           "mean number of rows in the live delete files, or records in the log files, over time: how many "
           "changes a reader misses that does not apply them", fig.deletes_mean("delete_rows")),
    Metric("deletes_age_mean_s", "s", "lower", "count",
           "mean over time of the scenario seconds since the oldest live delete or log file was added: how "
           "far behind a reader may be that does not apply them", fig.deletes_age_mean_s),
    Metric("equality_files_end", "count", "lower", "count",
           "live equality delete files at the end", fig.deletes_end("equality_files_count")),
    Metric("equality_files_mean", "count", "lower", "count",
           "mean number of live equality delete files over time",
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
           "other files, such as the keys needed to convert deletes",
           lambda f: total(c.change.replaced_bytes for c in f.compactions)),
    Metric("metadata_bytes", "bytes", "lower", "bytes",
           "metadata bytes written by commits, compactions and maintenance", fig.metadata_bytes),
    Metric("observe_s", "s", "neither", "timing",
           "wall seconds of reading the table state after each step; evaluation_cpu_s has the part that "
           "strategies needed; not modelled in simulations",
           lambda f: None if f.is_simulated else total(o.cost.wall_s for o in f.observed)),
    Metric("overlapped_commits", "ratio", "lower", "timing",
           "longest compaction / commit interval; above 1, a real stream would have committed meanwhile",
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
           "one PUT; s3_put_requests has what was counted",
           money.files_written),
    Metric("get_requests", "count", "neither", "count",  # it grows with the cadence of the queries
           "files opened, each one GET: by compactions those they replaced or dropped, by the settled "
           "primary queries their data, delete and metadata files; Parquet's ranged reads are not counted",
           money.files_opened),
    Metric("s3_put_requests", "count", "lower", "timing",
           "PUT, POST and LIST requests that commits, compactions and maintenance sent to S3, as its client "
           "logs them",
           requests.s3_puts),
    Metric("s3_get_requests", "count", "lower", "timing",
           "GET and HEAD requests that commits, compactions and maintenance sent to S3, likewise; DELETE "
           "requests are free",
           requests.s3_gets),
    Metric("s3_gets_per_query", "count", "lower", "timing",
           "GET and HEAD requests to S3 of one settled primary query, the mean over time",
           requests.gets_per_query),
    Metric("compute_money_per_day", "money", "lower", "timing",
           "commit_cpu_s + policy_cpu_s, and job_start on all cores for each compaction, at the price of a "
           "core-hour, plus the memory of the process (of driver and executors on a cluster) for their "
           "wall seconds at the price of a GB-hour; one of the two prices is enough",
           money.compute_money_per_day),
    Metric("query_money_per_day", "money", "lower", "timing",
           "query_cpu_s and the same memory for query_mean_s at the same prices, for queries_per_hour",
           money.query_money_per_day),
    Metric("storage_money_per_day", "money", "lower", "bytes",
           "storage_bytes_end for a day at the price of a GB-month of 30 days: of the end state, not of the "
           "mean", money.storage_money_per_day),
    Metric("request_money_per_day", "money", "lower", "timing",
           "s3_put_requests and s3_get_requests at their prices, and s3_gets_per_query for queries_per_hour; "
           "where they were not counted, PUTs are put_requests, and GETs the files that compactions replaced "
           "or dropped and those that a settled query opens", money.request_money_per_day),
    Metric("money_per_day", "money", "lower", "timing",
           "the sum of the parts that the scenario's [prices] cover: compute, which must be among them, "
           "queries, storage and requests; as if the scenario were repeated all day", money.money_per_day),
    Metric("break_even_queries_per_h", "queries/h", "lower", "timing",
           "queries per hour from which on the policy saves more CPU than it costs: policy_cpu_s + "
           "commit_cpu_s above those of `never`, per scenario hour, / (query_cpu_s of `never` - query_cpu_s)",
           lambda f: None),  # needs the runs of `never`: filled in by `rows`
)  # fmt: skip
METRIC_BY_NAME: Mapping[str, Metric] = {metric.name: metric for metric in METRICS}
