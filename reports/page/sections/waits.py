"""How long the writer waits for a commit, with compactions within commits or delayed."""

from collections.abc import Mapping

from reports.data.group import RunGroup
from reports.page.tables import Column, Table, has_values, latency_unit, metric_cells, strategy_table

_WALLS = (
    ("commit_mean_s", "Commit", "mean"),
    ("commit_p95_s", "Commit", "95th percentile"),
    ("commit_returned_p95_s", "Call returns", "95th percentile"),
)
_AGES = (  # in scenario time
    ("pending_mean_s", "Decision to commit", "mean, s"),
    ("deletes_age_mean_s", "Age of oldest delete", "mean, s"),
)
_NOTE = (
    "Commit: until the commit's own version exists. Call returns: until its writer can go on, including "
    "compactions that it waits for. Decision to commit: how long before its commit a compaction was planned, "
    "in scenario time."
)
_AGE_NOTE = (
    " Age of oldest delete: how far behind a reader is that ignores delete and log files, in scenario time."
)
_EARLY_NOTE = " What is pending at the end of the stream is executed there, before its delay is over."
_CAPTION = "Commits of the stream, and what waits with them"


def waits(group: RunGroup) -> Table | None:
    """A row per strategy; None if no commit waits for a compaction and none is delayed."""
    if not any(_waits(row.values) for row in group.rows):
        return None
    per_second, unit = latency_unit(group.rows, [name for name, _, _ in _WALLS])
    ages = [age for age in _AGES if has_values(group.rows, age[0])]
    shown = [
        (Column(t, f"{of}, {unit}"), metric_cells(group.rows, name, per_second)) for name, t, of in _WALLS
    ]
    shown += [(Column(title, of), metric_cells(group.rows, name)) for name, title, of in ages]
    has_age = any(name == "deletes_age_mean_s" for name, _, _ in ages)
    is_delayed = any(row.values["pending_mean_s"] for row in group.rows)
    note = _NOTE + (_AGE_NOTE if has_age else "") + (_EARLY_NOTE if is_delayed else "")
    return strategy_table(group.rows, shown, note, _CAPTION)


def _waits(values: Mapping[str, float | None]) -> bool:
    own_s, returned_s = values["commit_p95_s"], values["commit_returned_p95_s"]
    is_waiting = own_s is not None and returned_s is not None and returned_s > own_s
    return is_waiting or bool(values["pending_mean_s"])
