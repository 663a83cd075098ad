"""The memory that Spark requests from its cluster manager for one executor."""

import re
from collections.abc import Mapping

_UNITS = {"b": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40, "p": 2**50}
_SIZE = re.compile(r"(?P<number>\d+)(?P<unit>[bkmgtp]?)b?", re.IGNORECASE)
_DEFAULT_BYTES = 2**30  # spark.executor.memory
_OVERHEAD_MIN_BYTES = 384 * 2**20  # spark.executor.minMemoryOverhead, fixed before Spark 4.0
_OVERHEAD_FACTOR = 0.1  # spark.executor.memoryOverheadFactor


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
