"""The charts of the answer and of the open sections as slides."""

from collections.abc import Iterator
from dataclasses import replace

from bench.text import counted, named_once
from reports.charts.output import Draw
from reports.charts.slides import as_slide
from reports.charts.theme import Theme
from reports.data.formats import full_format_name, part_name
from reports.data.group import RunGroup
from reports.page.blocks import Picture
from reports.page.content import Page
from reports.page.one_line import one_line
from reports.page.sections.answer import best
from reports.page.sections.method import dates
from reports.phrases import Verbatim, joined, say

_STRATEGIES_MAX = 20  # a line or a panel of each has no room on a slide for more


def slides(page: Page, theme: Theme) -> Iterator[tuple[str, Draw, RunGroup, Theme]]:
    """The stem of a slide's files, and what its chart is drawn from."""
    on_slide = replace(theme, is_slide=True)
    for content in page.contents:
        for picture in content.pictures:
            has_room = len(picture.group.strategies) <= _STRATEGIES_MAX
            if picture.chart.place == "answer" or (picture.chart.place == "open" and has_room):
                draw = as_slide(picture.chart.draw, title(picture), source(picture.group))
                yield picture.stem, draw, picture.group, on_slide


def title(picture: Picture) -> str:
    """What the picture shows; if that is modelled, the title says so."""
    chart, group = picture.chart, picture.group
    words = _answer(group) if chart.place == "answer" else str(chart.message(group))
    words = words or str(picture.finding)
    if not group.is_simulated or "as modelled" in words.lower():
        return words
    return f"{words.removesuffix('.')} (as modelled)"


def _answer(group: RunGroup) -> str:
    """The answer in a line; of several formats what is best in each, if that is one strategy everywhere."""
    if len(group.parts) == 1:
        return str(next(one_line(group), ""))
    chosen = [
        say(Verbatim(part.row(label).base_strategy), f" ({part_name(part, group)})")
        for part in group.parts
        if (label := best(part)) is not None
    ]
    if len(chosen) < len(group.parts):
        return "Cost and mean query of each policy, by format"
    return f"Best trade-offs by format: {joined(chosen)}"


def source(group: RunGroup) -> str:
    """Such as "append-only, Iceberg 1.11.0, n = 3, 2 cores, 2026-11-22, compactbench 0.1.0"."""
    m = group.manifest
    runs = sorted({row.runs for row in group.rows})
    repeated = f"n = {runs[0]}" if len(runs) == 1 else f"n = {runs[0]} to {runs[-1]}"
    version = m.versions.get("compactbench")
    parts = (
        m.scenario,
        named_once(full_format_name(part) for part in group.parts),
        "simulated" if group.is_simulated else repeated,
        "" if m.cores is None else counted(m.cores, "core"),
        dates(group.runs),
        "" if version is None else f"compactbench {version}",
    )
    return ", ".join(filter(None, parts))
