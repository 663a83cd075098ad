"""The rows of a batch as Spark frames, and the table that takes them."""

from collections.abc import Callable, Mapping

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  the field's usual name

from bench.engines.contract import Batch, TableSpec
from bench.engines.spark.conf import PARTITION_PER_FILE
from bench.engines.spark.session import configured
from bench.engines.spark.staging import staging_of
from bench.engines.sql import sql_text
from workloads.partitioning import Partitioning


def create_statement(
    name: str, spec: TableSpec, table_format: str, properties: Mapping[str, str], clauses: str = ""
) -> str:
    """The statement that creates a table, with any further `clauses` of the format."""
    derived = spec.partitioning.derived
    columns = [spec.schema.ddl(), *(f"{column} {_type_of(sql)}" for column, sql in derived.items())]
    by = f"PARTITIONED BY ({spec.partitioning.column})" if spec.partitioning.column else ""
    pairs = (f"{sql_text(key)}={sql_text(value)}" for key, value in properties.items())
    return (
        f"CREATE TABLE {name} ({', '.join(columns)}) USING {table_format} {by} {clauses} "
        f"TBLPROPERTIES ({', '.join(pairs)})"
    )


def column_names(spec: TableSpec) -> tuple[str, ...]:
    return (*spec.schema.names, *spec.partitioning.derived)


def new_rows(spark: SparkSession, spec: TableSpec, batch: Batch) -> DataFrame:
    """The rows of change-log files with their partition columns, in one Spark partition per writer.

    A commit with the rows of several commits of the stream has more files than writers.
    """
    paths, writers = staging_of(spark).readable(batch.paths), batch.spec.writers
    frame = spark.read.schema(spec.schema.ddl()).parquet(*paths)
    if spec.files_per_commit:
        frame = frame.repartition(spec.files_per_commit)
    elif len(paths) > writers:
        frame = frame.repartition(writers)
    return with_partition_columns(frame, spec.partitioning)


def cached(spark: SparkSession, rows: DataFrame) -> DataFrame:
    """The rows, cached, in one Spark partition per change-log file."""
    persisted = rows.persist()
    with configured(spark, PARTITION_PER_FILE):
        persisted.count()
    return persisted


def loader(spark: SparkSession, write: Callable[[], None]) -> Callable[[], None]:
    """Writes an initial load that is not cached, with one task per change-log file."""

    def load() -> None:
        with configured(spark, PARTITION_PER_FILE):
            write()

    return load


def with_partition_columns(frame: DataFrame, partitioning: Partitioning) -> DataFrame:
    return frame.withColumns({name: F.expr(sql) for name, sql in partitioning.derived.items()})


def _type_of(sql: str) -> str:
    """The type of a derived column: workloads write every expression as CAST(... AS TYPE)."""
    return sql.rstrip(")").rsplit(" AS ", 1)[1]
