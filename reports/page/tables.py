"""The building blocks of every table of a report: columns, cells, and figures as cells."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from bench.results.metrics import METRIC_BY_NAME
from bench.results.rows import Row
from bench.text import MISSING, human_ratio
from reports.data.group import RunGroup, parts_of
from reports.phrases import Sentence, Verbatim, format_range
from reports.text import duration_unit, format_value, shared_decimals
from reports.verdicts.compare import Comparison


@dataclass(frozen=True, slots=True)
class Column:
    """A heading; `unit` is set small below it, or in brackets after it."""

    title: str
    unit: str = ""
    is_number: bool = True


@dataclass(frozen=True, slots=True)
class Cell:
    """One entry; `note` is set small below it, or in brackets after it. `value` is the sort key."""

    text: str | Sentence
    note: str = ""
    is_best: bool = False
    value: float | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells under headings. `note` explains how to read it, `caption` what it holds.

    `title` distinguishes several tables of a section. A page folds a long table and shortens it to its ends;
    of a very long one of `whole_count` rows, `rows` are the ends alone.
    """

    kind: ClassVar = "table"
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    title: Sentence | None = None
    caption: str = ""
    is_long: bool = False
    whole_count: int | None = None

    @property
    def count(self) -> int:
        return len(self.rows) if self.whole_count is None else self.whole_count


Shown = tuple[Column, list[Cell]]  # a column and its cells


def by_columns(shown: Sequence[Shown], note: str = "", **how: Any) -> Table:
    """A table of these columns; `how` are further fields of `Table`."""
    columns = tuple(column for column, _ in shown)
    return Table(columns, tuple(zip(*(cells for _, cells in shown), strict=True)), note, **how)


def strategy_table(rows: Sequence[Row], shown: Sequence[Shown], note: str, caption: str) -> Table:
    """A row per strategy: its label, then these columns."""
    names = (Column("Strategy", is_number=False), [Cell(Verbatim(row.strategy)) for row in rows])
    return by_columns([names, *shown], note, caption=caption)


def has_values(rows: Sequence[Row], name: str) -> bool:
    """Whether some strategy has a value of the metric."""
    return any(row.values[name] is not None for row in rows)


def latency_unit(rows: Sequence[Row], names: Sequence[str]) -> tuple[float, str]:
    """One unit for all of these latencies, as `duration_unit` gives it."""
    known = [value for row in rows for name in names if (value := row.values[name]) is not None]
    return duration_unit(max(known, default=0.0))


def metric_cells(rows: Sequence[Row], name: str, per_second: float = 1.0) -> list[Cell]:
    """One metric of each row: the mean, the range over its runs where they differ, each part's best marked.

    Seconds are printed without their unit, which is the column's: 1000 per second are milliseconds.
    """
    metric = METRIC_BY_NAME[name]
    is_time = metric.unit == "s"
    scale = per_second if is_time else 1.0
    best = {row.strategy: _best(part, name) for part in parts_of(rows) for row in part}
    values = [None if (value := row.values[name]) is None else value * scale for row in rows]
    texts = seconds(values) if is_time else [format_value(name, value) for value in values]
    decimals = shared_decimals([value for value in values if value is not None])
    cells = []
    for row, text in zip(rows, texts, strict=True):
        known = [value * scale for value in row.run_values[name] if value is not None]
        value = row.values[name]
        is_best = metric.better == "lower" and value is not None and value == best[row.strategy]
        note = _range(known, decimals) if is_time and value is not None else ""
        cells.append(Cell(text, note, is_best, value))
    return cells


def figure_cell(metric_or_unit: str, value: float | None) -> Cell:
    """A figure in the unit of its metric; a dash if it is not known."""
    return Cell(format_value(metric_or_unit, value), value=value)


def compared(comparison: Comparison | None) -> Cell:
    """A ratio with its interval, if it has one; a dash without a comparison."""
    if comparison is None or comparison.ratio is None:
        return Cell(MISSING)
    ratio, low, high = comparison.ratio, comparison.low, comparison.high
    if comparison.method == "exact" or comparison.is_rough:
        return Cell(human_ratio(ratio), comparison.method, value=ratio)
    note = "" if low is None or high is None else format_range(low, high, "\N{EN DASH}")
    if comparison.is_retracted:
        note += ", unproven"
    return Cell(human_ratio(ratio), note, value=ratio)


def ratio_text(comparison: Comparison) -> str:
    """A measured ratio with its interval, in a sentence: "3.1x (2.4 to 3.9)"; a dash without a ratio."""
    ratio, low, high = comparison.ratio, comparison.low, comparison.high
    if ratio is None:
        return MISSING
    if low is None or high is None or low == high or comparison.is_rough:
        return human_ratio(ratio)
    return f"{human_ratio(ratio)} ({format_range(low, high)})"


@dataclass(frozen=True, slots=True)
class Versus:
    """Cost and latency of a strategy, and how each compares with another strategy."""

    strategy: str
    cost_s: float | None
    query_s: float | None
    cost: Comparison | None
    latency: Comparison | None


def versus_table(group: RunGroup, lines: Sequence[Versus], other: str, note: str, caption: str) -> Table:
    """A row per strategy: cost and latency, each followed by its ratio to the `other`."""
    unit, latencies = durations([line.query_s for line in lines])
    costs = seconds(line.cost_s for line in lines)
    rows = tuple(
        (
            Cell(Verbatim(line.strategy)),
            Cell(cost, value=line.cost_s),
            compared(line.cost),
            Cell(latency, value=line.query_s),
            compared(line.latency),
        )
        for line, cost, latency in zip(lines, costs, latencies, strict=True)
    )
    columns = (
        Column("Strategy", is_number=False), Column(group.cost.title, "s"),
        Column(f"Cost vs {other}", "95 % CI"), Column("Query mean", unit),
        Column(f"Latency vs {other}", "95 % CI"),
    )  # fmt: skip
    return Table(columns, rows, note, caption=caption)


def arrow(before: str, after: str) -> str:
    return f"{before} \N{RIGHTWARDS ARROW} {after}"


def seconds(values: Iterable[float | None], *, rounded_up: bool = False) -> list[str]:
    """Seconds of one column, with equal decimals so that decimal points align."""
    known = list(values)
    decimals = shared_decimals([value for value in known if value is not None])
    if rounded_up:
        known = [value and math.ceil(value * 10**decimals) / 10**decimals for value in known]
    return [MISSING if value is None else f"{value:,.{decimals}f}" for value in known]


def durations(values: Sequence[float | None], *, rounded_up: bool = False) -> tuple[str, list[str]]:
    """The unit that suits a column of seconds, and its texts in that unit."""
    factor, unit = duration_unit(max((value for value in values if value is not None), default=0.0))
    scaled = (None if value is None else value * factor for value in values)
    return unit, seconds(scaled, rounded_up=rounded_up)


def _best(rows: Sequence[Row], name: str) -> float | None:
    """The lowest mean of the strategies that compacted; None if all are equal."""
    compacting = (row for row in rows if row.values["compaction_s"])
    values = [value for row in compacting if (value := row.values[name]) is not None]
    return min(values) if len(set(values)) > 1 else None


def _range(known: Sequence[float], decimals: int) -> str:
    if len(known) < 2 or min(known) == max(known):
        return ""
    return f"{min(known):,.{decimals}f}\N{EN DASH}{max(known):,.{decimals}f}"
