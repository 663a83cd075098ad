"""The charts of a report, in the order they are read."""

from collections.abc import Callable
from dataclasses import dataclass

from reports.charts import (
    compactions,
    cumulative,
    deletes,
    files,
    health,
    latency,
    latency_split,
    pareto,
    sizes,
)
from reports.charts.canvas import Draw
from reports.load import Section


@dataclass(frozen=True, slots=True)
class Chart:
    """One chart: `id` names its files, `reading` says in one sentence how to read it.

    A section to which it does not apply leaves it out.
    """

    id: str
    title: str
    reading: str
    draw: Draw
    applies: Callable[[Section], bool] = lambda section: True


CHARTS: tuple[Chart, ...] = (
    Chart(
        "pareto",
        "Cost against latency",
        "Lower answers faster and further left costs less: choose among the points on the dashed line; a "
        "hollow grey one costs no less than some other and answers no faster; whiskers span the runs.",
        pareto.draw,
    ),
    Chart(
        "latency",
        "Query latency over time",
        "The line is the median over the repetitions, the band reaches from the fastest to the slowest, and "
        "where a line drops a compaction took effect.",
        latency.draw,
    ),
    Chart(
        "latency_split",
        "Planning and execution",
        "The dark part of a bar is the time spent finding out which files to open, which grows with their "
        "number.",
        latency_split.draw,
    ),
    Chart(
        "files",
        "Live files over time",
        "Commits add files and compactions take them away: the height of a line is what a full query has to "
        "open.",
        files.draw,
    ),
    Chart(
        "deletes",
        "Live delete files over time",
        "Each delete file is read again with every data file it applies to; where those by equality drop and "
        "the others do not, deletes by key were turned into deletes by position.",
        deletes.draw,
        lambda section: section.has_deletes,
    ),
    Chart(
        "health",
        "Health score over time",
        "A mark is a look at which a trigger fired, before any compaction it led to; only strategies whose "
        "planner reports a score are shown.",
        health.draw,
        lambda section: not section.health.empty,
    ),
    Chart(
        "compactions",
        "When compaction ran",
        "A mark is one compaction of the first repetition, its area the bytes it wrote, its colour the "
        "reason; hollow marks and crosses committed nothing.",
        compactions.draw,
    ),
    Chart(
        "cumulative",
        "What compaction has cost so far",
        "An even staircase means rounds of equal cost, one that steepens means that each round rewrites more "
        "than the one before; the band spans the repetitions.",
        cumulative.draw,
    ),
    Chart(
        "sizes",
        "File sizes at the end",
        "Bars further right are larger files; the number above a bar counts its files, each row is scaled "
        "to its own tallest bar.",
        sizes.draw,
    ),
)
