"""Commits to tables of plain Spark without any task: of data files, equality deletes and position deletes."""

import pyarrow as pa
import pyarrow.parquet as pq

from bench.engines.iceberg.catalog import java_table

_PATH = pa.field("file_path", pa.string(), metadata={"PARQUET:field_id": "2147483546"})
_POSITION = pa.field("pos", pa.int64(), metadata={"PARQUET:field_id": "2147483545"})


def add_data_file(spark, name, path, ids):
    """Append these values of the table's first column, a BIGINT `id`, to a table without partitions."""
    table, iceberg = java_table(spark, name), spark._jvm.org.apache.iceberg
    builder = iceberg.DataFiles.builder(table.spec())
    file = _written(spark, table, path, pa.table({"id": ids}, schema=pa.schema([_id_field()])), builder)
    table.newAppend().appendFile(file).commit()


def add_equality_delete(spark, name, path, ids, partition=()):
    """Commit an equality delete of these values of the table's first column, a BIGINT `id`.

    `partition` holds the values of the partition that the rows are in.
    """
    table, iceberg = java_table(spark, name), spark._jvm.org.apache.iceberg
    gateway = spark._sc._gateway
    compared = gateway.new_array(gateway.jvm.int, 1)
    compared[0] = 1
    builder = iceberg.FileMetadata.deleteFileBuilder(table.spec()).ofEqualityDeletes(compared)
    rows = pa.table({"id": ids}, schema=pa.schema([_id_field()]))
    table.newRowDelta().addDeletes(_written(spark, table, path, rows, builder, partition)).commit()


def add_position_delete(spark, name, path, data_file, positions, partition=()):
    """Commit a position delete of these rows of a data file."""
    table, iceberg = java_table(spark, name), spark._jvm.org.apache.iceberg
    builder = iceberg.FileMetadata.deleteFileBuilder(table.spec()).ofPositionDeletes()
    columns = {"file_path": [data_file] * len(positions), "pos": positions}
    rows = pa.table(columns, schema=pa.schema([_PATH, _POSITION]))
    table.newRowDelta().addDeletes(_written(spark, table, path, rows, builder, partition)).commit()


def _id_field():
    return pa.field("id", pa.int64(), metadata={"PARQUET:field_id": "1"})


def _written(spark, table, path, rows, builder, partition=()):
    """A file of these rows, in the words of Iceberg's Java."""
    pq.write_table(rows, path)
    iceberg = spark._jvm.org.apache.iceberg
    source = table.io().newInputFile(f"file://{path}")
    metrics = iceberg.parquet.ParquetUtil.fileMetrics(source, iceberg.MetricsConfig.forTable(table))
    builder = builder.withPath(f"file://{path}").withFormat("parquet").withMetrics(metrics)
    if partition:
        data = iceberg.PartitionData(table.spec().partitionType())
        for place, value in enumerate(partition):
            data.set(place, value)
        builder = builder.withPartition(data)
    return builder.withFileSizeInBytes(source.getLength()).build()
