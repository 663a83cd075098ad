"""The tables behind the summary: each compaction, each query, each rule, each metric, each forecast."""

from bench.results.records import CompactionRecord, DecisionRecord
from bench.results.rows import METRICS, Metric, Row
from bench.text import MISSING, human_bytes, human_count, human_duration
from reports.load import RunGroup
from reports.phrases import Verbatim, say
from reports.sections.summary import Cell, Column, Table, arrow, seconds
from reports.text import format_value

_ERROR_CHARACTERS = 200
_BEFORE_AFTER = arrow("before", "after")


def compactions(group: RunGroup) -> tuple[Table, ...]:
    """Every compaction of the first usable run of each strategy that tried one, in order."""
    by_strategy = ((label, run.of(CompactionRecord)) for label, run in group.first_runs.items())
    return tuple(_compactions(label, records) for label, records in by_strategy if records)


def _compactions(label: str, records: tuple[CompactionRecord, ...]) -> Table:
    has_kinds = any(c.plan_kind for c in records)
    has_deletes = any(c.delete_files_before_count for c in records)
    columns = (
        Column("At"), Column("Status", is_number=False),
        *((Column("Kind", is_number=False),) if has_kinds else ()), Column("Reason", is_number=False),
        Column(f"Data files {_BEFORE_AFTER}"),
        *((Column(f"Delete files {_BEFORE_AFTER}"), Column("Deleted rows after")) if has_deletes else ()),
        Column(f"Live bytes {_BEFORE_AFTER}"), Column("Added"), Column("Time", "s"), Column("CPU", "s"),
        Column("Query before", "s"), Column("Query after", "s"),
    )  # fmt: skip
    timings = zip(
        *(
            seconds(getattr(c, name) for c in records)
            for name in ("wall_s", "cpu_s", "query_before_s", "query_after_s")
        ),
        strict=True,
    )
    rows = tuple(
        (*_compaction(c, has_kinds, has_deletes), *(Cell(text) for text in times))
        for c, times in zip(records, timings, strict=True)
    )
    return Table(columns, rows, title=say(Verbatim(label)))


def _compaction(c: CompactionRecord, has_kinds: bool, has_deletes: bool) -> tuple[Cell, ...]:
    error = Verbatim(c.error[:_ERROR_CHARACTERS]) if c.error else ""
    deletes = (
        Cell(arrow(human_count(c.delete_files_before_count), human_count(c.delete_files_after_count))),
        Cell(format_value("count", c.delete_rows_after)),
    )
    return (
        Cell(human_duration(c.at_ms / 1000)),
        Cell(Verbatim(c.status), error),
        *((Cell(Verbatim(c.plan_kind)),) if has_kinds else ()),
        Cell(Verbatim(c.reason)),
        Cell(arrow(human_count(c.files_before_count), human_count(c.files_after_count))),
        *(deletes if has_deletes else ()),
        Cell(arrow(human_bytes(c.live_before_bytes), human_bytes(c.live_after_bytes))),
        Cell(human_bytes(c.added_bytes)),
    )


_QUERY_COLUMNS = (
    ("query_mean_s", "Mean", "s"), ("query_p50_s", "p50", "s"), ("query_p95_s", "p95", "s"),
    ("query_max_s", "Max", "s"), ("planning_mean_s", "Planning", "s"), ("execution_mean_s", "Execution", "s"),
    ("files_mean", "Data files", "mean"), ("delete_files_mean", "Delete files", "mean"),
    ("opened_bytes_mean", "Bytes opened", "mean"), ("read_amplification", "Read amplification", ""),
)  # fmt: skip


def queries(group: RunGroup) -> tuple[Table, ...]:
    """One table per query, the primary one first: different queries are never averaged."""
    primary = group.manifest.primary_probe
    names = dict.fromkeys(name for row in group.rows for name in row.probes)
    return tuple(_query(group, name) for name in sorted(names, key=lambda name: name != primary))


