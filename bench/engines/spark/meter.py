"""What a step of a Spark engine costs."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psutil
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from bench.engines.contract import NO_COST, Cost, SparkSettings


@dataclass(slots=True)
class Measured:
    """The cost of a step, set when the step ends."""

    cost: Cost = NO_COST


class Meter:
    """Measures steps: wall time, CPU of this process and the JVM, and CPU of the Spark tasks they ran.

    Process CPU comes from the kernel's accounting in ticks of 10 ms. On a remote master it covers the driver
    only, so the CPU of the tasks is added. Task CPU is read from Spark's status store once the listener bus
    is drained, after the measured time.
    """

    def __init__(self, spark: SparkSession, settings: SparkSettings) -> None:
        gateway: Any = spark.sparkContext._gateway
        self._jvm = psutil.Process(gateway.proc.pid)
        self._context = spark.sparkContext._jsc.sc()
        self._is_local = settings.is_local
        self._next_stage = self._next_stage_id()

    @contextmanager
    def step(self) -> Iterator[Measured]:
        """Measure the block. The cost is set when it ends, even if it raises."""
        self._next_stage = self._next_stage_id()  # leaves out the tasks of earlier steps
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
        """CPU seconds of all stages that ended since the last call; stage numbers only increase."""
        first, self._next_stage = self._next_stage, self._next_stage_id()
        if first == self._next_stage:
            return 0.0
        self._context.listenerBus().waitUntilEmpty()
        store = self._context.statusStore()
        return sum(_stage_cpu_ns(store, stage) for stage in range(first, self._next_stage)) / 1e9

    def _next_stage_id(self) -> int:
        return int(self._context.dagScheduler().nextStageId())


def _stage_cpu_ns(store: Any, stage: int) -> int:
    try:
        return int(store.lastStageAttempt(stage).executorCpuTime())
    except Py4JJavaError:  # NoSuchElementException: the stage was planned but never ran
        return 0
