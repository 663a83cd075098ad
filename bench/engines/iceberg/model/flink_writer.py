"""How many files Flink's writers make of a commit.

The rows of a load or an append are dealt out to the writers, and a writer makes one data file in each
partition for which it has rows. Changes go to the writers by the hash of their keys, and a writer makes up to
three files in each partition. The data file holds its new rows. The equality delete file holds each changed
key without an earlier row of the writer in this commit, whether the table has one or not. The position
delete file holds each of the writer's own rows that the same commit updates or deletes. Source: Iceberg's
BaseTaskWriter.BaseEqualityDeltaWriter and Flink's BaseDeltaTaskWriter in upsert mode.
"""

from dataclasses import dataclass

from bench.engines.contract import CommitLayout
from bench.engines.iceberg.model.delete_bytes import equality_bytes, position_bytes
from workloads.commit import CommitSpec, PartitionShape
from workloads.spread import dealt_writers, hashed_writers


@dataclass(frozen=True, slots=True)
class PartitionFiles:
    """Expected files by kind."""

    data_count: int
    equality_count: int
    position_count: int


def partition_files(spec: CommitSpec, writers: int) -> list[PartitionFiles]:
    """The files of a commit with so many writers, in the order of its `partitions`."""
    has_changes = any(shape.deleted_keys for shape in spec.partitions)
    commit_rows = sum(shape.rows for shape in spec.partitions)

    def data_count(rows: int) -> int:
        return hashed_writers(rows, writers) if has_changes else dealt_writers(rows, commit_rows, writers)

    return [
        PartitionFiles(
            data_count(shape.rows),
            hashed_writers(shape.deleted_keys, writers),
            hashed_writers(shape.superseded_rows, writers),
        )
        for shape in spec.partitions
    ]


def commit_layout(spec: CommitSpec) -> CommitLayout:
    counts = partition_files(spec, spec.writers)
    return CommitLayout(
        data_files_count=sum(files.data_count for files in counts),
        delete_files_count=sum(files.equality_count + files.position_count for files in counts),
        delete_bytes=sum(map(_delete_bytes, spec.partitions, counts)),
    )


def _delete_bytes(shape: PartitionShape, files: PartitionFiles) -> int:
    equality = equality_bytes(shape.deleted_keys, files.equality_count)
    return round(equality + position_bytes(shape.superseded_rows, files.position_count))
