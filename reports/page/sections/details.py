"""The tables behind the summary: each compaction, each query, each rule, each metric, each forecast."""

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from bench.results.columns import column_by_name
from bench.results.metrics import LATENCY, METRICS, PROBED_LATENCY, Metric
from bench.results.query_effect import QueryEffects, query_effects
from bench.results.records import NOT_DONE_STATUSES, CompactionRecord, DecisionRecord
from bench.results.values import Change
from bench.text import MISSING, human_bytes, human_count, human_duration, human_percent
from reports.data.group import RunGroup
from reports.data.queries import query_text
from reports.page.tables import Cell, Column, Table, arrow, by_columns, durations, seconds
from reports.phrases import Sentence, Verbatim, joined, listed, say
from reports.text import format_value

_ERROR_CHARACTERS = 200
_ENDS = 100  # compactions of a strategy; a page shows fewer than the first and the last of them
_FORECAST_WITHIN = 0.05  # of the bytes: the order of rows in a file changes them by that much
_BEFORE_AFTER = arrow("before", "after")


def compactions(group: RunGroup) -> tuple[Table, ...]:
    """Every compaction of the first usable run of each strategy that tried one, in order."""
    by_strategy = ((label, query_effects(run)) for label, run in group.first_runs.items())
    return tuple(_compactions(group, label, effects) for label, effects in by_strategy if effects)


def _compactions(group: RunGroup, label: str, every: QueryEffects) -> Table:
    places = np.arange(len(every))
    effects = [*every.where((places < _ENDS) | (places >= len(every) - _ENDS))]
    records = [effect.compaction for effect in effects]
    files, deleted = (words.capitalize() for words in group.delete_words)
    unit, queries = durations([*(e.query_before_s for e in effects), *(e.query_after_s for e in effects)])
    kinds = [(Column("Kind", is_number=False), [Cell(Verbatim(c.plan_kind)) for c in records])]
    deletes = [
        (Column(f"{files} {_BEFORE_AFTER}"), _before_after(records, "delete_files_count", human_count)),
        (Column(f"{deleted} after"), [Cell(format_value("count", c.after.delete_rows)) for c in records]),
    ]
    errors = [Verbatim(c.error[:_ERROR_CHARACTERS]) if c.error else "" for c in records]
    return by_columns(
        [
            (Column("At"), [Cell(human_duration(c.at_ms / 1000)) for c in records]),
            (Column("Status", is_number=False),
             [Cell(Verbatim(c.status), error) for c, error in zip(records, errors, strict=True)]),
            *(kinds if any(c.plan_kind for c in records) else []),
            (Column("Reason", is_number=False), [Cell(Verbatim(c.reason)) for c in records]),
            (Column(f"Data files {_BEFORE_AFTER}"), _before_after(records, "data_files_count", human_count)),
            *(deletes if any(c.before.delete_files_count for c in records) else []),
            (Column(f"Live bytes {_BEFORE_AFTER}"), _before_after(records, "live_bytes", human_bytes)),
            (Column("Added"), [Cell(human_bytes(c.change.added_bytes)) for c in records]),
            (Column("Time", "s"), [Cell(text) for text in seconds(c.cost.wall_s for c in records)]),
            (Column("CPU", "s"), [Cell(text) for text in seconds(c.cost.own_cpu_s for c in records)]),
            (Column("Query before", unit), [Cell(text) for text in queries[: len(records)]]),
            (Column("Query after", unit), [Cell(text) for text in queries[len(records) :]]),
        ],
        title=say(Verbatim(label)), caption="Every compaction, in order", is_long=True,
        whole_count=len(every),
    )  # fmt: skip


def _before_after(records: Sequence[CompactionRecord], name: str, text: Callable[[float], str]) -> list[Cell]:
    return [Cell(arrow(text(getattr(c.before, name)), text(getattr(c.after, name)))) for c in records]


_QUERY_COLUMNS = (
    (LATENCY, "Mean", "s"), (PROBED_LATENCY, "Mean of probed ticks", "s"), ("query_p50_s", "p50", "s"),
    ("query_p95_s", "p95", "s"), ("query_max_s", "Max", "s"),
    ("planning_mean_s", "Planning", "s"), ("execution_mean_s", "Execution", "s"),
    ("files_mean", "Data files", "mean"), ("delete_files_mean", "Delete files", "mean"),
    ("opened_bytes_mean", "Bytes opened", "mean"), ("opened_share", "Bytes opened", "of live"),
    ("read_amplification", "Read amplification", ""),
)  # fmt: skip


