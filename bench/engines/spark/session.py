"""What every Spark engine shares: the session, what a step costs, and what a query's scans had to open."""

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, reduce
from pathlib import Path
from typing import Any

import psutil
from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession

from bench.engines.contract import NO_COST, Cost, QueryOutcome, SparkSettings

# Defaults a scenario may override. The two size limits make one Spark partition of each change-log
# file, so that as many writer tasks run as the workload says; they concern no table format's reader.
DEFAULT_CONF: Mapping[str, str] = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.files.maxPartitionBytes": str(2**40),
    "spark.sql.files.openCostInBytes": str(2**40),
    "spark.driver.extraJavaOptions": "-Duser.timezone=UTC",
}


def start_session(
    settings: SparkSettings, jars: tuple[Path, ...], conf: Mapping[str, str], scratch: Path
) -> SparkSession:
    """A session with the format's `conf`, then the scenario's; Spark's own files go below `scratch`."""
    builder = SparkSession.builder.master(settings.master).appName("compactbench")
    merged = {
        **DEFAULT_CONF,
        "spark.jars": ",".join(str(path) for path in jars),
        "spark.driver.memory": f"{settings.driver_memory_bytes // 2**20}m",
        "spark.local.dir": str(scratch / "spark"),
        "spark.sql.warehouse.dir": str(scratch / "spark-warehouse"),
        **conf,
        **settings.conf,
    }
    for key, value in merged.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("WARN")
    return session


def stop_session(spark: SparkSession) -> None:
    """Stop Spark and its JVM, and wait until the JVM is gone."""
    from pyspark import SparkContext

    gateway: Any = spark.sparkContext._gateway
    spark.stop()
    gateway.shutdown()
    process = getattr(gateway, "proc", None)
    if process is not None:
        process.stdin.close()  # the JVM leaves when its standard input ends
        process.wait(timeout=60)
    SparkContext._gateway = None
    SparkContext._jvm = None


@dataclass(slots=True)
class Measured:
    """Filled when the step it belongs to ends."""

    cost: Cost = NO_COST


class Meter:
    """Measures steps: wall time, CPU of this process and the JVM, and CPU of the Spark tasks they ran.

    Process CPU comes from the kernel's accounting in ticks of 10 ms; on a remote master it covers the
    driver only, so the tasks' CPU is added. Task CPU is read from Spark's status store once the
    listener bus is drained, outside the measured time.
    """

    def __init__(self, spark: SparkSession, settings: SparkSettings) -> None:
        gateway: Any = spark.sparkContext._gateway
        self._jvm = psutil.Process(gateway.proc.pid)
        self._context = spark.sparkContext._jsc.sc()
        self._is_local = settings.is_local
        self._next_stage = 0

    @contextmanager
    def step(self) -> Iterator[Measured]:
        """Measure the block; the cost is there after it, also when it raises."""
        self._new_task_cpu_s()  # what belongs to earlier steps
        measured = Measured()
        cpu_before_s = self._process_cpu_s()
        started_s = time.perf_counter()
        try:
            yield measured
        finally:
            wall_s = time.perf_counter() - started_s
            cpu_s = self._process_cpu_s() - cpu_before_s
            executor_cpu_s = self._new_task_cpu_s()
            remote_cpu_s = 0.0 if self._is_local else executor_cpu_s
            measured.cost = Cost(wall_s, cpu_s + remote_cpu_s, executor_cpu_s)

    def _process_cpu_s(self) -> float:
        own = os.times()
        jvm = self._jvm.cpu_times()
        own_s = time.process_time() + own.children_user + own.children_system
        return own_s + jvm.user + jvm.system + jvm.children_user + jvm.children_system

    def _new_task_cpu_s(self) -> float:
        """CPU seconds of all stages that ended since the last call; stage numbers only rise."""
        first, self._next_stage = self._next_stage, self._context.dagScheduler().nextStageId()
        if first == self._next_stage:
            return 0.0
        self._context.listenerBus().waitUntilEmpty()
        store = self._context.statusStore()
        return sum(_stage_cpu_ns(store, stage) for stage in range(first, self._next_stage)) / 1e9


