"""Delta's maintenance commands on Spark, and their results."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from bench.engines.delta.statements import statement
from bench.engines.spark.predicates import partitions_predicate
from bench.engines.spark.session import configured, java_class, java_rows
from strategies.delta.optimize_options import CONF_PREFIX, complete_texts
from strategies.plan import Compact, Native

TAG_CONF = "spark.databricks.delta.commitInfo.userMetadata"

# The metrics of OPTIMIZE that vary in open-source Delta.
_ANSWERS = ("numFilesAdded", "numFilesRemoved", "numBins", "numBatches", "totalConsideredFiles")


def optimize(
    spark: SparkSession, name: str, action: Compact | Native, target_bytes: int, conf: Mapping[str, str]
) -> DataFrame:
    """Run OPTIMIZE or REORG on table `name`, and return its result, not yet fetched.

    Options that are not set get the defaults of the preview. Raises ValueError for an unknown option or
    another command.
    """
    texts = complete_texts(action.options, target_bytes)
    options = {f"{CONF_PREFIX}{option}": text for option, text in texts.items()}
    with configured(spark, {**options, **conf}):
        return spark.sql(statement(name, action))


def repartition(
    spark: SparkSession, name: str, location: str, action: Native, conf: Mapping[str, str]
) -> None:
    """Overwrite one partition by its own rows, in `files` files, in a version marked as no change of data."""
    partition, files = action.arguments["partition"], int(action.arguments["files"])
    predicate = partitions_predicate((partition,))
    rows = spark.table(name).where(predicate).repartition(files)
    writer = rows.write.format("delta").mode("overwrite").option("dataChange", "false")
    if partition:
        writer = writer.option("replaceWhere", predicate)
    with configured(spark, conf):
        writer.save(location)


def vacuum(spark: SparkSession, location: str, delete_before_ms: int, conf: Mapping[str, str]) -> None:
    """Delete the files that left the table before `delete_before_ms` (milliseconds since 1970).

    The statement VACUUM takes whole hours only (VacuumCommand rounds them), counted from the time at which it
    runs. So VacuumCommand gets a clock that shows `delete_before_ms`, and a retention of 0.
    """
    jvm: Any = spark._jvm
    log = java_class(spark, "org.apache.spark.sql.delta.DeltaLog").forTable(spark._jsparkSession, location)
    clock = java_class(spark, "org.apache.spark.util.ManualClock")(delete_before_ms)
    some, none = java_class(spark, "scala.Some"), java_class(spark, "scala.Option").empty()
    command = java_class(spark, "org.apache.spark.sql.delta.commands.VacuumCommand")
    nothing = jvm.PythonUtils.toScalaMap({})
    with configured(spark, conf):
        command.gc(spark._jsparkSession, log, False, some(0.0), none, none, nothing, clock)


def answer_of(answers: Iterable[DataFrame]) -> dict[str, int]:
    """The counts that OPTIMIZE returned, summed over its calls."""
    counted: Counter[str] = Counter()
    for answer in answers:
        for row in java_rows(answer.select(*(f"metrics.{name}" for name in _ANSWERS))._jdf):
            counted.update(row)
    return dict(counted)
