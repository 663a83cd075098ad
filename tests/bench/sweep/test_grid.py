import pytest
from scenario_builder import load, write

from bench.errors import ScenarioError
from bench.scenario.load import load_scenario
from bench.sweep.grid import drawn, families, swept_scenarios

EVERY = "strategies.every-2min.every=1min,2min,5min"
FILES = "strategies.every-2min.options.min-input-files=2,5"


def labels(scenario):
    return [spec.label for spec in scenario.strategies]


def test_a_strategy_becomes_a_family_and_the_others_stay(tmp_path):
    (scenario,) = swept_scenarios(load(tmp_path), [EVERY])
    assert labels(scenario) == ["never", *(f"every-2min every={n}min" for n in (1, 2, 5))]
    assert [spec.summary for spec in scenario.strategies][-1].startswith("every(interval=5min)")
    assert scenario.name == "demo"


def test_several_axes_of_a_strategy_are_combined(tmp_path):
    (scenario,) = swept_scenarios(load(tmp_path), [EVERY, FILES])
    assert len(scenario.strategies) == 1 + 3 * 2
    assert "every-2min every=5min min-input-files=2" in labels(scenario)


def test_axes_of_the_scenario_make_scenarios_with_names_of_their_own(tmp_path):
    over = [EVERY, "workload.rows_per_commit=80,800", "table.target_file_size=1MiB,8MiB"]
    scenarios = swept_scenarios(load(tmp_path), over)
    assert [scenario.name for scenario in scenarios] == [
        "demo-rows-per-commit-80-target-file-size-1mib", "demo-rows-per-commit-80-target-file-size-8mib",
        "demo-rows-per-commit-800-target-file-size-1mib", "demo-rows-per-commit-800-target-file-size-8mib",
    ]  # fmt: skip
    assert {scenario.workload.rows_per_commit for scenario in scenarios} == {80, 800}
    assert all(len(scenario.strategies) == 4 for scenario in scenarios)


def test_long_names_stay_different(tmp_path):
    name = f"{'a' * 50}.toml"
    base = load_scenario(write(tmp_path, name=name), ())
    scenarios = swept_scenarios(base, ["table.target_file_size=1MiB,2MiB,4MiB"])
    names = {scenario.name for scenario in scenarios}
    assert len(names) == 3
    assert all(len(one) <= 60 for one in names)


def test_values_that_differ_in_characters_of_no_name_stay_apart(tmp_path):
    scenarios = swept_scenarios(load(tmp_path), ["description=a b,a-b"])
    names = {scenario.name for scenario in scenarios}
    assert "demo-description-a-b" in names
    assert len(names) == 2


def test_a_key_is_swept_once(tmp_path):
    with pytest.raises(ScenarioError, match="is given twice"):
        swept_scenarios(load(tmp_path), [EVERY, "strategies.every-2min.every=7min"])


def test_settings_of_the_command_hold_in_every_cell(tmp_path):
    (scenario,) = swept_scenarios(load(tmp_path, duration="20min"), [EVERY])
    assert scenario.duration_ms == 20 * 60_000


def test_families_have_the_cells_of_a_sweep_with_what_each_of_them_sets(tmp_path):
    base = load(tmp_path)
    cells = families(base, [EVERY, FILES])["every-2min"]
    (swept,) = swept_scenarios(base, [EVERY, FILES])
    assert [*cells] == labels(swept)[1:]
    settings = cells["every-2min every=5min min-input-files=2"]
    (alone,) = load(tmp_path).strategies[1:]
    (changed,) = load_scenario(write(tmp_path), settings).strategies[1:]
    assert changed.summary == swept.strategies[-2].summary != alone.summary


def test_keys_of_planners_can_be_swept(tmp_path):
    with pytest.raises(ScenarioError, match="nothing"):
        swept_scenarios(load(tmp_path), ["strategies.every-2min.planner.nothing=1"])


def test_an_axis_of_the_stream_has_no_family(tmp_path):
    with pytest.raises(ScenarioError, match="is no key of a strategy"):
        families(load(tmp_path), [EVERY, "workload.rows_per_commit=80,800"])


def test_a_draw_depends_on_the_seed_and_keeps_the_order():
    values = [str(number) for number in range(40)]
    draws = [drawn(values, seed, 6) for seed in (1, 1, 2)]
    assert draws[0] == draws[1] != draws[2]
    assert draws[0] == [value for value in values if value in draws[0]]
    assert drawn(values, 1, 99) == values


@pytest.mark.parametrize(
    ("over", "problem"),
    [
        ("strategies.often.every=1min", "no such strategy"),
        ("strategies.never.every=1min", "has no rule"),
        ("strategies.every-2min.every=,", "write KEY="),
        ("workload.rows=1", "rows"),
        ("strategies.every-2min.a b=1", "is not a setting"),
        ("strategies.every-2min.every=soon", "interval"),
        ("strategies.every-2min.options.min-input-files=2..9000*1000", "more than"),
    ],
)
def test_what_cannot_be_swept_is_one_error(tmp_path, over, problem):
    with pytest.raises(ScenarioError, match=problem):
        swept_scenarios(
            load(tmp_path), [over, "workload.files_per_commit=1..60*60"] if "9000" in over else [over]
        )
