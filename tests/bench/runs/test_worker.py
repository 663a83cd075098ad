"""A worker ends with its parent, however early that is gone."""

import subprocess
import sys
import textwrap

import psutil
import pytest

PARENT = """
    import os, subprocess, sys

    arguments = [sys.executable, "-P", "-m", "bench.runs.worker", sys.argv[1], str(os.getpid())]
    worker = subprocess.Popen(arguments, stdin=int(sys.argv[2]), start_new_session=True)
    print(worker.pid)
"""


@pytest.mark.processes
def test_a_worker_whose_parent_ends_before_it_looks_ends_too(tmp_path):
    with subprocess.Popen(["sleep", "60"], stdout=subprocess.PIPE) as never_a_job:  # a job that never comes
        done = subprocess.run(
            [sys.executable, "-", str(tmp_path), str(never_a_job.stdout.fileno())],
            input=textwrap.dedent(PARENT), capture_output=True, text=True, check=True,
            pass_fds=[never_a_job.stdout.fileno()],
        )  # fmt: skip
        worker = psutil.Process(int(done.stdout)) if psutil.pid_exists(int(done.stdout)) else None
        try:
            if worker is not None:
                worker.wait(30)
        finally:
            never_a_job.kill()
