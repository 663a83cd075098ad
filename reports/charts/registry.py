"""The charts of a report, in the order they are read."""

from collections.abc import Callable
from dataclasses import dataclass

from reports.charts import (
    compactions,
    cumulative,
    file_counts,
    health,
    latency,
    latency_split,
    pareto,
    sizes,
)
from reports.charts.canvas import Draw
from reports.load import RunGroup


@dataclass(frozen=True, slots=True)
class Chart:
    """One chart: `id` names its files, `reading` says in a sentence or two how to read it.

    The report of a run group to which it does not apply leaves it out.
    """

    id: str
    title: str
    reading: str
    draw: Draw
    applies: Callable[[RunGroup], bool] = lambda group: True


CHARTS: tuple[Chart, ...] = (
    Chart(
        "pareto",
        "Compaction cost and query latency",
        "Lower is faster, further left is cheaper: choose among the points on the dashed line, the Pareto "
        "front. Hollow grey points are dominated. Whiskers span the runs.",
        pareto.draw,
    ),
    Chart(
        "latency",
        "Query latency over time",
        "The line is the median over the repetitions, the band spans the fastest to the slowest. Where a "
        "line drops, a compaction took effect.",
        latency.draw,
    ),
    Chart(
        "latency_split",
        "Planning and execution",
        "The dark part of a bar is planning: finding the files to open. It grows with their number.",
        latency_split.draw,
    ),
    Chart(
        "files",
        "Live data files over time",
        "Commits add files and compactions remove them. A full scan has to open every live file.",
        file_counts.draw_data_files,
    ),
    Chart(
        "deletes",
        "Live delete files over time",
        "A delete file is read again for every data file it applies to. Where equality deletes drop and the "
        "total does not, equality deletes were converted to position deletes.",
        file_counts.draw_delete_files,
        lambda group: group.has_deletes,
    ),
    Chart(
        "health",
        "Health score over time",
        "A mark is an evaluation whose trigger fired, before the compaction it may have led to. Only "
        "strategies whose planner reports a score are shown.",
        health.draw,
        lambda group: not group.health.empty,
    ),
    Chart(
        "compactions",
        "When compaction ran",
        "A mark is one compaction of the first repetition: its area shows the bytes added, its colour the "
        "reason. Hollow marks and crosses committed nothing.",
        compactions.draw,
    ),
    Chart(
        "cumulative",
        "Cumulative compaction cost",
        "Even steps mean compactions of equal cost; growing steps mean that each compaction rewrites more "
        "than the one before. The band spans the repetitions.",
        cumulative.draw,
    ),
    Chart(
        "sizes",
        "File sizes at the end",
        "Bars further right are larger files. The number above a bar is its file count; each row is scaled "
        "to its own tallest bar.",
        sizes.draw,
    ),
)
