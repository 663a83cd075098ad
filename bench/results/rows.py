"""The metrics of runs, combined into the rows that `show` prints."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

from bench.results import figures as fig
from bench.results.figures import mean, mean_of_known, percentile, read_amplification
from bench.results.folders import RunResult
from bench.results.metrics import METRIC_BY_NAME as METRIC_BY_NAME  # re-exported for reports
from bench.results.metrics import METRICS as METRICS
from bench.results.metrics import Metric as Metric
from bench.results.pooling import Strictness, check_pooled
from bench.results.pooling import differences as differences
from bench.results.records import ContentRecord, QueryRecord

BASELINE = "never"
ContentStatus = Literal["equal", "differs", "unchecked"]


@dataclass(frozen=True, slots=True)
class Row:
    """All runs of one scenario, workload, format, mode and strategy.

    `runs` counts those whose figures are used: they finished, and no content check failed. `values` are means
    over them (`payback_queries` is computed from the means), `run_values` are the values of each run, by
    repetition, `probes` are latency and work of each query. `variant` is the label of the scenario's
    variant, which is also in `strategy`; None for the scenario as it is. `failed` and `interrupted` count
    repetitions that failed or were interrupted and have not been repeated successfully since.
    """

    scenario: str
    workload: str
    format: str
    mode: str
    strategy: str
    variant: str | None
    runs: int
    failed: int
    interrupted: int
    timings_invalid: int
    content: ContentStatus
    repetitions: tuple[int, ...]
    values: Mapping[str, float | None]
    run_values: Mapping[str, tuple[float | None, ...]]
    probes: Mapping[str, Mapping[str, float | None]]

    def to_json(self) -> dict[str, Any]:
        """The row as `show --format json` prints it; keys are never renamed."""
        flat = {name: getattr(self, name) for name in self.__slots__ if name not in ("values",)}
        return {**flat, **self.values}


def content_of(run: RunResult) -> ContentStatus:
    """The result of the content checks of a run: "differs" if any of them does."""
    checks = run.of(ContentRecord)
    if any(check.status == "differs" for check in checks):
        return "differs"
    return "equal" if checks else "unchecked"


def usable(run: RunResult) -> bool:
    """Whether a run's figures may be used: it finished, and no content check failed."""
    return run.finished and content_of(run) != "differs"


def run_figures(run: RunResult) -> dict[str, float | None]:
    """Every metric of one run. A run that was checked after every compaction has no valid timings."""
    selected = fig.figures(run)
    timings_invalid = run.end is not None and run.end.timings_invalid
    return {m.name: None if timings_invalid and not m.exact else m.of_run(selected) for m in METRICS}


def rows(runs: Iterable[RunResult]) -> tuple[Row, ...]:
    """One row per scenario, workload, format, mode and strategy, in the order of the scenario's strategies.

    Each strategy comes before its variants. Where runs do not say (`strategy_index`), the order is that in
    which the strategies first ran.

    Raises ResultSchemaError when runs of one row do not have the same definition and stream.
    """
    runs = tuple(runs)
    ordered = sorted(runs, key=_group_key)
    without_payback = [_row(tuple(group)) for _, group in groupby(ordered, key=_group_key)]
    by_key = {(*_place(row), row.strategy): row for row in without_payback}
    complete = [
        _with_payback(row, by_key.get((*_place(row), baseline_label(row.variant)))) for row in without_payback
    ]
    first_seen = {_group_key(run): index for index, run in reversed(list(enumerate(_by_start(runs))))}
    return tuple(sorted(complete, key=lambda row: first_seen[(*_place(row), row.strategy)]))


def _by_start(runs: Iterable[RunResult]) -> list[RunResult]:
    """By the place of their strategies in tables; where runs do not say, by start."""

    def place(run: RunResult) -> tuple[str, int, str, int]:
        m = run.manifest
        return (m.scenario, -1 if m.strategy_index is None else m.strategy_index, m.suite_id, m.position)

    return sorted(runs, key=place)


def _group_key(run: RunResult) -> tuple[str, ...]:
    m = run.manifest
    return (m.scenario, m.workload, m.format, m.mode, m.strategy)


def _place(row: Row) -> tuple[str, ...]:
    return (row.scenario, row.workload, row.format, row.mode)


