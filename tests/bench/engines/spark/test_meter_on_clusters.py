"""What a step costs where tasks run in other processes, with made-up processes and a made-up Spark."""

import os
from collections import namedtuple
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest

from bench.engines.contract import SparkSettings
from bench.engines.spark import meter as meters
from bench.engines.spark.jvm_threads import TICKS_PER_S, ThreadTicks
from bench.engines.spark.meter import Clocks, Meter, _stages_cpu_ns

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
    return Meter(spark, SparkSettings(master))


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


def test_all_attempts_of_a_stage_count():
    def seq(*cpu_ns):
        attempts = [SimpleNamespace(executorCpuTime=lambda ns=ns: ns) for ns in cpu_ns]
        return SimpleNamespace(size=lambda: len(attempts), apply=attempts.__getitem__)

    attempts = {3: seq(50), 4: seq(), 5: seq(10, 700)}
    store = MagicMock()
    store.stageData.side_effect = lambda stage, *defaults: attempts[stage]
    assert _stages_cpu_ns(store, range(3, 6)) == 760
    assert len(store.stageData.call_args.args) == 5  # as many as Spark's method has