def _query(group: RunGroup, name: str) -> Table:
    rows = [row for row in group.rows if name in row.probes]
    cells = [[Cell(Verbatim(row.strategy)) for row in rows]]
    for key, _, unit in _QUERY_COLUMNS:
        values = [row.probes[name][key] for row in rows]
        kind = "bytes" if "bytes" in key else "ratio" if "amplification" in key else "count"
        texts = seconds(values) if unit == "s" else [format_value(kind, value) for value in values]
        cells.append([Cell(text) for text in texts])
    columns = (
        Column("Strategy", is_number=False),
        *(Column(title, unit) for _, title, unit in _QUERY_COLUMNS),
    )
    title = say(Verbatim(name), " (primary)" if name == group.manifest.primary_probe else "")
    return Table(columns, tuple(zip(*cells, strict=True)), title=title)


def decisions(group: RunGroup) -> Table | None:
    """How often each rule was evaluated and with what result, in the first usable run of each strategy."""
    counts_by_rule: dict[tuple[str, str, str], dict[str, int]] = {}
    for label, run in group.first_runs.items():
        for d in run.of(DecisionRecord):
            counts = counts_by_rule.setdefault((label, d.trigger, d.planner), {})
            counts[d.status] = counts.get(d.status, 0) + 1
    statuses = ("not_due", "nothing_to_do", "planned")
    rows = tuple(
        (*(Cell(Verbatim(part)) for part in rule), Cell(human_count(sum(counts.values()))),
         *(Cell(human_count(counts.get(status, 0))) for status in statuses))
        for rule, counts in counts_by_rule.items()
    )  # fmt: skip
    names = (Column(title, is_number=False) for title in ("Strategy", "Trigger", "Planner"))
    numbers = (Column(title) for title in ("Evaluations", "Not due", "Nothing to do", "Planned"))
    return Table((*names, *numbers), rows) if rows else None


def metrics(group: RunGroup) -> Table:
    """A row for each metric that has a value in some run, a column for each strategy."""
    columns = (Column("Metric", is_number=False), *(Column(Verbatim(label)) for label in group.strategies))
    known = [m for m in METRICS if any(row.values[m.name] is not None for row in group.rows)]
    return Table(
        columns,
        tuple(_metric(metric, group.rows) for metric in known),
        "Means over the runs, with the lowest and highest run where they differ. Exact figures are counted, "
        "not timed. Metrics without a value in any run are omitted.",
    )


def _metric(metric: Metric, rows: tuple[Row, ...]) -> tuple[Cell, ...]:
    better = "" if metric.better == "neither" else f", {metric.better} is better"
    about = f"{metric.unit}{', exact' if metric.exact else ''}{better}: {metric.definition.replace('`', '')}"
    cells = []
    for row in rows:
        known = [value for value in row.run_values[metric.name] if value is not None]
        ends = [format_value(metric.name, end) for end in (min(known), max(known))] if known else []
        note = f"{ends[0]} to {ends[1]}" if len(set(ends)) == 2 else ""
        cells.append(Cell(format_value(metric.name, row.values[metric.name]), note))
    return (Cell(Verbatim(metric.name), about), *cells)


def forecasts(group: RunGroup) -> Table | None:
    """What the planner forecast for each command and what the command did, summed over the first runs."""
    sums: dict[tuple[str, str], tuple[int, float, float | None]] = {}
    for label, run in group.first_runs.items():
        for c in run.of(CompactionRecord):
            for name, expected in (c.forecast or {}).items():
                count, forecast, actual = sums.get((label, name), (0, 0.0, 0.0))
                recorded = getattr(c, name, None) if name in CompactionRecord.model_fields else None
                total = (
                    actual + recorded if actual is not None and isinstance(recorded, int | float) else None
                )
                sums[(label, name)] = (count + 1, forecast + expected, total)
    rows = tuple(_forecast(label, name, *figures) for (label, name), figures in sums.items())
    names = (Column("Strategy", is_number=False), Column("Figure", is_number=False))
    numbers = (Column(title) for title in ("Compactions", "Forecast", "Actual", "Forecast / actual"))
    note = "Sums over the compactions of the first usable repetition. A dash: the run did not record it."
    return Table((*names, *numbers), rows, note) if rows else None


def _forecast(label: str, name: str, count: int, forecast: float, actual: float | None) -> tuple[Cell, ...]:
    unit = "bytes" if name.endswith("_bytes") else "s" if name.endswith("_s") else "count"
    quotient = f"{forecast / actual:.2f}" if actual else MISSING
    figures = (human_count(count), format_value(unit, forecast), format_value(unit, actual), quotient)
    return (Cell(Verbatim(label)), Cell(Verbatim(name)), *(Cell(text) for text in figures))
