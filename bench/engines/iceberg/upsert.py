"""Upserts as Flink writes them: one commit is one RowDelta of new rows, equality and position deletes.

Rows go to writers by the hash of their key. A writer that has no row of a key in this commit deletes it
blindly, by an equality delete, whether the table has such a row or not; a row the writer itself wrote it
deletes by position. Source: Iceberg's BaseTaskWriter.BaseEqualityDeltaWriter and Flink's BaseDeltaTaskWriter
in upsert mode, save for one thing: those send an equality delete to the partition of the new row, and so
demand that the partition follows from the key. A change here knows the row it replaces, and the delete goes
to that one's partition.
"""

import uuid
from collections.abc import Mapping, Sequence
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
    remove_location,
    scratch_location,
    text_of,
    with_field_id,
    write_split,
)
from bench.engines.iceberg.rewrite import NO_LIMIT_BYTES, write_files
from bench.engines.spark.session import java_class
from workloads.partitioning import Partitioning

KEY = "order_id"


@dataclass(frozen=True, slots=True)
class Changes:
    """The changes of one commit, cached, a Spark partition per writer, in the order they arrived.

    Besides the table's columns each has `op`, and what a writer keeps in mind: `home`, the number of the
    partition of its row; whether it `deletes_key`, in the partition numbered `key_home`; and whether its
    row is `replaced` in the same commit, then at which `position` of its writer's file in `home`.
    `partitions` are the values of the partition column by number, None where the table has none.
    """

    frame: DataFrame
    writers: int
    partitions: tuple[Any, ...] | None
    replaced_rows: int


def prepare(frame: DataFrame, partitioning: Partitioning, writers: int) -> Changes:
    """The changes of a batch, with their partition columns, routed to writers.

    What Flink's writer looks up in its map of the keys it has written is here found out beforehand.
    """
    routed = frame.withColumn("writer", F.expr(f"pmod(hash({KEY}), {writers})"))
    routed = _with_homes(routed, partitioning).persist()
    values = _home_values(routed) if partitioning.column else ("",)
    numbers = {value: number for number, value in enumerate(values)}
    told = routed
    for name in ("home", "key_home"):
        told = told.withColumn(name, _number(numbers, F.col(f"{name}_value")))
    position = F.row_number().over(
        Window.partitionBy("writer", "home", F.col("op") == "D").orderBy("change_number")
    )
    told = told.withColumn("position", position.cast("long") - 1)
    # The same hash as above: the number of a Spark partition is that of the writer.
    arranged = told.repartition(writers, KEY).sortWithinPartitions("change_number").persist()
    replaced_rows = arranged.where("replaced").count()
    routed.unpersist(blocking=True)
    return Changes(arranged, writers, values if partitioning.column else None, replaced_rows)


def _home_values(routed: DataFrame) -> tuple[Any, ...]:
    """The partitions that rows of the changes go to or are deleted from."""
    homes = routed.selectExpr("home_value AS value").union(routed.selectExpr("key_home_value AS value"))
    return tuple(sorted((row.value for row in homes.distinct().collect()), key=repr))


def _with_homes(frame: DataFrame, partitioning: Partitioning) -> DataFrame:
    """Adds what follows from the other changes of the same key in the commit."""
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
        .withColumn("home_value", own)
        .withColumn("key_home_value", F.when(is_blind, own).otherwise(before))
    )


def _number(numbers: Mapping[Any, int], value: Column) -> Column:
    """A value's number; null has one too."""
    known = {value: number for value, number in numbers.items() if value is not None}
    pairs = [F.lit(part) for pair in known.items() for part in pair]
    found = F.element_at(F.create_map(*pairs), value) if pairs else F.lit(None).cast("int")
    return F.coalesce(found, F.lit(numbers.get(None)).cast("int"))


def commit(spark: SparkSession, name: str, changes: Changes, columns: Sequence[str], tag: Tag) -> None:
    """Write the files of the changes and add them to the table in one commit.

    A failed commit leaves its files behind, as a failed Flink job does.
    """
    table = java_table(spark, name)
    rows = changes.frame.where("op <> 'D'").select(*columns)
    # Never a second file of a writer in a partition: positions would begin anew in it.
    data = write_files(rows, name, table, str(uuid.uuid4()), NO_LIMIT_BYTES)
    homes, described = _homes(spark, table, changes), DeleteFiles(spark, table)
    deletes = _equality(described, table, changes, homes)
    if changes.replaced_rows:
        deletes += _position(described, table, changes, homes, data)
    row_delta, before = table.newRowDelta().set(TAG_PROPERTY, str(tag)), table.currentSnapshot()
    if before is not None:  # else vectors are checked from the first snapshot on, which may be expired
        row_delta.validateFromSnapshot(before.snapshotId())
    for file in data:
        row_delta.addRows(file)
    for file in deletes:
        row_delta.addDeletes(file)
    row_delta.commit()


def _homes(spark: SparkSession, table: Any, changes: Changes) -> list[Any]:
    """The (Java) partitions of the changes by number."""
    partition, homes = java_class(spark, "org.apache.iceberg.PartitionData"), []
    for value in changes.partitions if changes.partitions is not None else ("",):
        home = partition(table.spec().partitionType())
        if changes.partitions is not None:
            home.set(0, value)
        homes.append(home)
    return homes


def _equality(described: DeleteFiles, table: Any, changes: Changes, homes: Sequence[Any]) -> list[Any]:
    """A file for each writer and partition that has keys to delete."""
    field_id = int(table.schema().findField(KEY).fieldId())
    column, location = with_field_id(F.col(KEY), KEY, field_id), scratch_location(table, "equality-deletes")
    keys = changes.frame.where("deletes_key").withColumn("slot", _slot("key_home", changes.writers))
    files = write_split(keys, [column], "slot", location)
    return [
        described.equality(file, [field_id], table.spec(), homes[file.split // changes.writers])
        for file in files
    ]


def _position(
    described: DeleteFiles, table: Any, changes: Changes, homes: Sequence[Any], data: Sequence[Any]
) -> list[Any]:
    """A file for each data file with rows that the commit itself replaced; on version 3 a vector."""
    writers = changes.writers
    path_of = table.spec().partitionToPath
    numbers = {path_of(home): number for number, home in enumerate(homes)}
    owners = {numbers[path_of(file.partition())] * writers + _writer(file): file for file in data}
    paths = [str(owners[slot].location()) if slot in owners else None for slot in range(len(homes) * writers)]
    replaced = changes.frame.where("replaced").withColumn("slot", _slot("home", writers))
    columns = position_columns(text_of(paths, F.col("slot")), F.col("position"))
    location = scratch_location(table, "position-deletes")
    files = write_split(replaced, columns, "slot", location)
    deletes = [described.position(file, table.spec(), homes[file.split // writers]) for file in files]
    if not has_vectors(table):
        return deletes
    by_path = {str(paths[file.split]): [delete] for file, delete in zip(files, deletes, strict=True)}
    vectors = described.vectors(by_path, {str(file.location()): file for file in data})
    remove_location(changes.frame.sparkSession, location)
    return vectors


def _slot(home: str, writers: int) -> Column:
    """The number of a partition and a writer, which have one file of a kind."""
    return F.expr(f"{home} * {writers} + writer")


def _writer(file: Any) -> int:
    """The writer of a data file, whose name begins with the number of the Spark task that wrote it."""
    return int(str(file.location()).rpartition("/")[2].partition("-")[0])
