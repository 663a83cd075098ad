"""Explicit rewrites of an Iceberg table: exactly the files and the deletes that a plan names.

They are staged first, which reads and writes the files, and committed later in one snapshot.
"""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from py4j.java_gateway import is_instance_of
from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  the field's usual name

from bench.engines.contract import TAG_PROPERTY, Tag
from bench.engines.iceberg.catalog import java_table
from bench.engines.iceberg.conversion import Conversion, convert
from bench.engines.iceberg.delete_files import (
    applied_deletes,
    delete_key,
    has_vectors,
    is_vector,
    live_deletes,
)
from bench.engines.spark.session import java_class
from strategies.iceberg.rewrite_options import NO_LIMIT_BYTES, for_sorting
from strategies.plan import Rewrite

_LINEAGE = ("_row_id", "_last_updated_sequence_number")  # table spec, "Row Lineage", format version 3


@dataclass(frozen=True, slots=True)
class StagedRewrite:
    """The (Java) files that a rewrite removes and adds, and the snapshot it was planned from.

    `vectors` holds the keys of the deletion vectors that were merged into new ones.
    """

    old_files: tuple[Any, ...]
    new_files: tuple[Any, ...]
    old_deletes: tuple[Any, ...]
    new_deletes: tuple[Any, ...]
    snapshot_id: int
    sequence_number: int
    vectors: frozenset[str]


def stage_rewrite(spark: SparkSession, name: str, rewrite: Rewrite) -> StagedRewrite:
    """Rewrite each group in a Spark job, and convert the deletes of all groups in another.

    Nothing is committed yet. Raises ValueError if a file of the plan is no longer live.
    """
    table = java_table(spark, name)
    snapshot = table.currentSnapshot()
    tasks = _tasks_by_path(table, snapshot.snapshotId())
    named = [path for group in rewrite.groups for path in (*group.paths, *group.convert_paths)]
    _check_live(named, tasks)
    old_deletes = _old_deletes(spark, table, snapshot, rewrite, [tasks[path] for path in named])
    converted = [tasks[path] for group in rewrite.groups for path in group.convert_paths]
    new: list[Any] = []
    conversion = Conversion()
    try:
        for group in rewrite.groups:
            if group.paths:
                chosen = [tasks[path] for path in group.paths]
                new += _rewritten(
                    spark, name, table, chosen, rewrite.target_file_size_bytes, group.sort_columns
                )
        if converted:
            conversion = convert(spark, name, table, converted)
    except Exception:
        _delete(table, new)
        raise
    return StagedRewrite(
        old_files=tuple(tasks[path].file() for group in rewrite.groups for path in group.paths),
        new_files=tuple(new),
        old_deletes=tuple({**old_deletes, **{delete_key(d): d for d in conversion.replaced}}.values()),
        new_deletes=conversion.new_deletes,
        snapshot_id=snapshot.snapshotId(),
        sequence_number=snapshot.sequenceNumber(),
        vectors=frozenset(map(delete_key, conversion.replaced)),
    )


def _check_live(paths: Iterable[str], live: Mapping[str, Any]) -> None:
    gone = next((path for path in paths if path not in live), None)
    if gone:
        raise ValueError(f"{gone} is no longer live")


def _old_deletes(
    spark: SparkSession, table: Any, snapshot: Any, rewrite: Rewrite, tasks: Iterable[Any]
) -> dict[str, Any]:
    """The (Java) delete files that a plan drops, by key; most of them apply to files that it names."""
    wanted = rewrite.removed_deletes
    known = applied_deletes(spark, tasks) if wanted else {}
    if not known.keys() >= set(wanted):
        known = live_deletes(spark, table, snapshot)
    _check_live(wanted, known)
    return {key: known[key] for key in wanted}


def _tasks_by_path(table: Any, snapshot_id: int) -> dict[str, Any]:
    """Whole-file scan tasks with their delete files."""
    by_path = {}
    planned = table.newScan().useSnapshot(snapshot_id).ignoreResiduals().planFiles()
    tasks = planned.iterator()
    while tasks.hasNext():
        task = tasks.next()
        by_path[str(task.file().location())] = task
    planned.close()
    return by_path


def _rewritten(
    spark: SparkSession, name: str, table: Any, tasks: Sequence[Any], target_bytes: int,
    sort_columns: tuple[str, ...],
) -> list[Any]:  # fmt: skip
    """Rewrite the tasks' rows, deletes applied; the Java data files.

    Unless rows are sorted, each Spark task reads about `target_bytes` and writes one file for each partition
    without a limit: the writer counts bytes that are not compressed yet, so below a target of some MiB it
    would start a second file. Policies would take both for small files, and merge them again for ever. Apache
    Amoro's executor lifts the limit for the same reason (its issue 3645).

    This is how Iceberg's own Spark runners do it: staged tasks are read by the id of their set, and the
    writer registers its new files with the coordinator under the same id.
    """
    set_id = str(uuid.uuid4())
    staged = java_class(spark, "org.apache.iceberg.spark.ScanTaskSetManager").get()
    staged.stageTasks(table, set_id, java_class(spark, "java.util.ArrayList")(tasks))
    try:
        rows = (
            spark.read.format("iceberg")
            .option("scan-task-set-id", set_id)
            .option("split-size", str(target_bytes))
            .option("file-open-cost", "0")
            .load(name)
        )
        if sort_columns:
            sorting = for_sorting(target_bytes)
            input_bytes = sum(int(task.file().fileSizeInBytes()) for task in tasks)
            rows = rows.repartitionByRange(sorting.expected_output_files(input_bytes), *sort_columns)
            rows = rows.sortWithinPartitions(*sort_columns)
            return write_files(rows, name, table, set_id, sorting.max_output_file_bytes)
        return write_files(rows, name, table, set_id, NO_LIMIT_BYTES)
    finally:
        staged.removeTasks(table, set_id)


