"""Upserts by Spark's MERGE, which each format carries out in its own way."""

from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812  the field's usual name

from bench.engines.spark.session import configured

_SOURCE = "compactbench_changes"


def prepare(frame: DataFrame, writers: int | None) -> DataFrame:
    """The last change of each key, cached: MERGE accepts one source row per target row."""
    newest = F.row_number().over(Window.partitionBy("order_id").orderBy(F.desc("change_number")))
    last = frame.withColumn("nth", newest).where("nth = 1").drop("nth")
    prepared = (last.repartition(writers, "order_id") if writers else last).persist()
    prepared.count()
    return prepared


def commit(
    spark: SparkSession, name: str, changes: DataFrame, columns: Sequence[str], conf: Mapping[str, str]
) -> DataFrame:
    """Commit one MERGE, which replaces changed rows, inserts new ones and deletes removed ones.

    `conf` is the session's meanwhile, since a SQL statement cannot carry options.
    """
    changes.createOrReplaceTempView(_SOURCE)
    updates = ", ".join(f"t.{column} = s.{column}" for column in columns)
    names, values = ", ".join(columns), ", ".join(f"s.{column}" for column in columns)
    statement = (
        f"MERGE INTO {name} t USING {_SOURCE} s ON t.order_id = s.order_id "  # noqa: S608  own names
        f"WHEN MATCHED AND s.op = 'D' THEN DELETE WHEN MATCHED THEN UPDATE SET {updates} "
        f"WHEN NOT MATCHED AND s.op <> 'D' THEN INSERT ({names}) VALUES ({values})"
    )
    with configured(spark, conf):
        merged = spark.sql(statement)
    spark.catalog.dropTempView(_SOURCE)
    return merged


def executed_plan(merged: DataFrame) -> Any:
    """The physical plan of a MERGE that was committed, with its metrics."""
    result: Any = merged._jdf.queryExecution().executedPlan()
    return result.commandPhysicalPlan()
