"""Equality deletes on tables of plain Spark, which has no statement for them."""

import pyarrow as pa
import pyarrow.parquet as pq

from bench.engines.iceberg.catalog import java_table


def add_equality_delete(spark, name, path, ids, partition=()):
    """Commit an equality delete of these values of the table's first column, a BIGINT `id`.

    `partition` holds the values of the partition that the rows are in.
    """
    field = pa.field("id", pa.int64(), metadata={"PARQUET:field_id": "1"})
    pq.write_table(pa.table({"id": ids}, schema=pa.schema([field])), path)
    iceberg, gateway = spark._jvm.org.apache.iceberg, spark._sc._gateway
    table = java_table(spark, name)
    compared = gateway.new_array(gateway.jvm.int, 1)
    compared[0] = 1
    source = table.io().newInputFile(f"file://{path}")
    metrics = iceberg.parquet.ParquetUtil.fileMetrics(source, iceberg.MetricsConfig.forTable(table))
    builder = iceberg.FileMetadata.deleteFileBuilder(table.spec()).ofEqualityDeletes(compared)
    builder = builder.withPath(f"file://{path}").withFormat("parquet").withMetrics(metrics)
    if partition:
        data = iceberg.PartitionData(table.spec().partitionType())
        for place, value in enumerate(partition):
            data.set(place, value)
        builder = builder.withPartition(data)
    delete = builder.withFileSizeInBytes(source.getLength()).build()
    table.newRowDelta().addDeletes(delete).commit()
