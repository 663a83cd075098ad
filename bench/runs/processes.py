"""Worker processes: started, fed one job, and ended together with all they started."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bench.runs.jobs import Job
from bench.secrets import NO_SECRETS, Secrets

STOP_GRACE_S = 15.0  # a worker that is asked to stop ends its JVM first
LOG_GRACE_S = 5.0  # the pipe closes with the last process of the group


@contextmanager
def worker(job: Job, log: Path, secrets: Secrets = NO_SECRETS) -> Iterator[subprocess.Popen[bytes]]:
    """A worker doing `job`; what it and its JVM print goes to `log`, without `secrets`.

    It reads the job from its standard input, so that no file holds the settings in plain text. When the
    block ends, however it does, the worker and all its children have ended too, and the log is complete.
    """
    # -P keeps the working folder off the import path: a folder named `bench` there must not win.
    # The worker does not read its argument: `ps` shows by it which run a process belongs to.
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "bench.runs.worker", job.work_folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        env={**os.environ, "TZ": "UTC"},
    )
    logging = threading.Thread(target=_log, args=(process, log, secrets), daemon=True)
    logging.start()
    try:
        _give(job, process)
        yield process
    finally:
        _end(process)
        logging.join(LOG_GRACE_S)


def _give(job: Job, process: subprocess.Popen[bytes]) -> None:
    """A worker that died before it had read its job is found out by its exit code."""
    assert process.stdin is not None  # noqa: S101  a pipe was asked for
    with suppress(BrokenPipeError), process.stdin:
        process.stdin.write(job.model_dump_json().encode())


def _log(process: subprocess.Popen[bytes], log: Path, secrets: Secrets) -> None:
    """Copy what a worker and its JVM print, line by line, so that no secret ever reaches the file."""
    assert process.stdout is not None  # noqa: S101  a pipe was asked for
    with process.stdout as printed, log.open("ab", buffering=0) as file:
        for line in printed:
            file.write(secrets.scrub(line.decode(errors="replace")).encode())


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ask the worker to stop, then end whatever is left of its process group."""
    if process.poll() is None:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(STOP_GRACE_S)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