def queries(group: RunGroup) -> tuple[Table, ...]:
    """One table per query, the primary one first: different queries are never averaged.

    Queries that a model does not distinguish share a table.
    """
    primary = group.manifest.primary_probe
    names = dict.fromkeys(name for row in group.rows for name in row.probes)
    alike: dict[object, list[str]] = {}
    for name in sorted(names, key=lambda name: name != primary):
        figures = tuple((row.strategy, repr(row.probes.get(name))) for row in group.rows)
        alike.setdefault(figures if group.is_simulated else name, []).append(name)
    return tuple(_query(group, shared) for shared in alike.values())


def _query(group: RunGroup, names: list[str]) -> Table:
    probes = {row.strategy: row.probes[names[0]] for row in group.rows if names[0] in row.probes}
    is_sampled = any(figures[PROBED_LATENCY] is not None for figures in probes.values())
    columns = [column for column in _QUERY_COLUMNS if is_sampled or column[0] != PROBED_LATENCY]
    times_s = [figures[key] for key, _, unit in columns if unit == "s" for figures in probes.values()]
    time_unit, times = durations(times_s)
    shown = [(Column("Strategy", is_number=False), [Cell(Verbatim(label)) for label in probes])]
    for key, title, unit in columns:
        if unit == "s":
            texts, times = times[: len(probes)], times[len(probes) :]
        else:
            texts = [format_value(_unit_of(key), figures[key]) for figures in probes.values()]
        column = Column(group.in_delete_words(title), time_unit if unit == "s" else unit)
        shown.append((column, [Cell(text) for text in texts]))
    return by_columns(
        shown, "The model does not distinguish these queries." if len(names) > 1 else "",
        title=joined([_named(group, name) for name in names]), caption="Latency and work of each strategy",
    )  # fmt: skip


def _unit_of(key: str) -> str:
    """The unit of a figure of a query other than a time."""
    units = {"bytes": "bytes", "share": "share", "amplification": "ratio"}
    return next((unit for part, unit in units.items() if part in key), "count")


def _named(group: RunGroup, name: str) -> Sentence:
    sql = query_text(group, name)
    primary = " (primary)" if name == group.manifest.primary_probe else ""
    return say(Verbatim(name), primary) + (say(": ", Verbatim(sql)) if sql else say())


def decisions(group: RunGroup) -> Table | None:
    """Evaluations of each rule and their results, in the first usable run of each strategy."""
    statuses: dict[tuple[str, str, str], Counter[str]] = {}
    for label, run in group.first_runs.items():
        decisions = run.of(DecisionRecord)
        columns = (decisions.column(name).tolist() for name in ("trigger", "planner", "status"))
        for (trigger, planner, status), count in Counter(zip(*columns, strict=True)).items():
            statuses.setdefault((label, trigger, planner), Counter())[status] += count
    if not statuses:
        return None
    names = ("Strategy", "Trigger", "Planner")
    shown = [
        (Column(name, is_number=False), [Cell(Verbatim(rule[place])) for rule in statuses])
        for place, name in enumerate(names)
    ]
    shown.append((Column("Evaluations"), [Cell(human_count(own.total())) for own in statuses.values()]))
    for status in ("not_due", "nothing_to_do", "planned"):
        title = status.replace("_", " ").capitalize()
        shown.append((Column(title), [Cell(human_count(own[status])) for own in statuses.values()]))
    return by_columns(shown, caption="How often each rule was evaluated, and with what result")


def metrics(group: RunGroup) -> Table:
    """A row for each metric that has a value in some run, a column for each strategy; zeros are a note."""
    columns = (Column("Metric", is_number=False), *(Column(Verbatim(label)) for label in group.strategies))
    known = [m for m in METRICS if any(row.values[m.name] is not None for row in group.rows)]
    zero = [m.name for m in known if not any(any(row.run_values[m.name]) for row in group.rows)]
    note = (
        "Means over the runs, with the lowest and highest run if they differ. Counts are exact; bytes repeat "
        "except for how well rows compress; timings have noise. Metrics without a value in any run are "
        "omitted."
    )
    return Table(
        columns,
        tuple(_metric(metric, group) for metric in known if metric.name not in zero),
        f"{note} Zero in every run: {listed(zero)}." if zero else note,
        caption="Every metric of every strategy",
    )


