"""`compactbench show`: the figures of result folders, as a table or for programs."""

import csv
import sys
from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import groupby
from typing import Annotated, Any

import typer

from bench.cli.output import ERR, OUT, print_json, print_table
from bench.cli.results_argument import ResultsArgument, gaps
from bench.cli.side_by_side import (
    COLUMNS,
    TABLE_COLUMNS,
    agreements,
    full_line,
    has_effect_or_differs,
    table_line,
)
from bench.errors import ScenarioError
from bench.results.agreement import Pair
from bench.results.agreement import side_by_side as pairs
from bench.results.folders import RunResult, load_runs
from bench.results.records import CompactionRecord, DecisionRecord
from bench.results.rows import METRIC_BY_NAME, Row, rows
from reports.text import format_value

# The metrics in the table, under headings short enough for a terminal.
HEADINGS = {
    "compactions": "compactions",
    "compaction_cpu_s": "comp. CPU",
    "query_mean_s": "query",
    "query_before_s": "q. before",
    "query_after_s": "q. after",
    "write_amplification": "write amp.",
    "space_amplification": "space amp.",
    "files_end": "files",
}
# The same for metrics that many scenarios do not have: shown if any strategy has a value.
MORE_HEADINGS = {
    "delete_files_mean": "del. files",
    "delete_rows_mean": "del. rows",
    "health_mean": "health",
}
NESTED = ("run_values", "probes", "repetitions")
DECISION_COLUMNS = (
    "run", "tick", "at_ms", "strategy", "rule", "trigger", "planner", "verdict", "reason", "detail",
    "actions", "figures",
)  # fmt: skip
COMPACTION_COLUMNS = (
    "run", "tick", "status", "kind", "reason", "files_before", "files_after", "deletes_before",
    "deletes_after", "delete_rows_after", "bytes_before", "bytes_after", "wall_s", "cpu_s", "query_before_s",
    "query_after_s", "replaced_bytes", "added_bytes", "error",
)  # fmt: skip
# Left out of the table if they are empty in every line. JSON and CSV always have them.
RARE_COLUMNS = frozenset({"figures", "kind", "deletes_before", "deletes_after", "delete_rows_after"})


MODELLED = "simulated rows: nothing was measured, all times come from a cost model"


