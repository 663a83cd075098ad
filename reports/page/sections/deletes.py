"""The delete files that each strategy leaves behind, the rows in them, and what the strategy costs."""

from bench.results.metrics import LATENCY
from reports.data.group import RunGroup
from reports.page.tables import Column, Table, has_values, latency_unit, metric_cells, strategy_table

_LEFT_BEHIND = (
    ("delete_files_mean", "Delete files", "mean"),
    ("delete_files_end", "Delete files", "at end"),
    ("equality_files_mean", "Equality deletes", "mean"),
    ("delete_rows_mean", "Deleted rows", "mean"),
    ("delete_rows_end", "Deleted rows", "at end"),
    ("deletes_age_mean_s", "Age of oldest delete", "mean, s"),
    ("since_compaction_mean_s", "Age of last compaction", "mean, s"),
    ("health_mean", "Health", "mean, of 100"),
)
_OF_FORMATS = (
    "Formats differ in what a delete file is, so compare its columns within one format only: a deletion "
    "vector counts as one delete file with the rows that it marks, wherever it is stored; an equality delete "
    "file has a deleted row for each of its keys."
)
_CAPTION = "What each strategy leaves behind, with its cost and latency"
_NOTES = (  # shown with the columns they explain
    ("delete_files_mean", "Means are over time."),
    (
        "delete_rows_mean",
        "Deleted rows: the rows in live delete files. A log file has new versions of rows as well as "
        "deletes, a key once for each commit.",
    ),
    (
        "deletes_age_mean_s",
        "Age of oldest delete: how long the oldest live delete or log file has waited, which is how far "
        "behind a reader that ignores them may be, for one row or many.",
    ),
    (
        "since_compaction_mean_s",
        "Age of last compaction: time since a compaction last committed; files that it did not touch have "
        "waited longer.",
    ),
    (
        "health_mean",
        "Health: the score that the strategy's planner reports whenever its trigger fires; 100 is best.",
    ),
)


def left_behind(group: RunGroup) -> Table | None:
    """A row per strategy: what it leaves behind, then cost and latency; None without deletes."""
    if not group.has_deletes:
        return None
    known = [column for column in _LEFT_BEHIND if has_values(group.rows, column[0])]
    cost = group.compaction_cost
    per_second, unit = latency_unit(group.rows, [LATENCY])
    metrics = (
        *known, (cost.metric, cost.title, "s"), ("compaction_added_bytes", "Compaction added", ""),
        (LATENCY, "Query mean", unit),
    )  # fmt: skip
    shown = [
        (Column(group.in_delete_words(title), of),
         metric_cells(group.rows, name, per_second if name == LATENCY else 1.0))
        for name, title, of in metrics
    ]  # fmt: skip
    names = {name for name, _, _ in known}
    of_formats = (_OF_FORMATS,) if len(group.parts) > 1 else ()
    texts = (group.in_delete_words(text) for name, text in _NOTES if name in names)
    note = " ".join((*texts, *of_formats))
    return strategy_table(group.rows, shown, note, _CAPTION)
