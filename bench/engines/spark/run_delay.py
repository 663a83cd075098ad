"""How long threads have waited for a core, from Linux's accounting by thread."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from bench.engines.spark.jvm_threads import PROC


class RunDelay:
    """The threads of some processes. A reading takes some 3 ms for 300 threads."""

    def __init__(self, pids: Iterable[int], proc: Path = PROC) -> None:
        self._tasks = [proc / str(pid) / "task" for pid in pids]

    def read(self) -> Mapping[str, int] | None:
        """Nanoseconds in the queues of runnable threads so far, by thread; None if a process has ended.

        Source: the second field of schedstat ("sched-stats" in Linux's documentation of its scheduler).
        """
        waited_ns = {}
        for tasks in self._tasks:
            try:
                numbers = os.listdir(tasks)  # noqa: PTH208  iterdir makes a path of each of them
            except OSError:
                return None
            for number in numbers:
                try:
                    waited_ns[number] = int((tasks / number / "schedstat").read_text("ascii").split()[1])
                except (OSError, ValueError, IndexError):  # it has ended, or the kernel does not count
                    continue
        return waited_ns


def waited_s(before: Mapping[str, int] | None, after: Mapping[str, int] | None) -> float | None:
    """Seconds between two readings, without those of threads that have ended since; None if unknown."""
    if not before or not after:
        return None
    return sum(ns - min(before.get(number, 0), ns) for number, ns in after.items()) / 1e9
