"""The cost of a step of a Spark engine."""

import json
import os
import re
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

import psutil
from pyspark.sql import SparkSession

from bench.engines.contract import SparkSettings
from bench.engines.spark.executor_cpu import ExecutorCpu
from bench.engines.spark.jvm_threads import JvmThreads, ThreadTicks, spent_s
from bench.engines.spark.peak_memory import PeakHeap, PeakRss
from bench.engines.spark.run_delay import RunDelay, waited_s
from bench.engines.spark.s3_requests import s3_requests
from bench.results.values import NO_COST, NO_SPARK_WORK, Cost, SparkWork

_UNITS = {"b": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40, "p": 2**50}
_SIZE = re.compile(r"(?P<number>\d+)(?P<unit>[bkmgtp]?)b?", re.IGNORECASE)
_DEFAULT_BYTES = 2**30  # spark.executor.memory
_OVERHEAD_MIN_BYTES = 384 * 2**20  # spark.executor.minMemoryOverhead, fixed before Spark 4.0
_OVERHEAD_FACTOR = 0.1  # spark.executor.memoryOverheadFactor


@dataclass(frozen=True, slots=True)
class Clocks:
    """The clocks at one moment; `stage` and `job` are the numbers of the next stage and job of Spark.

    `cpu_s` is the CPU of the driver and of Python, `executor_processes_cpu_s` that of other processes of
    executors, None if they do not report it. `requests` counts requests to S3 since the session began, None
    if unknown.
    """

    at_s: float
    cpu_s: float
    executor_processes_cpu_s: float | None
    threads: ThreadTicks | None
    stage: int
    requests: Mapping[str, int] | None = None
    job: int = 0
    run_delay_ns: Mapping[str, int] | None = None


@dataclass(slots=True)
class Measured:
    """A step. Its `cost` and `ended` are set when it ends."""

    started: Clocks
    ended: Clocks
    cost: Cost = NO_COST


class Meter(ABC):
    """Measures the steps of an engine: `step` around each of them."""

    role: str | None = None  # whose steps alone it measures

    def __init__(self, spark: SparkSession) -> None:
        gateway: Any = spark.sparkContext._gateway
        self._context = spark.sparkContext._jsc.sc()
        jackson: Any = gateway.jvm.com.fasterxml.jackson
        self._json = jackson.databind.ObjectMapper()
        self._json.registerModule(jackson.module.scala.DefaultScalaModule())

    @abstractmethod
    def _start(self) -> Clocks:
        """The clocks before a step.

        The finest clock is read last, so that reading the others is not measured.
        """

    @abstractmethod
    def reading(self) -> Clocks:
        """The clocks now. Another thread can read them within a step, to split the step's cost."""

    @abstractmethod
    def _end(self) -> Clocks:
        """The clocks after a step."""

    @abstractmethod
    def between(self, first: Clocks, last: Clocks) -> Cost:
        """The cost between two readings, without peaks of memory."""

    @abstractmethod
    def _peaks_bytes(self) -> tuple[int | None, int | None]:
        """The peaks of resident memory and of the heap since the start of the step."""

    @abstractmethod
    def executors_memory_bytes(self) -> int | None:
        """The configured memory of the largest number of executors seen; None if tasks run in the driver."""

    @contextmanager
    def step(self) -> Iterator[Measured]:
        """Measure the block. The cost is set when it ends, even if it raises and the JVM still answers."""
        started = self._start()
        measured = Measured(started, started)

        def end() -> None:
            measured.ended = self._end()
            peak_rss_bytes, peak_heap_bytes = self._peaks_bytes()
            cost = self.between(started, measured.ended)
            measured.cost = replace(cost, peak_rss_bytes=peak_rss_bytes, peak_heap_bytes=peak_heap_bytes)

        try:
            yield measured
        except BaseException:
            with suppress(Exception):  # of a JVM that is gone, which the error of the step is about
                end()
            raise
        end()

    def _attempts(self, stages: range) -> Iterator[Mapping[str, Any]]:
        """The attempts of these stages, which are Spark's StageData as JSON, once all events have come."""
        if not stages:
            return
        self._context.listenerBus().waitUntilEmpty()
        store = self._context.statusStore()
        defaults = [getattr(store, f"stageData$default${position}")() for position in range(2, 6)]
        for stage in stages:
            yield from json.loads(self._stage_text(store, stage, defaults))

    def _stage_text(self, store: Any, stage: int, defaults: Sequence[Any]) -> str:
        """One text for all attempts of a stage, since each access to a single figure is a call to the JVM."""
        return str(self._json.writeValueAsString(store.stageData(stage, *defaults)))

    def _next_stage_id(self) -> int:
        return int(self._context.dagScheduler().nextStageId())

    def _next_job_id(self) -> int:
        return int(self._context.dagScheduler().numTotalJobs())


