"""The charts of a report, in the order they are read."""

from dataclasses import dataclass

from reports.charts import compactions, cumulative, files, latency, latency_split, pareto, sizes
from reports.charts.canvas import Draw


@dataclass(frozen=True, slots=True)
class Chart:
    """One chart: `id` names its files, `reading` says in one sentence how to read it."""

    id: str
    title: str
    reading: str
    draw: Draw


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
