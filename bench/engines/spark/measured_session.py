"""A Spark session of an engine together with its meter."""

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from bench.engines.contract import EngineSettings, SparkSettings
from bench.engines.spark.executor_cpu import ExecutorCpu
from bench.engines.spark.meter import Meter, ProcessMeter
from bench.engines.spark.role_meter import RoleMeter
from bench.engines.spark.session import role_session, start_session, stop_session
from bench.engines.spark.staging import opened_staging
from bench.errors import EngineError

EXECUTOR_WAIT_S = 300.0  # a cluster may have to start a machine first
_EXECUTOR_SIZE = {"spark.executor.memory": "1g", "spark.executor.cores": "as the cluster decides"}


def remove_staged(settings: EngineSettings) -> None:
    """Remove files that an earlier session with these settings staged. Raises EngineError."""
    spark = start_session(settings.spark, (), {}, settings.folder)
    try:
        with opened_staging(spark, settings.spark.staging, settings.spark.staging_journal):
            pass
    finally:
        stop_session(spark)


@contextmanager
def measured_session(
    settings: EngineSettings, jars: tuple[Path, ...], conf: Mapping[str, str]
) -> Iterator[tuple[SparkSession, Meter]]:
    """A session with the format's `jars` and `conf`, on a cluster with at least one executor.

    A role that is a thread gets those of the application of its process. Raises EngineError if executors
    cannot be measured, or if the cluster grants none.
    """
    of_spark = settings.spark
    if of_spark.role is not None:
        spark = role_session(of_spark.role)
        yield spark, RoleMeter(spark, of_spark.role)
        return
    has_reports = not of_spark.is_local and of_spark.executor_cpu == "processes"
    with ExitStack() as stack:
        executors = stack.enter_context(closing(ExecutorCpu())) if has_reports else None
        spark = start_session(of_spark, jars, conf, settings.scratch_folder, executors)
        stack.callback(stop_session, spark)
        wait_for_executor(spark, of_spark)
        stack.enter_context(opened_staging(spark, of_spark.staging, of_spark.staging_journal))
        yield spark, ProcessMeter(spark, of_spark, executors)


def wait_for_executor(spark: SparkSession, settings: SparkSettings) -> None:
    """Wait until a cluster has granted an executor; raises EngineError if none comes in time.

    Spark itself would wait for ever. Under dynamic allocation executors come only with the first tasks.
    """
    conf = spark.sparkContext.getConf()
    if settings.is_local or conf.get("spark.dynamicAllocation.enabled", "false") == "true":
        return
    context = spark.sparkContext._jsc.sc()
    deadline_s = time.monotonic() + EXECUTOR_WAIT_S
    while context.getExecutorIds().isEmpty():
        if time.monotonic() > deadline_s:
            size = ", ".join(f"{key} = {conf.get(key, default)}" for key, default in _EXECUTOR_SIZE.items())
            raise EngineError(
                f"{settings.master} has granted no executor for {EXECUTOR_WAIT_S:g} s: it needs a worker "
                f"that is free and large enough ({size}); lower these, or wait until the cluster is free",
                code="no-executor",
            )
        time.sleep(0.2)
