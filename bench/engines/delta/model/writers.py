"""The number of data files that a commit to a Delta table writes.

The rows of a load or an append are distributed to the writers, and a writer makes one data file in each
partition for which it has rows. Optimized writes shuffle rows by partition first, so that each partition gets
one file (of up to 512 MiB in memory: DeltaOptimizedWriterExec).

MERGE joins changes and table. In a partitioned table it then shuffles the rows by partition, so that each
partition gets one file (merge.repartitionBeforeWrite.enabled). Otherwise it writes one file for each task of
the join: the partitions of Spark's shuffle, or of the changes. There may be fewer, because adaptive execution
merges shuffle partitions below 1 MiB, and a small table may be broadcast. Source:
MergeIntoCommandBase.writeFiles of delta-spark 3.3.2.
"""

from collections.abc import Mapping

from bench.engines.contract import CommitLayout
from bench.engines.spark.conf import join_tasks
from workloads.commit import CommitSpec
from workloads.spread import dealt_writers, hashed_writers


def is_merge(spec: CommitSpec) -> bool:
    """Whether a commit may update or delete rows of the table."""
    return any(shape.deleted_keys for shape in spec.partitions)


def appended_files(spec: CommitSpec, writers: int, *, is_optimized: bool) -> list[int]:
    """The number of files in each of the commit's `partitions`."""
    rows = sum(shape.rows for shape in spec.partitions)
    return [dealt_writers(shape.rows, rows, 1 if is_optimized else writers) for shape in spec.partitions]


def merged_files(partition: str, rows: int, tasks: int, *, is_optimized: bool) -> int:
    return hashed_writers(rows, 1 if partition or is_optimized else tasks)


def commit_layout(spec: CommitSpec, settings: Mapping[str, str]) -> CommitLayout:
    """The data files of a commit's own rows. Older files that MERGE rewrites are not included."""
    if not is_merge(spec):
        return CommitLayout(sum(appended_files(spec, spec.writers, is_optimized=False)))
    tasks = join_tasks(settings)
    return CommitLayout(
        sum(
            merged_files(shape.partition, shape.live_rows, tasks, is_optimized=False)
            for shape in spec.partitions
        )
    )
