"""Converts the deletes of data files into position deletes, one delete file per data file.

The key columns of the data files are read raw, with the position of each row. The new delete file contains
the rows with a newer equality delete for their key, and the rows that were already deleted by position.
Iceberg on Spark has no such action (1.11.0); this one follows Amoro's.
"""

import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import reduce
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  the field's usual name
from pyspark.sql.types import StructType

from bench.engines.iceberg.delete_files import (
    POSITION_SCHEMA,
    DeleteFiles,
    WrittenFile,
    applied_deletes,
    has_vectors,
    is_equality,
    is_vector,
    key_schema,
    position_columns,
    read_parquet,
    reading_session,
    text_of,
    with_known,
    write_split,
)
from bench.engines.iceberg.exchange import Exchange
from bench.engines.spark.session import values
from bench.engines.sql import sql_text
from strategies.grouping import by_key

# With more rows of deletes than this, Spark chooses the join strategy; fewer fit into any driver.
_BROADCAST_ROWS_MAX = 10_000_000
_EVERYWHERE = -1  # the scope of equality deletes without a partition
_Scopes = dict[tuple[Any, ...], int]  # the numbers of partitions, by `_scope`


@dataclass(frozen=True, slots=True)
class Conversion:
    """New (Java) delete files, and the deletion vectors that they replace."""

    new_deletes: tuple[Any, ...] = ()
    replaced: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class _DataFile:
    """A data file to convert; `scope` is the number of its spec and partition."""

    number: int
    task: Any
    location: str
    sequence_number: int
    scope: int


def convert(spark: SparkSession, name: str, table: Any, tasks: Sequence[Any]) -> Conversion:
    """Write position deletes for the tasks' data files; commits nothing.

    In format version 3 they are converted to deletion vectors, and the position delete files removed.
    """
    deletes = tuple(applied_deletes(spark, tasks).values())
    with closing(Exchange(spark, table)) as exchange:
        spark = reading_session(spark, is_adaptive=not _is_small(deletes))
        scopes: _Scopes = {}
        files = [_data_file(number, task, scopes) for number, task in enumerate(tasks)]
        by_position = [d for d in deletes if not is_equality(d) and not is_vector(d)]
        deleted = [
            *_by_equality(exchange, spark, name, table, files, filter(is_equality, deletes), scopes),
            *_by_position(exchange, spark, files, by_position),
        ]
        location = exchange.scratch("conversion")
        try:
            written = _write(files, deleted, location) if deleted else []
            delete_files = DeleteFiles(spark, table)
            if has_vectors(table):
                stored = [exchange.stored(file) for file in written]
                converted = _as_vectors(delete_files, table, files, stored, deletes)
                exchange.discard(location)
                return converted
            moved = (_stored_beside(exchange, files[file.split], file) for file in written)
            return Conversion(
                tuple(_described(delete_files, table, files[file.split], file) for file in moved)
            )
        except Exception:
            exchange.discard(location)
            raise
        finally:
            exchange.remove(location)


def _is_small(deletes: Iterable[Any]) -> bool:
    return sum(int(delete.recordCount()) for delete in deletes) <= _BROADCAST_ROWS_MAX


def _write(files: Sequence[_DataFile], deleted: Sequence[DataFrame], location: str) -> list[WrittenFile]:
    """Write a position delete file for each data file with deleted rows."""
    distinct = reduce(DataFrame.union, deleted).repartition("number").dropDuplicates(["number", "position"])
    paths = [file.location for file in files]
    columns = position_columns(text_of(paths, F.col("number")), F.col("position"))
    return write_split(distinct, columns, "number", location)


def _data_file(number: int, task: Any, scopes: _Scopes) -> _DataFile:
    file = task.file()
    scope = scopes.setdefault(_scope(file), len(scopes))
    return _DataFile(number, task, str(file.location()), int(file.dataSequenceNumber()), scope)


def _scope(file: Any) -> tuple[Any, ...]:
    """The scope of a partitioned delete: one partition of one spec.

    By values: the path that Iceberg gives a partition is the same for null and for the text "null".
    """
    partition = file.partition()
    return file.specId(), *(partition.get(place) for place in range(partition.size()))


