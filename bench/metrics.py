"""Metrics: the registry (name, unit, which way is better, definition) and the rows `show` prints.

Definitions are those of the design's table. A figure that does not apply is None, never 0.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

from bench import figures as fig
from bench.figures import RunFigures, mean, percentile, ratio, total
from bench.pooling import Strictness, check_pooled
from bench.pooling import differences as differences  # for reports, which of ours know two modules only
from bench.results import QueryRecord, RunResult, TruthRecord

BASELINE = "never"
Unit = Literal["s", "ratio", "share", "bytes", "count", "GB-hours", "passes", "money"]
Content = Literal["equal", "differs", "unchecked"]


@dataclass(frozen=True, slots=True)
class Metric:
    """What a figure means. `exact` figures repeat on every machine for one scenario and version."""

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
           "compactions that failed or were vetoed", fig.count_with_status("failed", "vetoed")),
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
           lambda f: ratio(fig.compacted_bytes(f), fig.committed_bytes(f))),
    Metric("read_amplification", "ratio", "lower", True,
           "bytes the primary probe must open (each delete file once per data file it applies to) / live "
           "bytes, mean over the cadence", fig.read_amplification),
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
           "live delete and log files at the end", _last_observed("delta_files_count")),
    Metric("bytes_ingested", "bytes", "neither", True,
           "change-log bytes of the rows the stream committed",
           lambda f: total(c.ingested_bytes for c in f.commits)),
    Metric("bytes_committed", "bytes", "lower", True,
           "data and delete bytes the stream's commits wrote", fig.committed_bytes),
    Metric("bytes_compacted", "bytes", "lower", True,
           "data and delete bytes compaction wrote", fig.compacted_bytes),
    Metric("compaction_read_bytes", "bytes", "lower", True,
           "data and delete bytes compaction had to read", _compaction_sum("read_bytes")),
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


@dataclass(frozen=True, slots=True)
class Row:
    """All runs of one scenario, workload, format, mode and strategy.

    `runs` counts those whose figures are used: they finished, and their content did not differ.
    `values` are means over them (`payback_passes` is of the means), `run_values` has each one's
    value, by repetition, `probes` has latency and work of each probe. `failed` and `interrupted`
    count repetitions that failed or were cut off and have not been made up for since.
    """

    scenario: str
    workload: str
    format: str
    mode: str
    strategy: str
    runs: int
    failed: int
    interrupted: int
    perturbed: int
    content: Content
    repetitions: tuple[int, ...]
    values: Mapping[str, float | None]
    run_values: Mapping[str, tuple[float | None, ...]]
    probes: Mapping[str, Mapping[str, float | None]]

    def to_json(self) -> dict[str, Any]:
        """The row as `show --format json` prints it; keys are never renamed."""
        flat = {name: getattr(self, name) for name in self.__slots__ if name not in ("values",)}
        return {**flat, **self.values}


def content_of(run: RunResult) -> Content:
    """The verdict of the last content check of a run."""
    checks = run.of(TruthRecord)
    if any(check.status == "differs" for check in checks):
        return "differs"
    return "equal" if checks else "unchecked"


def usable(run: RunResult) -> bool:
    """Whether a run's figures may be used: it finished, and its content did not differ."""
    return run.finished and content_of(run) != "differs"


def run_figures(run: RunResult) -> dict[str, float | None]:
    """Every metric of one run. A run that was checked after every compaction gives no timings."""
    sorted_out = fig.figures(run)
    perturbed = run.end is not None and run.end.perturbed
    return {m.name: None if perturbed and not m.exact else m.of_run(sorted_out) for m in METRICS}


def rows(runs: Iterable[RunResult]) -> tuple[Row, ...]:
    """One row per scenario, workload, format, mode and strategy, in the order the strategies first ran.

    Raises ResultSchemaError when runs that fall into one row were not of the same definition and stream.
    """
    runs = tuple(runs)
    ordered = sorted(runs, key=_group_key)
    made = [_row(tuple(group)) for _, group in groupby(ordered, key=_group_key)]
    by_key = {(*_place(row), row.strategy): row for row in made}
    paid = [_with_payback(row, by_key.get((*_place(row), BASELINE))) for row in made]
    first_seen = {_group_key(run): index for index, run in reversed(list(enumerate(_by_start(runs))))}
    return tuple(sorted(paid, key=lambda row: first_seen[(*_place(row), row.strategy)]))


