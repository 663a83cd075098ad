from pathlib import Path

import pytest
from scenario_builder import load

from bench.engines.registry import FORMATS
from bench.runs.settings import cost_priors, engine_settings
from workloads.schema import ORDERS


def priors(tmp_path, **changes):
    scenario = load(tmp_path, **changes)
    return cost_priors(scenario.table.format, engine_settings(scenario, "never", Path()))


def shipped(reader_cores, table_format="iceberg", **properties):
    return FORMATS[table_format].engines.cost_priors(ORDERS, properties, reader_cores)


def test_queries_are_priced_on_the_cores_of_the_reader(tmp_path):
    cores = {"writer": {"cores": 1}, "compactor": {"cores": 8}, "reader": {"cores": 4}}
    assert priors(tmp_path, resources=cores) == shipped(4) != shipped(8)


@pytest.mark.parametrize(("clock", "cores"), [("virtual", 2), ("real", 1)])
def test_without_resources_the_reader_has_the_cores_of_a_real_run(tmp_path, clock, cores):
    assert priors(tmp_path, clock=clock) == shipped(cores)


def test_planners_expect_the_same_on_simulated_cores_of_another_speed(tmp_path):
    assert priors(tmp_path, resources={"core_speed": 0.5}) == priors(tmp_path)


def test_planners_expect_what_the_properties_of_the_table_cost(tmp_path):
    name = "hoodie.metadata.enable"
    table = {"format": "hudi", "index": "simple", "properties": {name: "true"}}
    found = priors(tmp_path, table=table)
    assert found == shipped(2, "hudi", **{name: "true"}) != shipped(2, "hudi")