def write_files(rows: DataFrame, name: str, table: Any, set_id: str, target_bytes: int) -> list[Any]:
    """Write rows with Iceberg's own writer, without a commit; the Java data files.

    A task writes a file for each partition, and more where one grows beyond `target_bytes`. In format
    version 3 rows have a lineage: rows of staged tasks keep theirs, all others start a new one.
    """
    coordinator = java_class(rows.sparkSession, "org.apache.iceberg.spark.FileRewriteCoordinator").get()
    for column in _LINEAGE if has_vectors(table) else ():
        if column not in rows.columns:
            rows = rows.withColumn(column, F.lit(None).cast("long"))
    try:
        (
            rows.write.format("iceberg")
            .option("rewritten-file-scan-task-set-id", set_id)
            .option("target-file-size-bytes", str(target_bytes))
            .option("distribution-mode", "none")
            .option("fanout-enabled", "true")
            .mode("append")
            .save(name)
        )
        return list(coordinator.fetchNewFiles(table, set_id))
    finally:
        coordinator.clearRewrite(table, set_id)


def commit_rewrite(spark: SparkSession, name: str, staged: StagedRewrite, tag: Tag) -> None:
    """Replace the old files by the new ones in one commit, validated against the planned snapshot.

    New data files keep the sequence number of that snapshot, so that deletes committed since then still
    apply. After a conflict the new files are deleted. They stay after errors that leave it unknown whether
    the commit succeeded, such as a lost connection to the catalog.
    """
    if not (staged.old_files or staged.old_deletes or staged.new_deletes):
        return  # Iceberg refuses a commit without files
    table = java_table(spark, name)
    try:
        _check_vectors(spark, table, staged)
        if staged.new_deletes and not staged.old_deletes:
            _commit_apart(table, staged, tag)
        else:
            _with_files(table.newRewrite(), staged, staged.new_deletes, tag).commit()
    except (Py4JJavaError, ValueError) as error:
        if _is_not_committed(spark, error):
            _delete(table, (*staged.new_files, *staged.new_deletes))
        raise


def _is_not_committed(spark: SparkSession, error: Py4JJavaError | ValueError) -> bool:
    """Whether nothing was committed, by an error of ours or one that Iceberg marks so.

    Source: SnapshotProducer.commit and RewriteDataFilesCommitManager.commitOrClean of Iceberg 1.11.0.
    """
    if isinstance(error, ValueError):
        return True
    gateway: Any = spark.sparkContext._gateway
    mark = "org.apache.iceberg.exceptions.CleanableFailure"
    return bool(is_instance_of(gateway, error.java_exception, mark))


def _check_vectors(spark: SparkSession, table: Any, staged: StagedRewrite) -> None:
    """Raises ValueError if a data file has a newer deletion vector, which a new one would hide.

    Iceberg validates the deletes of replaced files and those that a RowDelta adds, but not those that
    RewriteFiles adds.
    """
    snapshot = table.currentSnapshot()
    if not has_vectors(table) or snapshot.snapshotId() == staged.snapshot_id:
        return
    owners = {str(file.referencedDataFile()) for file in staged.new_deletes}
    tasks = _tasks_by_path(table, snapshot.snapshotId())
    deletes = applied_deletes(spark, (task for path, task in tasks.items() if path in owners))
    newer = sorted(key for key, file in deletes.items() if is_vector(file) and key not in staged.vectors)
    if newer:
        raise ValueError(f"a newer deletion vector was committed meanwhile: {newer[0]}")


def _commit_apart(table: Any, staged: StagedRewrite, tag: Tag) -> None:
    """RewriteFiles adds delete files only if it removes some; a RowDelta of the same transaction does."""
    transaction = table.newTransaction()
    if staged.old_files:
        _with_files(transaction.newRewrite(), staged, (), tag).commit()
    row_delta = transaction.newRowDelta().set(TAG_PROPERTY, str(tag))
    row_delta.validateFromSnapshot(staged.snapshot_id)
    for file in staged.new_deletes:
        row_delta.addDeletes(file)
    row_delta.commit()
    transaction.commitTransaction()


def _with_files(rewrite: Any, staged: StagedRewrite, new_deletes: Iterable[Any], tag: Tag) -> Any:
    rewrite.set(TAG_PROPERTY, str(tag))
    rewrite.validateFromSnapshot(staged.snapshot_id).dataSequenceNumber(staged.sequence_number)
    for file in (*staged.old_files, *staged.old_deletes):
        rewrite.deleteFile(file)
    for file in (*staged.new_files, *new_deletes):
        rewrite.addFile(file)
    return rewrite


def _delete(table: Any, files: Iterable[Any]) -> None:
    """Delete files that no snapshot will reference; deletion vectors may share one Puffin file."""
    for location in {str(file.location()) for file in files}:
        table.io().deleteFile(location)
