"""Live files over scenario time."""

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
from reports.load import Section, band
from reports.theme import Theme, traits


def draw(data: Section, theme: Theme) -> Figure:
    """Data files after each commit and compaction; delete and log files below, where there are any."""
    found = data.observations
    if found.empty:
        return nothing_to_draw(theme, "no run gave a look at its files")
    has_deltas = bool(found["delta_files_count"].astype(int).any())
    height_in, panels = (5.6, 2) if has_deltas else (3.7, 1)
    figure = new_figure(theme, height_in, panels, right=right_margin(data.strategies))
    _panel(figure.axes[0], data, "data_files_count", "live data files", theme)
    if has_deltas:
        figure.axes[0].set_xlabel("")
        _panel(figure.axes[1], data, "delta_files_count", "live delete and log files", theme)
    return figure


def _panel(axes: Axes, data: Section, column: str, title: str, theme: Theme) -> None:
    worn = traits(data.strategies, theme)
    unit_s = time_axis(axes, data.manifest.duration_s, theme)
    bands = band(data.observations, column)
    for label, found in bands.items():
        axes.step(found["at_s"] / unit_s, found["median"], where="post", color=worn[label].colour,
                  linestyle=worn[label].dash, linewidth=worn[label].width_pt)  # fmt: skip
    value_axis(axes, data.observations[column].astype(float).tolist())
    head(axes, f"{title}{', logarithmic' if axes.get_yscale() == 'log' else ''}", theme)
    label_ends(axes, {label: found["median"].iloc[-1] for label, found in bands.items()}, worn, theme)
