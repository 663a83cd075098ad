"""A Spark session of an engine, and what measures it; both end together."""

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from bench.engines.contract import EngineSettings
from bench.engines.spark.executor_cpu import ExecutorCpu
from bench.engines.spark.meter import Meter
from bench.engines.spark.session import start_session, stop_session
from bench.engines.spark.staging import staging_of


@contextmanager
def measured_session(
    settings: EngineSettings, jars: tuple[Path, ...], conf: Mapping[str, str]
) -> Iterator[tuple[SparkSession, Meter]]:
    """A session with the format's `jars` and `conf`. Raises EngineError if executors cannot be measured."""
    of_spark = settings.spark
    has_reports = not of_spark.is_local and of_spark.executor_cpu == "processes"
    with closing(ExecutorCpu()) as reports:
        executors = reports if has_reports else None
        spark = start_session(of_spark, jars, conf, settings.folder, executors)
        try:
            yield spark, Meter(spark, of_spark, executors)
        finally:
            staging_of(spark).close()
            staging_of.cache_clear()
            stop_session(spark, keeps_jvm=of_spark.shares_jvm)
