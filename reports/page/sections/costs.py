"""What each strategy costs: compaction, and what it causes in maintenance, evaluations and commits."""

import math
from collections.abc import Sequence

from bench.results.rows import BASELINE, BREAK_EVEN, Row
from bench.text import MISSING, human_number
from reports.data.cost import TOTAL_CPU
from reports.data.group import RunGroup
from reports.page.sections.money import money_column
from reports.page.tables import Cell, Column, Shown, Table, metric_cells, strategy_table
from reports.verdicts.break_even import BreakEven, break_even

_COST = ""  # stands for the cost of compaction, as the group recorded it
_COLUMNS = (  # without metrics that are unknown or 0 in all runs
    (_COST, "", "s"),
    ("jit_share", "Of it JIT", ""),
    ("compaction_executor_cpu_s", "Of it in tasks", "s"),
    ("maintenance_cpu_s", "Maintenance CPU", "s"),
    ("maintenance_freed_bytes", "Freed by it", ""),
    ("evaluation_cpu_s", "Evaluation CPU", "s"),
    ("policy_cpu_s", "Policy CPU", "s"),
    ("commit_cpu_s", "Commit CPU", "s"),
    ("total_cpu_s", TOTAL_CPU.title, "s"),
    ("compaction_peak_rss_bytes", "Peak memory", "process"),
    ("compaction_peak_heap_bytes", "Peak memory", "Java heap"),
)
_NOTES = (  # shown with the columns they explain
    ("jit_share", "JIT: the share of compaction CPU that Java's compiler took; it falls as a process ages."),
    (
        "commit_cpu_s",
        "Commits write the same rows under every strategy, but metadata that a strategy leaves behind makes "
        "them more expensive, and its writer or table properties may change what they do.",
    ),
    (
        BREAK_EVEN,
        f"Break-even: with more queries per hour than this, the strategy costs less CPU than {BASELINE} over "
        f"this scenario. It falls as a scenario gets longer, since the table of {BASELINE} only grows.",
    ),
)
_TOTAL = "Policy: compaction, maintenance and evaluations. Total: policy and commits."
# Evaluations have no model.
_MODELLED_TOTAL = "Policy: compaction and maintenance. Total: policy and commits."
_DASHES = (
    "A dash: it does not compact before the last tick, or it is not certain that its queries take less CPU "
    f"than those of {BASELINE}."
)
_CAPTION = "Over the whole stream"


def costs(group: RunGroup) -> Table | None:
    """A row per strategy; None if only the compactions themselves were accounted for."""
    cost = group.compaction_cost
    metrics = [(cost.metric, cost.title, "s") if c[0] == _COST else c for c in _COLUMNS]
    known = [c for c in metrics if any(row.values[c[0]] for row in group.rows)]  # above 0 somewhere
    shown: list[Shown] = [
        (Column(title, unit), metric_cells(group.rows, name)) for name, title, unit in known
    ]
    money, rates = money_column(group, group.rows), break_even_column(group, group.rows)
    shown += [*money, *rates]
    if len(shown) < 2:
        return None
    names = {name for name, _, _ in known} | ({BREAK_EVEN} if rates else set())
    notes = ["Times are modelled."] if group.is_simulated else []
    if "policy_cpu_s" in names:
        notes.append(_MODELLED_TOTAL if group.is_simulated else _TOTAL)
    notes += [text for name, text in _NOTES if name in names]
    notes += about_dashes(rates, group.rows)
    notes += about_intervals(*money, *rates)
    return strategy_table(group.rows, shown, " ".join(notes), _CAPTION)


def about_intervals(*shown: Shown) -> tuple[str, ...]:
    """What the intervals are, if some cell of these columns has one."""
    if not any(cell.note for _, cells in shown for cell in cells):
        return ()
    return ("Intervals: 95 % confidence, at equal speed of the machine; open where no saving is proven.",)


def about_dashes(rates: Sequence[Shown], rows: Sequence[Row]) -> tuple[str, ...]:
    """Why some strategy has no break-even in the table though its means have one."""
    withheld = (
        cell.text == MISSING and row.values[BREAK_EVEN] is not None
        for _, cells in rates
        for cell, row in zip(cells, rows, strict=True)
    )
    return (_DASHES,) if any(withheld) else ()


def break_even_column(group: RunGroup, rows: Sequence[Row]) -> tuple[Shown, ...]:
    """From how many queries an hour each strategy pays off, where some strategy does."""
    cells = [_break_even_cell(break_even(group, row)) for row in rows]
    if all(cell.text == MISSING for cell in cells):
        return ()
    return ((Column("Break-even", "queries per hour"), cells),)


def _break_even_cell(at: BreakEven | None) -> Cell:
    if at is None:
        return Cell(MISSING)
    if at.low is None or at.high is None:
        return Cell(human_number(at.rate), value=at.rate)
    if at.high < math.inf:
        interval = f"{human_number(at.low)}\N{EN DASH}{human_number(at.high)}"
        return Cell(human_number(at.rate), interval, value=at.rate)
    if at.low in (0, math.inf):  # nothing is proven, or that no rate pays off
        return Cell(MISSING)
    return Cell("not proven", f"above {human_number(at.low)}", value=at.rate)
