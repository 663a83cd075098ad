"""A report over time: the same page for the history of each scenario."""

from collections.abc import Sequence
from datetime import UTC, datetime

from bench.text import MISSING, counted
from reports.charts.history import draw, finding, panels
from reports.charts.registry import Chart
from reports.page.blocks import Block, Picture, Prose
from reports.page.content import Built, Page, Place, ReportContent, Section
from reports.page.sections import method
from reports.page.sections.cautions import cautions
from reports.page.tables import Cell, Column, Table
from reports.phrases import Verbatim, listed, say, sentence
from reports.text import format_value
from reports.verdicts.history import History, Sitting

_READING = (
    "A point is the mean of a sitting's runs, which were made one after the other, and its whisker spans "
    "them. Sittings are spaced evenly. A dashed line marks what has changed since the sitting before; where "
    "figures of two sittings must not be compared, lines have a gap."
)
_NO_VERDICT = say(
    "Runs of one sitting resemble each other more than those of another, so a step may be the machine's: ",
    Verbatim("compactbench compare"), " says whether two sittings differ.",
)  # fmt: skip


def history_page(histories: Sequence[History]) -> Page:
    """The page of these histories, each of at least two sittings."""
    contents = tuple(
        _content(history, f"s{number}-" if len(histories) > 1 else "")
        for number, history in enumerate(histories, 1)
    )
    groups = [sitting.group for history in histories for sitting in history.sittings]
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
    first, last = (_moment(history.sittings[place]) for place in (0, -1))
    facts = sentence(
        "{count}, from {first} to {last}. The last one: {facts}",
        count=counted(len(history.sittings), "sitting"), first=first, last=last, facts=method.facts(latest),
    )  # fmt: skip
    sections = (
        _built("over-time", "Over time", "open", picture, Prose(_NO_VERDICT)),
        _built("changes", "What changed", "open", _changes(history)),
        _built("figures", "Figures of each sitting", "folded",
               *(_figures(history, name, title) for name, title in panels(history).items())),
    )  # fmt: skip
    return ReportContent(
        latest, prefix, method.section_title(latest), facts, method.reproduce(latest),
        tuple(caution for caution in cautions(latest) if caution.is_grave), sections,
    )  # fmt: skip


def _built(name: str, title: str, place: Place, *blocks: Block) -> Built:
    return Built(Section(name, title, place, lambda _: blocks, title), title, blocks)


def _changes(history: History) -> Block:
    """A row per change, with the strategies that have it alike."""
    labels: dict[tuple[str, ...], list[str]] = {}
    for sitting in history.sittings:
        for change in sitting.changes:
            values = (MISSING if value is None else str(value) for value in change.values)
            of_strategy = [change.runs[1].manifest.strategy] if change.checked.by_strategy else []
            labels.setdefault((_moment(sitting), change.field, *values), []).extend(of_strategy)
    if not labels:
        return Prose(say("Versions, options, rules and the machine are the same in all sittings."))
    everyone = len(history.strategies)
    rows = tuple(
        (
            Cell(moment),
            *(Cell(Verbatim(text)) for text in texts),
            Cell(listed(own) if own and len(own) < everyone else "all"),
        )
        for (moment, *texts), own in labels.items()
    )
    columns = tuple(
        Column(name, is_number=False) for name in ("Since", "What", "Before", "Now", "Strategies")
    )
    return Table(columns, rows, caption="What differs from the sitting before")


def _figures(history: History, metric: str, title: str) -> Table:
    """A row per sitting and a column per strategy."""
    columns = (Column("Sitting", is_number=False), *(Column(label) for label in history.strategies))
    rows = tuple(
        (Cell(_moment(sitting)), *(_cell(sitting, metric, label) for label in history.strategies))
        for sitting in history.sittings
    )
    name = say(title[0].upper() + title[1:])
    return Table(columns, rows, title=name, caption="Means, and from the lowest to the highest run")


def _cell(sitting: Sitting, metric: str, label: str) -> Cell:
    values = sitting.values(metric, label)
    mean, low, high = (format_value(metric, value) for value in values or (None, None, None))
    return Cell(mean, "" if low == high else f"{low} to {high}")


def _moment(sitting: Sitting) -> str:
    return f"{datetime.fromisoformat(sitting.started_utc).astimezone(UTC):%Y-%m-%d %H:%M} UTC"
