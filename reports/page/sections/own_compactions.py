"""What the compactions of an imported table did, beside those of the simulated strategies."""

from reports.data.group import RunGroup
from reports.page.tables import Cell, Column, Table, by_columns, figure_cell
from reports.phrases import Verbatim

_SHOWN = (  # metric, title, name in the dataset
    ("compactions", "Compactions", "count"),
    ("compaction_added_bytes", "Compaction added", "added_bytes"),
    ("files_end", "Files at end", "data_files_end"),
    ("delete_files_end", "Delete files at end", "delete_files_end"),
)
_CAPTION = "The table's own compactions, and what the strategies would have done"
_NOTE = (
    "The first row is recorded in the table's metadata, the others are simulated on the same stream. Where a "
    "strategy compacts at the same moments with the planner of that table, their difference is the error of "
    "the simulation; at other moments, files at the end also differ by when the last compaction ran."
)


def own_compactions(group: RunGroup) -> Table | None:
    """None if the table had no compactions."""
    own = group.manifest.dataset.get("own_compactions")
    if not isinstance(own, dict):
        return None
    names = [Cell("recorded"), *(Cell(Verbatim(row.strategy)) for row in group.attainable)]
    columns = [(Column("Strategy", is_number=False), names)]
    for metric, title, name in _SHOWN:
        recorded = own.get(name)
        values = [
            float(recorded) if isinstance(recorded, int) else None,
            *(row.values[metric] for row in group.attainable),
        ]
        if any(values):
            cells = [figure_cell(metric, value) for value in values]
            columns.append((Column(group.in_delete_words(title)), cells))
    return by_columns(columns, _NOTE, caption=_CAPTION)
