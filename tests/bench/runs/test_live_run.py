"""A real clock on real tables, as a user runs it: each role is a process with a Spark session of its own."""

import itertools
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from bench.results.folders import load_runs
from bench.results.records import CommitRecord, CompactionRecord, ContentRecord, DecisionRecord, QueryRecord
from bench.results.rows import run_figures

pytestmark = [pytest.mark.spark, pytest.mark.processes]

PROGRAM = Path(sys.executable).parent / "compactbench"
WAIT_S = 300.0

# A commit each 3 seconds.
SCENARIO = """
seed = 11
duration = "6min"
commit_interval = "1min"
clock = "real"
speed = 20
warm_up_rounds = 1
[workload]
type = "upsert"
initial_rows = 20000
rows_per_commit = 40
files_per_commit = 2
[spark]
driver_memory = "1GiB"
[roles]
oversubscribe = true
reader = { rate = "3/min" }
[table]
target_file_size = "8MiB"
"""
# Two compactors that want the table each 6 seconds. MERGEs make them lose now and then.
ICEBERG = """
format = "iceberg"
[roles.compactor]
count = 2
[[strategies]]
label = "all-deletes"
writer = { upsert_mode = "merge-on-read" }
[[strategies.rules]]
trigger = { type = "every", interval = "2min" }
planner = { type = "iceberg.rewrite_data_files", options = { "delete-file-threshold" = 1 } }
"""
# Compactions do not lose, and commits lose to clusterings. A cleaning rolls back what was begun in vain.
HUDI = """
format = "hudi"
index = "simple"
[[maintenance]]
trigger = { type = "every", interval = "2min" }
planner = { type = "hudi.clean", retain_commits = 2 }
[[strategies]]
label = "compact-and-cluster"
[[strategies.rules]]
trigger = { type = "every", interval = "3min" }
planner = { type = "hudi.clustering" }
[[strategies.rules]]
trigger = { type = "every", interval = "1min" }
planner = { type = "hudi.compaction" }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("user")
    (made / "at-once.toml").write_text(SCENARIO + ICEBERG)
    (made / "hudi-at-once.toml").write_text(SCENARIO + HUDI)
    return made


def start(folder, *arguments, scenario="at-once"):
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


def has_committed(folder):
    """Whether a commit of the stream has been recorded."""
    events = folder.glob("r/at-once/*/events.jsonl")
    return any('"tick":1' in file.read_text() for file in events)


def test_a_killed_role_ends_its_run_and_resume_makes_it_anew_with_equal_content(folder):
    with start(folder) as process:
        until = time.monotonic() + WAIT_S
        while not has_committed(folder) and time.monotonic() < until:
            time.sleep(0.2)
        found = roles(process)
        found[-1].send_signal(signal.SIGKILL)
        out, err = process.communicate(timeout=WAIT_S)
    assert process.returncode == 1, err
    assert "failed: it ended with exit code -9" in out + err
    assert not [p for p in found if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]

    with start(folder, "--resume") as process:
        out, err = process.communicate(timeout=2 * WAIT_S)
    assert process.returncode == 0, err
    check(finished(folder, "at-once"))


def test_writer_compactor_and_maintainer_share_a_hudi_table(folder):
    with start(folder, scenario="hudi-at-once") as process:
        out, err = process.communicate(timeout=2 * WAIT_S)
    assert process.returncode == 0, out + err
    run = finished(folder, "hudi-at-once")
    check(run)
    assert "ok" in {c.status for c in run.of(CompactionRecord)}
    reasons = [reason for commit in run.of(CommitRecord) for reason in commit.conflicts or ()]
    assert all("Cannot resolve" in reason or "clustering" in reason for reason in reasons)


def finished(folder, scenario):
    runs = [run for run in load_runs(folder / "r") if run.manifest.scenario == scenario]
    (run,) = [run for run in runs if run.end and run.end.status == "finished"]
    return run


def check(run):
    (content,) = run.of(ContentRecord)
    assert content.status == "equal"
    assert [c.tick for c in run.of(CommitRecord)] == [0, 1, 2, 3, 4, 5, 6]
    assert all(c.conflicts is not None for c in run.of(CommitRecord) if c.tick)
    compactions = run.of(CompactionRecord)
    assert {c.status for c in compactions} <= {"ok", "noop", "conflict", "unfinished", "vetoed"}
    assert {d.role for d in run.of(DecisionRecord)} == {"compactor-1", "compactor-2"}
    spans = sorted((c.span.started_s, c.span.ended_s) for c in compactions if c.status != "vetoed")
    assert len(spans) >= 2
    assert all(earlier[1] <= later[0] for earlier, later in itertools.pairwise(spans))
    queries = run.of(QueryRecord)
    assert {(q.when, q.role) for q in queries} == {("due", "reader")}
    figures = run_figures(run)
    assert figures["commit_since_due_max_s"] >= figures["commit_since_due_p50_s"] > 0
    assert figures["query_mean_s"] > 0
