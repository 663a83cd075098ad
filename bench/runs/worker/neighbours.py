"""How busy other processes keep the machine. The load average cannot tell: it includes the run before."""

import time

import psutil

from bench.engines.master import Master


class Neighbours:
    """Measures from its creation on, beside a run on this master."""

    def __init__(self, master: Master) -> None:
        self._can_tell = master.kind != "cluster"  # its executors may be here, and are no children of ours
        self._began_s, self._others_began_s = time.perf_counter(), _others_cpu_s()

    def cores(self) -> float | None:
        """The mean number of cores that other processes have used since; stolen time counts as theirs.

        None where a cluster's executors might be taken for others.
        """
        if not self._can_tell:
            return None
        elapsed_s = time.perf_counter() - self._began_s
        return max(0.0, _others_cpu_s() - self._others_began_s) / elapsed_s


def _others_cpu_s() -> float:
    """CPU seconds of the machine since it started, without those of this process and its living children."""
    machine, process = psutil.cpu_times(), psutil.Process()
    idle_s = machine.idle + getattr(machine, "iowait", 0.0)
    guests_s = getattr(machine, "guest", 0.0) + getattr(machine, "guest_nice", 0.0)  # in user and nice, too
    own = [each.cpu_times() for each in (process, *process.children(recursive=True))]
    own_s = sum(t.user + t.system + t.children_user + t.children_system for t in own)
    return sum(machine) - idle_s - guests_s - own_s
