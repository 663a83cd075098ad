"""What every table of the report is made of, and the summary: a row a strategy, the most telling figures."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bench.results.rows import BASELINE, METRIC_BY_NAME, Row
from reports.load import Section
from reports.phrases import Sentence, Verbatim, format_range
from reports.text import MISSING, format_ratio, format_value, shared_decimals


@dataclass(frozen=True, slots=True)
class Column:
    """A heading; `unit` is set small below it."""

    title: str
    unit: str = ""
    is_number: bool = True


@dataclass(frozen=True, slots=True)
class Cell:
    """One entry; `note` is set small beside it."""

    text: str | Sentence
    note: str = ""
    is_best: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells under headings. `note` says how to read it, `title` names it where it is_cdc."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    title: Sentence | None = None


_COLUMNS = (
    ("compactions", "Compactions", ""),
    ("", "", ""),  # the section's cost
    ("compaction_added_bytes", "Rewritten", ""),
    ("write_amplification", "Write ampl.", ""),
    ("query_mean_s", "Query mean", "s"),
    ("query_p95_s", "Query p95", "s"),
    ("space_amplification", "Space ampl.", ""),
    ("files_end", "Files at end", ""),
    ("payback_passes", "Payback", "queries"),
)
_AFTER = "query_mean_s"  # the comparison with `never` follows this one


def summary(section: Section) -> Table:
    """The best of the strategies that compact is marked in each column, decided or not."""
    cost = (section.cost_metric, cost_title(section), "s")
    metrics = [column if column[0] else cost for column in _COLUMNS]
    columns, cells = [Column("Strategy", is_number=False), Column("Runs")], [_names(section), _runs(section)]
    for name, title, unit in metrics:
        columns.append(Column(title, unit))
        cells.append(_paybacks(section) if name == "payback_passes" else metric_cells(section.rows, name))
        if name == _AFTER and section.baseline is not None:
            columns.append(Column("Against never", "95 %"))
            cells.append([_against_baseline(section, row) for row in section.rows])
    note = (
        "Means over the runs, below them the lowest and the highest run. Bold: the lowest mean among the "
        "strategies that compacted, whether or not the difference is decided."
    )
    return Table(tuple(columns), tuple(zip(*cells, strict=True)), note)


def metric_cells(rows: Sequence[Row], name: str) -> list[Cell]:
    """One metric of each row: the mean, the range over its runs where they differ, the best one marked."""
    metric = METRIC_BY_NAME[name]
    best = _best(rows, name) if metric.better == "lower" else None
    values = [row.values[name] for row in rows]
    texts = (
        seconds(values)
        if metric.unit == "s"
        else [format_value(name, _rounded(name, value)) for value in values]
    )
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


def change(before: str, after: str) -> str:
    """What was before and what after, with an arrow between them."""
    return f"{before} \N{RIGHTWARDS ARROW} {after}"


def seconds(values: Iterable[float | None]) -> list[str]:
    """Seconds of one column with the same number of decimals, so that points stand below each other."""
    known = list(values)
    decimals = shared_decimals([value for value in known if value is not None])
    return [MISSING if value is None else f"{value:,.{decimals}f}" for value in known]


def _rounded(name: str, value: float | None) -> float | None:
    return round(value) if value is not None and METRIC_BY_NAME[name].unit == "passes" else value


def _best(rows: Sequence[Row], name: str) -> float | None:
    """The lowest mean of the strategies that did compact; None where there is no choice or no difference."""
    values = [value for row in rows if _compacted(row) and (value := row.values[name]) is not None]
    return min(values) if len(set(values)) > 1 else None


def _compacted(row: Row) -> bool:
    return bool(row.values["compaction_s"])


def _range(run_values: Sequence[float | None], decimals: int) -> str:
    known = [value for value in run_values if value is not None]
    if len(known) < 2 or min(known) == max(known):
        return ""
    return f"{min(known):,.{decimals}f}\N{EN DASH}{max(known):,.{decimals}f}"


def _names(section: Section) -> list[Cell]:
    return [Cell(Verbatim(label)) for label in section.strategies]


def _runs(section: Section) -> list[Cell]:
    """Usable runs, and how many there should have been where some are not."""
    made = []
    for row in section.rows:
        usable, started = len(row.repetitions), sum(r.manifest.strategy == row.strategy for r in section.runs)
        made.append(Cell(f"{usable}" if usable == started else f"{usable} of {started}"))
    return made


def cost_title(section: Section) -> str:
    """What the column of the section's cost is called."""
    return "Compaction CPU" if section.cost_metric == "compaction_cpu_s" else "Compaction"


def _paybacks(section: Section) -> list[Cell]:
    """Payback where queries are faster than with `never` beyond doubt, else "undecided"."""
    told = [row for row in section.rows if _gains(section, row)]
    cells = dict(zip((row.strategy for row in told), metric_cells(told, "payback_passes"), strict=True))
    unclear = Cell(MISSING, "undecided")
    return [
        cells.get(row.strategy, unclear if row.values["payback_passes"] is not None else Cell(MISSING))
        for row in section.rows
    ]


def _gains(section: Section, row: Row) -> bool:
    if section.baseline is None or row.values["payback_passes"] is None:
        return False
    return section.compare("query_mean_s", row.strategy, BASELINE).verdict == "less"


def _against_baseline(section: Section, row: Row) -> Cell:
    """The ratio of mean latencies with its interval; "undecided" instead where the interval holds 1."""
    if row.strategy == BASELINE:
        return Cell(MISSING)
    found = section.compare("query_mean_s", row.strategy, BASELINE)
    if found.ratio is None or found.low is None or found.high is None:
        return Cell(MISSING if found.ratio is None else format_ratio(found.ratio), "undecided")
    if found.method == "exact":
        return Cell(format_ratio(found.ratio), "exact")
    interval = format_range(found.low, found.high, "\N{EN DASH}")
    return Cell(format_ratio(found.ratio), "undecided" if found.verdict == "undecided" else interval)
