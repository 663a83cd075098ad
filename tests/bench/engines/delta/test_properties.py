import pytest

from bench.engines.contract import TableSpec
from bench.engines.delta.properties import (
    WriterProperties,
    may_compact_by_itself,
    not_modelled,
    table_properties,
    writer_properties,
)
from bench.engines.delta.table_keys import property_name
from bench.errors import ScenarioError


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


def test_what_a_simulation_does_not_know_of_is_named():
    assert not_modelled({"spark.sql.shuffle.partitions": "4"}) == ()
    settings = [
        f"spark.databricks.delta.{name}"
        for name in (
            "autoCompact.minNumFiles", "optimizeWrite.binSize", "optimize.batchSize",
            "properties.defaults.autoOptimize.autoCompact",
        )
    ]  # fmt: skip
    assert not_modelled(dict.fromkeys(settings, "1")) == tuple(settings)


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
