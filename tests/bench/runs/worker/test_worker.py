"""A worker ends with its parent, however early that is gone, and leaves no secrets."""

import shutil
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import suppress

import psutil
import pytest

from bench.engines.spark.conf import SECRET_CONF
from bench.runs.jobs import NoiseJob
from bench.runs.suite.processes import worker
from bench.secrets import Secrets

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
        try:
            with suppress(psutil.NoSuchProcess):  # it may have ended already
                psutil.Process(int(done.stdout)).wait(30)
        finally:
            never_a_job.kill()


def test_the_secrets_of_a_worker_that_is_killed_are_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", shutil.which("true"))  # ends at once
    job = NoiseJob(work_folder=tmp_path, seconds=1, walls_file=tmp_path / "walls")
    (tmp_path / SECRET_CONF).touch()
    with pytest.raises(KeyboardInterrupt), worker(job, tmp_path / "log"):
        raise KeyboardInterrupt
    assert not (tmp_path / SECRET_CONF).exists()


def _jvm_of(process):
    """The JVM of a worker's session, once its threads run."""
    while True:
        for child in psutil.Process(process.pid).children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                is_session = any(word.startswith("-Djava.io.tmpdir") for word in child.cmdline())
                if is_session and child.num_threads() > 10:
                    return child
        time.sleep(0.1)


@pytest.mark.spark
@pytest.mark.processes
def test_the_report_of_a_jvm_that_crashes_is_in_the_log_without_secrets(tmp_path, monkeypatch):
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Dmy.password=planted-1 -Dx=planted-2")
    monkeypatch.chdir(tmp_path)
    job, log = NoiseJob(work_folder=tmp_path, seconds=60, walls_file=tmp_path / "walls"), tmp_path / "log.txt"
    with worker(job, log, Secrets.of_values(["planted-2"])) as process:
        _jvm_of(process).send_signal(signal.SIGSEGV)
        process.wait(60)
    text = log.read_text()
    assert "A fatal error has been detected by the Java Runtime Environment" in text
    assert "JAVA_TOOL_OPTIONS=-Dmy.password=(hidden) -Dx=(hidden)" in text
    assert "planted" not in text
    assert not list(tmp_path.glob("hs_err*"))
