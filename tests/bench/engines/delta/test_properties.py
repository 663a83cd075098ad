import pytest

from bench.engines.contract import TableSpec
from bench.engines.delta.properties import (
    WriterProperties,
    may_compact_by_itself,
    setting_problem,
    simulated_setting_problem,
    table_properties,
    value_problem,
    writer_properties,
)
from bench.engines.delta.table_keys import property_name
from bench.errors import ScenarioError
from strategies.delta.planners import Optimize


def test_nothing_is_on_by_default():
    assert writer_properties({"delta.other": "x"}) == WriterProperties(10, False, False)


def test_properties_are_read_as_delta_does():
    given = {"delta.checkpointInterval": "3", "delta.autoOptimize.optimizeWrite": "TRUE"}
    assert writer_properties(given) == WriterProperties(3, False, True)
    assert writer_properties({"delta.autoOptimize.autoCompact": "true"}).compacts_by_itself
    both = {"delta.autoOptimize": "true", "delta.autoOptimize.autoCompact": "false"}
    assert writer_properties(both).compacts_by_itself


def test_names_are_those_of_delta_in_any_case():
    given = {"delta.autooptimize.autocompact": "true", "DELTA.checkpointinterval": "3"}
    properties = table_properties(TableSpec(1, properties=given))
    assert properties == {
        "delta.enableDeletionVectors": "false",
        "delta.autoOptimize.autoCompact": "true",
        "delta.checkpointInterval": "3",
    }
    assert may_compact_by_itself(properties, {})
    assert property_name("delta.Other") == "delta.Other"


def test_the_later_spelling_wins_which_is_that_of_the_strategy():
    given = {"delta.autoOptimize": "true", "delta.AUTOOPTIMIZE": "false"}
    assert table_properties(TableSpec(1, properties=given))["delta.autoOptimize"] == "false"


def test_settings_of_the_session_set_off_compactions_too():
    defaults = "spark.databricks.delta.properties.defaults"
    for name in (
        "spark.databricks.delta.autoCompact.enabled",
        f"{defaults}.autoOptimize.autoCompact",
        f"{defaults}.autoOptimize",
    ):
        assert may_compact_by_itself({}, {name: "True"})
        assert not may_compact_by_itself({}, {name: "false"})
    assert may_compact_by_itself({"delta.autoOptimize.autoCompact": "true"}, {})


def test_what_a_simulation_does_not_know_of_is_refused_there():
    assert simulated_setting_problem("spark.sql.shuffle.partitions") is None
    for name in (
        "autoCompact.minNumFiles", "optimizeWrite.binSize", "properties.defaults.autoOptimize.autoCompact",
    ):  # fmt: skip
        assert setting_problem(f"spark.databricks.delta.{name}") is None
        assert "run without --simulate" in simulated_setting_problem(f"spark.databricks.delta.{name}")


@pytest.mark.parametrize("problem_of", [setting_problem, simulated_setting_problem])
def test_what_each_command_gets_from_its_plan_is_refused_everywhere(problem_of):
    prefix = "spark.databricks.delta.optimize."
    for option in Optimize.known_options:
        assert problem_of(prefix + option).endswith(f"such as options.{option}")
    assert problem_of(f"{prefix}zorder.checkStatsCollection.enabled") is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("delta.checkpointInterval", "0"),
        ("delta.checkpointInterval", "ten"),
        ("delta.autoOptimize.autoCompact", "auto"),
        ("delta.autoOptimize", "yes"),
    ],
)
def test_what_delta_rejects_is_refused(name, value):
    with pytest.raises(ScenarioError, match=f"{name}='{value}' must be"):
        writer_properties({name: value})


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("delta.checkpointInterval", "x", "must be a whole number"),
        ("delta.checkpointInterval", "0", "must be >= 1"),
        ("delta.checkpointInterval", "99999999999", "must be a Java int"),
        ("delta.checkpointinterval", "0", "must be >= 1"),
        ("delta.autoOptimize.autoCompact", "maybe", "must be true or false"),
        ("delta.dataSkippingNumIndexedCols", "9" * 23, "must be a Java int"),
        ("delta.dataSkippingNumIndexedCols", "-2", "must be >= -1"),
    ],
)
def test_a_value_that_delta_rejects_is_refused_before_a_run(name, value, problem):
    assert value_problem(name, value).startswith(problem)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("delta.checkpointInterval", "+5"),
        ("delta.autoOptimize", "TRUE"),
        ("delta.dataSkippingNumIndexedCols", "-1"),
        ("delta.other", "x"),
    ],
)
def test_other_values_are_not(name, value):
    assert value_problem(name, value) is None