class ProcessMeter(Meter):
    """Measures steps: wall time, CPU of this process and the JVM with its parts, and peaks of their memory.

    Process CPU comes from the kernel's accounting in ticks of 10 ms. Executors of a cluster report theirs
    once a second. The end of each step waits for a report, outside its wall time; the CPU of an executor
    between two steps is charged to the second one. Without reports the CPU of tasks is used instead. On a
    cluster the CPU of compilers and collectors and the executors' memory in use are unknown. Executors of a
    `local-cluster` are children of the JVM, so the CPU of children that have ended is not counted there. What
    tasks did, their CPU included, is read from Spark's status store once the listener bus is drained, after
    the measured time.

    Compilers and collectors work in the background: work that a step causes and does not wait for is charged
    to the next step. Measuring takes about 2.5 ms, outside the wall time and the CPU of the step.
    """

    def __init__(
        self, spark: SparkSession, settings: SparkSettings, executors: ExecutorCpu | None = None
    ) -> None:
        super().__init__(spark)
        gateway: Any = spark.sparkContext._gateway
        self._jvm = psutil.Process(gateway.proc.pid)
        self._threads = JvmThreads(gateway.proc.pid)
        self._rss, self._heap = PeakRss((os.getpid(), gateway.proc.pid)), PeakHeap(spark)
        self._spark_conf = dict(spark.sparkContext.getConf().getAll())
        self._delay = RunDelay((os.getpid(), gateway.proc.pid)) if settings.counts_run_delay else None
        self._is_local, self._executors = settings.is_local, executors
        self._starts_executors = settings.is_on_this_machine and not settings.is_local
        self._requests = s3_requests(spark) if settings.is_local else None
        self._executors_count = 0  # the most that there were at the end of a step

    def _start(self) -> Clocks:
        stage, job, requests = self._next_stage_id(), self._next_job_id(), self._requests_so_far()
        self._heap.reset()
        self._rss.reset()
        executors_s = self._executors.latest_s() if self._executors else None
        run_delay_ns = self._delay.read() if self._delay else None
        threads, cpu_s = self._threads.read(), self._process_cpu_s()
        return Clocks(time.perf_counter(), cpu_s, executors_s, threads, stage, requests, job, run_delay_ns)

    def reading(self) -> Clocks:
        """The clocks now.

        The CPU of executors comes from their latest reports, which are up to a second old.
        """
        at_s, cpu_s = time.perf_counter(), self._process_cpu_s()
        executors_s = self._executors.latest_s() if self._executors else None
        threads = self._threads.read()
        run_delay_ns = self._delay.read() if self._delay else None
        stage, requests, job = self._next_stage_id(), self._requests_so_far(), self._next_job_id()
        return Clocks(at_s, cpu_s, executors_s, threads, stage, requests, job, run_delay_ns)

    def _end(self) -> Clocks:
        """The clocks after a step, with reports of the executors that are newer than it."""
        clocks = self.reading()
        if not self._is_local:
            self._living()
        if self._executors is None:
            return clocks
        return replace(clocks, executor_processes_cpu_s=self._executors.fresh_s(self._living))

    def _peaks_bytes(self) -> tuple[int | None, int | None]:
        return self._rss.read_bytes(), self._heap.read_bytes()

    def _living(self) -> list[str]:
        """The ids of the running executors."""
        ids = self._context.getExecutorIds()
        self._executors_count = max(self._executors_count, ids.size())
        return [str(ids.apply(position)) for position in range(ids.size())]

    def between(self, first: Clocks, last: Clocks) -> Cost:
        jit_cpu_s = gc_cpu_s = None  # on a cluster the driver's are not all of them
        if self._is_local:
            jit_cpu_s, gc_cpu_s = _background_cpu_s(first.threads, last.threads)
        executor_cpu_s, spark = task_work(self._attempts(range(first.stage, last.stage)))
        remote_cpu_s = executor_cpu_s
        if self._is_local:
            remote_cpu_s = 0.0
        elif first.executor_processes_cpu_s is not None and last.executor_processes_cpu_s is not None:
            remote_cpu_s = last.executor_processes_cpu_s - first.executor_processes_cpu_s
        cpu_s = last.cpu_s - first.cpu_s + remote_cpu_s
        requests = None
        if first.requests is not None and last.requests is not None:
            requests = dict(Counter(last.requests) - Counter(first.requests))
        return Cost(
            last.at_s - first.at_s, cpu_s, executor_cpu_s, jit_cpu_s, gc_cpu_s, requests=requests,
            spark=replace(spark, jobs_count=last.job - first.job),
            run_delay_s=waited_s(first.run_delay_ns, last.run_delay_ns),
        )  # fmt: skip

    def executors_memory_bytes(self) -> int | None:
        if self._is_local:
            return None
        return self._executors_count * executor_memory_bytes(self._spark_conf)

    def _requests_so_far(self) -> Mapping[str, int] | None:
        return None if self._requests is None else self._requests.so_far()

    def _process_cpu_s(self) -> float:
        own = os.times()
        jvm = self._jvm.cpu_times()
        own_s = time.process_time() + own.children_user + own.children_system
        children_s = 0.0 if self._starts_executors else jvm.children_user + jvm.children_system
        return own_s + jvm.user + jvm.system + children_s


