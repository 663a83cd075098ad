"""Processes of roles: children of the run's worker, in its process group, so that they end with it."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psutil

from bench.runs.jobs import RoleJob, send, worker_command

_GRACE_S = 30.0  # for Spark to stop


@contextmanager
def role_process(job: RoleJob) -> Iterator[psutil.Popen]:
    """A process doing one role, which prints into the log of its run. After the block it has ended."""
    process = psutil.Popen(worker_command(job), stdin=subprocess.PIPE)
    try:
        send(job, process.stdin)
        yield process
        with suppress(subprocess.TimeoutExpired, psutil.TimeoutExpired):
            process.wait(_GRACE_S)
    finally:
        end(process)


def end(process: psutil.Popen) -> None:
    """Kill a process with its children, such as its JVM."""
    if process.poll() is not None:
        return
    family = [*process.children(recursive=True), process]
    for one in family:
        with suppress(psutil.NoSuchProcess):
            one.kill()
    psutil.wait_procs(family, timeout=_GRACE_S)
