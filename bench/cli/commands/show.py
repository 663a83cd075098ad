"""`compactbench show`: the figures of result folders, as a table or for programs."""

import csv
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import Annotated, Any, Literal

import typer

from bench.cli.figure_column import scale_of
from bench.cli.output import (
    print_heading,
    print_json,
    print_line,
    print_remark,
    print_table,
    print_tables,
)
from bench.cli.record_tables import (
    COMPACTION_FIELDS,
    DECISION_FIELDS,
    Field,
    compaction_line,
    decision_line,
    plain,
    record_table,
)
from bench.cli.results_argument import ResultsArgument, gaps, readable_runs
from bench.cli.side_by_side import (
    COLUMNS,
    TABLE_COLUMNS,
    agreements,
    full_line,
    has_effect_or_differs,
    table_line,
)
from bench.cli.tables import Column
from bench.errors import ScenarioError
from bench.results.agreement import Pair
from bench.results.agreement import side_by_side as pairs
from bench.results.folders import RunResult
from bench.results.records import DELETE_WORDS, QUICK_WORDS, CompactionRecord, DecisionRecord
from bench.results.rows import METRIC_BY_NAME, Row, common_delete_words, rows
from bench.text import counted, named_once
from reports.data.spreadsheets import formula_safe

RETURNED = "commit_returned_p95_s"  # shown where commits compact by themselves, so that callers wait
NESTED = ("run_values", "probes", "repetitions")
MODELLED = "simulated rows: nothing was measured, all times come from a cost model"


@dataclass(frozen=True, slots=True)
class Figure:
    """A metric of the table: its heading, and when it is left out (see `Column`)."""

    metric: str
    title: str
    drop: int | None = None
    shown: Literal["always", "if any", "if varied"] = "always"

    @property
    def quantity(self) -> str:
        """Figures of one quantity share their unit, so that their columns can be compared."""
        return self.metric.split("_")[0]


FIGURES = (
    Figure("compactions", "compactions", 8),
    Figure("compaction_cpu_s", "CPU"),
    Figure("money_per_day", "cost per day", 11, "if any"),
    Figure("jit_share", "JIT", 5, "if any"),
    Figure("query_mean_s", "query mean"),
    Figure("query_after_commit_s", "query after commit", 9, "if any"),
    Figure("query_before_s", "query before", 4, "if any"),
    Figure("query_after_s", "query after", 1, "if any"),
    Figure("write_amplification", "bytes written", 6),
    Figure("space_amplification", "space used", 7),
    Figure("delete_files_mean", DELETE_WORDS[0], 10, "if any"),
    Figure("delete_rows_mean", DELETE_WORDS[1], 2, "if any"),
    Figure("health_mean", "health", 3, "if any"),
    Figure("staleness_mean_s", "age of rows", 12, "if varied"),
    Figure(RETURNED, "commit returned p95", 13),
    Figure("files_end", "files"),
)


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
    """Show the figures: one row per scenario, workload, mode and strategy, with means over its runs.

    * `compactbench show`

    * `compactbench show results/quickstart --compactions`

    * `compactbench show results --format csv > figures.csv`

    The columns: **compactions** that committed; **CPU** of all compactions, the **cost per day** where the
    scenario has `[prices]`, and the share of the CPU that Java's compiler (**JIT**) took; latency of the
    primary query: the **mean** over time, just **after** each **commit**, just **before** and **after** each
    compaction; **bytes written** (by stream and compaction) and **space used** (on storage, with old
    snapshots) as multiples of what the table holds; live **files** at the end.

    Streams with deletes also have the mean number of live **delete files** and of their **deleted rows** (in
    the words of the format: deletion vectors, or log files and their records), and
    a planner's mean **health** score. An unknown figure is a dash. What is the same for all rows, such as the
    number of runs, is said above the table. Where commits compact by themselves, the 95th percentile of the
    time until a **commit returned** is a column, too.

    Where the terminal is too narrow, these are left out, in this order: query after, deleted rows, health,
    query before, JIT, bytes written, space used, compactions, query after commit, delete files, cost per day,
    commit returned.

    JSON and CSV have every metric by its name; `compactbench list metrics` explains them.
    """
    if decisions + compactions + side_by_side > 1:
        raise ScenarioError("--decisions, --compactions, --side-by-side: give only one of them")
    with readable_runs(results) as runs:
        if decisions:
            lines = [(run, decision_line(record)) for run in runs for record in run.of(DecisionRecord)]
            _print_records(output, DECISION_FIELDS, lines, "no strategy was evaluated in these runs")
        elif compactions:
            lines = [(run, compaction_line(record)) for run in runs for record in run.of(CompactionRecord)]
            _print_records(output, COMPACTION_FIELDS, lines, "no compaction ran in these runs")
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
        by_place = groupby(metric_rows, key=_place)
        print_tables(_table(tuple(group)) for _, group in by_place)
        for row in metric_rows:
            _print_remarks(row)
        if any(row.mode == "simulated" for row in metric_rows):
            print_remark(MODELLED)
        if any(row.is_quick for row in metric_rows):
            print_remark(QUICK_WORDS)