def _by_start(runs: Iterable[RunResult]) -> list[RunResult]:
    return sorted(runs, key=lambda run: (run.manifest.scenario, run.manifest.suite_id, run.manifest.position))


def _group_key(run: RunResult) -> tuple[str, ...]:
    m = run.manifest
    return (m.scenario, m.workload, m.format, m.mode, m.strategy)


def _place(row: Row) -> tuple[str, ...]:
    return (row.scenario, row.workload, row.format, row.mode)


def _repetition(run: RunResult) -> tuple[str, int]:
    """What a repetition is made up for by: the same one in the same results folder."""
    return (str(run.folder.parent), run.manifest.repetition)


def _row(runs: tuple[RunResult, ...]) -> Row:
    check_pooled(runs, Strictness.ASKED)
    used = sorted((run for run in runs if usable(run)), key=lambda run: run.manifest.repetition)
    made = {_repetition(run) for run in used}
    per_run = [run_figures(run) for run in used]
    run_values = {m.name: tuple(values[m.name] for values in per_run) for m in METRICS}
    scenario, workload, table_format, mode, strategy = _group_key(runs[0])
    return Row(
        scenario, workload, table_format, mode, strategy,
        runs=len(used),
        failed=len({_repetition(run) for run in runs if run.end is not None} - made),
        interrupted=len({_repetition(run) for run in runs if run.end is None} - made),
        perturbed=sum(run.end is not None and run.end.perturbed for run in used),
        content=_content(runs, used),
        repetitions=tuple(run.manifest.repetition for run in used),
        values={name: _mean_of_known(values) for name, values in run_values.items()},
        run_values=run_values,
        probes=_probes(used),
    )  # fmt: skip


def _content(runs: Sequence[RunResult], used: Sequence[RunResult]) -> Content:
    """A run that lost or invented a row is never made up for by a later one."""
    if any(content_of(run) == "differs" for run in runs):
        return "differs"
    return "equal" if used and all(content_of(run) == "equal" for run in used) else "unchecked"


def _mean_of_known(values: Iterable[float | None]) -> float | None:
    return mean([value for value in values if value is not None])


def _probes(runs: Sequence[RunResult]) -> dict[str, dict[str, float | None]]:
    """Each probe at its cadence over all timed runs; one probe is never averaged with another."""
    timed = [run for run in runs if run.end is not None and not run.end.perturbed]
    found = [q for run in timed for q in run.of(QueryRecord) if q.when == "cadence" and q.status == "ok"]
    names = dict.fromkeys(q.probe for q in found)
    return {name: _probe([q for q in found if q.probe == name]) for name in names}


def _probe(queries: Sequence[QueryRecord]) -> dict[str, float | None]:
    walls = [q.wall_s for q in queries]
    return {
        "query_mean_s": mean(walls),
        "query_p50_s": percentile(walls, 50),
        "query_p95_s": percentile(walls, 95),
        "query_max_s": max(walls, default=None),
        "planning_mean_s": mean([q.planning_s for q in queries]),
        "execution_mean_s": mean([q.execution_s for q in queries]),
        "files_mean": mean([q.files_count for q in queries]),
        "delete_files_mean": mean([q.delta_files_count for q in queries]),
        "opened_bytes_mean": mean([q.opened_bytes for q in queries]),
        "read_amplification": mean([q.opened_bytes / q.live_bytes for q in queries if q.live_bytes]),
    }


def _with_payback(row: Row, baseline: Row | None) -> Row:
    """Fill in `payback_passes`; None without a `never` to compare with, or where nothing was gained."""
    never_s = baseline.values["query_mean_s"] if baseline and row.strategy != BASELINE else None
    costs, queries = row.run_values["compaction_s"], row.run_values["query_mean_s"]
    paid = tuple(_payback(cost, never_s, query) for cost, query in zip(costs, queries, strict=True))
    filled = {name: getattr(row, name) for name in row.__slots__}
    filled["run_values"] = {**row.run_values, "payback_passes": paid}
    of_means = _payback(row.values["compaction_s"], never_s, row.values["query_mean_s"])
    filled["values"] = {**row.values, "payback_passes": of_means}
    return Row(**filled)


def _payback(cost_s: float | None, never_s: float | None, query_s: float | None) -> float | None:
    if not cost_s or never_s is None or query_s is None or query_s >= never_s:
        return None
    return cost_s / (never_s - query_s)
