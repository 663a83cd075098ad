"""Live data files and delete files over scenario time, as each tick leaves the table."""

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from bench.text import human_count, human_duration
from reports.charts.canvas import head, new_figure, nothing_to_draw, right_margin, value_axis
from reports.charts.lines import draw_lines, label_ends
from reports.charts.theme import Theme
from reports.data.frames import band, observations
from reports.data.group import RunGroup
from reports.phrases import Sentence, named_figures, say, sentence, spanned

_FIRST_IN, _OTHER_IN = 3.7, 1.9  # heights of the first panel and of each one below it
_DELETE_TITLES = {
    "delete_files_count": "live delete files",
    "equality_files_count": "live equality delete files",
    "delete_rows": "rows in the live delete files",
}


def draw_data_files(group: RunGroup, theme: Theme) -> Figure:
    """Live data files at the end of each tick: the median over the runs."""
    return _panels(group, {"data_files_count": "live data files"}, theme)


def draw_delete_files(group: RunGroup, theme: Theme) -> Figure:
    """Live delete files, the equality deletes among them, and their rows, as far as they were counted."""
    counted = observations(group).notna().any()
    titles = {
        column: group.in_delete_words(title) for column, title in _DELETE_TITLES.items() if counted[column]
    }
    return _panels(group, titles, theme)


def data_files_finding(group: RunGroup) -> Sentence:
    return _ends(group, "files_end", "data files")


def delete_files_finding(group: RunGroup) -> Sentence:
    return _ends(group, "delete_files_end", group.delete_words[0])


def data_files_message(group: RunGroup) -> Sentence:
    return _range(group, "files_end", "data files")


def delete_files_message(group: RunGroup) -> Sentence:
    return _range(group, "delete_files_end", group.delete_words[0])


def _ends(group: RunGroup, metric: str, noun: str) -> Sentence:
    figures = ((label, text) for label, _, text in _counts(group, metric))
    return named_figures(f"Live {noun} at the end: ", figures)


def _range(group: RunGroup, metric: str, noun: str) -> Sentence:
    counts = _counts(group, metric)
    text = "At the end, tables have {range} live {noun}."
    return sentence(text, range=spanned(counts), noun=noun) if counts else say()


def _counts(group: RunGroup, metric: str) -> list[tuple[str, float, str]]:
    known = ((row.strategy, row.values[metric]) for row in group.rows)
    return [(label, count, human_count(count)) for label, count in known if count is not None]


def _panels(group: RunGroup, titles: Mapping[str, str], theme: Theme) -> Figure:
    """A panel for each column of the observations, under its title: the median over the runs."""
    if not titles or observations(group).empty:
        return nothing_to_draw(theme, "no file counts were recorded")
    if theme.is_slide:  # has room for one panel
        titles = dict(list(titles.items())[:1])
    height_in = _FIRST_IN + _OTHER_IN * (len(titles) - 1)
    figure = new_figure(theme, height_in, len(titles), right=right_margin(group.strategies))
    for axes, (column, title) in zip(figure.axes, titles.items(), strict=True):
        counts = observations(group).astype({column: float})
        known = band(counts.dropna(subset=column), column)  # a format may not have what another counts
        medians = {label: of_runs[["at_ms", "median"]] for label, of_runs in known.items()}
        ends = draw_lines(axes, medians, group, theme, hint_text=_hint)
        value_axis(axes, counts[column].tolist())
        head(axes, f"{title}{' (logarithmic)' if axes.get_yscale() == 'log' else ''}", theme)
        label_ends(axes, ends, group.strategies, theme)
    for axes in figure.axes[:-1]:
        axes.set_xlabel("")
    return figure


def _hint(point: Any) -> str:
    return f"{human_duration(point.at_ms / 1000)}: {human_count(point.median)}"
