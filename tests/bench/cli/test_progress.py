import io
import re
from pathlib import Path

import pytest
from records import commit, compaction, end, observed, query, run
from rich.console import Console
from scenario_builder import load

from bench.cli.progress import SuiteProgress, doing
from bench.results.records import CompactionRecord, ObserveRecord, PhaseRecord, WarmUpRecord
from bench.runs.live_figures import LiveFigures
from bench.runs.suite.cases import plan_runs

STEP = {"tick": 0, "at_ms": 0, "written_utc": "2026-01-05T09:00:00Z"}
ENGINE_STARTED, WARM = (PhaseRecord(**STEP, name=name) for name in ("start_engine", "warm_up"))


@pytest.fixture
def clock():
    """A clock that stands still until a test moves its `now_s`."""

    def clock():
        return clock.now_s

    clock.now_s = 100.0
    return clock


@pytest.fixture
def planned(tmp_path):
    """Two runs of the sound scenario, 10 commits each."""
    return plan_runs([load(tmp_path)], (), 1, ())


@pytest.fixture
def simulated(tmp_path):
    return plan_runs([load(tmp_path)], (), 1, (), mode="simulated")


def suite_of(planned, clock, *, is_terminal=True, quiet=False, width=80):
    """A progress and what its console has printed."""
    printed = io.StringIO()
    console = Console(file=printed, force_terminal=is_terminal, width=width, color_system=None)
    return SuiteProgress(planned, console, quiet=quiet, clock=clock), printed


def shown(progress, width=80):
    """The lines of a terminal at this moment."""
    console = Console(file=io.StringIO(), force_terminal=True, width=width, color_system=None)
    console.print(progress.get_renderable())
    return console.file.getvalue().splitlines()


@pytest.fixture
def send():
    """Tells a progress of records of a run."""
    figures = {}

    def send(progress, planned_run, *records):
        known = figures.setdefault(id(planned_run), LiveFigures(planned_run.mode))
        for record in records:
            known.add(type(record), dict(record))
            progress.run_progressed(planned_run, known)

    return send


def test_phases_before_the_first_commit_are_named(planned, clock, send):
    progress, _ = suite_of(planned, clock)
    progress.log_started("demo")
    assert "looking in the cache" in shown(progress)[-1]
    progress.log_progressed("demo", 0, 10)
    assert "starting Spark" in shown(progress)[-1]
    progress.log_progressed("demo", 3, 10)
    assert "demo 3/10 commits" in shown(progress)[1]
    progress.log_ended("demo", 10)
    progress.run_started(planned[0])
    assert "0/2 runs" in shown(progress)[0]
    assert "never #1 0/10 commits" in shown(progress)[1]
    assert shown(progress)[-1].strip() == "starting Spark"
    for record, status in ((ENGINE_STARTED, "warming up"), (WARM, "creating the table")):
        send(progress, planned[0], record)
        assert shown(progress)[-1].strip() == status


def test_roles_that_warm_up_at_the_same_time_are_told(planned, clock, send):
    progress, _ = suite_of(planned, clock)
    progress.run_started(planned[0])
    warmed_up = WarmUpRecord(**STEP, role="writer", planner="", round=1, commits_count=1, acted=False)
    send(progress, planned[0], observed(after="initial", data_files_count=8), warmed_up)
    assert shown(progress)[-1].strip() == "warming up"
    send(progress, planned[0], observed(data_files_count=16))
    assert shown(progress)[-1].strip() == "16 files, 0 compactions"


@pytest.mark.parametrize("progressed", [(), ((0, 10), (3, 10)), ((0, 10), (10, 10))])
def test_the_change_log_ends_whatever_was_seen_of_it(planned, clock, progressed):
    progress, printed = suite_of(planned, clock)
    progress.log_started("demo")
    for done, total in progressed:
        progress.log_progressed("demo", done, total)
    clock.now_s += 12
    progress.log_ended("demo", 10)
    (line,) = printed.getvalue().splitlines()
    assert ("12 s" in line, "cache" in line) == (bool(progressed), not progressed)
    assert len(shown(progress)) == 1  # its bar is gone
    progress.log_started("other")
    assert "commits" not in shown(progress)[1]  # how many there will be is not known yet


@pytest.mark.parametrize("status", ["finished", "failed"])
def test_the_suite_ends_at_its_total_even_if_runs_fail(planned, clock, send, status):
    progress, printed = suite_of(planned, clock)
    for planned_run in planned:
        progress.run_started(planned_run)
        send(progress, planned_run, ENGINE_STARTED)
        clock.now_s += 30
        error = "out of memory" if status == "failed" else None
        progress.run_ended(planned_run, run(commit(), end(status, error=error)))
    (line,) = shown(progress)
    assert line.startswith("all 2/2 runs " + "━" * 24)
    assert printed.getvalue().splitlines()[-1].endswith("runs in 1 min")
    assert printed.getvalue().count("FAILED: out of memory") == (2 if status == "failed" else 0)


