"""The content of a report on run groups, section by section, before it is formatted as HTML or Markdown."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from reports.charts.registry import CHARTS, Chart
from reports.data.families import families
from reports.data.formats import part_name
from reports.data.group import RunGroup
from reports.page.blocks import Block, Code, Listing, Picture, Prose, Terms
from reports.page.sections import details, method
from reports.page.sections.answer import TRADE_OFF, budgets, headline, primary_query
from reports.page.sections.at_once import at_once
from reports.page.sections.beside_measured import ANSWERED_BY_REAL_RUNS, beside_measured, measured_twin
from reports.page.sections.by_kind import compactions_by_kind
from reports.page.sections.cautions import Caution, cautions
from reports.page.sections.certain import certain
from reports.page.sections.costs import costs
from reports.page.sections.deletes import left_behind
from reports.page.sections.job_starts import job_starts
from reports.page.sections.keeping_up import keeping_up
from reports.page.sections.limits import limits
from reports.page.sections.matrix import matrix
from reports.page.sections.money import cheapest_in_money
from reports.page.sections.over_best import over_best
from reports.page.sections.own_compactions import own_compactions
from reports.page.sections.parameters import parameters
from reports.page.sections.partitions import partition_tables
from reports.page.sections.parts import sentences_by_part, tables_by_part
from reports.page.sections.policies import policies_by_format
from reports.page.sections.requests import requests
from reports.page.sections.set_up import set_up
from reports.page.sections.steps import off_the_front, steps
from reports.page.sections.summary import summary
from reports.page.sections.undecided import undecided
from reports.page.sections.variants import variants
from reports.page.sections.waits import waits
from reports.page.tables import Cell, Table
from reports.phrases import Sentence, Verbatim, say
from reports.verdicts.keeping_up import all_keep_up
from reports.verdicts.page_verdicts import PageVerdicts, page_verdicts

Place = Literal["answer", "open", "folded", "end"]
Blocks = Iterable[Block | None]  # None: the runs have no such figures


@dataclass(frozen=True, slots=True)
class Subject:
    """The input of a section. `prefix` begins the names of the group's files.

    `measured` are the real runs, on the same page, of a simulated group's scenario.
    """

    group: RunGroup
    verdicts: PageVerdicts
    prefix: str
    measured: RunGroup | None


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a report; one without blocks is left out.

    `place`: first and next to its chart, below it, folded away, or at the end. `short` is its name in the
    table of contents, `style` the CSS class of its tables; `is_counted` shows how many entries it has.
    """

    id: str
    title: str
    place: Place
    build: Callable[[Subject], Blocks]
    short: str = ""
    style: str = ""
    is_counted: bool = False

    @property
    def is_in_sweeps(self) -> bool:
        """Not if it has a line, a panel or a table for each strategy."""
        return self.place != "folded" and self.id not in ("charts", "timings")


@dataclass(frozen=True, slots=True)
class Built:
    """A section of the report on one run group, with its title in the words of the table format."""

    section: Section
    title: str
    blocks: tuple[Block, ...]

    @property
    def count(self) -> int:
        tables = [block for block in self.blocks if isinstance(block, Table)]
        return len(tables[0].rows) if len(tables) == 1 else len(tables)


@dataclass(frozen=True, slots=True)
class ReportContent:
    """The report on one run group. `anchor` begins the ids of its parts: "" for a single group."""

    group: RunGroup
    anchor: str
    title: Sentence
    facts: Sentence
    command: Verbatim
    cautions: tuple[Caution, ...]
    sections: tuple[Built, ...]

    def placed(self, *places: Place) -> tuple[Built, ...]:
        return tuple(built for built in self.sections if built.section.place in places)

    @property
    def pictures(self) -> tuple[Picture, ...]:
        blocks = (block for built in self.sections for block in built.blocks)
        return tuple(block for block in blocks if isinstance(block, Picture))


