import json
import re
import shutil
import tarfile
from pathlib import Path

import pytest
import tomlkit
from result_builder import build_results

import bench.engines
from bench.engines.delta.model.table import DeltaTableModel
from bench.results.folders import load_runs
from bench.results.records import MANIFEST
from bench.runs.resimulation import fixed_work_cpu_s
from tools.publishing import FOLDER

ENGINES = Path(bench.engines.__file__).parent

pytestmark = pytest.mark.usefixtures("wide")


@pytest.fixture
def validate(compactbench):
    return lambda *words, code=0: compactbench("validate-model", *words, code=code)


def test_errors_of_each_strategy_and_of_choices_are_shown(validate, delta_upserts):
    printed = validate(delta_upserts)
    assert "delta-upsert-quick: error of the simulation" in printed.out
    for label in ("never", "copy-on-write", "optimize-4min", "reorg-4min"):
        assert f"\n{label} " in printed.out
    assert "format figure strategies mean error bias a repetition in interval" in printed.words
    assert "scenario queries/h chosen cheapest regret at random runs" in printed.words
    assert "4/4 runs" in printed.err
    assert validate(delta_upserts, "--quiet").err == ""


def test_programs_get_what_people_see(validate, delta_upserts):
    answer = validate(delta_upserts, "--format", "json", "-q").json
    errors = {(one["strategy"], one["metric"]): one["error"] for one in answer["figures"]}
    assert errors["never", "files_end"] == 0
    for one in answer["figures"]:
        assert one["error"] == pytest.approx(one["simulated"] / one["real"] - 1)
        assert one["repetitions"] == 3
    assert {one["queries_per_h"] for one in answer["regrets"]} == {1, 10, 100, 1000}
    assert answer["left_out"] == []


def test_other_coefficients_give_other_times_and_the_same_files(validate, delta_upserts, tmp_path):
    def errors(*words):
        return {
            (one["strategy"], one["metric"]): one["error"]
            for one in validate(delta_upserts, "--format", "json", "-q", *words).json["figures"]
        }

    shipped = (ENGINES / "delta" / "coefficients.toml").read_text()
    mine = tmp_path / "mine.toml"
    mine.write_text(re.sub(r"(?m)^s = \S+", "s = 7.0", shipped))
    before, after = errors(), errors("--coefficients", mine)
    assert before.keys() == after.keys()
    assert all((before[name] == after[name]) == name[1].endswith(("bytes", "end")) for name in before)


def test_runs_are_simulated_as_fast_as_their_machine_was(validate, tmp_path):
    results = tmp_path / "results"
    with tarfile.open(FOLDER / "quickstart.tar.xz", "r:xz") as tar:
        tar.extractall(results, filter="data")
    work_cpu_s = fixed_work_cpu_s(load_runs(results))
    document = tomlkit.parse((ENGINES / "iceberg" / "coefficients.toml").read_text())

    def figures(name, fitted_work_cpu_s):
        document["fixed_work_cpu_s"] = fitted_work_cpu_s
        file = tmp_path / name
        file.write_text(tomlkit.dumps(document))
        answer = validate(results, "--format", "json", "-q", "--coefficients", file).json["figures"]
        return {(one["strategy"], one["metric"]): one["simulated"] for one in answer}, file

    alike, _ = figures("alike.toml", work_cpu_s)
    slower, file = figures("slower.toml", 4 * work_cpu_s)  # where they were fitted
    for (strategy, metric), value in alike.items():
        assert slower[strategy, metric] == pytest.approx(value / 2 if metric.endswith("_s") else value)
    said = validate(results, "--coefficients", file).err
    assert said.count("quickstart, iceberg: simulated with resources.core_speed = 2,") == 1


def changed(results, folder, change, labels):
    """The delta_upserts, with the manifests of some strategies changed."""
    shutil.copytree(results, folder)
    for path in folder.rglob(MANIFEST):
        manifest = json.loads(path.read_text())
        if manifest["strategy"] in labels:
            change(manifest)
            path.write_text(json.dumps(manifest))
    return folder


def is_unknown(manifest):
    manifest["scenario_text"]["workload"]["row_filter"] = "x"


def is_not_recorded(manifest):
    manifest["scenario_text"] = {}


def is_cold(manifest):
    manifest["scenario_text"]["page_cache"] = "cold"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (is_unknown, 'row_filter = "x": unknown key'),
        (is_not_recorded, "its scenario was not recorded"),
        (is_cold, "a cold page cache is not modelled"),
    ],
)
def test_strategies_that_cannot_be_simulated_are_left_out_and_named(
    validate, delta_upserts, tmp_path, change, problem
):
    printed = validate(changed(delta_upserts, tmp_path / "results", change, ["reorg-4min"]), "-q")
    words = " ".join(printed.err.split())
    assert "delta-upsert-quick, reorg-4min: left out: " in words
    assert problem in words
    assert "\nnever " in printed.out


def test_results_of_which_no_strategy_can_be_simulated_are_refused(validate, delta_upserts, tmp_path):
    labels = ("never", "copy-on-write", "optimize-4min", "reorg-4min")
    printed = validate(changed(delta_upserts, tmp_path / "results", is_not_recorded, labels), code=2)
    assert "none of its strategies can be simulated: delta-upsert-quick, never: left out: " in printed.err


def test_a_simulation_that_fails_is_left_out_and_told(validate, delta_upserts, monkeypatch):
    def fails(self, spec, tag):
        raise RuntimeError("out of luck")

    monkeypatch.setattr(DeltaTableModel, "commit", fails)
    printed = validate(delta_upserts, "-q", "--format", "json", code=1)
    assert printed.json["figures"] == []
    assert len(printed.json["left_out"]) == 4
    assert all("failed: RuntimeError: out of luck" in one["problem"] for one in printed.json["left_out"])


def test_coefficients_of_another_format_are_refused_before_a_simulation(validate, delta_upserts):
    printed = validate(delta_upserts, "--coefficients", ENGINES / "iceberg" / "coefficients.toml", code=2)
    assert "coefficients.toml" in printed.err
    assert "run 1 of" not in printed.err


def test_without_real_runs_there_is_nothing_to_compare(validate, tmp_path):
    simulated = build_results(tmp_path, {"never": None}, 1, 2, mode="simulated")
    printed = validate(simulated, code=2)
    assert "no usable real runs" in printed.err
