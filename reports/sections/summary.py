"""The building blocks of every table of the report, and the summary: a row per strategy."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bench.results.rows import BASELINE, METRIC_BY_NAME, Row
from bench.text import MISSING, human_ratio
from reports.load import RunGroup
from reports.phrases import Sentence, Verbatim, format_range
from reports.text import format_value, shared_decimals


@dataclass(frozen=True, slots=True)
class Column:
    """A heading; `unit` is set small below it, or in brackets after it."""

    title: str
    unit: str = ""
    is_number: bool = True


@dataclass(frozen=True, slots=True)
class Cell:
    """One entry; `note` is set small below it, or in brackets after it."""

    text: str | Sentence
    note: str = ""
    is_best: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells under headings. `note` says how to read it; `title` is set where there are several."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    title: Sentence | None = None


_COST = ""  # stands for the cost metric of the group
_COLUMNS = (
    ("compactions", "Compactions", ""),
    (_COST, "", ""),
    ("compaction_added_bytes", "Compaction added", ""),
    ("write_amplification", "Write amplification", ""),
    ("query_mean_s", "Query mean", "s"),
    ("query_p95_s", "Query p95", "s"),
    ("space_amplification", "Space amplification", ""),
    ("files_end", "Files at end", ""),
    ("break_even_queries_per_h", "Break-even", "queries/h"),
)
_COMPARED = "query_mean_s"  # the comparison with `never` follows this column
_NOTE = (
    "Means over the runs, with the lowest and the highest run. Bold: the lowest mean among the strategies "
    "that compacted, whether or not the difference is significant."
)


def summary(group: RunGroup) -> Table:
    """The best of the strategies that compacted is marked in each column, significant or not."""
    cost = (group.cost_metric, cost_title(group), "s")
    columns, cells = [Column("Strategy", is_number=False), Column("Runs")], [_names(group), _runs(group)]
    for name, title, unit in (cost if column[0] == _COST else column for column in _COLUMNS):
        columns.append(Column(title, unit))
        cells.append(
            _break_evens(group) if name == "break_even_queries_per_h" else metric_cells(group.rows, name)
        )
        if name == _COMPARED and group.baseline is not None:
            columns.append(Column(f"Query mean vs {BASELINE}", "95 % CI"))
            cells.append([_compared_with_baseline(group, row) for row in group.rows])
    return Table(tuple(columns), tuple(zip(*cells, strict=True)), _NOTE)


def metric_cells(rows: Sequence[Row], name: str) -> list[Cell]:
    """One metric of each row: the mean, the range over its runs where they differ, the best one marked."""
    metric = METRIC_BY_NAME[name]
    best = _best(rows, name) if metric.better == "lower" else None
    values = [row.values[name] for row in rows]
    texts = seconds(values) if metric.unit == "s" else [format_value(name, value) for value in values]
    decimals = shared_decimals([value for value in values if value is not None])
    return [
        Cell(
            text,
            _range(row.run_values[name], decimals) if metric.unit == "s" else "",
            row.values[name] == best,
        )
        if row.values[name] is not None
        else Cell(MISSING)
        for row, text in zip(rows, texts, strict=True)
    ]


def arrow(before: str, after: str) -> str:
    """Two values with an arrow between them."""
    return f"{before} \N{RIGHTWARDS ARROW} {after}"


def seconds(values: Iterable[float | None]) -> list[str]:
    """Seconds of one column with the same number of decimals, so that decimal points are aligned."""
    known = list(values)
    decimals = shared_decimals([value for value in known if value is not None])
    return [MISSING if value is None else f"{value:,.{decimals}f}" for value in known]


def _best(rows: Sequence[Row], name: str) -> float | None:
    """The lowest mean of the strategies that compacted; None where there is no choice or no difference."""
    values = [value for row in rows if _compacted(row) and (value := row.values[name]) is not None]
    return min(values) if len(set(values)) > 1 else None


def _compacted(row: Row) -> bool:
    return bool(row.values["compaction_s"])


def _range(run_values: Sequence[float | None], decimals: int) -> str:
    known = [value for value in run_values if value is not None]
    if len(known) < 2 or min(known) == max(known):
        return ""
    return f"{min(known):,.{decimals}f}\N{EN DASH}{max(known):,.{decimals}f}"


def _names(group: RunGroup) -> list[Cell]:
    return [Cell(Verbatim(label)) for label in group.strategies]


def _runs(group: RunGroup) -> list[Cell]:
    """Usable runs, and out of how many where some are not."""
    cells = []
    for row in group.rows:
        usable, started = len(row.repetitions), sum(r.manifest.strategy == row.strategy for r in group.runs)
        cells.append(Cell(f"{usable}" if usable == started else f"{usable} of {started}"))
    return cells


def cost_title(group: RunGroup) -> str:
    """The heading of the column of the group's cost."""
    return "Compaction CPU" if group.cost_metric == "compaction_cpu_s" else "Compaction time"


def _break_evens(group: RunGroup) -> list[Cell]:
    """The break-even where queries are significantly faster than with `never`, else "undecided"."""
    decided = [row for row in group.rows if _has_gain(group, row)]
    cells = dict(
        zip((row.strategy for row in decided), metric_cells(decided, "break_even_queries_per_h"), strict=True)
    )
    undecided = Cell(MISSING, "undecided")
    return [
        cells.get(
            row.strategy, undecided if row.values["break_even_queries_per_h"] is not None else Cell(MISSING)
        )
        for row in group.rows
    ]


def _has_gain(group: RunGroup, row: Row) -> bool:
    if group.baseline is None or row.values["break_even_queries_per_h"] is None:
        return False
    return group.compare("query_mean_s", row.strategy, BASELINE).verdict == "less"


def _compared_with_baseline(group: RunGroup, row: Row) -> Cell:
    """The ratio of mean latencies with its interval, or "undecided" where the interval contains 1."""
    if row.strategy == BASELINE:
        return Cell(MISSING)
    comparison = group.compare("query_mean_s", row.strategy, BASELINE)
    ratio, low, high = comparison.ratio, comparison.low, comparison.high
    if ratio is None or low is None or high is None:
        return Cell(MISSING if ratio is None else human_ratio(ratio), "undecided")
    if comparison.method in ("exact", "modelled"):
        return Cell(human_ratio(ratio), comparison.method)
    interval = format_range(low, high, "\N{EN DASH}")
    return Cell(human_ratio(ratio), "undecided" if comparison.verdict == "undecided" else interval)
