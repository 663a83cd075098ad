"""Live files over scenario time."""

from matplotlib.figure import Figure

from reports.charts.stepped import stepped
from reports.load import Section
from reports.theme import Theme


def draw(data: Section, theme: Theme) -> Figure:
    """Data files after each commit and compaction; the median over the runs."""
    return stepped(data, {"data_files_count": "live data files"}, theme)