def _background_cpu_s(
    before: ThreadTicks | None, after: ThreadTicks | None
) -> tuple[float | None, float | None]:
    """CPU seconds of compilers and of collectors between two readings, each None if unknown."""
    if before is None or after is None:
        return None, None
    return spent_s(before.jit, after.jit), spent_s(before.gc, after.gc)


def task_work(attempts: Iterable[Mapping[str, Any]]) -> tuple[float, SparkWork]:
    """CPU seconds and work of the tasks of attempts of stages, which are Spark's StageData as JSON.

    A stage that was planned and never ran had no task. If tasks read nothing, their readers do not count.
    """
    work, cpu_ns = NO_SPARK_WORK, 0
    for attempt in attempts:
        tasks_count = attempt["numCompleteTasks"] + attempt["numFailedTasks"] + attempt["numKilledTasks"]
        cpu_ns += attempt["executorCpuTime"]
        work += SparkWork(
            jobs_count=0,
            stages_count=int(tasks_count > 0),
            tasks_count=tasks_count,
            read_rows=attempt["inputRecords"],
            read_bytes=attempt["inputBytes"],
            shuffled_bytes=attempt["shuffleWriteBytes"],
            spilled_bytes=attempt["diskBytesSpilled"],
        )
    if work.tasks_count and not work.read_bytes:
        work = replace(work, read_rows=None, read_bytes=None)
    return cpu_ns / 1e9, work


def executor_memory_bytes(conf: Mapping[str, str]) -> int:
    """Heap, off-heap memory and overhead. Only YARN and Kubernetes give an executor the overhead.

    Source: "Memory" in Spark's configuration guide, and ResourceProfile.calculateOverHeadMemory of Spark 3.5.
    """
    heap_bytes = _bytes(conf.get("spark.executor.memory"), _DEFAULT_BYTES)
    if not conf.get("spark.master", "").startswith(("yarn", "k8s://")):
        return heap_bytes
    factor = float(conf.get("spark.executor.memoryOverheadFactor", _OVERHEAD_FACTOR))
    usual_bytes = max(_OVERHEAD_MIN_BYTES, int(heap_bytes * factor))
    overhead_bytes = _bytes(conf.get("spark.executor.memoryOverhead"), usual_bytes)
    off_heap_bytes = 0
    if conf.get("spark.memory.offHeap.enabled") == "true":
        off_heap_bytes = _bytes(conf.get("spark.memory.offHeap.size"), 0, unit="b")
    return heap_bytes + overhead_bytes + off_heap_bytes


def _bytes(text: str | None, default: int, unit: str = "m") -> int:
    """A size as Spark writes it, such as 4g; a number alone is in `unit`."""
    size = _SIZE.fullmatch(text.strip()) if text is not None else None
    if size is None:
        return default
    return int(size["number"]) * _UNITS[size["unit"].lower() or unit]
