"""Which planners suit a Hudi table. Hudi checks it as well, but when a table service runs."""

from bench.engines.contract import TableSpec
from bench.engines.hudi.table_keys import is_merge_on_read, keys_of
from strategies.hudi.cluster import Clustering
from strategies.hudi.compact import Compaction
from strategies.hudi.compaction.registry import reads_dates
from strategies.hudi.log_compact import LogCompaction
from strategies.strategy import Planner


def planner_problem(spec: TableSpec, planner: Planner) -> str | None:
    """Why Hudi would refuse all that a planner plans for a table; None if it would not."""
    match planner:
        case Compaction() | LogCompaction() if not is_merge_on_read(spec):
            return (
                "merges log files, and a COPY_ON_WRITE table has none: set writer.upsert_mode to "
                '"merge-on-read", or leave the rule out'
            )
        case Compaction(strategy=strategy) if reads_dates(strategy) and spec.partitioning.by != "day":
            return (
                f"strategy {strategy!r} chooses partitions by their dates, and the table has none: set "
                'table.partitioning = "day", or take another strategy'
            )
        case Clustering() if keys_of(spec).index == "bucket":
            return (
                "makes new file groups, and a table with a bucket index has a fixed number of them: set "
                'table.index = "simple", or leave the rule out'
            )
        case _:
            return None
