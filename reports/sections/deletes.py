"""What each policy leaves behind beside what it costs: delete files, and the rows in them."""

from reports.load import Section
from reports.phrases import Verbatim
from reports.sections.summary import Cell, Column, Table, cost_title, metric_cells

_LEFT = (
    ("delete_files_mean", "Delete files", "mean"),
    ("delete_files_end", "Delete files", "at end"),
    ("equality_files_mean", "Of them by equality", "mean"),
    ("delete_rows_mean", "Rows in them", "mean"),
    ("delete_rows_end", "Rows in them", "at end"),
    ("since_compaction_mean_s", "Since a compaction", "mean, s"),
    ("health_mean", "Health", "mean, of 100"),
)
_NOTE = (
    "Means are over the stream, taken after each commit and so before the compaction due then. Since a "
    "compaction: how long ago one last committed; files it left alone have waited longer."
)
_HEALTH = " Health: the score planners that have one give the table where their trigger fires; 100 is best."


def left_behind(section: Section) -> Table | None:
    """A row a strategy, what it left first, then cost and latency; None where deletes do not occur."""
    if not section.has_deletes:
        return None
    told = [c for c in _LEFT if any(row.values[c[0]] is not None for row in section.rows)]
    cost = (section.cost_metric, cost_title(section), "s")
    metrics = (*told, cost, ("compaction_added_bytes", "Rewritten", ""), ("query_mean_s", "Query mean", "s"))
    cells = [[Cell(Verbatim(label)) for label in section.strategies]]
    cells += [metric_cells(section.rows, name) for name, _, _ in metrics]
    columns = (Column("Strategy", is_number=False), *(Column(title, unit) for _, title, unit in metrics))
    has_health = any(name == "health_mean" for name, _, _ in told)
    return Table(columns, tuple(zip(*cells, strict=True)), _NOTE + (_HEALTH if has_health else ""))
