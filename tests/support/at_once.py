"""Runs with a real clock on real tables, as a user starts them, and what they must have recorded."""

import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil

from bench.results.folders import load_runs
from bench.results.records import CommitRecord, CompactionRecord, ContentRecord, DecisionRecord, QueryRecord
from bench.results.rows import run_figures

PROGRAM = Path(sys.executable).parent / "compactbench"
WAIT_S = 300.0

# A commit each 3 seconds and compactions each 6, which the MERGEs make lose now and then.
_SCENARIO = """
seed = 11
duration = "6min"
commit_interval = "1min"
clock = "real"
speed = 20
warm_up_rounds = 1
[table]
format = "{table_format}"
target_file_size = "8MiB"
[workload]
type = "upsert"
initial_rows = 20000
rows_per_commit = 40
files_per_commit = 2
[spark]
driver_memory = "1GiB"
[roles]
oversubscribe = true
reader = {{ rate = "3/min" }}
[[strategies]]
label = "at-once"
writer = {{ upsert_mode = "merge-on-read" }}
[[strategies.rules]]
trigger = {{ type = "every", interval = "2min" }}
planner = {planner}
"""


def written(folder, table_format, planner):
    """A folder with a scenario in which one planner compacts beside MERGEs."""
    text = _SCENARIO.format(table_format=table_format, planner=planner)
    (folder / "at-once.toml").write_text(text)
    return folder


def start(folder, *arguments):
    return subprocess.Popen(
        [PROGRAM, "run", "at-once.toml", "--out", "r", *arguments], cwd=folder, text=True,
        env={**os.environ, "COLUMNS": "200"}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def wait_for_a_commit(folder):
    """Until a commit of the stream has been recorded."""
    until = time.monotonic() + WAIT_S
    while time.monotonic() < until:
        if any('"tick":1' in file.read_text() for file in folder.glob("r/at-once/*/events.jsonl")):
            return
        time.sleep(0.2)


def workers(process):
    """The worker of a run, and then the processes of its roles, each without its JVM."""
    return [one for one in psutil.Process(process.pid).children(recursive=True) if _is_worker(one)]


def _is_worker(process):
    with suppress(psutil.NoSuchProcess):
        return "bench.runs.worker" in process.cmdline()
    return False


def have_ended(processes):
    return not [one for one in processes if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]


def resumed(folder):
    """The run that `--resume` makes anew: each batch is in its table once, and each role has worked."""
    with start(folder, "--resume") as process:
        out, err = process.communicate(timeout=2 * WAIT_S)
    assert process.returncode == 0, out + err
    (run,) = [run for run in load_runs(folder / "r") if run.end and run.end.status == "finished"]
    (content,) = run.of(ContentRecord)
    assert content.status == "equal"
    assert [c.tick for c in run.of(CommitRecord)] == [0, 1, 2, 3, 4, 5, 6]
    assert all(c.conflicts is not None for c in run.of(CommitRecord) if c.tick)
    assert {c.status for c in run.of(CompactionRecord)} <= {"ok", "noop", "conflict", "unfinished"}
    assert len(run.of(DecisionRecord)) >= 1
    queries = run.of(QueryRecord)
    assert {(q.when, q.role) for q in queries} == {("due", "reader")}
    figures = run_figures(run)
    assert figures["commit_since_due_max_s"] >= figures["commit_since_due_p50_s"] > 0
    assert figures["query_mean_s"] > 0
    return run
