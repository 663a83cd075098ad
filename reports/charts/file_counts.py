"""Live data files and delete files over scenario time: steps, changed by commits and compactions only."""

from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reports.charts.canvas import (
    head,
    label_ends,
    new_figure,
    nothing_to_draw,
    right_margin,
    time_axis,
    value_axis,
)
from reports.load import RunGroup, band
from reports.theme import Theme, traits

_FIRST_IN, _OTHER_IN = 3.7, 1.9  # heights of the first panel and of each one below it
_DELETE_TITLES = {
    "delete_files_count": "live delete files",
    "equality_files_count": "live equality delete files",
    "delete_rows": "rows in the live delete files",
}


def draw_data_files(group: RunGroup, theme: Theme) -> Figure:
    """Live data files after each commit and compaction: the median over the runs."""
    return _panels(group, {"data_files_count": "live data files"}, theme)


def draw_delete_files(group: RunGroup, theme: Theme) -> Figure:
    """Live delete files, the equality deletes among them, and their rows, as far as they were counted."""
    counted = group.observations.notna().any()
    titles = {column: title for column, title in _DELETE_TITLES.items() if counted[column]}
    return _panels(group, titles, theme)


def _panels(group: RunGroup, titles: Mapping[str, str], theme: Theme) -> Figure:
    """A panel for each column of the observations, under its title: the median over the runs."""
    if not titles or group.observations.empty:
        return nothing_to_draw(theme, "no file counts were recorded")
    height_in = _FIRST_IN + _OTHER_IN * (len(titles) - 1)
    figure = new_figure(theme, height_in, len(titles), right=right_margin(group.strategies))
    for axes, (column, title) in zip(figure.axes, titles.items(), strict=True):
        _panel(axes, group, column, title, theme)
    for axes in figure.axes[:-1]:
        axes.set_xlabel("")
    return figure


def _panel(axes: Axes, group: RunGroup, column: str, title: str, theme: Theme) -> None:
    styles = traits(group.strategies, theme)
    unit_ms = time_axis(axes, group.manifest.duration_ms, theme)
    observations = group.observations.astype({column: float})
    bands = band(observations, column)
    for label, found in bands.items():
        axes.step(found["at_ms"] / unit_ms, found["median"], where="post", color=styles[label].colour,
                  linestyle=styles[label].dash, linewidth=styles[label].width_pt)  # fmt: skip
    value_axis(axes, observations[column].tolist())
    head(axes, f"{title}{' (logarithmic)' if axes.get_yscale() == 'log' else ''}", theme)
    label_ends(axes, {label: found["median"].iloc[-1] for label, found in bands.items()}, styles, theme)
