"""The cost of a run per day at the scenario's prices, and the query rate at which a policy pays off.

A day repeats the scenario as often as it fits. Each part of the money is None if the scenario gives no price
for it or if one of its figures is unknown.

A run pays for its requests if they were counted. Otherwise each file written is one PUT and each file opened
one GET. That is a lower bound: Parquet is read in ranges (two or three GETs per file are usual), and listing,
HEAD requests and the reads of commits are missing.
"""

import numpy as np

from bench.results import requests
from bench.results.arithmetic import known_sum, total
from bench.results.cpu import total_cpu_s
from bench.results.figures import RunFigures
from bench.results.records import QueryRecord
from bench.results.requests import writing_steps
from bench.results.tables import Records, together

GB = 10**9
DAY_MS = 24 * 60 * 60 * 1000
MONTH_DAYS = 30
_HOUR_S = 3600


def files_written(f: RunFigures) -> float:
    counts = ("files_added_count", "delete_files_added_count", "metadata_files_count")
    return sum(total(together(count, *writing_steps(f))) for count in counts)


def files_opened(f: RunFigures) -> float | None:
    """Files opened by compactions and by settled primary queries; None if unknown for a query."""
    opened = known_sum(_opened_files(f.settled))
    return None if opened is None else _compacted_files(f) + opened


def _compacted_files(f: RunFigures) -> float:
    removed = f.compactions.column("files_removed_count")
    return total(removed + f.compactions.column("delete_files_removed_count"))


def _opened_files(queries: Records[QueryRecord]) -> np.ndarray:
    counts = ("files_count", "delete_files_count", "metadata_files_count")
    return np.asarray(sum(queries.column(count) for count in counts))


def compaction_jobs(f: RunFigures) -> float:
    """Compactions that would start Spark: not run by a commit, not refused, and not by another executor.

    What starts an executor without Spark is a process of Python, some seconds cheaper; it is not charged.
    """
    is_job = ~f.compactions.column("is_inline") & (f.compactions.column("status") != "vetoed")
    return float((is_job & (f.compactions.column("executor") == "")).sum())


def compute_money_per_day(f: RunFigures) -> float | None:
    m = f.run.manifest
    evaluating = f.decisions.column("wall_s") + f.decisions.column("state_wall_s")
    evaluating_s = 0.0 if f.is_simulated else total(evaluating)
    jobs_s = m.job_start_s * compaction_jobs(f)
    cpu_s = total_cpu_s(f)
    starts_cpu_s = 0.0 if jobs_s == 0 else None if m.cores is None else m.cores * jobs_s
    if cpu_s is None or starts_cpu_s is None:
        return None
    wall_s = total(together("wall_s", *writing_steps(f))) + evaluating_s + jobs_s
    money = _compute_money(f, cpu_s + starts_cpu_s, wall_s)
    return None if money is None else money * (DAY_MS / m.lasted_ms)


def query_money_per_day(f: RunFigures) -> float | None:
    m = f.run.manifest
    cpu_s, wall_s = f.over_time.cpu_s, f.over_time.mean("wall_s")
    if m.queries_per_h is None or cpu_s is None or wall_s is None:
        return None
    money = _compute_money(f, cpu_s, wall_s)
    return None if money is None else 24 * m.queries_per_h * money


def storage_money_per_day(f: RunFigures) -> float | None:
    price = f.run.manifest.price_per_storage_gb_month
    if price is None or not f.observed:
        return None
    return price * int(f.observed.column("storage_bytes")[-1]) / GB / MONTH_DAYS


def request_money_per_day(f: RunFigures) -> float | None:
    m = f.run.manifest
    if m.price_per_1000_puts is None or m.price_per_1000_gets is None:
        return None
    puts: float | None = files_written(f)
    gets: float | None = _compacted_files(f)
    gets_per_query = f.over_time.mean(_opened_files(f.over_time.queries))
    if requests.is_on_s3(f):
        puts, gets, gets_per_query = (
            of(f) for of in (requests.s3_puts, requests.s3_gets, requests.gets_per_query)
        )
    if puts is None or gets is None or (m.queries_per_h is not None and gets_per_query is None):
        return None
    scenarios_per_day = DAY_MS / m.lasted_ms
    gets_per_day = gets * scenarios_per_day + 24 * (m.queries_per_h or 0.0) * (gets_per_query or 0.0)
    puts_per_day = puts * scenarios_per_day
    return (m.price_per_1000_puts * puts_per_day + m.price_per_1000_gets * gets_per_day) / 1000


def money_per_day(f: RunFigures) -> float | None:
    """The sum of the parts that have a price; None without a price of compute."""
    m, compute = f.run.manifest, compute_money_per_day(f)
    if compute is None:
        return None
    parts = [compute]
    for is_priced, part in (
        (m.queries_per_h is not None, query_money_per_day(f)),
        (m.price_per_storage_gb_month is not None, storage_money_per_day(f)),
        (None not in (m.price_per_1000_puts, m.price_per_1000_gets), request_money_per_day(f)),
    ):
        if is_priced and part is None:
            return None
        parts.append(part or 0.0)
    return sum(parts)


def break_even_queries_per_h(
    extra_cpu_s: float | None, query_cpu_s: float | None, baseline_query_cpu_s: float | None, duration_ms: int
) -> float | None:
    """The query rate at which the CPU that a policy spends equals the CPU that it saves in queries.

    `extra_cpu_s` is the CPU of policy and commits minus that of the baseline, over the whole scenario; the
    other two are the mean CPU of one query. 0 if the policy costs nothing more; None if its queries are not
    cheaper, so that no rate pays off.
    """
    if extra_cpu_s is None or query_cpu_s is None or baseline_query_cpu_s is None:
        return None
    saved_cpu_s = baseline_query_cpu_s - query_cpu_s
    if saved_cpu_s <= 0:
        return None
    return max(0.0, extra_cpu_s) / (duration_ms / 1000 / _HOUR_S) / saved_cpu_s


def _compute_money(f: RunFigures, cpu_s: float, wall_s: float) -> float | None:
    """CPU at the price of cores, and memory for the wall time; None if neither has a price.

    Memory is the memory of the process, or of driver and executors on a cluster.
    """
    m = f.run.manifest
    if m.price_per_core_hour is None and m.price_per_gb_hour is None:
        return None
    cores = (m.price_per_core_hour or 0.0) * cpu_s
    executors_bytes = f.run.end.executors_memory_bytes if f.run.end else None
    if executors_bytes is None and m.has_executors:
        return None
    memory_bytes = m.memory_bytes + (executors_bytes or 0)
    memory = (m.price_per_gb_hour or 0.0) * memory_bytes / GB * wall_s
    return (cores + memory) / _HOUR_S
