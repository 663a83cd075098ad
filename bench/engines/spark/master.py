"""The address of a Spark cluster, and what it says of where tasks run.

Source: SparkMasterRegex and SparkContext.createTaskScheduler of Spark 3.5.
"""

import re
from dataclasses import dataclass
from typing import Literal

# At most 9999 cores, more than any machine has, and other numbers that fit into Spark's 32 bits.
_LOCAL = re.compile(r"local(?:\[(?P<threads>\d{1,4}|\*)(?:\s*,\s*\d{1,9})?\])?", re.ASCII)
_LOCAL_CLUSTER = re.compile(
    r"local-cluster\[\s*(?P<workers>\d{1,4})\s*,\s*(?P<cores>\d{1,4})\s*,\s*(?P<memory>\d{1,9})\s*\]",
    re.ASCII,
)
# Further cluster managers are plug-ins of Spark; those left out are places of files, and spark:// has ports.
_CLUSTER = re.compile(r"yarn|(?!(?:spark|file|https?|hdfs|s3a?)://)[a-z][a-z0-9+.-]*://\S+")
_HOST = re.compile(r"(?:\[[^\]\s]+\]|[^\s:,/]+):(?P<port>\d{1,5})", re.ASCII)
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
    if _CLUSTER.fullmatch(text) or _is_standalone(text):
        return Master(text, "cluster")
    raise ValueError(f"is not a valid Spark master: write {_KNOWN}")


def _is_standalone(text: str) -> bool:
    """Whether it is a standalone cluster. Each host has a port, without which Spark refuses it."""
    scheme, _, addresses = text.partition("://")
    hosts = map(_HOST.fullmatch, addresses.split(","))
    return scheme == "spark" and all(host is not None and 0 < int(host["port"]) < 2**16 for host in hosts)
