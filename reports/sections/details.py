"""The tables behind the summary: each compaction, each probe, each rule, each metric, each forecast."""

from bench.results.records import CompactionRecord, DecisionRecord
from bench.results.rows import METRICS, Metric, Row
from reports.load import Section
from reports.phrases import Verbatim, say
from reports.sections.summary import Cell, Column, Table, change, seconds
from reports.text import MISSING, format_bytes, format_count, format_duration, format_value

_ERROR_CHARACTERS = 200


def compactions(section: Section) -> tuple[Table, ...]:
    """Every compaction of the first usable run of each strategy that tried one, in order."""
    made = ((label, run.of(CompactionRecord)) for label, run in section.first_runs.items())
    return tuple(_compactions(label, found) for label, found in made if found)


def _compactions(label: str, found: tuple[CompactionRecord, ...]) -> Table:
    has_kinds = any(c.plan_kind for c in found)
    has_deletes = any(c.delete_files_before_count for c in found)
    columns = (
        Column("At"), Column("Status", is_number=False),
        *((Column("Kind", is_number=False),) if has_kinds else ()), Column("Reason", is_number=False),
        Column("Files", "before, after"),
        *((Column("Delete files", "before, after"), Column("Rows in them", "after")) if has_deletes else ()),
        Column("Live bytes", "before, after"), Column("Written"), Column("Time", "s"), Column("CPU", "s"),
        Column("Probe before", "s"), Column("Probe after", "s"),
    )  # fmt: skip
    timings = zip(
        *(
            seconds(getattr(c, name) for c in found)
            for name in ("wall_s", "cpu_s", "query_before_s", "query_after_s")
        ),
        strict=True,
    )
    rows = tuple(
        (*_compaction(c, has_kinds, has_deletes), *(Cell(text) for text in times))
        for c, times in zip(found, timings, strict=True)
    )
    return Table(columns, rows, title=say(Verbatim(label)))


def _compaction(c: CompactionRecord, has_kinds: bool, has_deletes: bool) -> tuple[Cell, ...]:
    error = Verbatim(c.error[:_ERROR_CHARACTERS]) if c.error else ""
    deletes = (
        Cell(change(format_count(c.delete_files_before_count), format_count(c.delete_files_after_count))),
        Cell(format_value("count", c.delete_rows_after)),
    )
    return (
        Cell(format_duration(c.at_ms / 1000)),
        Cell(Verbatim(c.status), error),
        *((Cell(Verbatim(c.plan_kind)),) if has_kinds else ()),
        Cell(Verbatim(c.reason)),
        Cell(change(format_count(c.files_before_count), format_count(c.files_after_count))),
        *(deletes if has_deletes else ()),
        Cell(change(format_bytes(c.live_before_bytes), format_bytes(c.live_after_bytes))),
        Cell(format_bytes(c.added_bytes)),
    )


_PROBE_COLUMNS = (
    ("query_mean_s", "Mean", "s"), ("query_p50_s", "p50", "s"), ("query_p95_s", "p95", "s"),
    ("query_max_s", "Max", "s"), ("planning_mean_s", "Planning", "s"), ("execution_mean_s", "Execution", "s"),
    ("files_mean", "Files", "mean"), ("delete_files_mean", "Delete files", "mean"),
    ("opened_bytes_mean", "Opened", "mean"), ("read_amplification", "Read ampl.", ""),
)  # fmt: skip


def probes(section: Section) -> tuple[Table, ...]:
    """One table a probe, the primary one first: no mean is ever taken over query shapes."""
    primary = section.manifest.primary_probe
    names = dict.fromkeys(name for row in section.rows for name in row.probes)
    return tuple(_probe(section, name) for name in sorted(names, key=lambda name: name != primary))


def _probe(section: Section, name: str) -> Table:
    rows = [row for row in section.rows if name in row.probes]
    cells = [[Cell(Verbatim(row.strategy)) for row in rows]]
    for key, _, unit in _PROBE_COLUMNS:
        values = [row.probes[name][key] for row in rows]
        kind = "bytes" if "bytes" in key else "ratio" if "amplification" in key else "count"
        texts = seconds(values) if unit == "s" else [format_value(kind, value) for value in values]
        cells.append([Cell(text) for text in texts])
    columns = (
        Column("Strategy", is_number=False),
        *(Column(title, unit) for _, title, unit in _PROBE_COLUMNS),
    )
    title = say(Verbatim(name), ", the primary probe" if name == section.manifest.primary_probe else "")
    return Table(columns, tuple(zip(*cells, strict=True)), title=title)


def decisions(section: Section) -> Table | None:
    """How often each rule was looked at and what came of it, in the first usable run of each strategy."""
    counted: dict[tuple[str, str, str], dict[str, int]] = {}
    for label, run in section.first_runs.items():
        for d in run.of(DecisionRecord):
            verdicts = counted.setdefault((label, d.trigger, d.planner), {})
            verdicts[d.status] = verdicts.get(d.status, 0) + 1
    statuses = ("not_due", "nothing_to_do", "planned")
    rows = tuple(
        (*(Cell(Verbatim(part)) for part in rule), Cell(format_count(sum(verdicts.values()))),
         *(Cell(format_count(verdicts.get(status, 0))) for status in statuses))
        for rule, verdicts in counted.items()
    )  # fmt: skip
    named = (Column(title, is_number=False) for title in ("Strategy", "Trigger", "Planner"))
    counts = (Column(title) for title in ("Looks", "Not due", "Nothing to do", "Planned"))
    return Table((*named, *counts), rows) if rows else None


def details(section: Section) -> Table:
    """A row for each metric that some run has a figure of, a column for each strategy."""
    columns = (Column("Metric", is_number=False), *(Column(Verbatim(label)) for label in section.strategies))
    told = [m for m in METRICS if any(row.values[m.name] is not None for row in section.rows)]
    rows = tuple(_metric(metric, section.rows) for metric in told)
    return Table(
        columns,
        rows,
        "Mean, and lowest to highest run where they differ. Exact figures are counted, not timed. Metrics "
        "that no run has a figure of are left out.",
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


def forecasts(section: Section) -> Table | None:
    """What our planner expected of each command against what the command did, summed over the first runs."""
    sums: dict[tuple[str, str], tuple[int, float, float | None]] = {}
    for label, run in section.first_runs.items():
        for c in run.of(CompactionRecord):
            for name, expected in (c.forecast or {}).items():
                count, forecast, actual = sums.get((label, name), (0, 0.0, 0.0))
                found = getattr(c, name, None) if name in CompactionRecord.model_fields else None
                both = actual + found if actual is not None and isinstance(found, int | float) else None
                sums[(label, name)] = (count + 1, forecast + expected, both)
    rows = tuple(_forecast(label, name, *figures) for (label, name), figures in sums.items())
    named = (Column("Strategy", is_number=False), Column("Figure", is_number=False))
    numbers = (Column(title) for title in ("Compactions", "Forecast", "Actual", "Forecast / actual"))
    note = "Sums over the compactions of the first repetition; a dash where the run recorded no such figure."
    return Table((*named, *numbers), rows, note) if rows else None


def _forecast(label: str, name: str, count: int, forecast: float, actual: float | None) -> tuple[Cell, ...]:
    unit = "bytes" if name.endswith("_bytes") else "s" if name.endswith("_s") else "count"
    quotient = None if not actual else forecast / actual
    figures = (format_count(count), format_value(unit, forecast), format_value(unit, actual))
    shown = MISSING if quotient is None else f"{quotient:.2f}"
    return (Cell(Verbatim(label)), Cell(Verbatim(name)), *(Cell(text) for text in figures), Cell(shown))
