"""The CPU of processes with their children, such as a JVM."""

from contextlib import suppress

import psutil


def tree_cpu_s(process: psutil.Process | psutil.Popen) -> float:
    """CPU seconds of a process and its children so far, those that have ended included."""
    return sum(map(_cpu_s, (process, *process.children(recursive=True))))


def _cpu_s(process: psutil.Process | psutil.Popen) -> float:
    """With its children that have ended; 0 if it has ended itself since it was listed."""
    with suppress(psutil.NoSuchProcess):
        t = process.cpu_times()
        return float(t.user + t.system + t.children_user + t.children_system)
    return 0.0
