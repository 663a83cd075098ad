"""How old the data is that a query sees, against the files it opens and its latency."""

from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from bench.text import counted, human_duration
from reports.charts.canvas import (
    FONT_PT,
    belongs,
    head,
    latency_of,
    new_figure,
    nothing_to_draw,
    primary_query,
    scale_note,
    value_axis,
)
from reports.charts.hints import hint
from reports.charts.names import Name, write_names
from reports.charts.theme import Theme, chart_label, traits
from reports.data.group import RunGroup
from reports.phrases import Sentence, named_figures, sentence, spanned
from reports.text import duration_unit

_FILES, _LATENCY = "files_mean", "query_mean_s"
_TICKS_S = (1, 10, 60, 300, 1800, 3600, 4 * 3600, 12 * 3600, 86_400, 7 * 86_400)


def applies(group: RunGroup) -> bool:
    """Whether the writers of some strategies commit less often than others."""
    return len({staleness_s for staleness_s, _ in _points(group, _LATENCY).values()}) > 1


def draw(group: RunGroup, theme: Theme) -> Figure:
    """Mean files opened by the primary query (above) and its mean latency (below) over mean staleness."""
    files, latencies = _points(group, _FILES), _points(group, _LATENCY)
    if not latencies:
        return nothing_to_draw(theme, "no run has both a commit and a query latency")
    figure = new_figure(theme, 5.2, panels=2, left=0.065, right=0.97)
    factor, unit = duration_unit(max(latency for _, latency in latencies.values()))
    above, below = figure.axes
    _panel(above, group, files, theme)
    head(above, f"data files that {primary_query(group)} opens, mean{scale_note(above.get_yscale())}", theme)
    _panel(below, group, {label: (age, y * factor) for label, (age, y) in latencies.items()}, theme)
    _whiskers(below, group, latencies, factor, theme)
    head(below, f"mean {latency_of(group)} ({unit}{scale_note(below.get_yscale())})", theme)
    label = "mean age of the newest rows (logarithmic)"
    below.set_xlabel(label, fontsize=FONT_PT, color=theme.muted)
    return figure


def finding(group: RunGroup) -> Sentence:
    files, latencies = _points(group, _FILES), _points(group, _LATENCY)
    figures = []
    for label, (staleness_s, query_s) in sorted(latencies.items(), key=lambda item: item[1]):
        opened = counted(round(files[label][1]), "file") if label in files else "unknown files"
        figures.append((label, f"{human_duration(staleness_s)}, {opened}, {human_duration(query_s)}"))
    return named_figures("Age of the newest rows, files and latency: ", figures)


def message(group: RunGroup) -> Sentence:
    ages = [(label, age_s, human_duration(age_s)) for label, (age_s, _) in _points(group, _LATENCY).items()]
    return sentence("The newest rows that a query sees are {range} old.", range=spanned(ages))


def _points(group: RunGroup, name: str) -> Mapping[str, tuple[float, float]]:
    """Mean staleness in seconds and a mean of the primary query, by strategy; without either: left out."""
    primary = group.manifest.primary_probe
    by_strategy: dict[str, tuple[float, float]] = {}
    for row in group.rows:
        staleness_s, value = row.values["staleness_mean_s"], row.probes.get(primary, {}).get(name)
        if staleness_s is not None and value is not None:
            by_strategy[row.strategy] = (staleness_s, value)
    return by_strategy


def _whiskers(
    axes: Axes, group: RunGroup, latencies: Mapping[str, tuple[float, float]], factor: float, theme: Theme
) -> None:
    for label, (age_s, _) in latencies.items():
        known = [value * factor for value in group.row(label).run_values[_LATENCY] if value is not None]
        if len(known) > 1:
            colour = traits(group.strategies, theme)[label].colour
            line = axes.plot([age_s, age_s], [min(known), max(known)], color=colour, linewidth=1.2)
            belongs(line, label, theme)


def _panel(axes: Axes, group: RunGroup, places: Mapping[str, tuple[float, float]], theme: Theme) -> None:
    ages = [staleness_s for staleness_s, _ in places.values()]
    axes.set_xscale("log")
    axes.set_xlim(min(ages, default=1.0) / 1.6, max(ages, default=1.0) * 2.2)
    axes.xaxis.set_major_locator(FixedLocator(_TICKS_S))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: human_duration(value)))
    value_axis(axes, [value for _, value in places.values()])
    for label, (age_s, value) in places.items():
        trait = traits(group.strategies, theme)[label]
        belongs(axes.plot([age_s], [value], trait.mark, markersize=7, color=trait.colour, clip_on=False,
                          zorder=3), label, theme)  # fmt: skip
        hint(axes, label, [(age_s, value, f"{human_duration(age_s)}, {value:,.6g}")], theme)
    write_names(axes, {label: Name(at, chart_label(label), theme.ink) for label, at in places.items()}, theme)
