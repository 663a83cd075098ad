"""Upserts as Flink writes them: one commit is one RowDelta of new rows, equality and position deletes.

Rows go to writers by the hash of their key. If a writer has not written a row of a key in this commit, it
deletes the key by an equality delete, whether the table has such a row or not. It deletes rows of its own by
position. Source: Iceberg's BaseTaskWriter.BaseEqualityDeltaWriter and Flink's BaseDeltaTaskWriter in upsert
mode.

There is one difference. Flink sends an equality delete to the partition of the new row, and so requires
that the partition be a function of the key. Here the change log contains the replaced row, and the delete
goes to the partition of that row.
"""

import uuid
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812  the field's usual name

from bench.engines.contract import TAG_PROPERTY, Tag
from bench.engines.iceberg.catalog import java_table
from bench.engines.iceberg.delete_files import (
    DeleteFiles,
    has_vectors,
    position_columns,
    text_of,
    with_field_id,
    write_split,
)
from bench.engines.iceberg.exchange import Exchange
from bench.engines.iceberg.rewrite import write_files
from bench.engines.spark.session import java_class
from strategies.iceberg.rewrite_options import NO_LIMIT_BYTES
from workloads.partitioning import Partitioning

KEY = "order_id"


@dataclass(frozen=True, slots=True)
class Changes:
    """The changes of one commit, cached, in one Spark partition per writer and in the order of arrival.

    Besides the table's columns, each change has its `op` and the facts that Flink's writer keeps:
    `row_partition` is the number of the row's partition. With `deletes_key` the change makes an equality
    delete, in the partition `delete_partition`. With `replaced` the same commit deletes its row again, by the
    row's `position` in its writer's data file of `row_partition`. `partitions` holds the values of the
    partition column by number; an unpartitioned table has one, "".
    """

    frame: DataFrame
    writers: int
    partitions: tuple[Any, ...]
    replaced_rows: int


def prepare(frame: DataFrame, partitioning: Partitioning, writers: int) -> Changes:
    """The changes of a batch, with their partition columns, routed to writers.

    Flink's writer keeps a map of the keys it has written in this commit, with the file and position of each
    row. Here the same facts are computed before the commit, by two windows, one on top of the other. The
    first (`_with_key_history`) orders the changes of each key, which shows what a change deletes and whether
    its row survives the commit. The second orders the changes of each data file, i.e. of each writer and
    partition: the number of rows before a row is its position. Deletions write no row, so they are counted
    separately.
    """
    routed = frame.withColumn("writer", F.expr(f"pmod(hash({KEY}), {writers})"))
    routed = _with_key_history(routed, partitioning).persist()
    values = _partition_values(routed) if partitioning.column else ("",)
    numbers = {value: number for number, value in enumerate(values)}
    numbered = routed
    for name in ("row_partition", "delete_partition"):
        numbered = numbered.withColumn(name, _number(numbers, F.col(f"{name}_value")))
    position = F.row_number().over(
        Window.partitionBy("writer", "row_partition", F.col("op") == "D").orderBy("change_number")
    )
    numbered = numbered.withColumn("position", position.cast("long") - 1)
    # Spark hashes the key as above, so the number of a Spark partition is that of its writer.
    arranged = numbered.repartition(writers, KEY).sortWithinPartitions("change_number").persist()
    replaced_rows = arranged.where("replaced").count()
    routed.unpersist(blocking=True)
    return Changes(arranged, writers, values, replaced_rows)


def _partition_values(routed: DataFrame) -> tuple[Any, ...]:
    """The values of the partitions that the changes add rows to or delete keys from."""
    added = routed.selectExpr("row_partition_value AS value")
    deleted = routed.selectExpr("delete_partition_value AS value")
    return tuple(sorted((row.value for row in added.union(deleted).distinct().collect()), key=repr))


def _with_key_history(frame: DataFrame, partitioning: Partitioning) -> DataFrame:
    """Adds what follows from the other changes of the same key in the commit.

    Say a commit inserts a key that the table does not have, updates it, deletes it and inserts it again:

        op    deletes_key                                 replaced
        I     yes: the writer has written no row of it    yes, by the update
        U     no: the writer deletes its row by position  yes, by the deletion
        D     no: likewise                                no: it writes no row
        I     yes: since D the writer has no row of it    no: it is the last change

    Only a key's first change in a commit can replace an older row of the table, and its equality delete goes
    to the partition of that row. All others go to the partition of the change's own row, as Flink's do.
    """
    of_key = Window.partitionBy("writer", KEY).orderBy("change_number")
    by = partitioning.column
    before_sql = partitioning.derived.get(by, by) if by else "''"
    for column in ("user_city", "order_date"):
        before_sql = before_sql.replace(column, f"before_{column}")
    previous, following = F.lag("op").over(of_key), F.lead("op").over(of_key)
    is_blind = previous.isNotNull() | ~F.col("before_exists")
    own, before = F.col(by) if by else F.lit(""), F.expr(before_sql)
    return (
        frame.withColumn("deletes_key", F.coalesce(previous == "D", F.lit(True)))
        .withColumn("replaced", following.isNotNull() & (F.col("op") != "D"))
        .withColumn("row_partition_value", own)
        .withColumn("delete_partition_value", F.when(is_blind, own).otherwise(before))
    )


