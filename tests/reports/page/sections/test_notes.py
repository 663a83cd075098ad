from dataclasses import replace
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
BURSTS = {"arrival": {"type": "bursts", "every": "2min", "length": "1min", "factor": 3.0}}
CATALOGS = [CatalogSettings(), CatalogSettings("mine", journal=Journal(Path("namespaces")))]


@pytest.mark.parametrize("catalog", CATALOGS)
@pytest.mark.parametrize("spark", SPARK)
@pytest.mark.parametrize("mode", ["real", "simulated"])
def test_every_fact_a_run_notes_has_a_sentence(tmp_path, mode, spark, catalog):
    notes = provenance.notes(mode, load(tmp_path), spark, catalog)
    assert notes.items() <= METHOD.keys() | LIMITS.keys()


def test_every_sentence_belongs_to_a_fact_some_run_notes(tmp_path):
    plain = load(tmp_path)
    resources = {"shared_cores": 2.0, "core_speed": 2.0, "writer": {"cores": 10_000}}
    scenarios = (
        plain,
        replace(plain, workload=History(str(written(tmp_path, commit(0, [data(0)]))))),
        load(tmp_path, clock="real"),
        load(tmp_path, clock="real", resources=resources, queries=BURSTS, jvm="warm", page_cache="cold"),
        load(tmp_path, clock="real", table={"format": "delta"}, strategies=[{"label": "never"}]),
    )
    facts = {
        note
        for scenario in scenarios
        for mode in ("real", "simulated")
        for spark in SPARK
        for catalog in CATALOGS
        for note in provenance.notes(mode, scenario, spark, catalog).items()
    }
    of_published_runs = {("class_data", "archive"), ("table_metadata", "read by each query")}
    assert METHOD.keys() | LIMITS.keys() == facts | of_published_runs
