"""Counts of live files and rows over scenario time: steps, as only commits and compactions change them."""

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
from reports.load import Section, band
from reports.theme import Theme, traits

_ONE_IN, _MORE_IN = 3.7, 1.9  # heights of the first panel and of each below it


def stepped(data: Section, titles: Mapping[str, str], theme: Theme) -> Figure:
    """A panel for each column of the observations, under its title; the median over the runs."""
    if not titles or data.observations.empty:
        return nothing_to_draw(theme, "no run gave a look at its files")
    height_in = _ONE_IN + _MORE_IN * (len(titles) - 1)
    figure = new_figure(theme, height_in, len(titles), right=right_margin(data.strategies))
    for axes, (column, title) in zip(figure.axes, titles.items(), strict=True):
        _panel(axes, data, column, title, theme)
    for axes in figure.axes[:-1]:
        axes.set_xlabel("")
    return figure


def _panel(axes: Axes, data: Section, column: str, title: str, theme: Theme) -> None:
    styles = traits(data.strategies, theme)
    unit_ms = time_axis(axes, data.manifest.duration_ms, theme)
    looks = data.observations.astype({column: float})
    bands = band(looks, column)
    for label, found in bands.items():
        axes.step(found["at_ms"] / unit_ms, found["median"], where="post", color=styles[label].colour,
                  linestyle=styles[label].dash, linewidth=styles[label].width_pt)  # fmt: skip
    value_axis(axes, looks[column].tolist())
    head(axes, f"{title}{', logarithmic' if axes.get_yscale() == 'log' else ''}", theme)
    label_ends(axes, {label: found["median"].iloc[-1] for label, found in bands.items()}, styles, theme)
