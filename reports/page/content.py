"""Everything the report says about a run group, before it is formatted as HTML or Markdown."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from reports.charts.registry import CHARTS, Chart
from reports.data.group import RunGroup
from reports.page.sections import details as detail_tables
from reports.page.sections import method
from reports.page.sections.answer import budgets, headline, primary_query
from reports.page.sections.by_kind import compactions_by_kind
from reports.page.sections.cautions import Caution, cautions
from reports.page.sections.certain import certain
from reports.page.sections.costs import costs
from reports.page.sections.deletes import left_behind
from reports.page.sections.limits import limits
from reports.page.sections.matrix import matrix
from reports.page.sections.parameters import parameters
from reports.page.sections.partitions import partition_tables
from reports.page.sections.parts import part_name, sentences_by_part, tables_by_part
from reports.page.sections.requests import requests
from reports.page.sections.set_up import set_up
from reports.page.sections.steps import off_the_front, steps
from reports.page.sections.summary import summary
from reports.page.sections.trends import trends
from reports.page.sections.undecided import undecided
from reports.page.sections.variants import variants
from reports.page.sections.waits import waits
from reports.page.tables import Cell, Table
from reports.phrases import Sentence, Verbatim, say
from reports.verdicts.page_verdicts import PageVerdicts, page_verdicts


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart of a run group, or of one format of it, which `title` then names.

    `stem` names its files and contains no text from results.
    """

    chart: Chart
    group: RunGroup
    title: Sentence
    stem: str
    finding: Sentence


@dataclass(frozen=True, slots=True)
class ReportContent:
    """The parts of the report on one run group, in the order they are read.

    `anchor` begins the ids of its parts: "" where there is one group.
    """

    group: RunGroup
    anchor: str
    title: Sentence
    description: str
    facts: Sentence
    command: Verbatim
    cautions: tuple[Caution, ...]
    headline: tuple[Sentence, ...]
    budgets: tuple[Table, ...]
    query: Sentence
    certain: tuple[Sentence, ...]
    timings: tuple[Sentence, ...]
    summary: Table
    steps: tuple[Table, ...]
    variants: Table | None
    costs: Table | None
    waits: Table | None
    requests: Table | None
    left_behind: Table | None
    strategies: tuple[tuple[Verbatim, Verbatim], ...]
    pictures: tuple[Picture, ...]
    partitions: tuple[Table, ...]
    kinds: Table | None
    compactions: tuple[Table, ...]
    queries: tuple[Table, ...]
    decisions: Table | None
    forecasts: Table | None
    as_forecast: Sentence | None
    metrics: Table
    method: tuple[tuple[str, Sentence], ...]
    set_up: Table
    parameters: Table | None
    options: tuple[tuple[Sentence, Verbatim], ...]
    limits: tuple[Sentence, ...]

    def placed(self, place: str) -> tuple[Picture, ...]:
        """The pictures of one place of the page."""
        return tuple(picture for picture in self.pictures if picture.chart.place == place)


@dataclass(frozen=True, slots=True)
class Page:
    """A whole report. `labels` are all its strategies, in order of appearance: a page numbers them."""

    title: Sentence
    matrix: Table | None
    contents: tuple[ReportContent, ...]
    labels: tuple[str, ...]


def page_content(groups: Sequence[RunGroup]) -> Page:
    """The report on all groups; names of files begin with the number of the group where there are several."""
    verdicts = page_verdicts(groups)
    prefixes = [f"s{number}-" if len(groups) > 1 else "" for number in range(1, len(groups) + 1)]
    contents = tuple(map(_content, groups, verdicts, prefixes))
    labels = tuple(dict.fromkeys(label for group in groups for label in group.strategies))
    return Page(method.title(groups), matrix(groups), contents, labels)


def shorten(table: Table, ends: int) -> Table:
    """The first and last `ends` rows, and between them how many were omitted."""
    omitted = len(table.rows) - 2 * ends
    if omitted <= 1:
        return table
    gap = (Cell(f"… {omitted:,} more"),)
    return replace(table, rows=(*table.rows[:ends], gap, *table.rows[-ends:]))


def _pictures(chart: Chart, group: RunGroup, prefix: str) -> Iterator[Picture]:
    parts = group.parts if chart.place == "answer" else (group,)
    for number, part in enumerate(parts, 1):
        if chart.applies(part):
            title = part.in_delete_words(chart.title)
            name = say(title) if len(parts) == 1 else say(f"{title}, ", Verbatim(part_name(part, group)))
            stem = f"{prefix}{chart.id}" if number == 1 else f"{prefix}{chart.id}-{number}"
            yield Picture(chart, part, name, stem, chart.finding(part))


def _content(group: RunGroup, verdicts: PageVerdicts, prefix: str) -> ReportContent:
    summaries = {run.manifest.strategy: run.manifest.strategy_summary for run in reversed(group.runs)}
    off = (off_the_front(part) for part in group.parts)
    return ReportContent(
        group=group,
        anchor=prefix,
        title=method.section_title(group),
        description=group.manifest.description,
        facts=method.facts(group),
        command=method.reproduce(group),
        cautions=cautions(group),
        headline=sentences_by_part(group, headline),
        budgets=tables_by_part(group, budgets),
        query=primary_query(group),
        certain=certain(group),
        timings=(*undecided(group, verdicts), *trends(group), *(one for one in off if one is not None)),
        summary=summary(group, verdicts),
        steps=tables_by_part(group, lambda part: steps(part, verdicts)),
        variants=variants(group, verdicts),
        costs=costs(group, verdicts),
        waits=waits(group),
        requests=requests(group),
        left_behind=left_behind(group),
        strategies=tuple((Verbatim(s), Verbatim(summaries[s])) for s in group.strategies),
        pictures=tuple(one for chart in CHARTS for one in _pictures(chart, group, prefix)),
        partitions=partition_tables(group),
        kinds=compactions_by_kind(group),
        compactions=detail_tables.compactions(group),
        queries=detail_tables.queries(group),
        decisions=detail_tables.decisions(group),
        forecasts=detail_tables.forecasts(group),
        as_forecast=detail_tables.as_forecast(group),
        metrics=detail_tables.metrics(group),
        method=method.method(group),
        set_up=set_up(group),
        parameters=parameters(group),
        options=method.effective_options(group),
        limits=limits(group),
    )
