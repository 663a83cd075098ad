"""The cost of a strategy: that of its compactions or, where commits differ too, all of its CPU."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CostMetric:
    """The metric by which costs are compared, and its names.

    `title` heads a column, `words` and `short` are for sentences, `axis` labels a scale in `unit`.
    """

    metric: str
    title: str
    words: str
    axis: str
    unit: str
    short: str


COMPACTION_CPU = CostMetric(
    "compaction_cpu_s", "Compaction CPU", "compaction CPU", "total compaction cost", "CPU seconds", "CPU"
)
COMPACTION_TIME = CostMetric(  # where no CPU was recorded
    "compaction_s",
    "Compaction time",
    "compaction time",
    "total compaction cost",
    "seconds",
    "compaction time",
)
TOTAL_CPU = CostMetric(
    "total_cpu_s", "Total CPU", "CPU of commits and policy", "CPU of commits and policy", "CPU seconds", "CPU"
)
