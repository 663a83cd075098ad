"""Quick suites: the runs of a scenario in one worker, here of simulated tables, which need no JVM."""

import sys

import pytest
from refused import refused
from scenario_builder import SOUND, write

from bench.cli.main import main
from bench.results.folders import load_runs
from bench.results.records import LOG
from bench.runs.jobs import RunJob, SentScenario
from bench.runs.suite.cases import plan_runs
from bench.runs.suite.shared_jvm import run_in_one_jvm
from bench.scenario.load import load_scenario

pytestmark = pytest.mark.processes

PLANNER = '''
import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Mine:
    """Raises an error, or ends its process."""

    fails: bool = False
    dies: bool = False

    def decide(self, state):
        if self.dies:
            print("out of memory", flush=True)
            os.kill(os.getpid(), 9)
        if self.fails:
            raise RuntimeError("refused")
'''
RULE = (
    'rules = [{{ trigger = {{ type = "after_commits", commits = 1 }}, '
    'planner = {{ type = "mine_of_shared_jvm:Mine", {} = true }} }}]\n'
)
LABELS = ("never", "fails", "every-2min", "dies")


class Listener:
    """Keeps what it is told of runs."""

    def __init__(self):
        self.told = []

    def run_started(self, run):
        self.told.append(("started", run.spec.label))

    def run_progressed(self, run, record):
        self.told.append(("progressed", run.spec.label))

    def run_ended(self, run, result):
        self.told.append((result.end.status, run.spec.label))


@pytest.fixture
def make(tmp_path, monkeypatch):
    """Makes runs of strategies in this order; returns the results and what was told of them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "mine_of_shared_jvm.py").write_text(PLANNER)
    text = SOUND + "".join(
        f'[[strategies]]\nlabel = "{label}"\n{RULE.format(label)}' for label in ("fails", "dies")
    )
    file = write(tmp_path, text)
    scenario = load_scenario(file)

    def job(run):
        folder, work = tmp_path / "demo" / run.spec.label, tmp_path / "work" / run.spec.label
        folder.mkdir(parents=True)
        work.mkdir(parents=True)
        return RunJob(
            scenario=SentScenario.of(scenario), work_folder=work,
            run_folder=folder, run_id=folder.name, suite_id="suite", mode="simulated",
            strategy=run.spec.label, repetition=1, position=run.position, log_folder=None, coefficients=None,
            verify="off", command="", keep_tables=False, shares_jvm=True,
        )  # fmt: skip

    def run(*labels):
        planned = [plan_runs([scenario], [label], 1, (), mode="simulated")[0] for label in labels]
        listener = Listener()
        return run_in_one_jvm([(run, job(run)) for run in planned], listener), listener.told

    yield run
    sys.modules.pop("mine_of_shared_jvm", None)


def test_runs_follow_each_other_and_one_that_fails_stands_for_itself(make, tmp_path):
    results, told = make("never", "fails", "every-2min")
    assert [run.end.status for run in results] == ["finished", "failed", "finished"]
    assert "refused" in results[1].end.error
    ends = [event for event in told if event[0] != "progressed"]
    assert ends == [
        ("started", "never"), ("finished", "never"), ("started", "fails"), ("failed", "fails"),
        ("started", "every-2min"), ("finished", "every-2min"),
    ]  # fmt: skip
    assert all(run.manifest.is_quick for run in results)
    assert list((tmp_path / "work").iterdir()) == []


def test_after_a_worker_that_died_nothing_is_left_of_what_was_not_made(make, tmp_path):
    results, told = make("never", "dies", "every-2min")
    assert [run.end.status for run in results] == ["finished", "failed"]
    assert results[1].end.error.startswith("the worker ended with exit code -9")
    assert [event for event in told if event[0] != "progressed"][-1] == ("failed", "dies")
    assert sorted(folder.name for folder in (tmp_path / "demo").iterdir()) == ["dies", "never"]
    assert "out of memory" in (results[0].folder / LOG).read_text()
    assert len(load_runs(tmp_path / "demo")) == 2


def test_a_run_that_cannot_start_ends_the_suite_with_its_reason(make, tmp_path):
    (tmp_path / "mine_of_shared_jvm.py").unlink()  # the suite has loaded it; the worker cannot
    with refused("run-not-started") as caught:
        make("never", "every-2min")
    assert "mine_of_shared_jvm" in str(caught.value)
    assert [folder.name for folder in (tmp_path / "demo").iterdir()] == ["never"]


@pytest.fixture
def run(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        code = main(["run", write(tmp_path), "--out", "results", *arguments])
        return code, capsys.readouterr().err

    return call


def test_a_simulation_has_no_jvm_to_share(run):
    code, err = run("--quick", "--simulate")
    assert code == 2
    assert "--quick and --simulate: " in err
