"""Peak memory since a reset: resident memory by Linux, the heap by the JVM."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from bench.engines.spark.jvm_threads import PROC
from bench.engines.spark.session import java_class
from bench.results.arithmetic import sum_of_known

_RESET_PEAK = "5"  # proc_pid_clear_refs(5): the peak becomes the present size
_KIB = 1024


class PeakRss:
    """The sum of the peaks of some processes' resident memory, which need not be at the same time.

    Only Linux can reset a peak; on other systems, and if a sandbox forbids it, the figure is None.
    """

    def __init__(self, pids: Iterable[int], proc: Path = PROC) -> None:
        self._folders = [proc / str(pid) for pid in pids]
        self._is_reset = False

    def reset(self) -> None:
        try:
            for folder in self._folders:
                (folder / "clear_refs").write_text(_RESET_PEAK, encoding="utf-8")
            self._is_reset = True
        except OSError:
            self._is_reset = False

    def read_bytes(self) -> int | None:
        """The sum of the peaks since the last reset; None if unknown."""
        if not self._is_reset:
            return None
        try:
            return sum_of_known(map(_peak_bytes, self._folders))
        except OSError:  # a process has ended
            return None


def _peak_bytes(folder: Path) -> int | None:
    """VmHWM of /proc/<pid>/status, which is in KiB; None if the process has released its memory."""
    for line in (folder / "status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * _KIB
    return None


class PeakHeap:
    """Peak usage of the JVM's heap: the sum over its pools, which need not peak at the same time.

    It includes garbage of earlier steps that the collector has not removed. The classes of the beans are not
    open to reflection, which the gateway relies on; so methods of their interface are called as objects.
    """

    def __init__(self, spark: SparkSession) -> None:
        gateway: Any = spark.sparkContext._gateway
        of_name = java_class(spark, "java.lang.Class").forName
        bean = of_name("java.lang.management.MemoryPoolMXBean")
        no_types = gateway.new_array(java_class(spark, "java.lang.Class"), 0)
        self._nothing = gateway.new_array(java_class(spark, "java.lang.Object"), 0)
        self._reset = bean.getMethod("resetPeakUsage", no_types)
        self._peak = bean.getMethod("getPeakUsage", no_types)
        type_of = bean.getMethod("getType", no_types)
        pools = java_class(spark, "java.lang.management.ManagementFactory").getMemoryPoolMXBeans()
        self._pools: list[Any] = [
            pool for pool in pools if str(type_of.invoke(pool, self._nothing).name()) == "HEAP"
        ]

    def reset(self) -> None:
        for pool in self._pools:
            self._reset.invoke(pool, self._nothing)

    def read_bytes(self) -> int:
        return sum(int(self._peak.invoke(pool, self._nothing).getUsed()) for pool in self._pools)
