"""`compactbench show`: the figures of result folders, as a table or for programs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Literal

import typer

from bench.cli.answer_output import print_answers
from bench.cli.arguments import ResultsArgument, readable_runs
from bench.cli.figure_table import MARKED_WORDS, Field, figure_table, marked, plain
from bench.cli.output import (
    print_csv,
    print_json,
    print_line,
    print_paragraph,
    print_remark,
    print_tables,
)
from bench.cli.record_tables import (
    COMPACTION_FIELDS,
    DECISION_FIELDS,
    compaction_line,
    decision_line,
    decision_table,
)
from bench.cli.tables import Column
from bench.errors import ScenarioError
from bench.results.folders import RunResult
from bench.results.metrics import METRIC_BY_NAME
from bench.results.query_effect import query_effects
from bench.results.records import DELETE_WORDS, DecisionRecord
from bench.results.remarks import absences, disturbance, gaps, not_read, uneven_speed
from bench.results.rows import Row
from bench.text import counted, named_once, pace_text
from reports.data.group import RunGroup, run_groups

RETURNED = "commit_returned_p95_s"  # shown where commits compact by themselves, so that callers wait
FIGURES = (
    Field("compactions", Column("compactions", drop=8)),
    Field("lost_compactions", Column("lost", drop=14, shown="if any")),
    Field("compaction_cpu_s", Column("CPU")),
    Field("money_per_day", Column("cost per day", drop=11, shown="if any")),
    Field("jit_share", Column("JIT", drop=5, shown="if any")),
    Field("query_mean_s", Column("query mean")),
    Field("query_after_commit_s", Column("query after commit", drop=9, shown="if any")),
    Field("query_before_s", Column("query before", drop=4, shown="if any")),
    Field("query_after_s", Column("query after", drop=1, shown="if any")),
    Field("write_amplification", Column("bytes written", drop=6)),
    Field("space_amplification", Column("space used", drop=7)),
    Field("delete_files_mean", Column(DELETE_WORDS[0], drop=10, shown="if any")),
    Field("delete_rows_mean", Column(DELETE_WORDS[1], drop=2, shown="if any")),
    Field("health_mean", Column("health", drop=3, shown="if any")),
    Field("staleness_mean_s", Column("age of rows", drop=12, shown="if varied")),
    Field(RETURNED, Column("commit returned p95", drop=13)),
    Field("commit_since_due_p95_s", Column("commit since due p95", drop=16, shown="if any")),
    Field("redone_commits", Column("commits redone", drop=15, shown="if any")),
    Field("files_end", Column("files")),
)  # the unit of each is its metric's, and its quantity the first word of its name


ShowFormat = Literal["table", "json", "csv"]


def show(
    results: ResultsArgument,
    output: Annotated[
        ShowFormat, typer.Option("--format", help="A table for people, JSON or CSV for programs.")
    ] = "table",
    decisions: Annotated[
        bool, typer.Option("--decisions", help="Every evaluation of every rule: the decision and the reason.")
    ] = False,
    compactions: Annotated[
        bool,
        typer.Option(
            "--compactions", help="Every compaction: files, bytes, seconds, and queries before and after."
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

    Streams with deletes also have the mean number of live **delete files** and of their **deleted rows**
    (Delta: deletion vectors, Hudi: log files and their records), and a planner's mean **health** score. If
    commits compact by themselves, **commit returned** is the 95th percentile of the time until a commit
    returned. If writers keep rows back, **age of rows** is that of the newest rows in the table. With a real
    clock there are the compactions **lost** to other commits, the **commits redone** and the 95th percentile
    of the time from when a commit was due (**commit since due**).

    An unknown figure is a dash; a tilde marks seconds of a simulation on which there is no verdict, because
    the cost model does not cover it. Values that all rows share, such as the number of runs, are in the
    heading. Columns that do not fit into the terminal are named below the table.

    JSON and CSV have every metric by its name; `compactbench list metrics` explains them.
    """
    if decisions and compactions:
        raise ScenarioError("give only one of them", code="exclusive", path="--decisions, --compactions")
    with readable_runs(results) as runs:
        if decisions:
            records = [(run, list(map(decision_line, run.of(DecisionRecord)))) for run in runs]
            nothing = "no strategy was evaluated in these runs"
            _print_records(output, DECISION_FIELDS, records, decision_table, nothing)
        elif compactions:
            records = [(run, list(map(compaction_line, query_effects(run)))) for run in runs]
            table = partial(figure_table, COMPACTION_FIELDS)
            _print_records(output, COMPACTION_FIELDS, records, table, "no compaction ran in these runs")
        else:
            unread = tuple(not_read(results)) if output == "json" else ()
            groups = run_groups(runs)
            print_rows(groups, output, tuple(absences(runs)), unread)
            if output == "table":
                print_answers(groups)


