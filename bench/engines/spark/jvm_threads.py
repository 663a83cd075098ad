"""CPU of the JVM's compiler and collector threads, from Linux's accounting by thread."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
TICKS_PER_S = os.sysconf("SC_CLK_TCK")

# The beginnings of thread names, which Linux cuts off after 15 characters. Source: names of the VM's own
# threads in HotSpot 17 (`compileBroker.cpp`, `sweeper.cpp`, and the collectors' `*Thread.cpp`). The sweeper
# frees compiled code. The serial collector has no thread: it works in the "VM Thread", among other things.
_JIT = ("C1 CompilerThre", "C2 CompilerThre", "JVMCI Compiler", "Sweeper thread")
_GC = (
    "GC Thread#", "ParGC Thread#", "G1 Conc#", "G1 Main Marker", "G1 Refine#", "G1 Service",
    "Shenandoah", "ZDirector", "ZDriver", "ZStat", "ZUncommitter", "ZUnmapper", "ZWorker",
)  # fmt: skip

_ThreadId = tuple[int, int]  # its number, and when it was started: numbers are used again


@dataclass(frozen=True, slots=True)
class ThreadTicks:
    """CPU of compiler and collector threads up to one moment, in ticks of the kernel, by thread."""

    jit: dict[_ThreadId, int]
    gc: dict[_ThreadId, int]


def spent_s(before: Mapping[_ThreadId, int], after: Mapping[_ThreadId, int]) -> float | None:
    """CPU seconds between two readings; None if unknown.

    It is unknown without such threads, as with the serial collector, and if one has ended since. The error is
    up to two ticks per thread (20 ms on most systems): Linux truncates user and system time to whole ticks.
    """
    if not after or before.keys() - after.keys():
        return None
    return (sum(after.values()) - sum(before.values())) / TICKS_PER_S


class JvmThreads:
    """The compiler and collector threads of one JVM.

    A reading skips threads that are known to be others: about 0.5 ms instead of 5 ms for some 300 threads.
    """

    def __init__(self, pid: int, proc: Path = PROC) -> None:
        self._tasks = proc / str(pid) / "task"
        self._seen: set[str] = set()  # read once and found to be other threads
        self._others: set[str] = set()  # read twice

    def read(self) -> ThreadTicks | None:
        """None on a system without /proc, or if the JVM has ended."""
        try:
            numbers = set(os.listdir(self._tasks))  # noqa: PTH208  iterdir makes a path of each of them
        except OSError:
            return None
        spent = ThreadTicks({}, {})
        self._others &= numbers
        for number in numbers - self._others:
            self._read_one(number, spent)
        self._seen &= numbers
        return spent

    def _read_one(self, number: str, spent: ThreadTicks) -> None:
        """Add a thread to `spent` if it is a compiler's or a collector's.

        A new thread has its creator's name until it sets its own, so others are read twice.
        """
        try:
            line = (self._tasks / number / "stat").read_text(encoding="utf-8")
        except OSError:  # it has ended
            return
        name, started, ticks = _parsed(line)
        if name.startswith(_JIT):
            spent.jit[int(number), started] = ticks
        elif name.startswith(_GC):
            spent.gc[int(number), started] = ticks
        elif number in self._seen:
            self._others.add(number)
        else:
            self._seen.add(number)


def _parsed(stat: str) -> tuple[str, int, int]:
    """A thread's name, its start, and the ticks it has spent; see proc_pid_stat(5).

    The name, which may contain spaces and parentheses, is the second field. From the third one on, user time,
    system time and start are the 12th, 13th and 20th.
    """
    head, _, tail = stat.rpartition(")")
    fields = tail.split()
    return head.partition("(")[2], int(fields[19]), int(fields[11]) + int(fields[12])
