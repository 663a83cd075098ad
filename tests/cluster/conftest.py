"""Real components on loopback, each started once for all tests that use it: see `make test-cluster`."""

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pyspark
import pytest

from bench import runtime

WAIT_S = 60.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def component(arguments: list[str], log: Path, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process that writes to `log`; it and its children end with the block."""
    with log.open("wb") as file:
        process = subprocess.Popen(arguments, stdout=file, stderr=file, env={**os.environ, **environment})
    try:
        yield process
    finally:
        children = psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []
        process.terminate()
        process.wait(WAIT_S)
        _, left = psutil.wait_procs(children, timeout=WAIT_S)
        for child in left:
            child.kill()


def wait_for(log: Path, text: str, times: int = 1) -> None:
    """Until a component has logged the text so often."""
    deadline_s = time.monotonic() + WAIT_S
    while log.read_text(errors="replace").count(text) < times:
        assert time.monotonic() < deadline_s, log.read_text(errors="replace")[-2000:]
        time.sleep(0.2)


@pytest.fixture(scope="session")
def standalone(tmp_path_factory):
    """The address of a standalone cluster of two workers with a core each, out of the installed PySpark."""
    folder, port = tmp_path_factory.mktemp("standalone"), free_port()
    home = Path(pyspark.__file__).parent
    address = f"spark://127.0.0.1:{port}"
    environment = {
        "SPARK_HOME": str(home), "JAVA_HOME": str(runtime.java_home()), "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m", "TZ": "UTC",
    }  # fmt: skip
    deploy, host = [str(home / "bin" / "spark-class")], ["--host", "127.0.0.1", "--webui-port", "0"]
    master = [*deploy, "org.apache.spark.deploy.master.Master", *host, "--port", str(port)]
    with component(master, folder / "master.log", **environment):
        wait_for(folder / "master.log", "I have been elected leader")
        worker = [*deploy, "org.apache.spark.deploy.worker.Worker", *host, "--cores", "1", "--memory", "1g"]
        with (
            component(
                [*worker, "--work-dir", str(folder / "one"), address], folder / "one.log", **environment
            ),
            component(
                [*worker, "--work-dir", str(folder / "two"), address], folder / "two.log", **environment
            ),
        ):
            wait_for(folder / "master.log", "Registering worker", times=2)
            yield address
