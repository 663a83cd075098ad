import pytest

from bench.calibration.design import design
from bench.engines.delta.model.coefficients import DeltaCoefficients
from bench.engines.registry import FORMATS
from bench.engines.simulated.costs import shipped_file
from bench.engines.simulated.steps import Operation
from bench.results.folders import load_runs

pytestmark = pytest.mark.usefixtures("wide")


def test_results_become_a_coefficients_file_that_simulations_take(compactbench, delta_upserts, tmp_path):
    file = tmp_path / "mine.toml"
    printed = compactbench("calibrate", "delta", delta_upserts, "--file", file, "-q")
    assert "merge" in printed.out
    assert str(file) in printed.words
    made, shipped = DeltaCoefficients.read(file), DeltaCoefficients.read()
    assert made.operations[Operation.MERGE].steps == 144
    assert made.origin.startswith("Fitted to ")
    # What these runs do not do keeps the shipped coefficients.
    assert made.operations[Operation.SORT] == shipped.operations[Operation.SORT].model_copy(
        update={"steps": 0}
    )
    assert (made.log, made.data) == (shipped.log, shipped.data)
    assert made.errors == {}  # one stream: none is left to predict it from
    out = tmp_path / "out"
    compactbench("run", "delta-upsert-quick", "--simulate", "--coefficients", file, "-q", "--out", out)
    (stored, *_) = load_runs(out)
    assert stored.manifest.options["coefficients"]["operations"]["merge"]["steps"] == 144


def test_a_fit_to_the_same_results_is_the_same_file(compactbench, delta_upserts, tmp_path):
    files = [tmp_path / "a.toml", tmp_path / "b.toml"]
    for file in files:
        compactbench("calibrate", "delta", delta_upserts, "-f", file, "-q")
    assert files[0].read_text() == files[1].read_text()
    assert files[0].read_text() != shipped_file("delta").read_text()


def test_results_without_a_run_of_the_format_are_refused(compactbench, delta_upserts, tmp_path):
    printed = compactbench("calibrate", "hudi", delta_upserts, "-f", tmp_path / "mine.toml", code=2)
    assert printed.codes == ["no-runs"]
    assert not (tmp_path / "mine.toml").exists()


def test_a_name_of_no_format_is_refused(compactbench, tmp_path):
    printed = compactbench("calibrate", "hoodie", "-f", tmp_path / "mine.toml", code=2)
    assert printed.codes == ["unknown-name"]


def test_a_file_that_cannot_be_written_is_named(compactbench, delta_upserts, tmp_path):
    printed = compactbench(
        "calibrate", "delta", delta_upserts, "-f", tmp_path / "none" / "x.toml", "-q", code=2
    )
    assert printed.codes == ["unwritable"]


@pytest.mark.parametrize("name", FORMATS)
def test_the_design_of_each_format_moves_files_rows_and_columns_apart(name):
    scenarios = design(name)
    assert len({scenario.name for scenario in scenarios}) == len(scenarios) >= 10
    columns = {len(scenario.workload.schema.columns) for scenario in scenarios}
    assert columns >= {3, 17, 40}
    assert [scenario.name for scenario in design(name)] == [scenario.name for scenario in scenarios]