def _by_equality(
    exchange: Exchange, spark: SparkSession, name: str, table: Any, files: Sequence[_DataFile],
    deletes: Iterable[Any], scopes: _Scopes,
) -> Iterator[DataFrame]:  # fmt: skip
    """The rows deleted by key, a frame for each set of key columns: `number` of the file and `position`."""
    by_columns = by_key(deletes, lambda delete: tuple(delete.equalityFieldIds()))
    # Iceberg omits deletes if their bounds exclude a file; files without any deletes need not be read.
    reached = [file for file in files if any(map(is_equality, file.task.deletes()))]
    for field_ids, same_columns in by_columns.items():
        columns = {str(table.schema().findColumnName(field_id)): field_id for field_id in field_ids}
        schema = key_schema(spark, name, columns)
        keys = _deleted_keys(exchange, spark, table, same_columns, schema, scopes)
        rows = read_parquet(spark, schema, exchange.readable([file.location for file in reached]))
        matches = rows.join(keys, [_same_key(table, rows, keys, column) for column in columns])
        numbered = with_known(matches, _data_file_facts(exchange, spark, reached))
        applies = f"known.sequence_number < deleted_at AND delete_scope IN ({_EVERYWHERE}, known.scope)"
        yield numbered.where(applies).select("known.number", "position")


def _same_key(table: Any, rows: DataFrame, keys: DataFrame, column: str) -> Column:
    """Null matches null. Required columns, which have no nulls, use a fast plain join."""
    if bool(table.schema().findField(column).isRequired()):
        return rows[column] == keys[column]
    return rows[column].eqNullSafe(keys[column])


def _data_file_facts(exchange: Exchange, spark: SparkSession, files: Iterable[_DataFile]) -> DataFrame:
    """Number, sequence number and scope of the data files, by `path`."""
    rows = [
        (sql_text(exchange.shown(file.location)), file.number, f"{file.sequence_number}L", file.scope)
        for file in files
    ]
    return values(spark, ("path", "number", "sequence_number", "scope"), rows)


def _deleted_keys(
    exchange: Exchange, spark: SparkSession, table: Any, deletes: Sequence[Any], schema: StructType,
    scopes: _Scopes,
) -> DataFrame:  # fmt: skip
    """Each deleted key once per scope, with the newest sequence number of its deletes as `deleted_at`."""
    locations = [str(delete.location()) for delete in deletes]
    facts = [
        (sql_text(exchange.shown(path)), f"{d.dataSequenceNumber()}L", _delete_scope(table, d, scopes))
        for path, d in zip(locations, deletes, strict=True)
    ]
    files = values(spark, ("path", "deleted_at", "delete_scope"), facts)
    keys = with_known(read_parquet(spark, schema, exchange.readable(locations)), files)
    scoped = keys.select(*schema.names, "known.deleted_at", "known.delete_scope")
    newest = scoped.groupBy(*schema.names, "delete_scope").agg(F.max("deleted_at").alias("deleted_at"))
    return F.broadcast(newest) if _is_small(deletes) else newest


def _delete_scope(table: Any, delete: Any, scopes: _Scopes) -> int:
    """The number of the delete's scope; a delete of an unpartitioned spec applies everywhere."""
    if table.specs().get(delete.specId()).isUnpartitioned():
        return _EVERYWHERE
    return scopes[_scope(delete)]


def _by_position(
    exchange: Exchange, spark: SparkSession, files: Sequence[_DataFile], deletes: Sequence[Any]
) -> Iterator[DataFrame]:
    """The rows that were already deleted by position: `number` of the file and `position`."""
    if not deletes:
        return
    rows = [(sql_text(file.location), file.number) for file in files]
    numbers = values(spark, ("file_path", "number"), rows)
    locations = exchange.readable([str(delete.location()) for delete in deletes])
    positions = read_parquet(spark, POSITION_SCHEMA, locations)
    yield positions.join(F.broadcast(numbers), "file_path").select("number", F.col("pos").alias("position"))


def _stored_beside(exchange: Exchange, owner: _DataFile, file: WrittenFile) -> WrittenFile:
    """Names a delete file after its data file, next to it: Amoro recognises its own files by this."""
    stem = owner.location.rpartition(".")[0]
    return exchange.stored(file, f"{stem}-delete-{uuid.uuid4()}.parquet")


def _described(delete_files: DeleteFiles, table: Any, owner: _DataFile, file: WrittenFile) -> Any:
    data_file = owner.task.file()
    return delete_files.position(file, table.specs().get(data_file.specId()), data_file.partition())


def _as_vectors(
    delete_files: DeleteFiles, table: Any, files: Sequence[_DataFile], written: Sequence[WrittenFile],
    deletes: Iterable[Any],
) -> Conversion:  # fmt: skip
    """A deletion vector for each data file with a deleted row, its old vector merged into it."""
    old = [delete for delete in deletes if is_vector(delete)]
    merged = {str(delete.referencedDataFile()): [delete] for delete in old}
    for file in written:
        owner = files[file.split]
        merged.setdefault(owner.location, []).append(_described(delete_files, table, owner, file))
    owners = {file.location: file.task.file() for file in files}
    return Conversion(tuple(delete_files.vectors(merged, owners)) if merged else (), tuple(old))
