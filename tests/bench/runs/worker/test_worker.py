"""A worker ends with its parent, however early that is gone, and leaves no secrets."""

import shutil
import subprocess
import sys
import textwrap
from contextlib import suppress

import psutil
import pytest

from bench.engines.spark.conf import SECRET_CONF
from bench.runs.jobs import NoiseJob, QuickJob, RunJob, SentScenario
from bench.runs.suite.processes import worker

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


def run_in(folder):
    return RunJob(
        scenario=SentScenario(file="demo.toml", document={}, variant=None), work_folder=folder,
        run_folder=folder, run_id="r", suite_id="s", mode="real", strategy="never", repetition=1,
        position=1, log_folder=None, coefficients=None, verify="off", command="", keep_tables=True,
        shares_jvm=True,
    )  # fmt: skip


def test_the_secrets_of_a_worker_that_is_killed_are_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", shutil.which("true"))  # ends at once
    folders = [tmp_path / name for name in "ab"]
    for folder in folders:
        folder.mkdir()
    for job in (
        QuickJob(work_folder=folders[0], runs=tuple(map(run_in, folders))),
        NoiseJob(work_folder=folders[1], seconds=1, walls_file=tmp_path / "walls"),
    ):
        (job.work_folder / SECRET_CONF).touch()
        (folders[1] / SECRET_CONF).touch()
        with pytest.raises(KeyboardInterrupt), worker(job, tmp_path / "log"):
            raise KeyboardInterrupt
        assert not [folder for folder in folders if (folder / SECRET_CONF).exists()]
