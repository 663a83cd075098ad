"""How much CPU other processes use during a run. The load average would include the previous run."""

import time

import psutil

from bench.engines.master import Master
from bench.runs.worker.process_cpu import tree_cpu_s


class Neighbours:
    """Measures from its creation on. `master` is the one of the run."""

    def __init__(self, master: Master) -> None:
        # A cluster's executors may be on this machine, and are not our children.
        self._is_measurable = master.kind != "cluster"
        self._began_s, self._others_began_s = time.perf_counter(), _others_cpu_s()

    def cores(self) -> float | None:
        """The mean number of cores that other processes have used; stolen time counts as theirs.

        Slightly below 0 where they used none, since the parts are not read at the same moment.

        None with a cluster, whose executors would count as other processes.
        """
        if not self._is_measurable:
            return None
        elapsed_s = time.perf_counter() - self._began_s
        return (_others_cpu_s() - self._others_began_s) / elapsed_s


def _others_cpu_s() -> float:
    """CPU seconds of the machine since it started, minus those of this process and its living children."""
    machine = psutil.cpu_times()
    idle_s = machine.idle + getattr(machine, "iowait", 0.0)
    guests_s = getattr(machine, "guest", 0.0) + getattr(machine, "guest_nice", 0.0)  # in user and nice, too
    return sum(machine) - idle_s - guests_s - tree_cpu_s(psutil.Process())
