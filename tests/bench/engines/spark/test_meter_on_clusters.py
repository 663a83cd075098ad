"""What a step costs where tasks run in other processes, with made-up processes and a made-up Spark."""

import os
from collections import namedtuple
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest

from bench.engines.contract import SparkSettings
from bench.engines.spark import meter as meters
from bench.engines.spark.jvm_threads import TICKS_PER_S, ThreadTicks
from bench.engines.spark.meter import Clocks, ProcessMeter, task_work
from bench.results.values import NO_SPARK_WORK, SparkWork

CpuTimes = namedtuple("CpuTimes", "user system children_user children_system")


def meter_on(master, monkeypatch):
    """A meter whose JVM has spent 3 s, and processes that it has waited for 100 s."""
    spark = MagicMock()
    spark.sparkContext._gateway.proc.pid = os.getpid()
    spark.sparkContext.getConf().getAll.return_value = []
    monkeypatch.setattr(meters, "PeakHeap", lambda spark: None)
    monkeypatch.setattr(meters, "s3_requests", lambda spark: None)
    jvm = SimpleNamespace(cpu_times=lambda: CpuTimes(2.0, 1.0, 60.0, 40.0))
    monkeypatch.setattr(meters.psutil, "Process", lambda pid: jvm)
    monkeypatch.setattr(meters.time, "process_time", lambda: 0.5)
    monkeypatch.setattr(meters.os, "times", lambda: SimpleNamespace(children_user=0.0, children_system=0.0))
    return ProcessMeter(spark, SparkSettings(master))


@pytest.mark.parametrize(
    ("master", "known"),
    [("local[2]", (0.25, 0.5)), ("local-cluster[2,1,1024]", (None, None)), ("yarn", (None, None))],
)
def test_compilers_and_collectors_are_told_where_all_of_them_are(master, known, monkeypatch):
    """Those of executors are not, so those of the driver would be too small a share."""
    before = Clocks(0.0, 0.0, None, ThreadTicks({}, {}), 0)
    ticks = ThreadTicks({(1, 0): TICKS_PER_S // 4}, {(2, 0): TICKS_PER_S // 2})
    cost = meter_on(master, monkeypatch).between(before, Clocks(1.0, 2.0, None, ticks, 0))
    assert (cost.jit_cpu_s, cost.gc_cpu_s) == known


@pytest.mark.parametrize(
    ("master", "cpu_s"), [("local[2]", 103.5), ("local-cluster[2,1,1024]", 3.5), ("yarn", 103.5)]
)
def test_executors_that_the_jvm_has_waited_for_are_not_counted_twice(master, cpu_s, monkeypatch):
    assert meter_on(master, monkeypatch)._process_cpu_s() == cpu_s


def attempt(cpu_ns, tasks=1, **figures):
    """An attempt of a stage, as Spark's status store describes it."""
    names = ("numFailedTasks", "numKilledTasks", "inputRecords", "inputBytes", "shuffleWriteBytes")
    return {
        **dict.fromkeys((*names, "diskBytesSpilled"), 0),
        "executorCpuTime": cpu_ns,
        "numCompleteTasks": tasks,
        **figures,
    }


def test_all_attempts_of_a_stage_count_with_the_tasks_that_failed():
    attempts = [
        attempt(50, tasks=3, inputRecords=20, inputBytes=400, shuffleWriteBytes=90),
        attempt(0, tasks=0),  # planned, and never run
        attempt(10, numFailedTasks=1, numKilledTasks=2, diskBytesSpilled=7),
        attempt(700, tasks=2),
    ]
    cpu_s, work = task_work(attempts)
    assert cpu_s == pytest.approx(760e-9)
    assert work == SparkWork(0, 3, 9, 20, 400, 90, 7)


def test_what_tasks_read_without_counting_it_is_unknown():
    assert task_work([attempt(50)])[1] == SparkWork(0, 1, 1, None, None, 0, 0)
    assert task_work([]) == (0.0, NO_SPARK_WORK)