@dataclass(frozen=True, slots=True)
class Page:
    """A whole report. `labels` are all its strategies, in order of appearance: a page numbers them."""

    title: Sentence
    matrix: Table | None
    contents: tuple[ReportContent, ...]
    labels: tuple[str, ...]


def page_content(groups: Sequence[RunGroup]) -> Page:
    """The report on all groups; with several, names of files begin with the number of the group."""
    groups = [group.distinct() if families(group.strategies) else group for group in groups]
    verdicts = page_verdicts(groups)
    prefixes = [f"s{number}-" if len(groups) > 1 else "" for number in range(1, len(groups) + 1)]
    twins = [measured_twin(group, groups) for group in groups]
    subjects = zip(groups, verdicts, prefixes, twins, strict=True)
    contents = tuple(_content(Subject(*subject)) for subject in subjects)
    labels = tuple(dict.fromkeys(label for group in groups for label in group.strategies))
    return Page(method.title(groups), matrix(groups), contents, labels)


def shorten(table: Table, ends: int) -> Table:
    """The first and last `ends` rows, and between them how many were omitted."""
    omitted = table.count - 2 * ends
    if omitted <= 1:
        return table
    gap = (Cell(f"… {omitted:,} more"),)
    return replace(table, rows=(*table.rows[:ends], gap, *table.rows[-ends:]))


def _content(subject: Subject) -> ReportContent:
    group = subject.group
    is_sweep = bool(families(group.strategies))
    built = (
        Built(section, group.in_delete_words(section.title), tuple(filter(None, section.build(subject))))
        for section in SECTIONS
        if not is_sweep or section.is_in_sweeps
    )
    return ReportContent(
        group,
        subject.prefix,
        method.section_title(group),
        method.facts(group),
        method.reproduce(group),
        cautions(group),
        tuple(section for section in built if section.blocks),
    )


def _answer(subject: Subject) -> Blocks:
    group, verdicts = subject.group, subject.verdicts
    beside = None if subject.measured is None else beside_measured(group, subject.measured)
    if subject.measured is not None and {*group.strategies} <= {*subject.measured.strategies}:
        return (Prose(ANSWERED_BY_REAL_RUNS, "headline"), beside, *_pictures(subject, "answer"))
    certain_title = "Counts and bytes, as modelled" if group.is_simulated else "Certain, by counts and bytes"
    counted = certain(group)
    lines = sentences_by_part(group, lambda part: _lines(part, verdicts))
    return (
        policies_by_format(group),
        *(Prose(line, "headline") for line in lines),
        Prose(TRADE_OFF) if any("best trade-off" in str(line) for line in lines) else None,
        *tables_by_part(group, budgets),
        over_best(group),
        beside,
        own_compactions(group),
        *tables_by_part(group, job_starts),
        Prose(primary_query(group)),
        Prose(_left_out(group)) if group.alike else None,
        *_pictures(subject, "answer"),
        Listing(counted, certain_title) if counted else None,
    )


def _lines(part: RunGroup, verdicts: PageVerdicts) -> tuple[Sentence, ...]:
    """A strategy that cannot keep up is no choice, so those come first; that all keep up comes last."""
    chosen = (*cheapest_in_money(part, verdicts), *headline(part))
    return (*chosen, *keeping_up(part)) if all_keep_up(part) else (*keeping_up(part), *chosen)


def _left_out(group: RunGroup) -> Sentence:
    count = sum(map(len, group.alike.values()))
    who = "One strategy has" if count == 1 else f"{count:,} strategies have"
    return say(
        f"{who} the very figures of another one, because the setting that distinguishes them never mattered: "
        "the page shows the first of each such set (",
        Verbatim(group.alike_in_words),
        ").",
    )


def _timings(subject: Subject) -> Blocks:
    group, verdicts = subject.group, subject.verdicts
    off = (line for part in group.parts for line in off_the_front(part, verdicts))
    lines = (*undecided(group, verdicts), *off)
    return (
        Listing(lines) if lines else None,
        *tables_by_part(group, lambda part: steps(part, verdicts)),
        variants(group, verdicts),
    )


