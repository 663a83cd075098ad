"""All that one section of the report says, before it is set as HTML or Markdown."""

from dataclasses import dataclass

from reports.charts.registry import CHARTS, Chart
from reports.load import Section
from reports.phrases import Sentence, Verbatim
from reports.sections import details as detail_tables
from reports.sections import method
from reports.sections.by_kind import compactions_by_kind
from reports.sections.cautions import Caution, cautions
from reports.sections.deletes import left_behind
from reports.sections.findings import along_the_front, answers
from reports.sections.limits import limits
from reports.sections.parameters import parameters
from reports.sections.set_up import set_up
from reports.sections.summary import Cell, Table, summary


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart of this section; `stem` names its files and holds no text from results."""

    chart: Chart
    stem: str


@dataclass(frozen=True, slots=True)
class Content:
    """The parts of one section in the order they are read."""

    section: Section
    anchor: str
    title: Sentence
    description: str
    facts: Sentence
    cautions: tuple[Caution, ...]
    answers: tuple[Sentence, ...]
    front: tuple[Sentence, ...]
    left_behind: Table | None
    summary: Table
    strategies: tuple[tuple[Verbatim, Verbatim], ...]
    pictures: tuple[Picture, ...]
    compactions: tuple[Table, ...]
    kinds: Table | None
    probes: tuple[Table, ...]
    decisions: Table | None
    forecasts: Table | None
    details: Table
    method: tuple[tuple[str, Sentence], ...]
    set_up: Table
    parameters: Table | None
    options: tuple[tuple[Sentence, Verbatim], ...]
    limits: tuple[Sentence, ...]
    command: Verbatim


def contents(found: tuple[Section, ...]) -> tuple[Content, ...]:
    """One content a section; files are prefixed with the section's number where there are several."""
    return tuple(_content(s, i, f"s{i}-" if len(found) > 1 else "") for i, s in enumerate(found, 1))


def shorten(table: Table, ends: int) -> Table:
    """The first and last `ends` rows, and between them how many were left out."""
    left_out = len(table.rows) - 2 * ends
    if left_out <= 1:
        return table
    gap = (Cell(f"… {left_out:,} more"),)
    rows = (*table.rows[:ends], gap, *table.rows[-ends:])
    return Table(table.columns, rows, table.note, table.title)


def _content(section: Section, number: int, prefix: str) -> Content:
    m = section.manifest
    summaries = {run.manifest.strategy: run.manifest.strategy_summary for run in reversed(section.runs)}
    return Content(
        section=section,
        anchor=f"section-{number}",
        title=Sentence((Verbatim(m.scenario), " on ", Verbatim(m.format), f", {m.mode}")),
        description=m.description,
        facts=method.facts(section),
        cautions=cautions(section),
        answers=answers(section),
        front=along_the_front(section),
        left_behind=left_behind(section),
        summary=summary(section),
        strategies=tuple((Verbatim(s), Verbatim(summaries[s])) for s in section.strategies),
        pictures=tuple(Picture(c, f"{prefix}{c.id}") for c in CHARTS if c.applies(section)),
        compactions=detail_tables.compactions(section),
        kinds=compactions_by_kind(section),
        probes=detail_tables.probes(section),
        decisions=detail_tables.decisions(section),
        forecasts=detail_tables.forecasts(section),
        details=detail_tables.details(section),
        method=method.method(section),
        set_up=set_up(section),
        parameters=parameters(section),
        options=method.effective_options(section),
        limits=limits(section),
        command=method.reproduce(section),
    )
