"""Worker processes: started, fed one job, and ended together with all they started."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pydantic import BaseModel

STOP_GRACE_S = 15.0  # a worker that is asked to stop ends its JVM first


@contextmanager
def worker(job: BaseModel, job_file: Path, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A worker doing `job`, which it reads from `job_file`; what it and its JVM print goes to `log`.

    When the block ends, however it does, the worker and all its children have ended too.
    """
    job_file.write_text(job.model_dump_json())
    with log.open("ab") as log_file:
        # -P keeps the working folder off the import path: a folder named `bench` there must not win.
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "bench.runs.worker", job_file],
            stdin=subprocess.DEVNULL,
            stdout=log_file,
            stderr=log_file,
            start_new_session=True,
            env={**os.environ, "TZ": "UTC"},
        )
    try:
        yield process
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ask the worker to stop, then end whatever is left of its process group."""
    if process.poll() is None:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(STOP_GRACE_S)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
