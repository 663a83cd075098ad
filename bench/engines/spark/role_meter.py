"""The cost of a step of a role that shares its JVM with other roles: each is a thread."""

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from bench.engines.spark.meter import Clocks, Meter, task_work
from bench.engines.spark.session import java_class
from bench.results.values import Cost

_NS_PER_S = 1e9


class RoleMeter(Meter):
    """Measures the steps of the role whose thread makes it: wall time, and the CPU that is the role's alone.

    That is the CPU of its tasks, which are those in the pool `role`, of its thread, and of the JVM's thread
    that executes the thread's calls. What else the JVM does (compilers, collectors, Spark's scheduler, and
    helpers such as those of broadcasts and of OPTIMIZE) cannot be attributed, and counts for no role; its
    parts, peaks of memory and waits for a core are unknown. Spark reports no CPU of tasks that it has killed.
    """

    def __init__(self, spark: SparkSession, role: str) -> None:
        super().__init__(spark)
        self.role, self._tracker = role, spark.sparkContext.statusTracker()
        self._clock = time.pthread_getcpuclockid(threading.get_ident())
        self._java = JavaThread(spark)

    def _start(self) -> Clocks:
        stage, job = self._next_stage_id(), self._next_job_id()
        cpu_s = self._cpu_s()
        return Clocks(time.perf_counter(), cpu_s, None, None, stage, job=job)

    def reading(self) -> Clocks:
        at_s, cpu_s = time.perf_counter(), self._cpu_s()
        return Clocks(at_s, cpu_s, None, None, self._next_stage_id(), job=self._next_job_id())

    def _end(self) -> Clocks:
        return self.reading()

    def between(self, first: Clocks, last: Clocks) -> Cost:
        attempts = list(self._attempts(range(first.stage, last.stage)))
        executor_cpu_s, spark = task_work(attempts)
        unpacking_s = sum(attempt["executorDeserializeCpuTime"] for attempt in attempts) / _NS_PER_S
        jobs = [job for job in self._tracker.getJobIdsForGroup(self.role) if first.job <= job < last.job]
        return Cost(
            last.at_s - first.at_s,
            last.cpu_s - first.cpu_s + executor_cpu_s + unpacking_s,
            executor_cpu_s,
            spark=replace(spark, jobs_count=len(jobs)),
        )

    def _peaks_bytes(self) -> tuple[None, None]:
        return None, None

    def executors_memory_bytes(self) -> None:
        return None

    def _attempts(self, stages: range) -> Iterator[Mapping[str, Any]]:
        """Those of the role. Stages of other roles may have a number, and not have begun."""
        for attempt in super()._attempts(stages):
            if attempt["schedulingPool"] == self.role:
                yield attempt

    def _stage_text(self, store: Any, stage: int, defaults: Sequence[Any]) -> str:
        with suppress(Py4JJavaError):
            return super()._stage_text(store, stage, defaults)
        return "[]"

    def _cpu_s(self) -> float:
        return self._java.cpu_s() + time.clock_gettime(self._clock)


class JavaThread:
    """The JVM's thread that executes the calls of the thread which makes this.

    The class of the bean is not open to reflection, which the gateway relies on; so a method of its interface
    is called as an object.
    """

    def __init__(self, spark: SparkSession) -> None:
        gateway: Any = spark.sparkContext._gateway
        self._bean = java_class(spark, "java.lang.management.ManagementFactory").getThreadMXBean()
        types = gateway.new_array(java_class(spark, "java.lang.Class"), 1)
        types[0] = java_class(spark, "java.lang.Long").TYPE
        self._number = gateway.new_array(java_class(spark, "java.lang.Object"), 1)
        self._number[0] = java_class(spark, "java.lang.Thread").currentThread().getId()
        bean = java_class(spark, "java.lang.Class").forName("java.lang.management.ThreadMXBean")
        self._cpu_ns = bean.getMethod("getThreadCpuTime", types)

    def cpu_s(self) -> float:
        """CPU seconds of the thread so far; any thread may ask."""
        return int(self._cpu_ns.invoke(self._bean, self._number)) / _NS_PER_S
