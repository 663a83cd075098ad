"""The Pareto front of a group of runs as a table of the terminal."""

from bench.cli.output import print_heading, print_remark, print_table
from bench.cli.tables import Column
from bench.results.query_rate import WEIGHTED_WORDS
from bench.text import human_duration
from reports.data.group import RunGroup
from reports.text import cost_text, format_value
from reports.verdicts.pareto_front import pareto_front, points


def print_front(group: RunGroup) -> None:
    """From the cheapest strategy to the fastest."""
    scenario, count = group.manifest.scenario, len(group.rows)
    print_heading(f"{scenario}: the front of {count:,} strategies, from the cheapest to the fastest")
    group = group.distinct()
    front = pareto_front(points(group))
    written = {row.strategy: row.values["write_amplification"] for row in group.rows}
    print_table(
        ["strategy", Column("compaction CPU"), Column("query mean"), Column("bytes written")],
        [
            (
                point.strategy, cost_text(point.cost_s), human_duration(point.query_s),
                format_value("write_amplification", written[point.strategy]),
            )
            for point in front
        ],
    )  # fmt: skip
    if group.manifest.query_weights is not None:
        print_remark(f"{scenario}: {WEIGHTED_WORDS}")
