"""The metrics of runs, put together into the rows `show` prints."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

from bench.results import figures as fig
from bench.results.figures import mean, mean_of_known, percentile, read_amplification
from bench.results.folders import RunResult
from bench.results.metrics import METRIC_BY_NAME as METRIC_BY_NAME  # for reports, as all that says "as" here:
from bench.results.metrics import METRICS as METRICS  # of ours they know two modules only
from bench.results.metrics import Metric as Metric
from bench.results.pooling import Strictness, check_pooled
from bench.results.pooling import differences as differences
from bench.results.records import ContentRecord, QueryRecord

BASELINE = "never"
Content = Literal["equal", "differs", "unchecked"]


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
    timings_invalid: int
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
    checks = run.of(ContentRecord)
    if any(check.status == "differs" for check in checks):
        return "differs"
    return "equal" if checks else "unchecked"


def usable(run: RunResult) -> bool:
    """Whether a run's figures may be used: it finished, and its content did not differ."""
    return run.finished and content_of(run) != "differs"


def run_figures(run: RunResult) -> dict[str, float | None]:
    """Every metric of one run. A run that was checked after every compaction gives no timings."""
    sorted_out = fig.figures(run)
    timings_invalid = run.end is not None and run.end.timings_invalid
    return {m.name: None if timings_invalid and not m.exact else m.of_run(sorted_out) for m in METRICS}


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
        timings_invalid=sum(run.end is not None and run.end.timings_invalid for run in used),
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
    timed = [run for run in runs if run.end is not None and not run.end.timings_invalid]
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
        "files_mean": mean_of_known([q.files_count for q in queries]),
        "delete_files_mean": mean_of_known([q.delete_files_count for q in queries]),
        "opened_bytes_mean": mean_of_known([q.opened_bytes for q in queries]),
        "read_amplification": read_amplification(queries),
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