class ShowFormat(StrEnum):
    """How `show` prints its rows."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


def show(
    results: ResultsArgument,
    output: Annotated[
        ShowFormat, typer.Option("--format", help="A table for people, JSON or CSV for programs.")
    ] = ShowFormat.TABLE,
    decisions: Annotated[
        bool, typer.Option("--decisions", help="Every evaluation of every rule: the decision and the reason.")
    ] = False,
    compactions: Annotated[
        bool,
        typer.Option(
            "--compactions", help="Every compaction: files, bytes, seconds, and queries before and after."
        ),
    ] = False,
    side_by_side: Annotated[
        bool,
        typer.Option(
            "--side-by-side", help="Decisions and compactions of real runs beside those of simulated runs."
        ),
    ] = False,
) -> None:
    """Show the figures: one row per scenario, workload, format, mode and strategy, with means over its runs.

    * `compactbench show results`

    * `compactbench show results --format json`

    * `compactbench show results --compactions`

    * `compactbench show results --side-by-side`

    The table has the number of compactions that committed, the process CPU of all compactions, the mean
    latency of the primary query over time and just before and after a compaction, write and space
    amplification, and the live files at the end. For CDC streams, also the mean number of live delete files
    after a commit and of their rows, and the mean health score where a planner reports one. JSON and CSV have
    every metric by its name; `compactbench list metrics` explains them.
    """
    if decisions + compactions + side_by_side > 1:
        raise ScenarioError("--decisions, --compactions, --side-by-side: give only one of them")
    runs = load_runs(*results)
    if decisions:
        _print(output, DECISION_COLUMNS, [_decision(run, r) for run in runs for r in run.of(DecisionRecord)])
    elif compactions:
        lines = [_compaction(run, r) for run in runs for r in run.of(CompactionRecord)]
        _print(output, COMPACTION_COLUMNS, lines)
    elif side_by_side:
        _print_pairs(pairs(runs), output)
    else:
        print_rows(rows(runs), output)


def print_rows(metric_rows: Sequence[Row], output: ShowFormat = ShowFormat.TABLE) -> None:
    """Print metric rows; below the table, the runs missing from a row and the compactions that failed."""
    if output is ShowFormat.JSON:
        print_json({"rows": [row.to_json() for row in metric_rows]})
    elif output is ShowFormat.CSV:
        flat = [{k: v for k, v in row.to_json().items() if k not in NESTED} for row in metric_rows]
        _print_csv(tuple(flat[0]), [tuple(line.values()) for line in flat])
    else:
        for place, group in groupby(metric_rows, key=_place):
            OUT.print(place, style="bold", markup=False, highlight=False)
            _print_rows(tuple(group))
        for row in metric_rows:
            _print_remarks(row)
        if any(row.mode == "simulated" for row in metric_rows):
            ERR.print(MODELLED, markup=False, highlight=False)


def _print_pairs(evaluations: Sequence[Pair], output: ShowFormat) -> None:
    if output is not ShowFormat.TABLE:
        _print(output, COLUMNS, [full_line(pair) for pair in evaluations])
        return
    for scenario, group in groupby(evaluations, key=lambda pair: pair.scenario):
        of_scenario = tuple(group)
        OUT.print(scenario, style="bold", markup=False, highlight=False)
        lines = [table_line(pair) for pair in of_scenario if has_effect_or_differs(pair)]
        _print(output, TABLE_COLUMNS, lines)
        for summary in agreements(of_scenario):
            OUT.print(summary, markup=False, highlight=False, soft_wrap=True)


def _place(row: Row) -> str:
    return f"{row.scenario}: {row.workload} on {row.format}, {row.mode}"


def _print_rows(group: Sequence[Row]) -> None:
    more = {
        name: heading
        for name, heading in MORE_HEADINGS.items()
        if any(row.values[name] is not None for row in group)
    }
    headings = HEADINGS | more
    print_table(
        ("strategy", "runs", *headings.values(), "content"), (_row_cells(row, headings) for row in group)
    )


def _row_cells(row: Row, names: Iterable[str]) -> tuple[str, ...]:
    figures = (format_value(METRIC_BY_NAME[name].unit, row.values[name]) for name in names)
    return (row.strategy, str(row.runs), *figures, row.content)


def _print_remarks(row: Row) -> None:
    for remark in filter(None, (gaps(row), _failures(row))):
        ERR.print(f"{row.scenario}, {row.strategy}: {remark}", markup=False, highlight=False)


def _failures(row: Row) -> str:
    """The compactions that failed, in words; empty if there are none."""
    count = row.values["failed_compactions"]
    return (
        f"{count:g} compactions per run failed or were vetoed; --compactions shows the errors"
        if count
        else ""
    )


def _run_name(run: RunResult) -> str:
    m = run.manifest
    simulated = " (simulated)" if m.mode == "simulated" else ""
    return f"{m.scenario} {m.strategy} #{m.repetition}{simulated}"


def _decision(run: RunResult, record: DecisionRecord) -> tuple[Any, ...]:
    return (
        _run_name(run), record.tick, record.at_ms, record.strategy, record.rule, record.trigger,
        record.planner, record.status, record.reason, record.detail, "; ".join(record.actions),
        record.figures,
    )  # fmt: skip


def _compaction(run: RunResult, record: CompactionRecord) -> tuple[Any, ...]:
    return (
        _run_name(run), record.tick, record.status, record.plan_kind, record.reason,
        record.files_before_count, record.files_after_count, record.delete_files_before_count,
        record.delete_files_after_count, record.delete_rows_after, record.live_before_bytes,
        record.live_after_bytes, record.wall_s,
        record.cpu_s, record.query_before_s, record.query_after_s, record.replaced_bytes,
        record.added_bytes, record.error,
    )  # fmt: skip


def _print(output: ShowFormat, columns: Sequence[str], lines: Sequence[Sequence[Any]]) -> None:
    if output is ShowFormat.JSON:
        print_json({"rows": [dict(zip(columns, line, strict=True)) for line in lines]})
    elif output is ShowFormat.CSV:
        _print_csv(columns, [[_plain(value) for value in line] for line in lines])
    else:
        kept = [
            index
            for index, column in enumerate(columns)
            if column not in RARE_COLUMNS or any(line[index] for line in lines)
        ]
        print_table(
            [columns[index] for index in kept],
            ([_cell(columns[index], line[index]) for index in kept] for line in lines),
        )


def _plain(value: Any) -> Any:
    """The value; the figures of a planner as one text: "health_score=71, ..."."""
    return ", ".join(f"{name}={part:g}" for name, part in value.items()) if isinstance(value, dict) else value


def _cell(column: str, value: Any) -> str:
    if column.endswith("_s"):
        return format_value("s", value)
    if "bytes" in column:
        return format_value("bytes", value)
    return "" if value is None else str(_plain(value))


def _print_csv(columns: Sequence[str], lines: Iterable[Sequence[Any]]) -> None:
    writer = csv.writer(sys.stdout)
    writer.writerow(columns)
    writer.writerows(lines)
