"""How roles are killed and runs resumed, on a stand-in for the command."""

import sys
import time

import psutil
import pytest
from result_builder import build_results

from bench.runs.suite.results_folder import WORK
from tools import torture_roles

LABEL, ROLES = "compact-and-cluster", ("writer", "compactor", "reader", "maintainer")

# The command has a run whose worker has roles. It fails once a role has ended, and succeeds the second time.
COMMAND = """#!{python}
import shutil, subprocess, sys, time
from pathlib import Path

import psutil

def started(name):
    return subprocess.Popen([sys.executable, __file__, name, "bench.runs.worker"])

def work():
    roles = [started(role) for role in {roles}]
    while all(role.poll() is None for role in roles):
        time.sleep(0.1)
    for role in roles:
        role.kill()

def command(results):
    runs, folder = results / "append-small", results / "{work}" / "run"
    is_first = not runs.exists()
    (folder / "roles").mkdir(parents=True)
    worker = started("worker")
    if is_first:
        worker.wait()
    else:
        time.sleep(5)
        for role in psutil.Process(worker.pid).children():
            role.kill()
        worker.wait()
    name = "failed" if is_first else "finished"
    shutil.copytree(Path("{made}", name, "append-small"), runs, dirs_exist_ok=True)
    if "{left}":
        (folder / "{left}").touch()
    else:
        shutil.rmtree(folder)
    return {code} if is_first else 0

if "--out" in sys.argv:
    sys.exit(command(Path(sys.argv[sys.argv.index("--out") + 1])))
work() if sys.argv[1] == "worker" else time.sleep(60)
"""


@pytest.fixture
def suite(tmp_path, monkeypatch):
    """Makes a suite whose command fails with an error and this exit code, and leaves a file."""
    suites = []

    def make(error, code=1, left=""):
        folder, made = tmp_path / "suite", tmp_path / "made"
        suites.append(torture_roles.LiveSuite(folder, "hudi"))
        for position, name in enumerate(("failed", "finished")):
            changes = {"run_id": f"run-{name}", "position": position}
            build_results(made / name, {LABEL: None}, 1, 2, {(LABEL, 1): name}, **changes)
            (run,) = (made / name / "append-small").iterdir()
            run.rename(run.with_name(f"run-{name}"))
        events = made / "failed" / "append-small" / "run-failed" / "events.jsonl"
        events.write_text(events.read_text().replace("boom: <the disk> is full", error))
        program = folder / "command"
        names = {"python": sys.executable, "roles": ROLES, "work": WORK}
        program.write_text(COMMAND.format(**names, made=made, code=code, left=left))
        program.chmod(0o700)
        monkeypatch.setattr("tools.torture.PROGRAM", program)
        return suites[-1]

    yield make
    for each in suites:
        for process in each.processes():
            process.kill()
        each.end()


def test_a_run_that_names_its_lost_role_and_leaves_nothing_is_resumed(suite):
    made = suite("the reader failed: it ended with exit code -9")
    assert torture_roles.kill_one(made, 1, "reader", 0.1) == []
    problems, took_s = torture_roles.resume(made, 1)
    assert problems == []
    assert took_s > 0


def test_a_run_that_names_another_role_is_a_problem(suite):
    (problem,) = torture_roles.kill_one(suite("the writer failed"), 1, "reader", 0.1)
    assert "does not say 'the reader failed: it ended with exit code -9'" in problem


def test_what_a_killed_run_leaves_is_a_problem(suite):
    made = suite("the writer failed: it ended with exit code -9", left="table")
    (problem,) = torture_roles.kill_one(made, 1, "writer", 0.1)
    assert problem == f"left: {made.results / WORK / 'run' / 'table'}"


def test_a_run_that_succeeds_was_killed_too_late(suite):
    with pytest.raises(LookupError):
        torture_roles.kill_one(suite("", code=0), 1, "writer", 0.1)


# A command with two workers, of which one has roles, and one of these a process of its own.
TREE = """
import subprocess, sys, time
program, name = sys.argv[1:3]
children = {"command": ["log", "run"], "run": ["writer", "compactor", "reader"], "writer": ["java"]}
for child in children.get(name, ()):
    module = [] if child == "java" else ["bench.runs.worker"]
    subprocess.Popen([sys.executable, "-c", program, program, child, *module])
time.sleep(60)
"""


def test_roles_are_the_workers_of_a_worker_in_the_order_of_their_start():
    names = ["writer", "compactor", "reader"]
    command = psutil.Popen([sys.executable, "-c", TREE, TREE, "command"])

    def found():
        victims = torture_roles.victims_of(command, names)
        return {name: victim.cmdline()[-2] for name, victim in victims.items()}

    try:
        until_s = time.monotonic() + 30
        while found() != dict(zip(names, names, strict=True)):
            assert time.monotonic() < until_s, found()
            time.sleep(0.1)
        (worker,) = torture_roles.victims_of(command, [torture_roles.WORKER]).values()
        assert worker.ppid() == command.pid
    finally:
        for process in (*command.children(recursive=True), command):
            process.kill()
        command.wait()