def _stage_cpu_ns(store: Any, stage: int) -> int:
    try:
        return int(store.lastStageAttempt(stage).executorCpuTime())
    except Py4JJavaError:  # NoSuchElementException: a stage that was planned and never ran
        return 0


def run_query(spark: SparkSession, meter: Meter, sql: str) -> QueryOutcome:
    """Run `sql` and bring its whole answer to the driver.

    Planning is everything up to the physical plan with the scans' file lists made; execution is the
    rest. The answer stays in the JVM, so that Python's cost of decoding rows is not measured.
    """
    with meter.step() as measured:
        started_s = time.perf_counter()
        frame = spark.sql(sql)._jdf
        plan = frame.queryExecution().executedPlan()
        for scan in _scans(plan):
            scan.inputPartitions()
        planned_s = time.perf_counter()
        frame.collectAsList()
        ended_s = time.perf_counter()
    work = [_scan_metrics(scan) for scan in _scans(plan)]
    return QueryOutcome(
        cost=measured.cost,
        planning_s=planned_s - started_s,
        execution_s=ended_s - planned_s,
        files_count=_total(work, "resultDataFiles"),
        delete_files_count=_total(work, "resultDeleteFiles"),
        opened_bytes=_total(work, "totalDataFileSize") + _total(work, "totalDeleteFileSize"),
        metadata_files_count=_total(work, "scannedDataManifests") + _total(work, "scannedDeleteManifests"),
    )


def _total(work: list[dict[str, int]], key: str) -> int:
    return sum(metrics.get(key, 0) for metrics in work)


def _scans(plan: Any) -> Iterator[Any]:
    """The table scans of a physical plan, those behind adaptive stages included."""
    kind = plan.getClass().getSimpleName()
    if kind == "BatchScanExec":
        yield plan
    elif kind == "AdaptiveSparkPlanExec":
        yield from _scans(plan.executedPlan())
    elif kind.endswith("QueryStageExec"):
        yield from _scans(plan.plan())
    else:
        children = plan.children()
        for index in range(children.size()):
            yield from _scans(children.apply(index))


def _scan_metrics(scan: Any) -> dict[str, int]:
    found = {}
    metrics = scan.metrics().iterator()
    while metrics.hasNext():
        entry = metrics.next()
        found[entry._1()] = int(entry._2().value())
    return found


def java_rows(frame: Any) -> list[dict[str, Any]]:
    """A small answer as dictionaries, read through the gateway."""
    names = list(frame.columns())
    return [
        dict(zip(names, (row.get(i) for i in range(len(names))), strict=True))
        for row in frame.collectAsList()
    ]


def sql_text(value: str) -> str:
    """`value` as a Spark SQL string literal."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def values(spark: SparkSession, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> DataFrame:
    """A small table of SQL literals. A list of Python rows would go through a Python worker."""
    text = ", ".join(f"({', '.join(map(str, row))})" for row in rows)
    return spark.sql(f"SELECT * FROM VALUES {text} AS t({', '.join(columns)})")  # noqa: S608


def java_class(spark: SparkSession, name: str) -> Any:
    """A Java class by its full name, looked up once.

    Named through the gateway, the class loader is asked for every part of the package's name, each time.
    """
    return _looked_up(spark._jvm, name)


@lru_cache(maxsize=100)
def _looked_up(jvm: Any, name: str) -> Any:
    return reduce(getattr, name.split("."), jvm)


def file_system(spark: SparkSession, location: str) -> tuple[Any, Any]:
    """The Hadoop path of a location and the file system it is on."""
    path = java_class(spark, "org.apache.hadoop.fs.Path")(location)
    return path, path.getFileSystem(spark._jsc.hadoopConfiguration())