def _repetition(run: RunResult) -> tuple[str, int]:
    """What identifies a repetition: a failed one may be repeated in the same results folder."""
    return (str(run.folder.parent), run.manifest.repetition)


def _row(runs: tuple[RunResult, ...]) -> Row:
    check_pooled(runs, Strictness.ON_REQUEST)
    used = sorted((run for run in runs if usable(run)), key=lambda run: run.manifest.repetition)
    done = {_repetition(run) for run in used}
    per_run = [run_figures(run) for run in used]
    run_values = {m.name: tuple(values[m.name] for values in per_run) for m in METRICS}
    scenario, workload, table_format, mode, strategy = _group_key(runs[0])
    return Row(
        scenario, workload, table_format, mode, strategy,
        variant=_variant(runs[0]),
        runs=len(used),
        failed=len({_repetition(run) for run in runs if run.end is not None} - done),
        interrupted=len({_repetition(run) for run in runs if run.end is None} - done),
        timings_invalid=sum(run.end is not None and run.end.timings_invalid for run in used),
        content=_content(runs, used),
        repetitions=tuple(run.manifest.repetition for run in used),
        values={name: _mean_of_known(values) for name, values in run_values.items()},
        run_values=run_values,
        probes=_probes(used),
    )  # fmt: skip


def _variant(run: RunResult) -> str | None:
    return str(run.manifest.variant["label"]) if run.manifest.variant else None


def _content(runs: Sequence[RunResult], used: Sequence[RunResult]) -> ContentStatus:
    """Of all runs: one whose content differs is never outweighed by a later one."""
    if any(content_of(run) == "differs" for run in runs):
        return "differs"
    return "equal" if used and all(content_of(run) == "equal" for run in used) else "unchecked"


def _mean_of_known(values: Iterable[float | None]) -> float | None:
    return mean([value for value in values if value is not None])


def _probes(runs: Sequence[RunResult]) -> dict[str, dict[str, float | None]]:
    """Each query at its cadence over all timed runs; different queries are never averaged."""
    timed = [run for run in runs if run.end is not None and not run.end.timings_invalid]
    queries = [q for run in timed for q in run.of(QueryRecord) if q.when == "cadence" and q.status == "ok"]
    names = dict.fromkeys(q.probe for q in queries)
    return {name: _probe([q for q in queries if q.probe == name]) for name in names}


def _probe(queries: Sequence[QueryRecord]) -> dict[str, float | None]:
    walls = [q.wall_s for q in queries]
    return {
        "query_mean_s": mean(walls),
        "query_p50_s": percentile(walls, 50),
        "query_p95_s": percentile(walls, 95),
        "query_max_s": max(walls, default=None),
        "planning_mean_s": mean([q.planning_s for q in queries]),
        "execution_mean_s": mean([q.execution_s for q in queries]),
        "files_mean": mean_of_known([q.files_count for q in queries]),
        "delete_files_mean": mean_of_known([q.delete_files_count for q in queries]),
        "opened_bytes_mean": mean_of_known([q.opened_bytes for q in queries]),
        "read_amplification": read_amplification(queries),
    }


def baseline_label(variant: str | None) -> str:
    """The label of `never` in a variant: what the strategies of that variant are measured against."""
    return BASELINE if variant is None else f"{BASELINE} @ {variant}"


def _with_payback(row: Row, baseline: Row | None) -> Row:
    """The row with `payback_queries`: None without `never` in the same variant, or where it is no slower."""
    never_s = baseline.values["query_mean_s"] if baseline and row.strategy != BASELINE else None
    costs, queries = row.run_values["compaction_s"], row.run_values["query_mean_s"]
    paybacks = tuple(_payback(cost, never_s, query) for cost, query in zip(costs, queries, strict=True))
    filled = {name: getattr(row, name) for name in row.__slots__}
    filled["run_values"] = {**row.run_values, "payback_queries": paybacks}
    of_means = _payback(row.values["compaction_s"], never_s, row.values["query_mean_s"])
    filled["values"] = {**row.values, "payback_queries": of_means}
    return Row(**filled)


def _payback(cost_s: float | None, never_s: float | None, query_s: float | None) -> float | None:
    if not cost_s or never_s is None or query_s is None or query_s >= never_s:
        return None
    return cost_s / (never_s - query_s)
