"""Worker processes: each is started, given one job, and ended together with all its child processes."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bench.engines.spark.conf import SECRET_CONF
from bench.runs.jobs import Job, QuickJob
from bench.secrets import NO_SECRETS, Secrets

STOP_GRACE_S = 15.0  # for a worker, which ends all its processes at once when it is told to stop
LOG_GRACE_S = 5.0  # until the pipe is closed by the last process of the group


@contextmanager
def worker(job: Job, log: Path, secrets: Secrets = NO_SECRETS) -> Iterator[subprocess.Popen[bytes]]:
    """A worker process doing `job`. Its output and that of its JVM go to `log`, without `secrets`.

    It reads the job from its standard input, so that no file contains the settings in plain text. When the
    block ends for any reason, the worker and all its child processes have ended, the log is complete, and no
    secret is left that it had written for a JVM.
    """
    # -P keeps the working folder off the import path, which may contain a folder named `bench`.
    # The folder shows in `ps` which run a process belongs to. The worker ends when this process does, and is
    # told which one that is, since it may be gone before the worker can ask for its parent.
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "bench.runs.worker", job.work_folder, str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        env={**os.environ, "TZ": "UTC"},
    )
    logging = threading.Thread(target=_log, args=(process, log, secrets), daemon=True)
    logging.start()
    try:
        _send(job, process)
        yield process
    finally:
        _end(process)
        logging.join(LOG_GRACE_S)
        for folder in _work_folders(job):
            (folder / SECRET_CONF).unlink(missing_ok=True)


def _work_folders(job: Job) -> set[Path]:
    of_runs = (run.work_folder for run in job.runs) if isinstance(job, QuickJob) else ()
    return {job.work_folder, *of_runs}


def _send(job: Job, process: subprocess.Popen[bytes]) -> None:
    """Write the job to the worker's standard input. If the worker died before, its exit code says so."""
    assert process.stdin is not None  # noqa: S101  it was opened as a pipe
    with suppress(BrokenPipeError), process.stdin:
        process.stdin.write(job.model_dump_json().encode())


def _log(process: subprocess.Popen[bytes], log: Path, secrets: Secrets) -> None:
    """Copy the output of a worker and its JVM line by line, so that no secret ever reaches the file.

    What a full disk cannot take is dropped: the worker must not wait for somebody to read it.
    """
    assert process.stdout is not None  # noqa: S101  it was opened as a pipe
    with process.stdout as output, log.open("ab", buffering=0) as file:
        for line in output:
            with suppress(OSError):
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
