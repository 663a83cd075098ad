"""What a strategy's cost is: that of its compactions, or, where commits differ too, all of its CPU."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cost:
    """A metric as the cost that strategies are compared by, and what it is called.

    `title` heads a column, `words` stand in a sentence, `axis` beside a scale in `unit`; `short` says what a
    strategy takes more or less of.
    """

    metric: str
    title: str
    words: str
    axis: str
    unit: str
    short: str


COMPACTION_CPU = Cost(
    "compaction_cpu_s", "Compaction CPU", "compaction CPU", "total compaction cost", "CPU seconds", "CPU"
)
COMPACTION_TIME = Cost(  # where no CPU was recorded
    "compaction_s",
    "Compaction time",
    "compaction time",
    "total compaction cost",
    "seconds",
    "compaction time",
)
TOTAL_CPU = Cost(
    "total_cpu_s", "Total CPU", "CPU of commits and policy", "CPU of commits and policy", "CPU seconds", "CPU"
)