def _number(numbers: Mapping[Any, int], value: Column) -> Column:
    """The number of a value; null has one, too."""
    known = {value: number for value, number in numbers.items() if value is not None}
    pairs = [F.lit(part) for pair in known.items() for part in pair]
    number = F.element_at(F.create_map(*pairs), value) if pairs else F.lit(None).cast("int")
    return F.coalesce(number, F.lit(numbers.get(None)).cast("int"))


def commit(spark: SparkSession, name: str, changes: Changes, columns: Sequence[str], tag: Tag) -> None:
    """Write the files of the changes and add them to the table in one commit.

    A failed commit leaves its files behind, as a failed Flink job does.
    """
    table = java_table(spark, name)
    rows = changes.frame.where("op <> 'D'").select(*columns)
    # A writer must not start a second file in a partition: positions would start from 0 again.
    data = write_files(rows, name, table, str(uuid.uuid4()), NO_LIMIT_BYTES)
    partitions, delete_files = _java_partitions(spark, table, changes), DeleteFiles(spark, table)
    with closing(Exchange(spark, table)) as exchange:
        deletes = _equality(exchange, delete_files, table, changes, partitions)
        if changes.replaced_rows:
            deletes += _position(exchange, delete_files, table, changes, partitions, data)
    row_delta, before = table.newRowDelta().set(TAG_PROPERTY, str(tag)), table.currentSnapshot()
    if before is not None:  # otherwise vectors are validated from the first snapshot on, possibly expired
        row_delta.validateFromSnapshot(before.snapshotId())
    for file in data:
        row_delta.addRows(file)
    for file in deletes:
        row_delta.addDeletes(file)
    row_delta.commit()


def _java_partitions(spark: SparkSession, table: Any, changes: Changes) -> list[Any]:
    """The (Java) partitions of the changes by number."""
    new_partition, partitions = java_class(spark, "org.apache.iceberg.PartitionData"), []
    kind, is_partitioned = table.spec().partitionType(), table.spec().isPartitioned()
    for value in changes.partitions:
        partition = new_partition(kind)
        if is_partitioned:
            partition.set(0, value)
        partitions.append(partition)
    return partitions


def _equality(
    exchange: Exchange, delete_files: DeleteFiles, table: Any, changes: Changes, partitions: Sequence[Any]
) -> list[Any]:
    """An equality delete file for each writer and partition with keys to delete."""
    field_id = int(table.schema().findField(KEY).fieldId())
    column, location = with_field_id(F.col(KEY), KEY, field_id), exchange.scratch("equality-deletes")
    keys = changes.frame.where("deletes_key").withColumn("slot", _slot("delete_partition", changes.writers))
    files = map(exchange.stored, write_split(keys, [column], "slot", location))
    return [
        delete_files.equality(file, [field_id], table.spec(), partitions[file.split // changes.writers])
        for file in files
    ]


def _position(
    exchange: Exchange, delete_files: DeleteFiles, table: Any, changes: Changes, partitions: Sequence[Any],
    data: Sequence[Any],
) -> list[Any]:  # fmt: skip
    """A position delete file, or a vector in version 3, for each data file with rows that are `replaced`."""
    writers, is_partitioned = changes.writers, table.spec().isPartitioned()
    numbers = {value: number for number, value in enumerate(changes.partitions)}
    values = [file.partition().get(0) if is_partitioned else "" for file in data]
    owners = {
        numbers[value] * writers + _writer(file): file for file, value in zip(data, values, strict=True)
    }
    paths = [
        str(owners[slot].location()) if slot in owners else None for slot in range(len(partitions) * writers)
    ]
    replaced = changes.frame.where("replaced").withColumn("slot", _slot("row_partition", writers))
    columns = position_columns(text_of(paths, F.col("slot")), F.col("position"))
    location = exchange.scratch("position-deletes")
    files = [exchange.stored(file) for file in write_split(replaced, columns, "slot", location)]
    deletes = [delete_files.position(file, table.spec(), partitions[file.split // writers]) for file in files]
    if not has_vectors(table):
        return deletes
    by_path = {str(paths[file.split]): [delete] for file, delete in zip(files, deletes, strict=True)}
    vectors = delete_files.vectors(by_path, {str(file.location()): file for file in data})
    exchange.discard(location)
    return vectors


def _slot(partition: str, writers: int) -> Column:
    """A number for each pair of a partition and a writer; a pair has at most one file of each kind."""
    return F.expr(f"{partition} * {writers} + writer")


def _writer(file: Any) -> int:
    """The writer of a data file: its name begins with the number of the Spark task that wrote it."""
    return int(str(file.location()).rpartition("/")[2].partition("-")[0])
