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
from bench.results.agreement import Pair, side_by_side
from bench.results.folders import RunResult, load_runs
from bench.results.records import CompactionRecord, DecisionRecord
from bench.results.rows import METRIC_BY_NAME, Row, rows
from reports.text import format_value

# What the table shows of the metrics, under headings short enough for a terminal.
HEADINGS = {
    "compactions": "rounds",
    "compaction_cpu_s": "CPU",
    "query_mean_s": "query",
    "query_before_s": "before",
    "query_after_s": "after",
    "write_amplification": "write",
    "space_amplification": "space",
    "files_end": "files",
}
# The same for figures that many scenarios have none of: a column is there where some strategy has one.
MORE_HEADINGS = {
    "delete_files_mean": "deletes",
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
# Left out of a table for people, not of JSON and CSV, where no line has anything in them.
RARE_COLUMNS = frozenset({"figures", "kind", "deletes_before", "deletes_after", "delete_rows_after"})


MODELLED = "simulated rows: nothing was measured, seconds follow from a model's coefficients"


class Output(StrEnum):
    """How `show` prints."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


def show(
    results: ResultsArgument,
    output: Annotated[
        Output, typer.Option("--format", help="A table to read, JSON or CSV to process.")
    ] = Output.TABLE,
    decisions: Annotated[
        bool, typer.Option("--decisions", help="Every look at every rule: what was decided, and why.")
    ] = False,
    compactions: Annotated[
        bool,
        typer.Option("--compactions", help="Every compaction: files, bytes, seconds, probe around it."),
    ] = False,
    beside: Annotated[
        bool,
        typer.Option("--side-by-side", help="What real and simulated runs of one strategy decided and did."),
    ] = False,
) -> None:
    """Show the figures: a row per scenario, workload, format, mode and strategy, means over its runs.

    * `compactbench show results`

    * `compactbench show results --format json`

    * `compactbench show results --compactions`

    * `compactbench show results --side-by-side`

    In the table: rounds of compaction that committed, their process CPU, the primary probe's mean
    latency at its cadence and just before and after a round, write and space amplification, live files
    at the end. Of a stream of changes also the delete files live after a commit and their rows, and the
    health score where a planner reports one, all means. JSON and CSV have every metric by its name;
    `compactbench list metrics` explains them.
    """
    if decisions + compactions + beside > 1:
        raise ScenarioError("--decisions --compactions --side-by-side: ask for one table at a time")
    runs = load_runs(*results)
    if decisions:
        _print(output, DECISION_COLUMNS, [_decision(run, r) for run in runs for r in run.of(DecisionRecord)])
    elif compactions:
        lines = [_compaction(run, r) for run in runs for r in run.of(CompactionRecord)]
        _print(output, COMPACTION_COLUMNS, lines)
    elif beside:
        _print_pairs(side_by_side(runs), output)
    else:
        print_rows(rows(runs), output)


def print_rows(found: Sequence[Row], output: Output = Output.TABLE) -> None:
    """Print metric rows; what is missing from a row's runs is said below the table."""
    if output is Output.JSON:
        print_json({"rows": [row.to_json() for row in found]})
    elif output is Output.CSV:
        flat = [{k: v for k, v in row.to_json().items() if k not in NESTED} for row in found]
        _print_csv(tuple(flat[0]), [tuple(line.values()) for line in flat])
    else:
        for place, group in groupby(found, key=_place):
            OUT.print(place, style="bold", markup=False, highlight=False)
            _print_rows(tuple(group))
        for row in found:
            _print_remarks(row)
        if any(row.mode == "simulated" for row in found):
            ERR.print(MODELLED, markup=False, highlight=False)


def _print_pairs(pairs: Sequence[Pair], output: Output) -> None:
    if output is not Output.TABLE:
        _print(output, COLUMNS, [full_line(pair) for pair in pairs])
        return
    for scenario, group in groupby(pairs, key=lambda pair: pair.scenario):
        looks = tuple(group)
        OUT.print(scenario, style="bold", markup=False, highlight=False)
        _print(output, TABLE_COLUMNS, [table_line(pair) for pair in looks if has_effect_or_differs(pair)])
        for told in agreements(looks):
            OUT.print(told, markup=False, highlight=False, soft_wrap=True)


def _place(row: Row) -> str:
    return f"{row.scenario}: {row.workload} on {row.format}, {row.mode}"


def _print_rows(found: Sequence[Row]) -> None:
    more = {
        name: heading
        for name, heading in MORE_HEADINGS.items()
        if any(row.values[name] is not None for row in found)
    }
    headings = HEADINGS | more
    print_table(
        ("strategy", "runs", *headings.values(), "content"), (_row_cells(row, headings) for row in found)
    )


def _row_cells(row: Row, names: Iterable[str]) -> tuple[str, ...]:
    figures = (format_value(METRIC_BY_NAME[name].unit, row.values[name]) for name in names)
    return (row.strategy, str(row.runs), *figures, row.content)


def _print_remarks(row: Row) -> None:
    for told in filter(None, (gaps(row), _failures(row))):
        ERR.print(f"{row.scenario}, {row.strategy}: {told}", markup=False, highlight=False)


def _failures(row: Row) -> str:
    """The compactions that failed, in words; empty where there are none."""
    count = row.values["failed_compactions"]
    return f"{count:g} compactions a run failed or were vetoed; --compactions has the errors" if count else ""


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


def _print(output: Output, columns: Sequence[str], lines: Sequence[Sequence[Any]]) -> None:
    if output is Output.JSON:
        print_json({"rows": [dict(zip(columns, line, strict=True)) for line in lines]})
    elif output is Output.CSV:
        _print_csv(columns, [[_plain(value) for value in line] for line in lines])
    else:
        told = [
            column not in RARE_COLUMNS or any(line[i] for line in lines) for i, column in enumerate(columns)
        ]
        kept = [index for index, is_told in enumerate(told) if is_told]
        print_table(
            [columns[index] for index in kept],
            ([_cell(columns[index], line[index]) for index in kept] for line in lines),
        )


def _plain(value: Any) -> Any:
    """Figures a planner reported as one text: health_score=71, ..."""
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
