"""Long simulations in processes side by side: the same results, and no process is left."""

import os
import sys
from contextlib import suppress

import pytest
from scenario_builder import SOUND, load, write

from bench.results.folders import load_run
from bench.runs.suite import side_by_side
from bench.runs.suite.cases import plan_runs
from bench.runs.suite.suite import Options, run_suite
from bench.scenario.load import load_scenario

pytestmark = pytest.mark.processes

PLANNER = """
import os
from dataclasses import dataclass

@dataclass(frozen=True)
class Mine:
    dies: bool = False

    def decide(self, state):
        if self.dies:
            print("out of memory", flush=True)
            os.kill(os.getpid(), 9)
        raise RuntimeError("refused")
"""
RULE = (
    '[[strategies]]\nlabel = "{}"\nrules = [{{ trigger = {{ type = "after_commits", commits = 1 }}, '
    'planner = {{ type = "mine_side_by_side:Mine", dies = {} }} }}]\n'
)


class Listener:
    """Keeps what it is told of runs."""

    def __init__(self):
        self.started, self.ended, self.figures = [], {}, {}

    def run_started(self, run):
        self.started.append(run.spec.label)

    def run_progressed(self, run, figures):
        self.figures[run.spec.label] = figures

    def run_ended(self, run, result):
        self.ended[run.spec.label] = result


@pytest.fixture
def make(tmp_path, monkeypatch):
    """Makes the runs of a scenario: the results by strategy, and what was told of them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def make(scenario, out, commits_min, listener=None):
        monkeypatch.setattr(side_by_side, "COMMITS_MIN", commits_min)
        listener = listener or Listener()
        planned = plan_runs([scenario], [], 1, (), mode="simulated")
        results = run_suite(planned, Options(tmp_path / out), listener)
        return {result.manifest.strategy: result for result in results}, listener

    return make


def comparable(result):
    moment = {"written_utc", "loop_s", "own_s", "records_sha256"}
    return [record.model_dump(exclude=moment) for record in load_run(result.folder).records]


def test_processes_side_by_side_leave_the_same_records(make, tmp_path):
    scenario = load(tmp_path)
    here, _ = make(scenario, "here", 10**9)
    beside, told = make(scenario, "beside", 0)
    assert set(told.started) == set(told.ended) == set(here) == set(beside)
    for label, result in here.items():
        assert comparable(result) == comparable(beside[label])
    assert all(figures.steps <= scenario.commits_count for figures in told.figures.values())
    assert list((tmp_path / "beside" / ".work").iterdir()) == []


def test_a_run_that_fails_or_dies_stands_for_itself(make, tmp_path, monkeypatch):
    (tmp_path / "mine_side_by_side.py").write_text(PLANNER)
    text = SOUND + RULE.format("fails", "false") + RULE.format("dies", "true")
    try:
        results, _ = make(load_scenario(write(tmp_path, text)), "out", 0)
    finally:
        sys.modules.pop("mine_side_by_side", None)
    assert results["never"].finished
    assert results["fails"].end.error == "RuntimeError: refused (rule 1 of strategy fails)"
    assert "refused" in (results["fails"].folder / "log.txt").read_text()
    assert results["dies"].end.error.startswith("the worker ended with exit code -9 (killed")
    assert results["dies"].end.error.endswith(": out of memory")
    assert load_run(results["dies"].folder).end.status == "failed"


def test_an_interruption_ends_all_processes(make, tmp_path, monkeypatch):
    started = []

    class Interrupted(Listener):
        def run_progressed(self, run, figures):
            raise KeyboardInterrupt

    start = side_by_side._start

    def noted(*arguments):
        started.append(start(*arguments))
        return started[-1]

    monkeypatch.setattr(side_by_side, "_start", noted)
    with pytest.raises(KeyboardInterrupt):
        make(load(tmp_path, duration="2d"), "out", 0, Interrupted())
    assert started
    for run in started:
        with suppress(ProcessLookupError):
            os.kill(run.process.pid, 0)
            pytest.fail("a process is left")
