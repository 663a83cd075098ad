"""A report over time: the same page for the history of each scenario."""

from collections.abc import Sequence
from typing import Any

from bench.results.pooling import Difference, changed_keys
from bench.text import MISSING, counted
from reports.charts.history import draw, finding, panels
from reports.charts.registry import Chart
from reports.data.queries import sessions_of
from reports.page.blocks import Block, Picture, Prose
from reports.page.content import Built, Page, Place, ReportContent, Section
from reports.page.sections import method
from reports.page.sections.cautions import cautions
from reports.page.tables import Cell, Column, Table
from reports.phrases import Verbatim, listed, say, sentence
from reports.text import format_value
from reports.verdicts.history import History, HistoryPoint

_READING = (
    "A point is the mean of runs that were made one after the other, and its whisker spans them. Points are "
    "spaced evenly. A dashed line marks what has changed since the point before; where figures of two points "
    "must not be compared, lines have a gap."
)
_NO_VERDICT = say(
    "Runs of one sitting resemble each other more than those of another, so a step may be the machine's: ",
    Verbatim("compactbench compare"), " says whether two sittings differ.",
)  # fmt: skip


def history_page(histories: Sequence[History]) -> Page:
    """The page of these histories, each of at least two points."""
    contents = tuple(
        _content(history, f"s{number}-" if len(histories) > 1 else "")
        for number, history in enumerate(histories, 1)
    )
    groups = [point.group for history in histories for point in history.points]
    title = say("Over time: ") + method.title(groups)
    labels = tuple(dict.fromkeys(label for history in histories for label in history.strategies))
    return Page(title, None, contents, labels)


def _content(history: History, prefix: str) -> ReportContent:
    latest = history.latest
    chart = Chart(
        "history", "Metrics over time", _READING, lambda _, theme: draw(history, theme),
        lambda _: finding(history), "open",
    )  # fmt: skip
    picture = Picture(chart, latest, say(chart.title), f"{prefix}history", finding(history))
    first, *_, last = history.points
    facts = sentence(
        "{count}, from {first} to {last}. The last one: {facts}",
        count=counted(len(history.points), "point"), first=first.moment, last=last.moment,
        facts=method.facts(latest),
    )  # fmt: skip
    sections = (
        _built("over-time", "Over time", "open", picture, *_advice(history)),
        _built("changes", "What changed", "open", _changes(history)),
        _built("figures", "Figures of each point", "folded",
               *(_figures(history, name, title) for name, title in panels(history).items())),
    )  # fmt: skip
    return ReportContent(
        latest, prefix, method.section_title(latest), facts, method.reproduce(latest),
        tuple(caution for caution in cautions(latest) if caution.is_grave), sections,
    )  # fmt: skip


def _built(name: str, title: str, place: Place, *blocks: Block) -> Built:
    return Built(Section(name, title, place, lambda _: blocks, title), title, blocks)


def _advice(history: History) -> tuple[Block, ...]:
    """Where a step may be noise and can be tested."""
    has_noise = not history.latest.is_simulated
    is_testable = any(point.is_comparable for point in history.points[1:])
    return (Prose(_NO_VERDICT),) if has_noise and is_testable else ()


def _changes(history: History) -> Block:
    """A row per change, with the strategies that have it alike."""
    labels: dict[tuple[str, ...], list[str]] = {}
    for point in history.points:
        for change in point.changes:
            of_strategy = [change.runs[1].manifest.strategy] if change.checked.by_strategy else []
            for part, *values in _parts(change):
                texts = (MISSING if value is None else str(value) for value in values)
                row = (point.moment, change.checked.words, part, *texts)
                labels.setdefault(row, []).extend(of_strategy)
    if not labels:
        return Prose(say("Versions, options, rules and the machine have always been the same."))
    everyone = len(history.strategies)
    rows = tuple(
        (
            Cell(moment),
            Cell(say(words, ": ", Verbatim(part)) if part else words),
            *(Cell(text if text == MISSING else Verbatim(text)) for text in values),
            Cell(listed(own) if own and len(own) < everyone else "all"),
        )
        for (moment, words, part, *values), own in labels.items()
    )
    columns = tuple(
        Column(name, is_number=False) for name in ("Since", "What", "Before", "Now", "Strategies")
    )
    return Table(columns, rows, caption="What differs from the point before")


def _parts(change: Difference) -> list[tuple[str, Any, Any]]:
    """What differs within a changed field, each with both values; they are unknown of mere checksums."""
    field, _, part = change.field.partition(".")
    if field == "scenario_hash":
        keys = [(key, *values) for key, values in changed_keys(change).items()]
        return keys or [("", None, None)]
    if field == "change_log_hash":
        return [("", None, None)]
    before, now = (run.manifest for run in change.runs)
    if field == "strategy_hash":
        is_told = before.strategy_summary != now.strategy_summary
        return [("", before.strategy_summary, now.strategy_summary) if is_told else ("", None, None)]
    if field == "notes":
        return [("", sessions_of(before), sessions_of(now))]
    return [(part, *change.values)]


def _figures(history: History, metric: str, title: str) -> Table:
    """A row per point and a column per strategy."""
    columns = (
        Column("Time", is_number=False), Column("Runs"), *(Column(label) for label in history.strategies)
    )  # fmt: skip
    rows = tuple(
        (
            Cell(point.moment),
            _runs(point, metric, history.strategies),
            *(_cell(point, metric, label) for label in history.strategies),
        )
        for point in history.points
    )
    name = say(title[0].upper() + title[1:])
    return Table(columns, rows, title=name, caption="Means, and from the lowest to the highest run")


def _runs(point: HistoryPoint, metric: str, strategies: Sequence[str]) -> Cell:
    """Of each strategy, or from the fewest to the most."""
    counts = [value.runs for label in strategies if (value := point.value(metric, label))]
    ends = dict.fromkeys((min(counts), max(counts))) if counts else ()
    return Cell(" to ".join(map(str, ends)) or MISSING)


def _cell(point: HistoryPoint, metric: str, label: str) -> Cell:
    value = point.value(metric, label)
    if value is None:
        return Cell(MISSING)
    mean, low, high = (format_value(metric, figure) for figure in (value.mean, value.low, value.high))
    return Cell(mean, "" if low == high else f"{low} to {high}")
