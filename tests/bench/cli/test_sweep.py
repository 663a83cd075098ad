import shutil
from pathlib import Path

import pytest
from scenario_builder import write

from bench.results.folders import load_runs
from bench.results.records import MANIFEST

EVERY = "strategies.every-2min.every=1min,2min,3min,4min,5min"


@pytest.fixture
def scenario(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return write(tmp_path)


def test_a_sweep_prints_the_front_and_writes_a_page_with_a_curve(compactbench, scenario, tmp_path):
    printed = compactbench("sweep", scenario, "--over", EVERY)
    assert "demo: the front of 6 strategies" in printed.words
    assert printed.out.splitlines()[-1] == str(tmp_path / "results/sweep/report/index.html")
    assert (tmp_path / "results/sweep/report/charts/curves.svg").exists()
    text = (tmp_path / "results/sweep/report/report.md").read_text()
    assert "Cost, query latency and bytes written" in text
    assert "Individual compactions" not in text


def test_an_interrupted_sweep_goes_on(compactbench, scenario):
    compactbench("sweep", scenario, "--over", EVERY)
    for manifest in sorted(Path("results/sweep").rglob(MANIFEST))[:3]:
        shutil.rmtree(manifest.parent)
    printed = compactbench("sweep", scenario, "--over", EVERY)
    assert "3/3 runs" in printed.err


def test_a_sweep_of_other_scenarios_needs_a_folder_of_its_own(compactbench, scenario):
    compactbench("sweep", scenario, "--over", "workload.rows_per_commit=80,800")
    printed = compactbench("sweep", scenario, "--over", EVERY, code=2)
    assert "demo-rows-per-commit-80 and demo-rows-per-commit-800, which are not in this sweep" in printed.err
    compactbench("sweep", scenario, "--over", EVERY, "--out", "results/other")


def test_cells_that_do_the_same_are_shown_once(compactbench, scenario, tmp_path):
    files = "strategies.every-2min.options.min-input-files=2,3,4"
    compactbench("sweep", scenario, "--over", files)
    text = (tmp_path / "results/sweep/report/report.md").read_text()
    assert "2 strategies have the very figures of another one" in text
    cells = [f"every-2min min-input-files={count}" for count in (2, 3, 4)]
    assert f"`{cells[1]} and {cells[2]} like {cells[0]}`" in text
    rows = compactbench("show", "results/sweep", "--format", "json").json["rows"]
    assert len(rows) == 4


def test_each_value_of_the_scenario_has_an_answer_of_its_own(compactbench, scenario):
    printed = compactbench("sweep", scenario, "--over", "workload.rows_per_commit=80,800")
    assert "demo-rows-per-commit-80: the front of 2 strategies" in printed.words
    assert "demo-rows-per-commit-800: the front of 2 strategies" in printed.words


def test_a_mistake_is_one_line(compactbench, scenario):
    printed = compactbench("sweep", scenario, "--over", "strategies.often.every=1min", code=2)
    assert "no such strategy" in printed.err
    assert len(printed.err.splitlines()) == 1


def test_the_command_that_is_stored_hides_secrets_of_several_words(compactbench, scenario, tmp_path):
    words = ("--set", 'spark."spark.my.password"=a b', "--over", "strategies.every-2min.every=2min,5min")
    compactbench("sweep", scenario, *words)
    (command,) = {run.manifest.command for run in load_runs(tmp_path / "results/sweep")}
    assert """ --set 'spark."spark.my.password"=(hidden)' --over """ in command