def test_the_bar_of_a_run_counts_its_commits_and_what_is_left_is_estimated(planned, clock, send):
    progress, _ = suite_of(planned, clock)
    progress.run_started(planned[0])
    initial = (commit(is_initial=True), observed(after="initial", data_files_count=8))
    send(progress, planned[0], ENGINE_STARTED, WARM, *initial)
    for tick in range(1, 6):
        clock.now_s += 4
        send(progress, planned[0], observed(tick=tick, data_files_count=8), query(0.094))
    first, second, status = shown(progress)
    # A run is 10 commits of 4 s here, and its start weighs as much as 15: 30 steps are left.
    assert re.search(r"0/2 runs +━+╸? +0:00:20 0:02:00$", first.rstrip())
    assert re.search(r"demo never #1 5/10 commits +━{12} +0:00:20 0:00:2\d$", second.rstrip())
    assert status.rstrip() == "8 files, last query 94 ms, 0 compactions"
    send(progress, planned[0], *(observed(tick=tick) for tick in range(6, 11)))
    assert "checking the content" in shown(progress)[-1]


@pytest.mark.parametrize("width", [5, 40, 60, 80, 120])
def test_every_line_fits_the_terminal(planned, clock, send, width):
    progress, _ = suite_of(planned, clock)
    progress.run_started(planned[0])
    send(progress, planned[0], ENGINE_STARTED, WARM, observed(data_files_count=1440), compaction(cpu_s=90))
    lines = shown(progress, width)
    assert len(lines) == 3
    assert all(len(line) <= width for line in lines)
    assert width < 40 or "1/10 commits" in lines[1]


def test_without_a_terminal_each_event_is_a_plain_line(planned, clock, send):
    progress, printed = suite_of(planned, clock, is_terminal=False)
    with progress:
        progress.log_started("demo")
        progress.log_progressed("demo", 0, 10)
        progress.log_progressed("demo", 1, 10)
        progress.log_ended("demo", 10)
        for planned_run in planned:
            progress.run_started(planned_run)
            send(progress, planned_run, observed(data_files_count=1))
            progress.run_ended(planned_run, run(commit(), end()))
    assert printed.getvalue().splitlines() == [
        "change log of demo: looking in the cache",
        "change log of demo: starting Spark to write 10 commits",
        "change log of demo: 10 commits, written in 0 s",
        "demo never #1 (run 1 of 2): starting Spark and warming up",
        "demo never #1: 0 s; 1 file, 0 compactions",
        "demo every-2min #1 (run 2 of 2): starting Spark and warming up",
        "demo every-2min #1: 0 s; 1 file, 0 compactions",
        "all: 2/2 runs in 0 s",
    ]  # fmt: skip


def test_a_simulation_is_marked_and_starts_no_spark(simulated, clock, send):
    progress, printed = suite_of(simulated, clock, is_terminal=False)
    progress.run_started(simulated[0])
    send(progress, simulated[0], observed(data_files_count=3))
    progress.run_ended(simulated[0], run(commit(), end()))
    started, ended = printed.getvalue().splitlines()
    assert "Spark" not in started
    assert all(part in ended for part in ("simulated in 0 s", "modelled: 3 files"))


def test_quiet_prints_failures_only(planned, clock):
    progress, printed = suite_of(planned, clock, quiet=True)
    with progress:
        progress.log_started("demo")
        progress.log_ended("demo", 10)
        progress.run_started(planned[0])
        progress.run_ended(planned[0], run(commit(), end()))
        progress.run_started(planned[1])
        progress.run_ended(planned[1], run(end("failed", error="no space")))
    (line,) = printed.getvalue().splitlines()
    assert "FAILED: no space" in line
    assert Path(line.rpartition("see ")[2]).name == "log.txt"


def test_a_terminal_shows_lines_and_clears_them(planned, clock):
    progress, printed = suite_of(planned, clock)
    with progress:
        progress.run_started(planned[0])
        progress.refresh()
    assert "0/10 commits" in printed.getvalue()
    assert printed.getvalue().endswith("\x1b[2K")  # the last line is erased


@pytest.mark.parametrize("is_terminal", [True, False])
def test_preparations_are_named_unless_quiet(monkeypatch, is_terminal):
    console = Console(file=io.StringIO(), force_terminal=is_terminal, width=80)
    monkeypatch.setattr("bench.cli.progress.ERR", console)
    with doing("checking disk", quiet=True):
        pass
    with doing("checking Java"):
        pass
    assert "checking Java" in console.file.getvalue()
    assert "checking disk" not in console.file.getvalue()


def test_compactions_are_counted_by_their_status():
    figures = LiveFigures()
    figures.add(ObserveRecord, dict(observed(data_files_count=1)))
    figures.add(CompactionRecord, dict(compaction(status="ok", cpu_s=1.5)))
    assert figures.text().split(", ") == ["1 file", "1 compaction (1.5 s CPU)"]
    for status, cpu_s in (("noop", 0.0), ("failed", 1.0), ("vetoed", 0.0)):
        figures.add(CompactionRecord, dict(compaction(status=status, cpu_s=cpu_s)))
    assert figures.text().split(", ") == [
        "1 file", "3 compactions", "2 of them FAILED", "1 that had nothing to do (2.5 s CPU)",
    ]  # fmt: skip
