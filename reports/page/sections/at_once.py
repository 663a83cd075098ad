"""What it costs that writer, compactor and readers work at the same time: lateness, conflicts, lost CPU."""

from bench.text import human_duration
from reports.data.group import RunGroup
from reports.page.tables import Column, Table, latency_unit, metric_cells, strategy_table

_LATE = (("commit_since_due_p50_s", "median"), ("commit_since_due_p95_s", "95th percentile"))
_QUERIES = (("query_mean_s", "mean"), ("query_p95_s", "95th percentile"))
_COUNTS = (
    ("redone_commits", "Commits done again", ""),
    ("compactions", "Compactions", "committed"),
    ("lost_compactions", "Compactions", "lost"),
)
_CPU = (("compaction_cpu_s", "CPU of compaction", "s"), ("wasted_cpu_s", "CPU lost", "s"))
_NOTE = (
    "Commit and query: real seconds since they were due. Lost: could not commit because of what others had "
    "committed meanwhile, or was ended because it took too long after the stream. A commit that lost is done "
    "again. A minute of the scenario passes in {minute}."
)
_CAPTION = "Commits, compactions and queries at the same time"


def at_once(group: RunGroup) -> Table | None:
    """A row per strategy; None unless real roles worked at the same time."""
    if not group.manifest.is_live:
        return None
    rows, minute = group.rows, human_duration(60 / group.manifest.speed)
    commit_scale, commit_unit = latency_unit(rows, [name for name, _ in _LATE])
    query_scale, query_unit = latency_unit(rows, [name for name, _ in _QUERIES])
    shown = [
        (Column("Commit", f"{of}, {commit_unit}"), metric_cells(rows, name, commit_scale))
        for name, of in _LATE
    ]
    shown += [(Column(title, unit), metric_cells(rows, name)) for name, title, unit in _COUNTS]
    shown += [(Column(title, unit), metric_cells(rows, name)) for name, title, unit in _CPU]
    shown += [
        (Column("Query", f"{of}, {query_unit}"), metric_cells(rows, name, query_scale))
        for name, of in _QUERIES
    ]
    return strategy_table(rows, shown, _NOTE.format(minute=minute), _CAPTION)
