"""`compactbench` as a user runs it: real processes, a stream of three commits of four files each."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from bench.results.agreement import side_by_side
from bench.results.folders import load_runs
from bench.results.records import (
    EVENTS,
    CommitRecord,
    CompactionRecord,
    ContentRecord,
    ControlRecord,
    DecisionRecord,
    SpeedRecord,
    WarmUpRecord,
)
from bench.results.rows import content_of

pytestmark = pytest.mark.spark

PROGRAM = Path(sys.executable).parent / "compactbench"
WAIT_S = 600.0  # a slow machine is no failure

PLANNER = '''
from dataclasses import dataclass

from strategies.plan import Compact, Plan, Reason


@dataclass(frozen=True)
class {name}:
    """Compacts a table of at least `files` files."""

    files: int

    def decide(self, state):
        if len(state.data_files) < self.files:
            return None
        return Plan((Compact(None, {{"min-input-files": "2"}}),), Reason.OTHER, "enough files")
'''

SCENARIO = """
seed = 11
duration = "3min"
commit_interval = "1min"
warm_up_rounds = 1
[table]
format = "iceberg"
target_file_size = "8MiB"
[workload]
type = "append"
rows_per_commit = 40
files_per_commit = 4
[spark]
driver_memory = "1GiB"
"spark.hadoop.fs.s3a.secret.key" = "Zq7planted"
"spark.my.javaOptions" = "-Duser.timezone=UTC -Dpassword=Zq7option"
[[strategies]]
label = "never"
[[strategies]]
label = "mine"
[[strategies.rules]]
trigger = { type = "after_commits", commits = 1 }
planner = { type = "my_planner:Mine", files = 6 }
[[strategies]]
label = "installed"
[[strategies.rules]]
trigger = { type = "after_commits", commits = 1 }
planner = { type = "tidy", files = 1 }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A working folder with a scenario and a planner, and another planner installed by entry point."""
    made = tmp_path_factory.mktemp("user")
    (made / "tiny.toml").write_text(SCENARIO)
    (made / "my_planner.py").write_text(PLANNER.format(name="Mine"))
    info = made / "site" / "tidy_tables-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tidy-tables\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[compactbench.strategies]\ntidy = tidy_tables:Tidy\n")
    (made / "site" / "tidy_tables.py").write_text(PLANNER.format(name="Tidy"))
    return made


@pytest.fixture(scope="module")
def start(folder):
    """Starts `compactbench` with arguments in the working folder."""
    environment = {**os.environ, "PYTHONPATH": str(folder / "site"), "COLUMNS": "200"}

    def start(*arguments):
        return subprocess.Popen(
            [PROGRAM, *map(str, arguments)], cwd=folder, env=environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    return start


@pytest.fixture(scope="module")
def compactbench(start):
    """Runs `compactbench` to its end: exit code, stdout, stderr."""

    def run(*arguments):
        with start(*arguments) as process:
            out, err = process.communicate(timeout=3 * WAIT_S)
        return process.returncode, out, err

    return run


def rows_of(compactbench, out):
    code, printed, _ = compactbench("show", out, "--format", "json")
    assert code == 0
    return {row["strategy"]: row for row in json.loads(printed)["rows"]}


def test_a_suite_runs_every_strategy_of_ones_own_and_never(compactbench, folder):
    code, suite_output, err = compactbench("run", "tiny.toml", "--out", "results")
    assert code == 0, err
    assert "next: compactbench report" in suite_output
    assert "Traceback" not in err
    runs = {run.manifest.strategy: run for run in load_runs(folder / "results")}
    assert set(runs) == {"never", "mine", "installed"}

    rows = rows_of(compactbench, "results")
    outcomes = {
        label: [row[key] for key in ("runs", "failed", "content", "compactions", "files_end")]
        for label, row in rows.items()
    }
    # `mine` acts from 6 files on: 4, then 8 become 1, then 5. `installed` acts at each commit.
    assert outcomes == {
        "never": [1, 0, "equal", 0, 12],
        "mine": [1, 0, "equal", 1, 5],
        "installed": [1, 0, "equal", 3, 1],
    }
    assert len({row["content_bytes"] for row in rows.values()}) == 1
    assert all(row["write_amplification"] > 1 < row["space_amplification"] for row in rows.values())
    never, mine = rows["never"], rows["mine"]
    assert 0 == never["evaluation_cpu_s"] < mine["evaluation_cpu_s"]
    assert (
        never["commit_added_bytes"] == mine["commit_added_bytes"] == rows["installed"]["commit_added_bytes"]
    )
    assert never["compaction_s"] == 0 < mine["compaction_s"]
    assert mine["query_before_s"] > 0
    assert mine["query_after_s"] > 0
    assert never["query_before_s"] is None

    for run in runs.values():
        assert run.finished
        assert run.of(WarmUpRecord)
        assert [c.rows for c in run.of(CommitRecord)] == [40, 40, 40]
        assert [t.status for t in run.of(ContentRecord)] == ["equal"]
        assert run.of(ContentRecord)[0].expected_rows == 120
        controls = run.of(ControlRecord)
        assert [c.tick for c in controls] == [1, 2, 3]
        assert all(c.cost.wall_s > 0 for c in controls)
        assert [s.tick for s in run.of(SpeedRecord) if s.cost.cpu_s > 0] == [1, 2, 3]
        # The content in one file, without the footers of the twelve that were committed.
        assert 0 < run.end.content_bytes < sum(c.change.added_bytes for c in run.of(CommitRecord)) / 2
        assert not run.end.timings_invalid
        assert run.end.own_s < run.end.loop_s
        assert sum(count for _, count in run.end.file_sizes) == rows[run.manifest.strategy]["files_end"]
        assert run.manifest.versions["iceberg"] == "1.11.0"
    assert [d.status for d in runs["mine"].of(DecisionRecord)] == [
        "nothing_to_do",
        "planned",
        "nothing_to_do",
    ]
    assert len({run.manifest.change_log_hash for run in runs.values()}) == 1
    assert not (folder / "results" / ".work").exists() or not list((folder / "results" / ".work").iterdir())
    assert "Zq7" not in suite_output + err
    files = [file for file in (folder / "results").rglob("*") if file.is_file()]
    assert len(files) > 9
    assert not [file for file in files if b"Zq7" in file.read_bytes()]
    spark = runs["mine"].manifest.options["spark"]
    assert spark["spark.hadoop.fs.s3a.secret.key"] == "(hidden)"
    assert spark["spark.my.javaOptions"] == "-Duser.timezone=UTC -Dpassword=(hidden)"

    code, _, err = compactbench("run", "tiny.toml", "--out", "results")
    assert code == 2
    assert "--resume" in err
    before = sorted(folder.glob("results/tiny/*"))
    code, _, _ = compactbench("run", "tiny.toml", "--out", "results", "--resume")
    assert code == 0  # there is nothing left to do
    assert sorted(folder.glob("results/tiny/*")) == before


def test_forecast_and_simulation_agree_with_what_was_done(compactbench, folder):
    """Needs the results of the test before."""
    done = [c for run in load_runs(folder / "results") for c in run.of(CompactionRecord)]
    assert len(done) == 4
    for c in done:
        exact = {
            name: getattr(c.change, name)
            for name in ("files_removed_count", "files_added_count", "replaced_bytes")
        }
        assert {name: c.forecast[name] for name in exact} == exact
        assert c.forecast["added_bytes"] == pytest.approx(c.change.added_bytes, rel=0.1)
        assert c.answer["rewritten_data_files_count"] == c.change.files_removed_count
        assert c.answer["added_data_files_count"] == c.change.files_added_count
        assert c.answer["rewritten_bytes_count"] == c.change.replaced_bytes

    code, _, err = compactbench("run", "tiny.toml", "--out", "results", "--simulate")
    assert code == 0, err
    pairs = side_by_side(load_runs(folder / "results"))
    assert {pair.strategy for pair in pairs} == {"never", "mine", "installed"}
    assert len(pairs) == 9
    assert all(pair.same_decision and pair.same_files for pair in pairs)


def test_a_suite_that_is_stopped_leaves_no_process_and_is_resumed(compactbench, start, folder):
    out = folder / "stopped"
    options = (
        "run", "tiny.toml", "--out", out, "--only", "strategy=mine", "--verify", "each", "--keep-tables",
    )  # fmt: skip

    interrupted = start(*options)
    first_commit(out)
    interrupted.send_signal(signal.SIGINT)
    _, err = interrupted.communicate(timeout=WAIT_S)
    assert interrupted.returncode == 130
    assert "Traceback" not in err
    wait_until(lambda: not processes_of(out))
    (run,) = load_runs(out)
    assert run.end is None  # cut off, not failed

    code, _, err = compactbench(*options, "--resume")
    assert code == 0, err
    assert len(load_runs(out)) == 2
    rows = rows_of(compactbench, out)
    counts = {label: [row[key] for key in ("runs", "failed", "interrupted")] for label, row in rows.items()}
    assert counts == {"mine": [1, 0, 0]}
    (mine,) = (run for run in load_runs(out) if run.finished)
    assert (content_of(mine), mine.end.timings_invalid) == ("equal", True)
    # Checked after its compaction and at the end: exact figures stay, timings go.
    assert [(t.tick, t.status, t.expected_rows) for t in mine.of(ContentRecord)] == [
        (2, "equal", 80),
        (3, "equal", 120),
    ]
    assert [c.status for c in mine.of(CompactionRecord)] == ["ok"]
    assert rows["mine"]["files_end"] == 5
    assert rows["mine"]["compaction_s"] is rows["mine"]["query_mean_s"] is None

    kept = list(out.glob("tiny/*/tables"))
    assert len([tables for tables in kept if list(tables.rglob("*.parquet"))]) >= 2
    code, printed, _ = compactbench("clean", out, "--dry-run")
    assert code == 0
    assert printed.count("/tables (") == printed.count("would remove") == len(kept)
    assert list(out.glob("tiny/*/tables")) == kept
    code, printed, _ = compactbench("clean", out)
    assert code == 0
    assert printed.count("/tables (") == printed.count("removed") == len(kept)
    assert not list(out.glob("tiny/*/tables"))
    assert len(load_runs(out)) == 2


def first_commit(out):
    """Waits until a run has committed. (Commands that are killed are what `make torture` is for.)"""
    wait_until(
        lambda: any(
            '"kind":"commit"' in events.read_text().replace(" ", "")
            for events in out.glob(f"tiny/*/{EVENTS}")
        )
    )


def wait_until(condition):
    until_s = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < until_s
        time.sleep(0.1)


def processes_of(out):
    """What runs that has the results folder in its command line: workers and their JVMs."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        if any(str(out) in part for part in process.info["cmdline"] or ()):
            found.append(process)
    return found
