"""What the start of a job for each compaction adds to the cost of strategies."""

from bench.results.rows import Row
from bench.text import human_ratio
from reports.data.cost import COMPACTION_TIME
from reports.data.group import RunGroup
from reports.page.tables import Cell, Column, Shown, Table, seconds, strategy_table
from reports.verdicts.pareto_front import candidates, points

_STARTS_S = (0.0, 10.0, 30.0)
_CAPTION = "Core seconds if each compaction starts a job of its own"
_NOTE = (
    "{cost}, plus {cores} cores that are reserved while a job starts, for each compaction outside of "
    "commits; with multiples of the cheapest. The runs themselves started no jobs."
)


def job_starts(group: RunGroup) -> Table | None:
    """A row per strategy that compacts during the stream, the cheapest first; None if all start as many."""
    some = [point for part in group.parts for point in candidates(points(part)) if not point.is_baseline]
    rows = [row for point in some if (row := group.row(point.strategy)).values["compactions"]]
    cores = group.manifest.cores
    if cores is None or group.cost is COMPACTION_TIME or len({_jobs(row) for row in rows}) < 2:
        return None
    rows.sort(key=lambda row: (row.values[group.cost_metric] or 0.0, _jobs(row)))
    starts_s = sorted({*_STARTS_S, group.manifest.job_start_s})
    shown = [_column(group, rows, start_s, cores) for start_s in starts_s]
    return strategy_table(rows, shown, _NOTE.format(cost=group.cost.title, cores=cores), _CAPTION)


def _column(group: RunGroup, rows: list[Row], start_s: float, cores: int) -> Shown:
    cpu_s = [(row.values[group.cost_metric] or 0.0) + _jobs(row) * cores * start_s for row in rows]
    least_s = min(cpu_s)
    cells = [
        Cell(text, human_ratio(own_s / least_s) if own_s > least_s > 0 else "", own_s == least_s, own_s)
        for text, own_s in zip(seconds(cpu_s), cpu_s, strict=True)
    ]
    return Column(f"Start of {start_s:g} s", "core s"), cells


def _jobs(row: Row) -> float:
    return row.values["compaction_jobs"] or 0.0
