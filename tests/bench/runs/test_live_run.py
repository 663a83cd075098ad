"""A real clock on real tables, as a user runs it: the roles work on one table at the same time."""

import itertools
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

import psutil
import pytest
from live_lake import LIVE_SCENARIOS

from bench.results.folders import load_runs
from bench.results.records import CommitRecord, CompactionRecord, ContentRecord, DecisionRecord, QueryRecord
from bench.results.rows import run_figures

pytestmark = [pytest.mark.spark, pytest.mark.processes]

PROGRAM = Path(sys.executable).parent / "compactbench"
WAIT_S = 1200.0  # a slow machine is no failure


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("user")
    for name, scenario in LIVE_SCENARIOS.items():
        (made / f"{name}.toml").write_text(scenario)
    return made


def start(folder, *arguments, scenario="iceberg"):
    return subprocess.Popen(
        [PROGRAM, "run", f"{scenario}.toml", "--out", "r", *arguments], cwd=folder, text=True,
        env={**os.environ, "COLUMNS": "200"}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def is_worker(process):
    with suppress(psutil.NoSuchProcess):
        return "bench.runs.worker" in process.cmdline()
    return False


def roles(process):
    """The processes of a run's roles, which are the children of its worker."""
    found = psutil.Process(process.pid).children(recursive=True)
    return [one for one in found if is_worker(one) and is_worker(psutil.Process(one.ppid()))]


def wait_for_commit(tick, process, folder, scenario):
    """Until this commit of the stream has been recorded; 0 is the initial load, before the roles warm up."""
    until_s = time.monotonic() + WAIT_S
    while not any(
        f'"tick":{tick}' in file.read_text() for file in folder.glob(f"r/{scenario}/*/events.jsonl")
    ):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until_s
        time.sleep(0.2)


def have_ended(processes):
    return not [p for p in processes if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]


def test_a_killed_role_ends_its_run_and_resume_makes_it_anew_with_equal_content(folder):
    with start(folder) as process:
        wait_for_commit(1, process, folder, "iceberg")
        found = roles(process)
        found[-1].send_signal(signal.SIGKILL)
        out, err = process.communicate(timeout=WAIT_S)
    assert process.returncode == 1, err
    assert "failed: it ended with exit code -9" in out + err
    assert have_ended(found)

    with start(folder, "--resume") as process:
        out, err = process.communicate(timeout=WAIT_S)
    assert process.returncode == 0, err
    run = finished(folder, "iceberg")
    check(run, {"compactor-1", "compactor-2"})
    spans = sorted(
        (c.span.started_s, c.span.ended_s) for c in run.of(CompactionRecord) if c.status != "vetoed"
    )
    assert len(spans) >= 2
    assert all(earlier[1] <= later[0] for earlier, later in itertools.pairwise(spans))


def test_a_catalog_that_stays_locked_fails_the_run(folder):
    """Another program holds SQLite's lock. Roles wait for a minute, and no commit is tried again after it."""
    (folder / "locked.toml").write_text(LIVE_SCENARIOS["iceberg"])
    with start(folder, scenario="locked") as process:
        wait_for_commit(1, process, folder, "locked")
        found = roles(process)
        (run,) = folder.glob("r/locked/*")
        (database,) = folder.glob(f"r/**/{run.name}/**/catalog.db")
        with closing(sqlite3.connect(database, timeout=30)) as catalog:
            catalog.execute("BEGIN EXCLUSIVE")
            since_s = time.monotonic()
            out, err = process.communicate(timeout=WAIT_S)
            waited_s = time.monotonic() - since_s
    assert process.returncode == 1, out + err
    assert "database is locked" in out + err
    assert waited_s > 50
    assert have_ended(found)
    (failed,) = [run for run in load_runs(folder / "r") if run.manifest.scenario == "locked"]
    assert failed.end.status == "failed"


def test_a_full_disk_fails_the_run_and_says_whose(folder):
    """A file at the limit of its size cannot grow. Unlike on a full disk, a small one can be written."""
    (folder / "full.toml").write_text(LIVE_SCENARIOS["iceberg"])
    with start(folder, scenario="full") as process:
        wait_for_commit(1, process, folder, "full")
        found = roles(process)
        for one in [part for role in found for part in (role, *role.children(recursive=True))]:
            one.rlimit(psutil.RLIMIT_FSIZE, (4096, 4096))
        out, err = process.communicate(timeout=WAIT_S)
    assert process.returncode == 1, out + err
    assert re.search(r"the (writer|reader|compactor-\d) failed: .*File too large", out + err), out + err
    assert have_ended(found)
    (failed,) = [run for run in load_runs(folder / "r") if run.manifest.scenario == "full"]
    assert failed.end.status == "failed"


def test_roles_on_a_delta_table_are_threads_of_one_worker_which_ends_with_its_jvm(folder):
    with start(folder, scenario="delta") as process:
        wait_for_commit(0, process, folder, "delta")
        (worker,) = [one for one in psutil.Process(process.pid).children() if is_worker(one)]
        (jvm,) = worker.children()
        worker.send_signal(signal.SIGKILL)
        _, err = process.communicate(timeout=WAIT_S)
    assert process.returncode == 1, err
    assert have_ended([worker, jvm])

    with start(folder, "--resume", scenario="delta") as process:
        out, err = process.communicate(timeout=WAIT_S)
    assert process.returncode == 0, out + err
    run = finished(folder, "delta")
    check(run, {"compactor"})
    assert run.manifest.notes["cpu"] == "tasks and threads of a role"
    steps = [*run.of(CommitRecord), *run.of(CompactionRecord), *run.of(QueryRecord)]
    assert all(step.cost.cpu_s > 0 for step in steps if step.status == "ok")
    assert {step.cost.run_delay_s for step in steps} == {None}
    assert run_figures(run)["run_delay_s"] is None


def test_writer_compactor_and_maintainer_share_a_hudi_table(folder):
    with start(folder, scenario="hudi") as process:
        out, err = process.communicate(timeout=WAIT_S)
    assert process.returncode == 0, out + err
    run = finished(folder, "hudi")
    check(run, {"compactor"})
    assert "ok" in {c.status for c in run.of(CompactionRecord)}
    reasons = [reason for commit in run.of(CommitRecord) for reason in commit.conflicts or ()]
    assert all("Cannot resolve" in reason or "clustering" in reason for reason in reasons)


def finished(folder, scenario):
    runs = [run for run in load_runs(folder / "r") if run.manifest.scenario == scenario]
    (run,) = [run for run in runs if run.end and run.end.status == "finished"]
    return run


def check(run, compactors):
    (content,) = run.of(ContentRecord)
    assert content.status == "equal"
    assert [c.tick for c in run.of(CommitRecord)] == [0, 1, 2, 3, 4, 5, 6]
    assert all(c.conflicts is not None for c in run.of(CommitRecord) if c.tick)
    compactions = run.of(CompactionRecord)
    assert {c.status for c in compactions} <= {"ok", "noop", "conflict", "unfinished", "vetoed"}
    assert {d.role for d in run.of(DecisionRecord)} == compactors
    queries = run.of(QueryRecord)
    assert {(q.when, q.role) for q in queries} == {("due", "reader")}
    figures = run_figures(run)
    assert figures["commit_since_due_max_s"] >= figures["commit_since_due_p50_s"] > 0
    assert figures["query_mean_s"] > 0
