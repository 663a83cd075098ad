"""What the start of a job for each compaction adds to the cost of strategies."""

from collections.abc import Collection

from bench.results.rows import BASELINE, Row
from bench.text import human_ratio
from reports.data.cost import COMPACTION_TIME
from reports.data.group import RunGroup
from reports.page.tables import Cell, Column, Shown, Table, seconds, strategy_table
from reports.verdicts.pareto_front import candidates, points
from reports.verdicts.unmodelled import unmodelled

_STARTS_S = (0.0, 10.0, 30.0)
_CAPTION = "Core seconds if each compaction starts a job of its own"
_NOTE = (
    "{cost}, plus {cores} cores that are reserved while a job starts, for each compaction outside of "
    "commits that Spark executes. Bold, with multiples of it: the cheapest that compacts during the stream "
    "or commits in another way than {baseline}. The runs themselves started no jobs."
)


def job_starts(group: RunGroup) -> Table | None:
    """A row per strategy with a known cost, the cheapest first.

    None if all that differ from `never` start as many jobs.
    """
    metric = group.cost_metric
    rows = [row for row in group.choices if _is_known(group, row)]
    rows.sort(key=lambda row: (row.values[metric] or 0.0, _jobs(row)))
    active = {point.strategy for point in candidates(points(group)) if not point.is_baseline}
    cores = group.manifest.cores
    jobs = {_jobs(row) for row in rows if row.strategy in active}
    if cores is None or group.cost is COMPACTION_TIME or len(jobs) < 2:
        return None
    starts_s = sorted({*_STARTS_S, group.manifest.job_start_s})
    shown = [_column(group, rows, active, start_s, cores) for start_s in starts_s]
    note = _NOTE.format(cost=group.cost.title, cores=cores, baseline=BASELINE)
    return strategy_table(rows, shown, note, _CAPTION)


def _is_known(group: RunGroup, row: Row) -> bool:
    metric = group.cost_metric
    return row.values[metric] is not None and unmodelled(group, row.strategy, metric) is None


def _column(group: RunGroup, rows: list[Row], active: Collection[str], start_s: float, cores: int) -> Shown:
    cpu_s = [(row.values[group.cost_metric] or 0.0) + _jobs(row) * cores * start_s for row in rows]
    least_s = min(own_s for row, own_s in zip(rows, cpu_s, strict=True) if row.strategy in active)
    cells = [
        Cell(
            text,
            human_ratio(own_s / least_s) if own_s > least_s > 0 else "",
            own_s == least_s and row.strategy in active,
            own_s,
        )
        for row, text, own_s in zip(rows, seconds(cpu_s), cpu_s, strict=True)
    ]
    return Column(f"Start of {start_s:g} s", "core s"), cells


def _jobs(row: Row) -> float:
    return row.values["compaction_jobs"] or 0.0
