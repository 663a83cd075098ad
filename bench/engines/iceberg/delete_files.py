"""Delete files of an Iceberg table: written by Spark as Parquet, registered as Iceberg's own.

Spark SQL never writes equality deletes, and from Python Iceberg's writers can only be called row by row.
Spark's own Parquet writer stores the field ids that Iceberg needs to read the columns.
"""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  the field's usual name
from pyspark.sql.types import LongType, StringType, StructField, StructType

from bench.engines.iceberg.table_keys import VECTORS_FROM
from bench.engines.spark.session import file_system, java_class

FIELD_ID = "parquet.field.id"  # column metadata for the Parquet field id

# Reserved field ids of position delete files (table spec, "Position Delete Files").
_PATH_FIELD_ID, _POSITION_FIELD_ID = 2147483546, 2147483545
POSITION_SCHEMA = StructType([
    StructField("file_path", StringType(), metadata={FIELD_ID: _PATH_FIELD_ID}),
    StructField("pos", LongType(), metadata={FIELD_ID: _POSITION_FIELD_ID}),
])  # fmt: skip
_SPLIT = "split_by"
# No snapshot names any file until all are written, so tasks may move theirs into place by themselves.
_COMMIT = {
    "mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
    "mapreduce.fileoutputcommitter.algorithm.version": "2",
}


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A Parquet file, and the value of the split column in all its rows."""

    location: str
    size_bytes: int
    split: int


def with_field_id(column: Column, name: str, field_id: int) -> Column:
    """The column with a name and a field id, both of which are stored in Parquet."""
    return column.alias(name, metadata={FIELD_ID: field_id})


def position_columns(path: Column, position: Column) -> tuple[Column, Column]:
    """The columns of a position delete file, whose rows must be sorted by them."""
    return (
        with_field_id(path, "file_path", _PATH_FIELD_ID),
        with_field_id(position, "pos", _POSITION_FIELD_ID),
    )


def write_split(frame: DataFrame, columns: Sequence[Column], split: str, location: str) -> list[WrittenFile]:
    """Write columns of the frame below `location` in one Spark job, each file sorted by them.

    There is one file for each value of the INT column `split`; its rows must be in one Spark partition.
    Delete files are small and a task costs more than a file, so one task per core writes them all.
    """
    spark = frame.sparkSession
    chosen = frame.select(*columns, F.col(split).alias(_SPLIT)).coalesce(
        spark.sparkContext.defaultParallelism
    )
    (
        # Sorted here, because Spark's writer would sort again by the split column alone.
        chosen.sortWithinPartitions(_SPLIT, *chosen.columns[:-1])
        .write.options(**_COMMIT)
        .option("compression", "zstd")
        .partitionBy(_SPLIT)
        .parquet(location)
    )
    return _listed(spark, location)


def _listed(spark: SparkSession, location: str) -> list[WrittenFile]:
    """The written files by location: `split_by=3/part-00000-....parquet` below `location`."""
    root, system = file_system(spark, location)
    files = []
    for status in system.globStatus(root.suffix(f"/{_SPLIT}=*/*.parquet")):
        folder, name = str(status.getPath().toString()).rsplit("/", 2)[1:]
        split = int(folder.rpartition("=")[2])
        files.append(WrittenFile(f"{location}/{folder}/{name}", int(status.getLen()), split))
    return sorted(files, key=lambda file: file.location)


class DeleteFiles:
    """Creates Iceberg's (Java) descriptions of the delete files of one table."""

    def __init__(self, spark: SparkSession, table: Any) -> None:
        self._table = table
        self._spark = spark
        self._gateway: Any = spark.sparkContext._gateway
        # Hadoop's copy of Guava returns a java.util.function.Function; Spark's copy, of 2013, does not.
        self._functions = java_class(spark, "org.apache.hadoop.thirdparty.com.google.common.base.Functions")
        self._file_metadata = self._iceberg("FileMetadata")
        self._parquet = self._iceberg("parquet.ParquetUtil")
        metrics = self._iceberg("MetricsConfig")
        self._equality_metrics = metrics.forTable(table)
        # Untruncated bounds of file_path: if they are equal, the file applies to that data file alone.
        self._position_metrics = metrics.forPositionDelete(table)

    def _iceberg(self, name: str) -> Any:
        return java_class(self._spark, f"org.apache.iceberg.{name}")

    def equality(self, file: WrittenFile, field_ids: Sequence[int], spec: Any, partition: Any) -> Any:
        """An equality delete file for these columns; `partition` (Java) is empty without partitioning."""
        ids = self._gateway.new_array(self._gateway.jvm.int, len(field_ids))
        for index, field_id in enumerate(field_ids):
            ids[index] = field_id
        builder = self._file_metadata.deleteFileBuilder(spec).ofEqualityDeletes(ids)
        return self._built(builder, file, self._equality_metrics, partition)

    def position(self, file: WrittenFile, spec: Any, partition: Any) -> Any:
        builder = self._file_metadata.deleteFileBuilder(spec).ofPositionDeletes()
        return self._built(builder, file, self._position_metrics, partition)

    def _built(self, builder: Any, file: WrittenFile, metrics: Any, partition: Any) -> Any:
        source = self._table.io().newInputFile(file.location)
        counted = self._parquet.fileMetrics(source, metrics)
        built = builder.withPath(file.location).withFormat("parquet").withMetrics(counted)
        built = built.withFileSizeInBytes(file.size_bytes)
        return built.withPartition(partition).build()

    def vectors(self, positions: Mapping[str, Iterable[Any]], owners: Mapping[str, Any]) -> list[Any]:
        """Deletion vectors, one for each data file of `positions`, all in one Puffin file.

        `positions` holds the delete files to merge, by the location of the data file that they apply to;
        `owners` holds the (Java) data files. The positions are loaded in the JVM.
        """
        factory = self._iceberg("io.OutputFileFactory").builderFor(self._table, 1, 1)
        factory = factory.format(self._iceberg("FileFormat").PUFFIN).operationId(str(uuid.uuid4())).build()
        writer = self._iceberg("deletes.BaseDVFileWriter")(factory, self._functions.constant(None))
        for location, files in positions.items():
            owner = owners[location]
            merged = self._merged(list(files), location)
            writer.delete(location, merged, self._table.specs().get(owner.specId()), owner.partition())
        writer.close()
        return list(writer.result().deleteFiles())

    def _merged(self, files: Sequence[Any], location: str) -> Any:
        """The positions of all files that apply to one data file. Each vector is loaded separately."""
        inputs = java_class(self._spark, "java.util.IdentityHashMap")()
        for file in files:
            inputs.put(file, self._table.io().newInputFile(file.location()))
        loader = self._iceberg("data.BaseDeleteLoader")(self._functions.forMap(inputs))
        vectors = [[file] for file in files if is_vector(file)]
        others = [file for file in files if not is_vector(file)]
        first, *rest = (
            loader.loadPositionDeletes(java_class(self._spark, "java.util.ArrayList")(part), location)
            for part in (*vectors, *([others] if others else []))
        )
        for index in rest:
            first.merge(index)
        return first


