"""The figures of a simulation beside those of the real runs of its scenario."""

from collections.abc import Sequence

from bench.results.metrics import LATENCY, METRIC_BY_NAME
from bench.results.rows import Row
from bench.results.sessions import has_long_lived
from reports.data.group import RunGroup
from reports.page.tables import Cell, Column, Shown, Table, figure_cell, latency_unit, seconds, strategy_table
from reports.phrases import say
from reports.text import format_value

_METRICS = (
    ("compaction_cpu_s", "Compaction CPU"),
    ("query_mean_s", "Mean query"),
    ("query_new_session_mean_s", "Mean query by new sessions"),
    ("compaction_added_bytes", "Compaction added"),
    ("files_end", "Files at end"),
)
ANSWERED_BY_REAL_RUNS = say(
    "All of these strategies also ran on real tables, and the answer is that of the real runs. Here, the "
    "simulation is beside them."
)
_CAPTION = "What was measured, and what the simulation says of it"
_NOTE = "Means over the runs. Ratio: modelled over measured."


def measured_twin(group: RunGroup, others: Sequence[RunGroup]) -> RunGroup | None:
    """The real runs of a simulated group's scenario, with the same settings; None for real runs."""
    own = _definition(group)
    twins = (other for other in others if not other.is_simulated and _definition(other) == own)
    return next(twins, None) if group.is_simulated else None


def _definition(group: RunGroup) -> tuple[str, str, str]:
    return group.manifest.scenario, group.manifest.workload, group.manifest.scenario_hash


def beside_measured(group: RunGroup, measured: RunGroup) -> Table | None:
    """A row for each strategy that has both; None if there is none.

    Mean queries are compared if both are by long-lived sessions, and those by new sessions always.
    """
    rows = [row for row in group.rows if row.strategy in measured.strategies]
    pairs = [(measured.row(row.strategy), row) for row in rows]
    has_usual = all(map(has_long_lived, (*group.usable_runs, *measured.usable_runs)))
    compared = [(name, title) for name, title in _METRICS if name != LATENCY or has_usual]
    shown = [column for name, title in compared for column in _columns(name, title, pairs)]
    return strategy_table(rows, shown, _NOTE, _CAPTION) if shown else None


def _columns(name: str, title: str, pairs: Sequence[tuple[Row, Row]]) -> list[Shown]:
    """Measured, modelled and their ratio; nothing if no strategy has both."""
    values = [(real.values[name], modelled.values[name]) for real, modelled in pairs]
    if not any(None not in pair for pair in values):
        return []
    unit, scale = "", 1.0
    if METRIC_BY_NAME[name].unit == "s":
        scale, unit = latency_unit([row for pair in pairs for row in pair], [name])
    columns = []
    for place, word in enumerate(("measured", "modelled")):
        own = [pair[place] for pair in values]
        scaled = [None if value is None else value * scale for value in own]
        texts = seconds(scaled) if unit else [format_value(name, value) for value in own]
        cells = [Cell(text, value=value) for text, value in zip(texts, own, strict=True)]
        columns.append((Column(f"{title}, {word}", unit), cells))
    ratios = [modelled / real if real and modelled is not None else None for real, modelled in values]
    cells = [figure_cell("ratio", ratio) for ratio in ratios]
    return [*columns, (Column("Ratio"), cells)]
