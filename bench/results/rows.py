"""The metrics of runs, combined into the rows that `show` prints."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from bench.results import figures as fig
from bench.results.amplification import common_content_bytes, opened_share, read_amplification
from bench.results.arithmetic import highest, mean_of_known, percentile
from bench.results.folders import RunResult
from bench.results.latency import latencies_s, over_time, probed_mean_s, settled_of
from bench.results.metrics import METRICS
from bench.results.money import break_even_queries_per_h
from bench.results.pooling import Strictness, check_one_format, check_pooled
from bench.results.records import (
    DELETE_WORDS,
    CommitRecord,
    ContentRecord,
    ObserveRecord,
    QueryRecord,
    label_in,
)
from bench.results.tables import Records

BASELINE = "never"
_DISTURBED_ABOVE_CORES = 0.2  # cores that other processes used during a run, on average
BREAK_EVEN = "break_even_queries_per_h"
FIXED_WORK = "fixed_work_s"

ContentStatus = Literal["equal", "differs", "unchecked"]
_NESTED = ("run_values", "probes", "repetitions", "replaced")


@dataclass(frozen=True, slots=True)
class Row:
    """All runs of one scenario, workload, mode and strategy.

    `runs` counts the runs whose figures are used (`usable`). `values` are
    means over these runs (`break_even_queries_per_h` is computed from the means), `run_values` the values of
    each, in the order of `repetitions`. `failed` and `interrupted` count repetitions that failed or were
    interrupted and have not succeeded since. `replaced` are the reasons of runs that were made again.
    `timings_invalid` counts used runs without valid timings.

    `probes` are latency and work of each query on its cadence: of settled queries unless a name has
    after_commit, means over scenario time. `variant` is the label of the scenario's variant, which is also
    part of `strategy`; None for the scenario as it is. `speed` is that of scenario time in real runs with a
    real clock; None where roles take turns.
    """

    scenario: str
    workload: str
    format: str
    mode: str
    strategy: str
    variant: str | None
    currency: str
    speed: float | None
    delete_words: tuple[str, str]
    runs: int
    failed: int
    interrupted: int
    replaced: tuple[str, ...]
    timings_invalid: int
    content: ContentStatus
    repetitions: tuple[int, ...]
    values: Mapping[str, float | None]
    run_values: Mapping[str, tuple[float | None, ...]]
    probes: Mapping[str, Mapping[str, float | None]]

    @property
    def disturbed_cores(self) -> tuple[float, ...]:
        """The cores that other processes used, of each run during which these were too many."""
        return tuple(cores for cores in self.run_values["other_cores"] if cores and is_disturbing(cores))

    @property
    def baseline(self) -> str:
        """The label of `never` in the same variant."""
        return BASELINE if self.variant is None else label_in(BASELINE, self.variant)

    @property
    def is_baseline(self) -> bool:
        """Whether this is `never` in any variant."""
        return self.strategy == self.baseline

    @property
    def base_strategy(self) -> str:
        """The label of the strategy without its variant."""
        return self.strategy.removesuffix("" if self.variant is None else label_in("", self.variant))

    @property
    def commits_wait(self) -> bool:
        """Whether compactions within commits, and not the commits before, delay the slowest commits."""
        takes_turns = self.values["commit_since_due_p95_s"] is None
        return takes_turns and self.values["commit_returned_p95_s"] != self.values["commit_p95_s"]

    def to_json(self) -> dict[str, Any]:
        """The row as `show --format json` prints it; keys are never renamed."""
        flat = {
            name: getattr(self, name) for name in self.__slots__ if name not in ("values", "delete_words")
        }
        return {**flat, **self.values}

    def to_flat(self) -> dict[str, Any]:
        """The row as a line of a table, as `show --format csv` prints it: every metric by its name."""
        return {name: value for name, value in self.to_json().items() if name not in _NESTED}


def content_of(run: RunResult) -> ContentStatus:
    """The result of all content checks of a run: "differs" if one differs, or if the table has other rows."""
    checks = run.of(ContentRecord)
    if (checks.column("status") == "differs").any() or rows_off(run):
        return "differs"
    return "equal" if checks else "unchecked"


def rows_off(run: RunResult) -> int:
    """How many rows more or fewer than were appended the table has at the end of a finished run.

    0 where that is not known: data files of a stream with deletes may hold deleted rows, and Hudi's log files
    hold rows, also those of a stream that only appends to a table with a bucket index.
    """
    observed = run.of(ObserveRecord)
    rows, delete_files = (observed.column(name)[-1:] for name in ("rows", "delete_files_count"))
    if run.manifest.is_cdc or not run.finished or not len(rows) or np.isnan(rows[0]) or delete_files[0]:
        return 0
    return int(rows[0]) - int(run.of(CommitRecord).having(status="ok").column("rows").sum())


def is_disturbing(cores: float) -> bool:
    """Whether other processes that used so many cores disturbed a run."""
    return cores > _DISTURBED_ABOVE_CORES


def slowdown(rows: Iterable[Row]) -> float | None:
    """How much longer the fixed work took in the slowest run than in the fastest, as a share of the latter.

    None where no run timed it.
    """
    works_s = [work_s for row in rows for work_s in row.run_values[FIXED_WORK] if work_s is not None]
    return max(works_s) / min(works_s) - 1 if works_s else None


def usable(run: RunResult) -> bool:
    """Whether the figures of a run may be used: it finished, no content check failed, it was not replaced."""
    return run.finished and run.replaced is None and content_of(run) != "differs"


def timed(run: RunResult) -> bool:
    """Whether a run is usable and was not checked after every compaction, which distorts timings."""
    return usable(run) and run.end is not None and not run.end.timings_invalid


def run_figures(run: RunResult, content_bytes: int | None = None) -> dict[str, float | None]:
    """Every metric of one run; timings are None for a run that was checked after every compaction.

    `content_bytes` is the `common_content_bytes` of all runs that it is compared with; by default its own.
    `break_even_queries_per_h` needs the runs of `never` and is None here.
    """
    shared_bytes = common_content_bytes([run]) if content_bytes is None else content_bytes
    selected = fig.figures(run, shared_bytes)
    timings_invalid = run.end is not None and run.end.timings_invalid
    return {m.name: None if timings_invalid and not m.exact else m.of_run(selected) for m in METRICS}


def rows(runs: Iterable[RunResult]) -> tuple[Row, ...]:
    """One row per scenario, workload, mode and strategy, in the order of the scenario's strategies.

    Each strategy comes before its variants. Strategies without a `strategy_index` come first, in the order in
    which they started.

    Raises ResultSchemaError if runs of one row differ in definition or stream, or runs of one variant in
    format.
    """
    runs = tuple(runs)
    groups: dict[tuple[str, str, str], dict[str, list[RunResult]]] = {}
    for run in sorted(runs, key=_position):  # the order of rows
        groups.setdefault(run.manifest.group_key, {})[run.manifest.strategy] = []
    for run in runs:
        groups[run.manifest.group_key][run.manifest.strategy].append(run)
    return tuple(row for by_strategy in groups.values() for row in _comparable(by_strategy))


def _position(run: RunResult) -> tuple[str, int, str, int]:
    m = run.manifest
    return m.scenario, -1 if m.strategy_index is None else m.strategy_index, m.suite_id, m.position


def _comparable(by_strategy: Mapping[str, Sequence[RunResult]]) -> list[Row]:
    """The rows of one scenario, workload and mode, which share content bytes and baselines."""
    runs = [run for of_strategy in by_strategy.values() for run in of_strategy]
    check_one_format(runs)
    content_bytes = common_content_bytes(run for run in runs if usable(run))
    rows_by_label = {label: _row(of_label, content_bytes) for label, of_label in by_strategy.items()}
    lasted_ms = runs[0].manifest.lasted_ms
    return [
        _with_break_even(row, rows_by_label.get(row.baseline), lasted_ms) for row in rows_by_label.values()
    ]


def _row(runs: Sequence[RunResult], content_bytes: int | None) -> Row:
    check_pooled(runs, Strictness.ON_REQUEST)
    used = sorted((run for run in runs if usable(run)), key=lambda run: run.manifest.repetition)
    done = {run.repetition_key for run in used}
    kept = [run for run in runs if run.replaced is None]
    per_run = [run_figures(run, content_bytes) for run in used]
    run_values = {metric.name: tuple(values[metric.name] for values in per_run) for metric in METRICS}
    m = runs[0].manifest
    row = Row(
        m.scenario, m.workload, m.format, m.mode, m.strategy,
        variant=m.variant_label,
        currency=m.currency,
        speed=m.speed if m.is_live else None,
        delete_words=m.delete_words,
        runs=len(used),
        failed=len({run.repetition_key for run in kept if run.end is not None} - done),
        interrupted=len({run.repetition_key for run in kept if run.end is None} - done),
        replaced=tuple(run.replaced for run in runs if run.replaced is not None),
        timings_invalid=sum(run.end is not None and run.end.timings_invalid for run in used),
        content=_content(runs, used),
        repetitions=tuple(run.manifest.repetition for run in used),
        values={name: mean_of_known(values) for name, values in run_values.items()},
        run_values=run_values,
        probes=_probes(used, content_bytes),
    )  # fmt: skip
    for run in used:
        run.records.release()
    return row


def _content(runs: Sequence[RunResult], used: Sequence[RunResult]) -> ContentStatus:
    """A run whose content differs is never outweighed by a later one."""
    if any(content_of(run) == "differs" for run in runs):
        return "differs"
    return "equal" if used and all(content_of(run) == "equal" for run in used) else "unchecked"


def _probes(runs: Sequence[RunResult], content_bytes: int | None) -> dict[str, dict[str, float | None]]:
    by_probe: dict[str, list[dict[str, float | None]]] = {}
    for run in filter(timed, runs):
        queries = fig.queries_of(run)
        for name in dict.fromkeys(queries.column("probe").tolist()):
            of_probe = queries.having(probe=name)
            by_probe.setdefault(name, []).append(_probe(run, of_probe, content_bytes))
    return {
        name: {figure: mean_of_known(values[figure] for values in per_run) for figure in per_run[0]}
        for name, per_run in by_probe.items()
    }


def _probe(
    run: RunResult, queries: Records[QueryRecord], content_bytes: int | None
) -> dict[str, float | None]:
    settled = settled_of(queries)
    walls, mean = latencies_s(settled), over_time(run, queries)
    return {
        "query_mean_s": mean.wall_s,
        "query_probed_mean_s": probed_mean_s(run.manifest, settled),
        "query_p50_s": percentile(walls, 50),
        "query_p95_s": percentile(walls, 95),
        "query_max_s": highest(walls),
        "query_after_commit_s": over_time(run, queries, "after_commit").wall_s,
        "planning_mean_s": mean.mean("planning_s"),
        "execution_mean_s": mean.mean("execution_s"),
        "files_mean": mean.mean("files_count"),
        "delete_files_mean": mean.mean("delete_files_count"),
        "opened_bytes_mean": mean.mean("opened_bytes"),
        "opened_share": opened_share(run, queries, mean),
        "read_amplification": read_amplification(run, mean, content_bytes),
    }


def common_delete_words(of_rows: Sequence[Row]) -> tuple[str, str]:
    """The words of the rows' formats for delete files and their rows; the general words if they differ."""
    words = {row.delete_words for row in of_rows}
    return words.pop() if len(words) == 1 else DELETE_WORDS


