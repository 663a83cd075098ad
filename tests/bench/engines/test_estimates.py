from dataclasses import astuple
from pathlib import Path

import pytest
from coefficients import OPERATION, coefficients
from engine_streams import execute, plan
from upsert_commits import changes, commit_specs, load

from bench.engines.contract import EngineSettings, TableSpec
from bench.engines.estimates import cost_priors
from bench.engines.hudi.table_keys import METADATA_TABLE, HudiKeys
from bench.engines.registry import FORMATS
from bench.engines.simulated.steps import Operation, rewrite_step
from bench.results.values import NO_REWRITE_WORK, RewriteWork
from strategies.hudi.commands import Command
from strategies.plan import Native
from strategies.round_costs import SPARK, WITHOUT_SPARK
from strategies.state import MIB, OWN_EXECUTOR, CostPriors
from workloads.schema import ORDERS


def test_priors_are_what_one_more_file_mib_or_delete_costs():
    deletes_mib = 2300 / MIB
    assert astuple(cost_priors(coefficients(), ORDERS, reader_cores=2)) == pytest.approx(
        astuple(
            CostPriors(
                fixed_cpu_s=1.5,
                cpu_s_per_file=0.5 + 0.375,
                cpu_s_per_mib=4.0 / 2,  # reads and writes
                query_s_per_file=0.25 + 0.5 / 2,  # two cores share the tasks
                query_s_per_million_rows=4.0 * 1e6 * coefficients().row_bytes(ORDERS) / MIB / 2,
                query_s_per_delete=(2.0 + 4.0 * deletes_mib) / 2,
                conversion_cpu_s=1.5,
                cpu_s_per_delete=2.0,
            )
        )
    )


def test_conversions_have_a_price_of_their_own():
    converting = {**OPERATION, "tasks": {"s_per_delete_file": 7.0, "s_per_million_delete_rows": 1000.0}}
    assert cost_priors(coefficients(convert=converting), ORDERS, 2).cpu_s_per_delete == pytest.approx(7.5)


@pytest.mark.parametrize("has_metadata_table", ["false", "true"])
def test_a_clustering_is_expected_to_cost_what_its_simulation_does(has_metadata_table):
    hudi = FORMATS["hudi"].engines
    properties = {METADATA_TABLE: has_metadata_table, "hoodie.parquet.small.file.limit": "0"}
    keys = HudiKeys.model_validate({"format": "hudi", "index": "simple", "target_file_size": "8MiB"})
    table = TableSpec(8 * MIB, keys=keys, properties=properties)
    with hudi.simulated.open(EngineSettings(Path(), table, is_jvm_warm=True)) as engine:
        engine.create()
        commit_specs(engine, load(1000), *(changes(n, 900 + 100 * n, inserts=100) for n in (1, 2)))
        files = engine.state(0).data_files
        cost = execute(engine, plan(Native(Command.CLUSTERING)), 3 * 60_000).cost
    priors = hudi.cost_priors(ORDERS, properties, 2)[OWN_EXECUTOR]
    moved_mib = 2 * sum(file.size_bytes for file in files) / MIB
    expected_s = priors.fixed_cpu_s + len(files) * priors.cpu_s_per_file + moved_mib * priors.cpu_s_per_mib
    assert cost.cpu_s == pytest.approx(expected_s, rel=0.05)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("cores", [1, 2, 64])
def test_every_format_has_priors_of_spark_and_none_is_free(name, cores):
    priors = FORMATS[name].engines.cost_priors(ORDERS, {}, cores)[OWN_EXECUTOR]
    assert min(astuple(priors)) > 0


@pytest.mark.parametrize("files", [1, 41, 400])
def test_priors_add_up_to_the_modelled_cost_of_a_compaction(files):
    """Where a warm JVM compiles nothing more."""
    shipped, size_mib = FORMATS["iceberg"].engines.estimates(), 30
    rewrite = shipped.operations["rewrite"].model_copy(update={"compiler": 0.0})
    known = shipped.model_copy(update={"operations": {**shipped.operations, "rewrite": rewrite}})
    priors = cost_priors(known, ORDERS, 2)
    work = NO_REWRITE_WORK + RewriteWork(1, 1, files, 0, size_mib * MIB, 0, 0, 0, 0, 0)
    modelled = known.price(rewrite_step(Operation.REWRITE, work, files), 2)
    expected_s = priors.fixed_cpu_s + files * priors.cpu_s_per_file + 2 * size_mib * priors.cpu_s_per_mib
    assert modelled.cpu_s == pytest.approx(expected_s)


def test_planners_without_priors_expect_what_the_shipped_ones_say_of_iceberg():
    priors = FORMATS["iceberg"].engines.cost_priors(ORDERS, {}, 2)
    assert astuple(SPARK) == pytest.approx(astuple(priors[OWN_EXECUTOR]), rel=0.15)
    assert astuple(WITHOUT_SPARK) == pytest.approx(astuple(priors["single-node"]), rel=0.15)


def test_an_executor_without_spark_has_priors_of_its_own():
    priors = FORMATS["iceberg"].engines.cost_priors(ORDERS, {}, 2)
    assert priors.keys() == {OWN_EXECUTOR, "single-node"}
    assert priors["single-node"].fixed_cpu_s < priors[OWN_EXECUTOR].fixed_cpu_s
    assert priors["single-node"].query_s_per_file == priors[OWN_EXECUTOR].query_s_per_file
