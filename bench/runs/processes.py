"""Worker processes: each is started, given one job, and ended together with all its child processes."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from bench.engines.spark.conf import SECRET_CONF
from bench.runs.jobs import Job, QuickJob
from bench.secrets import NO_SECRETS, Secrets

STOP_GRACE_S = 15.0  # for a worker, which ends all its processes at once when it is told to stop
LOG_GRACE_S = 5.0  # until the pipe is closed by the last process of the group
_OUR_FOLDER = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Program:
    """The compactbench that a worker runs: which Python, and from which checkout its code comes.

    Without a checkout it is the one that is installed for that Python. `job_keys` are the keys of a job that
    it knows; None means all.
    """

    python: Path = Path(sys.executable)
    checkout: Path | None = None
    job_keys: frozenset[str] | None = None

    def taking(self, job_keys: Iterable[str]) -> "Program":
        """The same, which is told these keys of a job only."""
        return replace(self, job_keys=frozenset(job_keys))

    def environment(self) -> dict[str, str]:
        """The variables of its processes: the import path has its checkout and not ours."""
        given = [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part]
        kept = [part for part in given if Path(part).resolve() != _OUR_FOLDER]
        path = os.pathsep.join([*([str(self.checkout)] if self.checkout else []), *kept])
        return {**os.environ, "TZ": "UTC", "PYTHONPATH": path}


@contextmanager
def worker(
    job: Job, log: Path, secrets: Secrets = NO_SECRETS, other: Program | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """A worker process doing `job`. Its output and that of its JVM go to `log`, without `secrets`.

    It is one of this compactbench, unless `other` says which. It reads the job from its standard input, so
    that no file contains the settings in plain text. When the block ends for any reason, the worker and all
    its child processes have ended, the log is complete, and no secret is left that it had written for a JVM.
    """
    # -P keeps the working folder off the import path, which may contain a folder named `bench`.
    # The folder shows in `ps` which run a process belongs to. The worker ends when this process does, and is
    # told which one that is, since it may be gone before the worker can ask for its parent.
    python, program = other.python if other else sys.executable, ("-P", "-m", "bench.runs.worker")
    process = subprocess.Popen(
        [python, *program, job.work_folder, str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        env=other.environment() if other else {**os.environ, "TZ": "UTC"},
    )
    logging = threading.Thread(target=_log, args=(process, log, secrets), daemon=True)
    logging.start()
    try:
        _send(job, process, other.job_keys if other else None)
        yield process
    finally:
        _end(process)
        logging.join(LOG_GRACE_S)
        for folder in _work_folders(job):
            (folder / SECRET_CONF).unlink(missing_ok=True)


def _work_folders(job: Job) -> set[Path]:
    of_runs = (run.work_folder for run in job.runs) if isinstance(job, QuickJob) else ()
    return {job.work_folder, *of_runs}


def _send(job: Job, process: subprocess.Popen[bytes], keys: frozenset[str] | None) -> None:
    """Write the job to the worker's standard input. If the worker died before, its exit code says so."""
    unknown: set[str] = set() if keys is None else set(type(job).model_fields) - keys
    assert process.stdin is not None  # noqa: S101  it was opened as a pipe
    with suppress(BrokenPipeError), process.stdin:
        process.stdin.write(job.model_dump_json(exclude=unknown).encode())


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