def in_delete_words(text: str, words: tuple[str, str]) -> str:
    """The text with these words instead of the general `DELETE_WORDS`, capitalised as they were."""
    for general, word in zip(DELETE_WORDS, words, strict=True):
        text = text.replace(general, word).replace(general.capitalize(), word.capitalize())
    return text


def _with_break_even(row: Row, baseline: Row | None, lasted_ms: int) -> Row:
    """The row with `break_even_queries_per_h`: None without a baseline or without a compaction."""
    if baseline is None or row is baseline:
        return row

    def break_even(values: Mapping[str, float | None]) -> float | None:
        if not values["compactions"]:
            return None
        cost_s, baseline_cost_s = values["total_cpu_s"], baseline.values["total_cpu_s"]
        extra_s = None if cost_s is None or baseline_cost_s is None else cost_s - baseline_cost_s
        return break_even_queries_per_h(
            extra_s, values["query_cpu_s"], baseline.values["query_cpu_s"], lasted_ms
        )

    per_run = [
        break_even({name: values[index] for name, values in row.run_values.items()})
        for index in range(row.runs)
    ]
    return replace(
        row,
        values={**row.values, BREAK_EVEN: break_even(row.values)},
        run_values={**row.run_values, BREAK_EVEN: tuple(per_run)},
    )