def _summary(subject: Subject) -> Blocks:
    group = subject.group
    summaries = {run.manifest.strategy: run.manifest.strategy_summary for run in reversed(group.runs)}
    strategies = tuple((Verbatim(label), Verbatim(summaries[label])) for label in group.strategies)
    return summary(group, subject.verdicts), Terms(strategies, "strategies")


def _pictures(subject: Subject, *places: str) -> Iterator[Picture]:
    for chart in (chart for place in places for chart in CHARTS if chart.place == place):
        yield from _pictures_of(chart, subject)


def _pictures_of(chart: Chart, subject: Subject) -> Iterator[Picture]:
    group = subject.group
    parts = group.parts if chart.of_format else (group,)
    for number, part in enumerate(parts, 1):
        if chart.applies(part):
            title = part.in_delete_words(chart.title)
            name = say(title) if len(parts) == 1 else say(f"{title}, ", Verbatim(part_name(part, group)))
            stem = f"{subject.prefix}{chart.id}" if number == 1 else f"{subject.prefix}{chart.id}-{number}"
            yield Picture(chart, part, name, stem, chart.finding(part))


def _each_compaction(subject: Subject) -> Blocks:
    tables = details.compactions(subject.group)
    text = say("From the first usable repetition of each strategy; tables/compactions.csv has all of them.")
    return (Prose(text), *tables) if tables else ()


def _forecast(subject: Subject) -> Blocks:
    in_one_sentence = details.as_forecast(subject.group)
    return (Prose(in_one_sentence) if in_one_sentence else details.forecasts(subject.group),)


def _options(subject: Subject) -> Blocks:
    return tuple(Code(text, title) for title, text in method.effective_options(subject.group))


def _of_group(make: Callable[[RunGroup], Table | None]) -> Callable[[Subject], Blocks]:
    """A section of one table that needs only the group."""
    return lambda subject: (make(subject.group),)


SECTIONS: tuple[Section, ...] = (
    Section("answer", "The answer", "answer", _answer, "Answer"),
    Section("timings", "Timings", "open", _timings, "Timings"),
    Section("summary", "Summary", "open", _summary, "Summary", "summary sortable"),
    Section("costs", "What each strategy costs", "open", _of_group(costs), "Costs", "sortable"),
    Section("waits", "How long a commit takes", "open", _of_group(waits), style="sortable"),
    Section("at-once", "At the same time", "open", lambda it: at_once(it.group), style="sortable"),
    Section("requests", "Requests to S3", "open", _of_group(requests), style="sortable"),
    Section(
        "left", "Delete files each strategy leaves behind", "open", _of_group(left_behind), style="sortable"
    ),
    Section("charts", "Charts", "open", lambda it: _pictures(it, "open", "folded"), "Charts"),
    Section("queries", "Queries", "folded", lambda it: details.queries(it.group), is_counted=True),
    Section(
        "partitions", "Partitions: who is compacted, and who waits", "folded",
        lambda it: partition_tables(it.group),
    ),
    Section("kinds", "Compactions by kind", "folded", _of_group(compactions_by_kind)),
    Section("each", "Individual compactions", "folded", _each_compaction),
    Section("rules", "Rule evaluations", "folded", _of_group(details.decisions)),
    Section("forecast", "Forecast and actual", "folded", _forecast),
    Section("metrics", "All metrics", "folded", _of_group(details.metrics), "", "details", True),
    Section("parameters", "All strategy parameters", "folded", _of_group(parameters), is_counted=True),
    Section("options", "Effective options and resolved scenario", "folded", _options),
    Section("method", "Method", "end", lambda it: (Terms(method.method(it.group), "method"),), "Method"),
    Section("setup", "Setup", "end", _of_group(set_up), style="set-up"),
    Section(
        "limits", "What this does not tell you", "end", lambda it: (Listing(limits(it.group)),), "Limits"
    ),
    Section("reproduce", "How to reproduce", "end", lambda it: (Code(method.reproduce(it.group)),)),
)  # fmt: skip
