"""What the stream deleted and no compaction has applied yet, over scenario time."""

from matplotlib.figure import Figure

from reports.charts.stepped import stepped
from reports.load import Section
from reports.theme import Theme

_TITLES = {
    "delete_files_count": "live delete and log files",
    "equality_files_count": "those by equality",
    "delete_rows": "rows in all of them",
}


def draw(data: Section, theme: Theme) -> Figure:
    """Delete files, those by equality, and rows of all; what no run counted is left out."""
    counted = data.observations.notna().any()
    return stepped(data, {column: title for column, title in _TITLES.items() if counted[column]}, theme)