def key_schema(spark: SparkSession, name: str, columns: Mapping[str, int]) -> StructType:
    """The schema of some columns of table `name`, given with their field ids."""
    types = {field.name: field.dataType for field in spark.table(name).schema.fields}
    return StructType(
        [StructField(column, types[column], metadata={FIELD_ID: id_}) for column, id_ in columns.items()]
    )


def reading_session(spark: SparkSession, is_adaptive: bool) -> SparkSession:
    """A session for `read_parquet`.

    Adaptive execution costs half a second per conversion, so it is off where little is joined and shuffled.
    """
    session = spark.newSession()
    settings = {
        "spark.sql.parquet.fieldId.read.enabled": "true",
        # By default Spark lists more than 32 files in a job of its own, which takes longer than one thread.
        "spark.sql.sources.parallelPartitionDiscovery.threshold": "128",
    }
    if not is_adaptive:
        settings["spark.sql.adaptive.enabled"] = "false"
        settings["spark.sql.shuffle.partitions"] = str(spark.sparkContext.defaultParallelism)
    for name, value in settings.items():
        session.conf.set(name, value)
    return session


def read_parquet(session: SparkSession, schema: StructType, locations: Sequence[str]) -> DataFrame:
    """The rows of Parquet files by the field ids of `schema`, with the file's `path` and their `position`.

    Join the result directly with the wanted keys: any operator in between makes Spark copy each row.
    """
    rows = session.read.schema(schema).parquet(*locations)
    path, position = F.col("_metadata.file_path"), F.col("_metadata.row_index")
    return rows.select("*", path.alias("path"), position.alias("position"))


def with_known(rows: DataFrame, known: DataFrame) -> DataFrame:
    """Adds the columns of `known` to the rows by their file's `path`, as the struct `known`.

    A row of an unknown file is an error. The check is part of the struct, so that Spark cannot evaluate a
    condition on it before the check.
    """
    packed = known.select("path", F.struct(*(c for c in known.columns if c != "path")).alias("known"))
    joined = rows.join(F.broadcast(packed), "path", "left")
    unknown = F.raise_error(F.concat(F.lit("unexpected input file: "), F.col("path")))
    kind = packed.schema["known"].dataType
    return joined.withColumn("known", F.coalesce("known", unknown.cast(kind)))


def has_vectors(table: Any) -> bool:
    """Whether the position deletes of the table must be deletion vectors."""
    return int(table.operations().current().formatVersion()) >= VECTORS_FROM


def is_equality(file: Any) -> bool:
    return str(file.content().name()) == "EQUALITY_DELETES"


def is_vector(file: Any) -> bool:
    return str(file.format().name()) == "PUFFIN"


def text_of(texts: Sequence[str | None], number: Column) -> Column:
    """The text at a position (from 0), as a column."""
    return F.element_at(F.array(*map(F.lit, texts)), number + 1)


def delete_key(file: Any) -> str:
    """The unique key of a (Java) delete file, the same as its `key` in a table state."""
    location = str(file.location())
    return f"{location}#{file.referencedDataFile()}" if is_vector(file) else location


def applied_deletes(spark: SparkSession, tasks: Iterable[Any]) -> dict[str, Any]:
    """The (Java) delete files of scan tasks by key. Tasks of one scan share these objects."""
    distinct = java_class(spark, "java.util.LinkedHashSet")()
    for task in tasks:
        distinct.addAll(task.deletes())
    return {delete_key(file): file for file in distinct}


def live_deletes(spark: SparkSession, table: Any, snapshot: Any) -> dict[str, Any]:
    """All (Java) delete files of a snapshot by key, including those that apply to nothing."""
    manifests, deletes = java_class(spark, "org.apache.iceberg.ManifestFiles"), {}
    for manifest in snapshot.deleteManifests(table.io()):
        reader = manifests.readDeleteManifest(manifest, table.io(), table.specs())
        entries = reader.iterator()
        while entries.hasNext():
            file = entries.next()
            deletes[delete_key(file)] = file
        reader.close()
    return deletes