_BASIS = {"count": ", exact", "bytes": ", almost exact", "timing": ""}


def _metric(metric: Metric, group: RunGroup) -> tuple[Cell, ...]:
    better = "" if metric.better == "neither" else f", {metric.better} is better"
    definition = metric.definition_in(group.manifest).replace("`", "")
    about = f"{metric.unit}{_BASIS[metric.basis]}{better}: {definition}"
    cells = []
    for row in group.rows:
        known = [value for value in row.run_values[metric.name] if value is not None]
        ends = [format_value(metric.name, end) for end in (min(known), max(known))] if known else []
        note = f"{ends[0]} to {ends[1]}" if len(set(ends)) == 2 else ""
        cells.append(Cell(format_value(metric.name, row.values[metric.name]), note))
    return (Cell(Verbatim(metric.name), about), *cells)


def forecasts(group: RunGroup) -> Table | None:
    """Forecast and actual figures of the compactions, summed over the first run of each strategy."""
    rows = tuple(_forecast(label, name, *figures) for (label, name), figures in _forecast_sums(group).items())
    names = (Column("Strategy", is_number=False), Column("Figure", is_number=False))
    numbers = (Column(title) for title in ("Compactions", "Forecast", "Actual", "Forecast / actual"))
    note = (
        "Sums over the compactions of the first usable repetition that were carried out. A dash: not "
        "recorded."
    )
    caption = "What the planners forecast, and what was done"
    return Table((*names, *numbers), rows, note, caption=caption) if rows else None


def as_forecast(group: RunGroup) -> Sentence | None:
    """A sentence in place of the table if everything came out as forecast; None otherwise."""
    sums = _forecast_sums(group)
    if not sums or any(actual is None for _, _, actual in sums.values()):
        return None
    apart = {name: 0.0 for _, name in sums}
    for (_, name), (_, forecast, actual) in sums.items():
        off = abs(forecast / actual - 1) if actual else float(forecast != 0)
        apart[name] = max(apart[name], off)
    sizes = [off for name, off in apart.items() if name.endswith("_bytes")]
    counts = [off for name, off in apart.items() if not name.endswith("_bytes")]
    if any(counts) or max(sizes, default=0) > _FORECAST_WITHIN:
        return None
    within = (
        f", bytes within {human_percent(max(sizes))}" if max(sizes, default=0) > 0 else " and so did bytes"
    )
    return say(f"All counts came out as forecast{within if sizes else ''}.")


def _forecast_sums(group: RunGroup) -> dict[tuple[str, str], tuple[int, float, float | None]]:
    """Compactions that were carried out, forecast and actual figure, by strategy and name."""
    sums: dict[tuple[str, str], tuple[int, float, float | None]] = {}
    for label, run in group.first_runs.items():
        compactions = run.of(CompactionRecord)
        is_not_done = np.isin(compactions.column("status").astype(str), NOT_DONE_STATUSES)
        compactions = compactions.where(~is_not_done)
        forecasts = compactions.column("forecast").tolist()
        for name in dict.fromkeys(name for forecast in forecasts for name in forecast or ()):
            places = [place for place, forecast in enumerate(forecasts) if name in (forecast or ())]
            is_recorded = name in column_by_name(Change)
            actual = compactions.column(name)[places].sum() if is_recorded else None
            sums[(label, name)] = (len(places), sum(forecasts[place][name] for place in places), actual)
    return sums


def _forecast(label: str, name: str, count: int, forecast: float, actual: float | None) -> tuple[Cell, ...]:
    unit = "bytes" if name.endswith("_bytes") else "s" if name.endswith("_s") else "count"
    quotient = f"{forecast / actual:.2f}" if actual else MISSING
    figures = (human_count(count), format_value(unit, forecast), format_value(unit, actual), quotient)
    return (Cell(Verbatim(label)), Cell(Verbatim(name)), *(Cell(text) for text in figures))
