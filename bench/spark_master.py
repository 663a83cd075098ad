"""The address of a Spark cluster, and what it says of where tasks run.

Source: SparkMasterRegex and SparkContext.createTaskScheduler of Spark 3.5.
"""

import re
from dataclasses import dataclass
from typing import Literal

_LOCAL = re.compile(r"local(?:\[(?P<threads>\d+|\*)(?:\s*,\s*\d+)?\])?")
_LOCAL_CLUSTER = re.compile(
    r"local-cluster\[\s*(?P<workers>\d+)\s*,\s*(?P<cores>\d+)\s*,\s*(?P<memory>\d+)\s*\]"
)
_CLUSTER = re.compile(r"yarn|[a-z][a-z0-9+.-]*://\S+")  # further cluster managers are plug-ins of Spark
_KNOWN = (
    "local, local[4], local[*], local-cluster[2,1,1024] (workers, cores and MiB of each), spark://host:7077, "
    "yarn or k8s://https://host:443"
)


@dataclass(frozen=True, slots=True)
class Master:
    """A parsed master. `cores` are those of all its tasks together; None where the text does not tell.

    With `local` tasks run in the driver's own process, with `local-cluster` in processes of its machine.
    """

    text: str
    kind: Literal["local", "local-cluster", "cluster"]
    cores: int | None = None

    @property
    def takes_all_cores(self) -> bool:
        """Whether it runs as many tasks at once as the machine has cores."""
        return self.kind == "local" and self.cores is None

    def cores_on(self, machine_cores: int | None) -> int | None:
        """`cores`, with a driver on a machine that has so many."""
        return machine_cores if self.takes_all_cores else self.cores


def parse_master(text: str) -> Master:
    """Raises ValueError for a text that is not a valid Spark master."""
    if local := _LOCAL.fullmatch(text):
        threads = local["threads"] or "1"
        cores = None if threads == "*" else int(threads)
        if cores != 0:
            return Master(text, "local", cores)
    if cluster := _LOCAL_CLUSTER.fullmatch(text):
        cores = int(cluster["workers"]) * int(cluster["cores"])
        if cores and int(cluster["memory"]):
            return Master(text, "local-cluster", cores)
    if _CLUSTER.fullmatch(text):
        return Master(text, "cluster")
    raise ValueError(f"is not a valid Spark master: write {_KNOWN}")
