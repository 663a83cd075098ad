"""The address of a Spark cluster, and where it runs tasks.

Source: SparkMasterRegex and SparkContext.createTaskScheduler of Spark 3.5.
"""

import re
from dataclasses import dataclass
from typing import Literal

_LOCAL = re.compile(r"local(?:\[(?P<threads>\d+|\*)(?:\s*,\s*\d+)?\])?")
_LOCAL_CLUSTER = re.compile(r"local-cluster\[\s*(?P<workers>\d+)\s*,\s*(?P<cores>\d+)\s*,\s*\d+\s*\]")
# Every host of spark:// needs a port. Other schemes are cluster managers that plug into Spark.
_CLUSTER = re.compile(r"yarn|spark://[^\s,/]+:\d+(,[^\s,/]+:\d+)*|(?!spark:)[a-z][a-z0-9+.-]*://\S+")
_KNOWN = (
    "local, local[4], local[*], local-cluster[2,1,1024] (workers, cores and MiB of each), spark://host:7077, "
    "yarn or k8s://https://host:443"
)


@dataclass(frozen=True, slots=True)
class Master:
    """A parsed master. `cores` is the total for all tasks; None if the text does not determine it.

    `local` runs tasks in the driver's own process, `local-cluster` in other processes of its machine.
    """

    text: str
    kind: Literal["local", "local-cluster", "cluster"]
    cores: int | None = None

    @property
    def takes_all_cores(self) -> bool:
        return self.kind == "local" and self.cores is None

    def cores_on(self, machine_cores: int | None) -> int | None:
        """`cores` for a driver on a machine with so many."""
        return machine_cores if self.takes_all_cores else self.cores


def parse_master(text: str) -> Master:
    """Raises ValueError for a text that is not a valid Spark master."""
    if local := _LOCAL.fullmatch(text):
        threads = local["threads"] or "1"
        cores = None if threads == "*" else int(threads)
        if cores != 0:
            return Master(text, "local", cores)
    elif cluster := _LOCAL_CLUSTER.fullmatch(text):
        return Master(text, "local-cluster", int(cluster["workers"]) * int(cluster["cores"]))
    elif _CLUSTER.fullmatch(text):
        return Master(text, "cluster")
    raise ValueError(f"is not a valid Spark master: write {_KNOWN}")
