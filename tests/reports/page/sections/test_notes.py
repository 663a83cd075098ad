from pathlib import Path

import pytest
from histories import commit, data, written
from scenario_builder import load

from bench.engines.contract import CatalogSettings, SparkSettings
from bench.engines.journal import Journal
from bench.runs.worker import provenance
from reports.page.sections.notes import LIMITS, METHOD
from workloads.history import History

SPARK = [
    SparkSettings(),
    SparkSettings("spark://host:7077"),
    SparkSettings("local-cluster[2,1,1024]", executor_cpu="tasks"),
]
CATALOGS = [CatalogSettings(), CatalogSettings("mine", journal=Journal(Path("namespaces")))]


@pytest.mark.parametrize("catalog", CATALOGS)
@pytest.mark.parametrize("spark", SPARK)
@pytest.mark.parametrize("mode", ["real", "simulated"])
def test_every_fact_a_run_notes_has_a_sentence(tmp_path, mode, spark, catalog):
    notes = provenance.notes(mode, load(tmp_path).workload, spark, catalog)
    assert notes.items() <= METHOD.keys() | LIMITS.keys()


def test_every_sentence_belongs_to_a_fact_some_run_notes(tmp_path):
    workloads = load(tmp_path).workload, History(str(written(tmp_path, commit(0, [data(0)]))))
    facts = {
        note
        for workload in workloads
        for mode in ("real", "simulated")
        for spark in SPARK
        for catalog in CATALOGS
        for is_true in (True, False)
        for has_real_clock in (True, False)
        for page_cache in ("cold", None)
        for note in provenance.notes(
            mode,
            workload,
            spark,
            catalog,
            page_cache=page_cache,
            is_jvm_warm=is_true,
            has_real_clock=has_real_clock,
            are_threads=is_true,
            is_oversubscribed=is_true,
            shares_cores=is_true,
            core_speed=2.0 if is_true else 1.0,
            has_query_rates=is_true,
        ).items()
    }
    of_published_runs = {("class_data", "archive"), ("table_metadata", "read by each query")}
    assert METHOD.keys() | LIMITS.keys() == facts | of_published_runs
