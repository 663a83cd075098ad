"""Carrying out plans on an Iceberg table: stored procedures, and rewrites of exactly the files named."""

import uuid
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession

from bench.engines.spark import java_rows
from strategies.plan import Capability, Compact, Native, Rewrite

_NUMBER_COLUMNS = frozenset({"partition_bucket"})  # of the columns a table can be partitioned by


@dataclass(frozen=True, slots=True)
class StagedRewrite:
    """File groups rewritten but not committed: Java data files, and the snapshot they were planned from."""

    old_files: tuple[Any, ...]
    new_files: tuple[Any, ...]
    snapshot_id: int
    sequence_number: int


def java_table(spark: SparkSession, name: str) -> Any:
    """The Iceberg table behind a Spark name, freshly loaded."""
    jvm: Any = spark._jvm
    return jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(spark._jsparkSession, name)


def call(spark: SparkSession, name: str, native: Native, older_than_ms: int | None = None) -> DataFrame:
    """Run a stored procedure on table `name` ("catalog.namespace.table"); its answer, not yet read.

    `older_than_ms` (epoch) stands in for the `older_than_at_s` of `expire_snapshots`, which is scenario time.
    """
    catalog = name.split(".", 1)[0]
    arguments = [f"table => {sql_text(name)}", *_arguments(native, older_than_ms)]
    if native.options:
        pairs = ", ".join(f"{sql_text(key)}, {sql_text(value)}" for key, value in native.options.items())
        arguments.append(f"options => map({pairs})")
    return spark.sql(f"CALL {catalog}.system.{native.command}({', '.join(arguments)})")


def answer_of(answers: Iterable[DataFrame]) -> dict[str, int]:
    """The counts that procedures answered with, summed by column."""
    counted: Counter[str] = Counter()
    for row in (row for answer in answers for row in java_rows(answer._jdf)):
        counted.update({name: value for name, value in row.items() if isinstance(value, int)})
    return dict(counted)


def _arguments(native: Native, older_than_ms: int | None) -> Iterable[str]:
    for key, value in native.arguments.items():
        if key == "older_than_at_s" and older_than_ms is not None:
            moment = datetime.fromtimestamp(older_than_ms / 1000, UTC)
            yield f"older_than => TIMESTAMP '{moment:%Y-%m-%d %H:%M:%S.%f}'"
        elif value.isdigit() or value in ("true", "false"):
            yield f"{key} => {value}"
        else:
            yield f"{key} => {sql_text(value)}"


def sql_text(value: str) -> str:
    """`value` as a Spark SQL string literal."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def scoped(action: Compact) -> Native:
    """The procedure call that compacts only the partitions of `action`."""
    arguments = {} if action.partitions is None else {"where": _partitions_filter(action.partitions)}
    return Native(Capability.REWRITE_DATA_FILES, arguments, action.options)


def _partitions_filter(partitions: tuple[str, ...]) -> str:
    return " OR ".join(f"({_partition_filter(partition)})" for partition in partitions)


def _partition_filter(partition: str) -> str:
    """`city=Oslo/partition_bucket=3` as a predicate; an unpartitioned table has one partition, ""."""
    pairs = [pair.partition("=") for pair in partition.split("/") if pair]
    return " AND ".join(_equals(column, unquote(value)) for column, _, value in pairs) or "true"


def _equals(column: str, value: str) -> str:
    return f"{column} = {value if column in _NUMBER_COLUMNS else sql_text(value)}"


def stage_rewrite(spark: SparkSession, name: str, rewrite: Rewrite) -> StagedRewrite:
    """Read and rewrite each group as one Spark job; nothing is committed yet.

    Raises ValueError when a file of the plan is no longer live.
    """
    table = java_table(spark, name)
    snapshot = table.currentSnapshot()
    tasks = _tasks_by_path(table, snapshot.snapshotId())
    old: list[Any] = []
    new: list[Any] = []
    try:
        for group in rewrite.groups:
            gone = [path for path in group.paths if path not in tasks]
            if gone:
                raise ValueError(f"{gone[0]} is no longer live")
            chosen = [tasks[path] for path in group.paths]
            new += _write_group(spark, name, table, chosen, rewrite.target_file_size_bytes)
            old += [task.file() for task in chosen]
    except Exception:
        _delete(table, new)
        raise
    return StagedRewrite(tuple(old), tuple(new), snapshot.snapshotId(), snapshot.sequenceNumber())


def _tasks_by_path(table: Any, snapshot_id: int) -> dict[str, Any]:
    """Whole-file scan tasks, each with the delete files that apply to it."""
    found = {}
    planned = table.newScan().useSnapshot(snapshot_id).ignoreResiduals().planFiles()
    tasks = planned.iterator()
    while tasks.hasNext():
        task = tasks.next()
        found[task.file().location()] = task
    planned.close()
    return found


def _write_group(
    spark: SparkSession, name: str, table: Any, tasks: list[Any], target_bytes: int
) -> list[Any]:
    """Rewrite the tasks' rows, deletes applied, into files of about `target_bytes`; their Java data files.

    The same path Iceberg's own Spark runners take: staged tasks are read by their set's id, and the
    writer hands its new files to the coordinator under the same id.
    """
    jvm: Any = spark._jvm
    iceberg = jvm.org.apache.iceberg.spark
    group_id = str(uuid.uuid4())
    staged, coordinator = iceberg.ScanTaskSetManager.get(), iceberg.FileRewriteCoordinator.get()
    staged.stageTasks(table, group_id, jvm.java.util.ArrayList(tasks))
    try:
        frame = (
            spark.read.format("iceberg")
            .option("scan-task-set-id", group_id)
            .option("split-size", str(target_bytes))
            .option("file-open-cost", "0")
            .load(name)
        )
        (
            frame.write.format("iceberg")
            .option("rewritten-file-scan-task-set-id", group_id)
            .option("target-file-size-bytes", str(target_bytes))
            .option("distribution-mode", "none")
            .mode("append")
            .save(name)
        )
        return list(coordinator.fetchNewFiles(table, group_id))
    finally:
        staged.removeTasks(table, group_id)
        coordinator.clearRewrite(table, group_id)


def commit_rewrite(spark: SparkSession, name: str, staged: StagedRewrite) -> None:
    """Replace the old files by the new ones in one commit, checked against the planned snapshot.

    New files keep the sequence number of that snapshot, so that deletes committed since still apply.
    After a conflict the new files are deleted, unless the catalog cannot tell whether it committed.
    """
    table = java_table(spark, name)
    rewrite = table.newRewrite().validateFromSnapshot(staged.snapshot_id)
    for file in staged.old_files:
        rewrite.deleteFile(file)
    for file in staged.new_files:
        rewrite.addFile(file)
    rewrite.dataSequenceNumber(staged.sequence_number)
    try:
        rewrite.commit()
    except Py4JJavaError as error:
        if "CommitStateUnknownException" not in str(error.java_exception.toString()):
            _delete(table, staged.new_files)
        raise


def _delete(table: Any, files: Iterable[Any]) -> None:
    """Delete files that no snapshot will name."""
    for file in files:
        table.io().deleteFile(file.location())
