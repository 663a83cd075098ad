"""How many data files a commit to a Delta table makes.

The rows of a load or an append are dealt out to the writers, and a writer makes one data file in each
partition for which it has rows. With optimized writes a partition gets one file: the rows are shuffled by
partition first, and 512 MiB of them, in memory, would go into one file (DeltaOptimizedWriterExec).

MERGE joins changes and table. In a table with partitions it then shuffles the rows by partition, so that each
partition gets one file (merge.repartitionBeforeWrite.enabled). Without partitions it writes as many files as
the join has tasks: those of Spark's shuffle, or as many as the changes were split into. That is the most:
adaptive execution may join shuffle partitions that are below 1 MiB together, and a small table may be
broadcast. Source: MergeIntoCommandBase.writeFiles of delta-spark 3.3.2.
"""

from collections.abc import Mapping

from bench.engines.contract import CommitLayout
from bench.engines.spark.conf import DEFAULT_CONF
from bench.errors import ScenarioError
from strategies.java_values import parse_int
from workloads.commit import CommitSpec
from workloads.spread import dealt_writers, hashed_writers

SHUFFLE_PARTITIONS = "spark.sql.shuffle.partitions"


def join_tasks(settings: Mapping[str, str]) -> int:
    """The tasks of a join by Spark's settings. Raises ScenarioError for a number that Spark rejects."""
    text = settings.get(SHUFFLE_PARTITIONS, DEFAULT_CONF[SHUFFLE_PARTITIONS])
    try:
        count = parse_int(text)
    except ValueError as error:
        raise ScenarioError(f"{SHUFFLE_PARTITIONS}={text!r} {error}") from error
    if count < 1:
        raise ScenarioError(f"{SHUFFLE_PARTITIONS}={text!r} must be > 0")
    return count


def is_merge(spec: CommitSpec) -> bool:
    """Whether a commit may update or delete rows that are in the table already."""
    return any(shape.deleted_keys for shape in spec.partitions)


def appended_files(spec: CommitSpec, writers: int, *, is_optimized: bool) -> list[int]:
    """The files that an append makes in each partition, in the order of the commit's `partitions`."""
    rows = sum(shape.rows for shape in spec.partitions)
    return [dealt_writers(shape.rows, rows, 1 if is_optimized else writers) for shape in spec.partitions]


def merged_files(partition: str, rows: int, tasks: int, *, is_optimized: bool) -> int:
    """The files that MERGE makes of so many rows of one partition."""
    return hashed_writers(rows, 1 if partition or is_optimized else tasks)


def commit_layout(spec: CommitSpec, settings: Mapping[str, str]) -> CommitLayout:
    """The data files that a commit makes of its own rows with these settings of Spark.

    What MERGE does to older files does not follow from the commit alone: it is not included.
    """
    if not is_merge(spec):
        return CommitLayout(sum(appended_files(spec, spec.writers, is_optimized=False)))
    tasks = join_tasks(settings)
    return CommitLayout(
        sum(
            merged_files(shape.partition, shape.live_rows, tasks, is_optimized=False)
            for shape in spec.partitions
        )
    )
