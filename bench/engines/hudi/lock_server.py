"""The lock of a table that several processes of one machine write: ZooKeeper, in the JVM of one of them.

Hudi 1.2.0 has no lock that is safe between processes and needs no server. FileSystemBasedLockProvider looks
for its file before it creates it, which on local files are two steps, and deletes it twice when it releases
it (`unlock` and `close`, by LockManager.unlock), although another process may have created it meanwhile.
StorageBasedLockProvider has no client for local files (StorageSchemes). InProcessLockProvider ends at the
JVM. Spark brings ZooKeeper's server along.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from bench.engines.hudi.write_options import HOST
from bench.engines.spark.session import java_class

_NOTE = "lock-server"
_TICK_MS = 2000  # ZooKeeper's default; a lock of a process that is gone is free after 20 ticks at most
_NO_LIMIT = 0


@contextmanager
def lock_server(spark: SparkSession, folder: Path) -> Iterator[str]:
    """The address of the lock server of a run, which ends with the block that started it.

    The first process to ask starts it, and notes the address in `folder` for the others. They must not ask at
    the same time.
    """
    note = folder / _NOTE
    if note.exists():
        yield note.read_text(encoding="utf-8")
        return
    factory = _started(spark, folder / "locks")
    try:
        note.write_text(address := f"{HOST}:{factory.getLocalPort()}", encoding="utf-8")
        yield address
    finally:
        note.unlink(missing_ok=True)
        factory.shutdown()


def _started(spark: SparkSession, folder: Path) -> Any:
    """A server (Java) on a free port, for this machine alone. It forgets everything with its run."""
    java_class(spark, "java.lang.System").setProperty("zookeeper.forceSync", "no")
    place = java_class(spark, "java.io.File")(str(folder))
    server = java_class(spark, "org.apache.zookeeper.server.ZooKeeperServer")(place, place, _TICK_MS)
    factory = java_class(spark, "org.apache.zookeeper.server.NIOServerCnxnFactory")()
    factory.configure(java_class(spark, "java.net.InetSocketAddress")(HOST, 0), _NO_LIMIT)
    factory.startup(server)
    return factory
