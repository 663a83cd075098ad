"""Everything the report says about a run group, before it is formatted as HTML or Markdown."""

from dataclasses import dataclass

from reports.charts.registry import CHARTS, Chart
from reports.load import RunGroup
from reports.phrases import Sentence, Verbatim
from reports.sections import details as detail_tables
from reports.sections import method
from reports.sections.by_kind import compactions_by_kind
from reports.sections.cautions import Caution, cautions
from reports.sections.deletes import left_behind
from reports.sections.findings import answers, cheapest_to_fastest
from reports.sections.limits import limits
from reports.sections.parameters import parameters
from reports.sections.set_up import set_up
from reports.sections.summary import Cell, Table, summary


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart of a run group; `stem` names its files and contains no text from results."""

    chart: Chart
    stem: str


@dataclass(frozen=True, slots=True)
class ReportContent:
    """The parts of the report on one run group, in the order they are read."""

    group: RunGroup
    anchor: str
    title: Sentence
    description: str
    facts: Sentence
    cautions: tuple[Caution, ...]
    answers: tuple[Sentence, ...]
    cheapest_to_fastest: tuple[Sentence, ...]
    left_behind: Table | None
    summary: Table
    strategies: tuple[tuple[Verbatim, Verbatim], ...]
    pictures: tuple[Picture, ...]
    compactions: tuple[Table, ...]
    kinds: Table | None
    queries: tuple[Table, ...]
    decisions: Table | None
    forecasts: Table | None
    metrics: Table
    method: tuple[tuple[str, Sentence], ...]
    set_up: Table
    parameters: Table | None
    options: tuple[tuple[Sentence, Verbatim], ...]
    limits: tuple[Sentence, ...]
    command: Verbatim


def report_contents(groups: tuple[RunGroup, ...]) -> tuple[ReportContent, ...]:
    """One per group; names of files begin with the number of the group where there are several."""
    return tuple(_content(g, i, f"s{i}-" if len(groups) > 1 else "") for i, g in enumerate(groups, 1))


def shorten(table: Table, ends: int) -> Table:
    """The first and last `ends` rows, and between them how many were omitted."""
    omitted = len(table.rows) - 2 * ends
    if omitted <= 1:
        return table
    gap = (Cell(f"… {omitted:,} more"),)
    rows = (*table.rows[:ends], gap, *table.rows[-ends:])
    return Table(table.columns, rows, table.note, table.title)


def _content(group: RunGroup, number: int, prefix: str) -> ReportContent:
    m = group.manifest
    summaries = {run.manifest.strategy: run.manifest.strategy_summary for run in reversed(group.runs)}
    return ReportContent(
        group=group,
        anchor=f"section-{number}",
        title=Sentence((Verbatim(m.scenario), " on ", Verbatim(m.format), f", {m.mode}")),
        description=m.description,
        facts=method.facts(group),
        cautions=cautions(group),
        answers=answers(group),
        cheapest_to_fastest=cheapest_to_fastest(group),
        left_behind=left_behind(group),
        summary=summary(group),
        strategies=tuple((Verbatim(s), Verbatim(summaries[s])) for s in group.strategies),
        pictures=tuple(Picture(c, f"{prefix}{c.id}") for c in CHARTS if c.applies(group)),
        compactions=detail_tables.compactions(group),
        kinds=compactions_by_kind(group),
        queries=detail_tables.queries(group),
        decisions=detail_tables.decisions(group),
        forecasts=detail_tables.forecasts(group),
        metrics=detail_tables.metrics(group),
        method=method.method(group),
        set_up=set_up(group),
        parameters=parameters(group),
        options=method.effective_options(group),
        limits=limits(group),
        command=method.reproduce(group),
    )
