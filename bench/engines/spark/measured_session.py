"""A Spark session of an engine, and what measures it; both end together."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from bench.engines.contract import EngineSettings
from bench.engines.spark.executor_cpu import ExecutorCpu
from bench.engines.spark.meter import Meter
from bench.engines.spark.session import start_session, stop_session
from bench.engines.spark.staging import opened_staging


def remove_staged(settings: EngineSettings) -> None:
    """Remove what an earlier session with these settings has staged. Raises EngineError."""
    spark = start_session(settings.spark, (), {}, settings.folder)
    try:
        with opened_staging(spark, settings.spark.staged):
            pass
    finally:
        stop_session(spark)


@contextmanager
def measured_session(
    settings: EngineSettings, jars: tuple[Path, ...], conf: Mapping[str, str]
) -> Iterator[tuple[SparkSession, Meter]]:
    """A session with the format's `jars` and `conf`. Raises EngineError if executors cannot be measured."""
    of_spark = settings.spark
    has_reports = not of_spark.is_local and of_spark.executor_cpu == "processes"
    with ExitStack() as stack:
        reports = stack.enter_context(closing(ExecutorCpu()))
        executors = reports if has_reports else None
        spark = start_session(of_spark, jars, conf, settings.folder, executors)
        stack.callback(stop_session, spark, keeps_jvm=of_spark.shares_jvm)
        stack.enter_context(opened_staging(spark, of_spark.staged))
        yield spark, Meter(spark, of_spark, executors)
