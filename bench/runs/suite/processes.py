"""Worker processes: start one, send it a job, end it together with all its child processes."""

import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bench.engines.spark.conf import remove_secrets
from bench.runs.jobs import Job, send, worker_command
from bench.secrets import NO_SECRETS, Secrets

STOP_GRACE_S = 15.0  # for a worker, which kills its whole process group on SIGTERM
LOG_GRACE_S = 5.0  # until the pipe is closed by the last process of the group


@contextmanager
def worker(job: Job, log: Path, secrets: Secrets = NO_SECRETS) -> Iterator[subprocess.Popen[bytes]]:
    """A worker process doing `job`. Its output and its JVM's go to `log`, without `secrets`.

    It reads the job from its standard input, so that no file contains the settings in plain text. After the
    block, however it ends, the worker and all its child processes have ended, the log is complete, and the
    file with the secrets of the JVM is deleted.
    """
    process = subprocess.Popen(
        worker_command(job),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        env={**os.environ, "TZ": "UTC"},
    )
    logging = threading.Thread(target=_log, args=(process, log, secrets), daemon=True)
    logging.start()
    try:
        assert process.stdin is not None  # noqa: S101  it was opened as a pipe
        send(job, process.stdin)
        yield process
    finally:
        _end(process)
        logging.join(LOG_GRACE_S)
        remove_secrets(job.work_folder)


def _log(process: subprocess.Popen[bytes], log: Path, secrets: Secrets) -> None:
    """Copy the output of a worker and its JVM line by line, so that no secret ever reaches the file.

    On a full disk, output is dropped: the worker must not block on a full pipe.
    """
    assert process.stdout is not None  # noqa: S101  it was opened as a pipe
    with process.stdout as output, log.open("ab", buffering=0) as file:
        for line in output:
            with suppress(OSError):
                file.write(secrets.scrub(line.decode(errors="replace")).encode())


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ask the worker to stop, then kill the rest of its process group."""
    if process.poll() is None:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(STOP_GRACE_S)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
