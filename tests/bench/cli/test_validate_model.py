import json
import re
import tarfile
from pathlib import Path

import pytest
from result_builder import build_results

import bench.engines
from bench.results.records import MANIFEST
from tools.publishing import FOLDER

ENGINES = Path(bench.engines.__file__).parent

pytestmark = pytest.mark.usefixtures("wide")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Real runs of a small Delta table."""
    folder = tmp_path_factory.mktemp("results")
    with tarfile.open(FOLDER / "delta-upsert-quick.tar.xz", "r:xz") as tar:
        tar.extractall(folder, filter="data")
    return folder


@pytest.fixture
def validate(compactbench):
    return lambda *words, code=0: compactbench("validate-model", *words, code=code)


def test_errors_of_each_strategy_and_of_choices_are_shown(validate, results):
    printed = validate(results)
    assert "delta-upsert-quick: simulated / real - 1" in printed.out
    for label in ("never", "copy-on-write", "optimize-4min", "reorg-4min"):
        assert f"\n{label} " in printed.out
    assert "format figure n mean error bias a repetition" in printed.words
    assert "scenario queries/h chosen cheapest regret" in printed.words
    assert "4/4 runs" in printed.err
    assert validate(results, "--quiet").err == ""


def test_programs_get_what_people_see(validate, results):
    answer = validate(results, "--format", "json", "-q").json
    errors = {(one["strategy"], one["metric"]): one["error"] for one in answer["figures"]}
    assert errors["never", "files_end"] == 0
    for one in answer["figures"]:
        assert one["error"] == pytest.approx(one["simulated"] / one["real"] - 1)
        assert one["n"] == 3
    assert {one["queries_per_h"] for one in answer["regrets"]} == {1, 10, 100, 1000}
    assert answer["left_out"] == []


def test_other_coefficients_give_other_times_and_the_same_files(validate, results, tmp_path):
    def errors(*words):
        return {
            (one["strategy"], one["metric"]): one["error"]
            for one in validate(results, "--format", "json", "-q", *words).json["figures"]
        }

    shipped = (ENGINES / "delta" / "coefficients.toml").read_text()
    mine = tmp_path / "mine.toml"
    mine.write_text(re.sub(r"(?m)^serial_s = \S+", "serial_s = 7.0", shipped))
    before, after = errors(), errors("--coefficients", mine)
    assert before.keys() == after.keys()
    assert all((before[name] == after[name]) == name[1].endswith(("bytes", "end")) for name in before)


def test_strategies_that_cannot_be_simulated_are_left_out_and_named(validate, results, tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    for run in sorted((results / "delta-upsert-quick").iterdir()):
        (folder / run.name).symlink_to(run)
    left_out = [run for run in folder.iterdir() if "reorg" in run.name]
    for run in left_out:
        manifest = json.loads((run / MANIFEST).read_text())
        events = (run / "events.jsonl").read_bytes()
        run.unlink()
        run.mkdir()
        manifest["scenario_text"]["workload"]["row_filter"] = "x"
        (run / MANIFEST).write_text(json.dumps(manifest))
        (run / "events.jsonl").write_bytes(events)
    printed = validate(folder, "-q")
    assert "delta-upsert-quick, reorg-4min: left out: " in printed.err
    assert "\nnever " in printed.out


def test_without_real_runs_there_is_nothing_to_compare(validate, tmp_path):
    simulated = build_results(tmp_path, {"never": None}, 1, 2, mode="simulated")
    printed = validate(simulated, code=2)
    assert "no usable real runs" in printed.err