def _print_pairs(evaluations: Sequence[Pair], output: ShowFormat) -> None:
    if output is not ShowFormat.TABLE:
        _print_lines(output, COLUMNS, [full_line(pair) for pair in evaluations])
        return
    for scenario, group in groupby(evaluations, key=lambda pair: pair.scenario):
        of_scenario = tuple(group)
        print_heading(scenario)
        print_table(TABLE_COLUMNS, [table_line(pair) for pair in of_scenario if has_effect_or_differs(pair)])
        for summary in agreements(of_scenario):
            print_line(summary)


def _place(row: Row) -> tuple[str, ...]:
    return (row.scenario, row.workload, row.mode)


def _heading(group: Sequence[Row]) -> str:
    """What all rows have in common; a variant may be of another format."""
    row, formats = group[0], named_once(row.format for row in group)
    return "; ".join((f"{row.scenario}: {row.workload} on {formats}, {row.mode}", *_in_common(group)))


def _table(group: Sequence[Row]) -> tuple[str, list[Column], list[tuple[str, ...]]]:
    """Heading, columns and rows of one scenario, workload and mode."""
    words = dict(zip(DELETE_WORDS, common_delete_words(group), strict=True))
    waits = any(row.commits_wait for row in group)
    figures = [f for f in FIGURES if f.metric in METRIC_BY_NAME and (waits or f.metric != RETURNED)]
    columns = [Column("strategy"), Column("runs", shown="if varied")]
    cells = [[row.strategy for row in group], [str(row.runs) for row in group]]
    for figure in figures:
        unit = METRIC_BY_NAME[figure.metric].unit
        alike = [
            other.metric
            for other in figures
            if (other.quantity, METRIC_BY_NAME[other.metric].unit) == (figure.quantity, unit)
        ]
        scale = scale_of(unit, (row.values[name] for row in group for name in alike))
        heading = group[0].currency if unit == "money" else scale.unit
        title = words.get(figure.title, figure.title)
        columns.append(Column(title, heading, figure.drop, figure.shown))
        cells.append(scale.cells(row.values[figure.metric] for row in group))
    columns.append(Column("content", shown="if varied"))
    cells.append([row.content for row in group])
    return _heading(group), columns, list(zip(*cells, strict=True))


def _in_common(group: Sequence[Row]) -> Iterable[str]:
    runs, contents = {row.runs for row in group}, {row.content for row in group}
    if len(runs) == 1:
        yield counted(runs.pop(), "run") + (" each" if len(group) > 1 else "")
    if len(contents) == 1:
        yield f"content {_CONTENT[contents.pop()]}"


_CONTENT = {
    "equal": "equal to the stream's", "differs": "DIFFERS from the stream's", "unchecked": "unchecked",
}  # fmt: skip


def _print_remarks(row: Row) -> None:
    for remark in filter(None, (gaps(row), _failures(row))):
        print_remark(f"{row.scenario}, {row.strategy}: {remark}")


def _failures(row: Row) -> str:
    """The compactions that failed, in words; empty if there are none."""
    count = row.values["failed_compactions"]
    if not count:
        return ""
    what = "compaction per run failed or was" if count == 1 else "compactions per run failed or were"
    return f"{count:g} {what} vetoed; --compactions shows the errors"


def _run_name(run: RunResult) -> str:
    m = run.manifest
    mark = " (simulated)" if m.mode == "simulated" else " (quick)" if m.is_quick else ""
    return f"{m.scenario} {m.strategy} #{m.repetition}{mark}"


def _print_records(
    output: ShowFormat,
    fields: Sequence[Field],
    lines: Sequence[tuple[RunResult, tuple[Any, ...]]],
    nothing: str,
) -> None:
    """Records for programs in one list; for people in one table per run, or `nothing` if there are none."""
    if output is not ShowFormat.TABLE:
        columns = ("run", *(field.name for field in fields))
        _print_lines(output, columns, [(_run_name(run), *line) for run, line in lines])
        return
    if not lines:
        print_line(nothing)
    print_tables(_record_tables(fields, lines))


def _record_tables(
    fields: Sequence[Field], lines: Sequence[tuple[RunResult, tuple[Any, ...]]]
) -> Iterator[tuple[str, list[Column], list[tuple[str, ...]]]]:
    for name, group in groupby(lines, key=lambda line: _run_name(line[0])):
        runs, of_run = zip(*group, strict=True)
        yield name, *record_table(fields, of_run, runs[0].manifest.delete_words)


def _print_lines(output: ShowFormat, columns: Sequence[str], lines: Sequence[Sequence[Any]]) -> None:
    if output is ShowFormat.JSON:
        print_json({"rows": [dict(zip(columns, line, strict=True)) for line in lines]})
    else:
        _print_csv(columns, [[plain(value) for value in line] for line in lines])


def _print_csv(columns: Sequence[str], lines: Iterable[Sequence[Any]]) -> None:
    writer = csv.writer(sys.stdout)
    writer.writerow(columns)
    writer.writerows([formula_safe(value) for value in line] for line in lines)
