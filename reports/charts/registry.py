"""The charts of a report, in the order they are read."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from reports.charts import (
    at_once,
    compactions,
    cumulative,
    curves,
    file_counts,
    freshness,
    health,
    latency,
    latency_split,
    pareto,
    partitions,
    sizes,
)
from reports.charts.output import Draw
from reports.data.group import RunGroup
from reports.phrases import Sentence, say


@dataclass(frozen=True, slots=True)
class Chart:
    """One chart: `id` names its files, `reading` explains in a sentence or two how to read it.

    `finding` is the text alternative: what it shows, in figures. `place`: next to the answer, below the
    tables, or folded away. A report leaves out charts that do not apply to its runs. One `of_format` has a
    picture for each format. `message` is the title of a slide; it is the finding if it is empty. A chart
    next to the answer has that as title.
    """

    id: str
    title: str
    reading: str
    draw: Draw
    finding: Callable[[RunGroup], Sentence]
    place: Literal["answer", "open", "folded"]
    applies: Callable[[RunGroup], bool] = lambda group: True
    of_format: bool = False
    message: Callable[[RunGroup], Sentence] = lambda group: say()


CHARTS: tuple[Chart, ...] = (
    Chart(
        "pareto",
        "Cost and query latency",
        "Lower is faster, further left is cheaper. The dashed line, the Pareto front, joins the strategies "
        "that no other one beats on both axes; no line is drawn where strategies differ in how fresh their "
        "rows are. An outline joins strategies that are not told apart. Hollow marks are off the front: "
        "another strategy is at least as good on both, with rows as fresh, or they change nothing before the "
        "last tick. Whiskers span the runs.",
        pareto.draw,
        pareto.finding,
        "answer",
        lambda group: not curves.applies(group),
    ),
    Chart(
        "curves",
        "Cost, query latency and bytes written",
        "Each mark is a strategy, and a line joins those that differ in one setting. Lower is faster, "
        "further left is cheaper. Filled marks are on the Pareto front of cost and latency: no other "
        "strategy is at least as good on both.",
        curves.draw,
        curves.finding,
        "answer",
        curves.applies,
        of_format=True,
    ),
    Chart(
        "freshness",
        "Data freshness, files and query latency",
        "Further right the data is older: a writer that commits more rarely makes fewer files, and queries "
        "see its rows later.",
        freshness.draw,
        freshness.finding,
        "open",
        freshness.applies,
        message=freshness.message,
    ),
    Chart(
        "at-once",
        "Commits, compactions and queries at the same time",
        "The first usable repetition of each strategy. A commit's bar begins when it was due, so a long one "
        "was late or slow. A hollow compaction did not commit: it had nothing to commit, failed, lost "
        "against what others had committed meanwhile, or was ended after the stream. Points are queries, the "
        "higher the slower, on one scale for all strategies.",
        at_once.draw,
        at_once.finding,
        "open",
        at_once.applies,
    ),
    Chart(
        "latency",
        "Query latency over time",
        "The line is the median, at each tick, of the repetitions that queried there; if the probe phase is "
        "random that may be one alone. The band spans the fastest to the slowest. Ticks under the axis, "
        "or bars for more than 600: compactions.",
        latency.draw,
        latency.finding,
        "open",
        message=latency.message,
    ),
    Chart(
        "files",
        "Live data files over time",
        "As each tick leaves the table, after any compaction. A full scan has to open every live file.",
        file_counts.draw_data_files,
        file_counts.data_files_finding,
        "open",
        message=file_counts.data_files_message,
    ),
    Chart(
        "deletes",
        "Live delete files over time",
        "A delete file is read again for every data file it applies to; a deletion vector and a log file "
        "have one each. Where equality deletes drop and the total does not, they were converted to "
        "position deletes.",
        file_counts.draw_delete_files,
        file_counts.delete_files_finding,
        "open",
        lambda group: group.has_deletes,
        message=file_counts.delete_files_message,
    ),
    Chart(
        "compactions",
        "When compaction ran",
        "One lane per strategy. A mark is one compaction of the first repetition: its area shows the bytes "
        "added, its shape the reason. More than 100 are an outline, each lane to its own scale. Hollow marks "
        "and crosses committed nothing.",
        compactions.draw,
        compactions.finding,
        "folded",
    ),
    Chart(
        "partitions",
        "Which partitions were compacted when",
        "One panel per strategy that compacts, one lane per partition, the last one on top. A mark is a "
        "compaction that rewrote files of the partition, in the first repetition. Grey areas are the bytes "
        "of its delete or log files, each partition to its own scale.",
        partitions.draw,
        partitions.finding,
        "open",
        partitions.applies,
    ),
    Chart(
        "cumulative",
        "Cumulative compaction cost",
        "Even steps mean compactions of equal cost; growing steps mean that each compaction rewrites more "
        "than the one before. The band spans the repetitions.",
        cumulative.draw,
        cumulative.finding,
        "folded",
    ),
    Chart(
        "latency_split",
        "Planning and execution",
        "The dark part of a bar is planning: finding the files to open. It grows with their number.",
        latency_split.draw,
        latency_split.finding,
        "folded",
    ),
    Chart(
        "sizes",
        "File sizes at the end",
        "Bars further right are larger files. The number above a bar is its file count; heights are "
        "logarithmic, on one scale for all strategies.",
        sizes.draw,
        sizes.finding,
        "folded",
    ),
    Chart(
        "health",
        "Health score over time",
        "A mark is an evaluation whose trigger fired, before the compaction it may have led to; more than "
        "300 are a line alone. Only strategies whose planner reports a score are shown.",
        health.draw,
        health.finding,
        "folded",
        health.applies,
    ),
)