def print_rows(
    groups: Sequence[RunGroup],
    output: ShowFormat = "table",
    absent: Sequence[str] = (),
    unread: Sequence[str] = (),
) -> None:
    """Print metric rows; below the table, the runs missing from them and the compactions that failed."""
    metric_rows = [(group, row) for group in groups for row in group.rows]
    if output == "json":
        lines = [{**row.to_json(), "without_verdict": _reasons(group, row)} for group, row in metric_rows]
        print_json({"rows": lines, "absent": absent, "not_read": unread})
    elif output == "csv":
        flat = [
            {**row.to_flat(), "without_verdict": " ".join(_reasons(group, row))} for group, row in metric_rows
        ]
        print_csv(tuple(flat[0]), [tuple(line.values()) for line in flat])
    else:
        print_tables(map(_table, groups))
        if any(_reasons(group, row) for group, row in metric_rows):
            print_paragraph(MARKED_WORDS)
        for _, row in metric_rows:
            for remark in filter(None, (gaps(row), disturbance(row), _failures(row))):
                print_remark(f"{row.scenario}, {row.strategy}: {remark}")
        for group in groups:
            if remark := uneven_speed(group.rows):
                print_remark(f"{group.rows[0].scenario}: {remark}")
        for remark in absent:
            print_remark(remark)


def _reasons(group: RunGroup, row: Row) -> Mapping[str, str]:
    """Why figures of a row get no verdict, by metric."""
    if not group.is_simulated:
        return {}
    from reports.verdicts.unmodelled import without_verdict  # loads SciPy

    return without_verdict(group, row.strategy)


def _heading(rows: Sequence[Row]) -> str:
    """The place, and what all rows have in common."""
    row, formats = rows[0], named_once(row.format for row in rows)
    parts = [f"{row.scenario}: {row.workload} on {formats}, {row.mode}"]
    if row.speed is not None:
        parts.append(pace_text(row.speed))
    if len({row.runs for row in rows}) == 1:
        parts.append(counted(row.runs, "run") + (" each" if len(rows) > 1 else ""))
    if len({row.content for row in rows}) == 1:
        parts.append(f"content {_CONTENT[row.content]}")
    return "; ".join(parts)


def _table(group: RunGroup) -> tuple[str, list[Column], list[tuple[str, ...]]]:
    """Heading, columns and rows."""
    rows = group.rows
    waits = any(row.commits_wait for row in rows)
    figures = [_in_its_unit(f, rows[0].currency) for f in FIGURES if waits or f.name != RETURNED]
    fields = (
        Field("strategy", Column("strategy")), Field("runs", Column("runs", shown="if varied")),
        *figures, Field("content", Column("content", shown="if varied")),
    )  # fmt: skip
    lines = [
        (row.strategy, row.runs, *(row.values[figure.name] for figure in figures), row.content)
        for row in rows
    ]
    columns, cells = figure_table(fields, lines, group.delete_words)
    names = [field.name for field in fields]
    shown = [
        tuple(marked(text) if name in reasons else text for name, text in zip(names, line, strict=True))
        for line, reasons in zip(cells, (_reasons(group, row) for row in rows), strict=True)
    ]
    return _heading(rows), columns, shown


def _in_its_unit(figure: Field, currency: str) -> Field:
    unit = METRIC_BY_NAME[figure.name].unit
    column = replace(figure.column, unit=currency) if unit == "money" else figure.column
    return replace(figure, column=column, unit=unit, quantity=figure.name.split("_")[0])


_CONTENT = {
    "equal": "equal to the stream's", "differs": "DIFFERS from the stream's", "unchecked": "unchecked",
}  # fmt: skip


def _failures(row: Row) -> str:
    count = row.values["failed_compactions"]
    if not count:
        return ""
    what = "compaction per run failed or was" if count == 1 else "compactions per run failed or were"
    return f"{count:g} {what} vetoed; --compactions shows the errors"


def _run_name(run: RunResult) -> str:
    m = run.manifest
    mark = " (simulated)" if m.mode == "simulated" else ""
    return f"{m.scenario} {m.strategy} #{m.repetition}{mark}"


def _print_records(
    output: ShowFormat,
    fields: Sequence[Field],
    records: Sequence[tuple[RunResult, Sequence[tuple[Any, ...]]]],
    table: Callable[[Sequence[tuple[Any, ...]], tuple[str, str]], tuple[list[Column], list[tuple[str, ...]]]],
    nothing: str,
) -> None:
    """The records of each run: one list for programs, for people a table per run or `nothing`."""
    if output != "table":
        lines = ((_run_name(run), *line) for run, of_run in records for line in of_run)
        _print_lines(output, ("run", *(field.name for field in fields)), lines)
    elif any(of_run for _, of_run in records):
        print_tables(
            (_run_name(run), *table(of_run, run.manifest.delete_words)) for run, of_run in records if of_run
        )
    else:
        print_line(nothing)


def _print_lines(output: ShowFormat, columns: Sequence[str], lines: Iterable[Sequence[Any]]) -> None:
    if output == "json":
        print_json({"rows": [dict(zip(columns, line, strict=True)) for line in lines]})
    else:
        print_csv(columns, ([plain(value) for value in line] for line in lines))
