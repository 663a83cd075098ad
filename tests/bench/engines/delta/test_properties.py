import pytest

from bench.engines.delta.properties import (
    WriterProperties,
    may_compact_by_itself,
    not_modelled,
    writer_properties,
)
from bench.engines.delta.property_values import property_problem
from bench.errors import ScenarioError


def test_nothing_is_on_by_default():
    assert writer_properties({"delta.other": "x"}) == WriterProperties(10, False, False)


def test_properties_are_read_as_delta_does():
    given = {"delta.checkpointInterval": "3", "delta.autoOptimize.optimizeWrite": "TRUE"}
    assert writer_properties(given) == WriterProperties(3, False, True)
    assert writer_properties({"delta.autoOptimize.autoCompact": "true"}).compacts_by_itself
    both = {"delta.autoOptimize": "true", "delta.autoOptimize.autoCompact": "false"}
    assert writer_properties(both).compacts_by_itself


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


def test_what_a_simulation_does_not_know_of_is_named():
    known = {
        "delta.autoOptimize.autoCompact": "true",
        "delta.autoOptimize": "true",
        "delta.appendOnly": "true",
    }
    assert not_modelled(known, {"spark.sql.shuffle.partitions": "4"}) == ()
    others = {"delta.autoOptimize.other": "1", "delta.autooptimize.autocompact": "true"}
    settings = [
        f"spark.databricks.delta.{name}"
        for name in (
            "autoCompact.minNumFiles", "optimizeWrite.binSize", "optimize.batchSize",
            "properties.defaults.autoOptimize.autoCompact",
        )
    ]  # fmt: skip
    assert not_modelled({**known, **others}, dict.fromkeys(settings, "1")) == (*others, *settings)


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
    assert property_problem(name, value).startswith(problem)


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
    assert property_problem(name, value) is None
