from dataclasses import replace
from pathlib import Path

import pytest
from histories import commit, data, written
from scenario_builder import load

from bench.engines.contract import CatalogSettings, EngineSettings, SparkSettings, TableSpec
from bench.engines.iceberg.catalog import Catalog
from bench.engines.iceberg.engine import _check_made_by_run
from bench.engines.journal import Journal
from bench.engines.keys import TableKeys
from bench.engines.registry import engine_kind
from bench.errors import EngineError
from bench.runs.settings import engine_settings
from bench.runs.worker import provenance
from bench.runs.worker.manifest import _options
from bench.scenario.specs import option_defaults
from strategies.iceberg.procedures import RewriteDataFiles
from workloads.history import History

UPSERT = {"type": "upsert", "initial_rows": 1000, "initial_files": 2}
REAL = engine_kind("iceberg", "real")
CACHE = "spark.sql.iceberg.executor-cache.enabled"


def dataset(scenario, label="every-2min"):
    return provenance.dataset(scenario, next(spec for spec in scenario.strategies if spec.label == label))


def test_a_stream_of_changes_has_a_key_and_a_load_in_its_order(tmp_path):
    assert dataset(load(tmp_path, workload=UPSERT)) == {
        "table": "orders", "columns_count": 17, "codec": "zstd (format default)", "key": ["order_id"],
        "changes_by": "equality deletes", "is_merge": False,
        "initial_order": "ordered by order_id, one range per file",
    }  # fmt: skip


def test_a_strategy_that_merges_says_so(tmp_path):
    changes = {"strategies[never].writer.upsert_mode": "copy-on-write"}
    merging = dataset(load(tmp_path, workload=UPSERT, **changes), "never")
    assert (merging["changes_by"], merging["is_merge"]) == ("MERGE INTO", True)


def test_the_manifest_says_where_a_format_has_no_versions(tmp_path):
    scenario = load(tmp_path)
    settings = engine_settings(scenario, "never", tmp_path)
    assert _options(scenario, settings, REAL)["format_version"] == 2
    keys = TableKeys(format="other", target_file_size="8MiB")
    plain = replace(scenario, table=keys)
    assert _options(plain, settings, REAL)["format_version"] is None


def test_an_append_only_stream_has_neither(tmp_path):
    assert dataset(load(tmp_path)).keys() == {"table", "columns_count", "codec"}
    loaded = dataset(load(tmp_path, workload={"initial_rows": 100}))
    assert loaded["initial_order"] == "ordered by order_id, one range per file"


def test_the_writer_and_the_properties_of_a_strategy_are_its_own(tmp_path):
    codec = {"write.parquet.compression-codec": "snappy"}
    changes = {
        "strategies[every-2min].writer.files_per_commit": 4,
        "strategies[never].properties": codec,
        "table.properties": {"write.parquet.compression-codec": "gzip"},
    }
    scenario = load(tmp_path, workload=UPSERT, **changes)
    assert dataset(scenario)["initial_order"] == "spread over 4 files in no particular order"
    assert dataset(scenario)["codec"] == "gzip"
    assert dataset(scenario, "never")["codec"] == "snappy"


def test_option_defaults_are_those_the_planners_know(tmp_path):
    found = option_defaults(load(tmp_path).strategies)
    assert found == {"iceberg.rewrite_data_files": dict(RewriteDataFiles.known_options)}  # `never` has none


def test_the_manifest_shows_the_caches_that_are_off(tmp_path):
    scenario = load(tmp_path)
    spark = _options(scenario, engine_settings(scenario, "never", tmp_path), REAL)["spark"]
    assert (spark[CACHE], spark["spark.sql.catalog.lake.cache-enabled"]) == ("false", "false")


def test_a_scenario_may_say_otherwise(tmp_path):
    scenario = load(tmp_path, spark={CACHE: True})
    assert _options(scenario, engine_settings(scenario, "never", tmp_path), REAL)["spark"][CACHE] == "true"


@pytest.mark.parametrize("given", [{}, {"type": "rest", "cache-enabled": "true"}])
def test_what_the_manifest_shows_is_what_the_session_gets(tmp_path, given):
    shown = _options(load(tmp_path), settings_with(tmp_path, given), REAL)["spark"]
    session = Catalog(tmp_path, "mine", "bench", given).spark_conf()
    key = "spark.sql.catalog.mine.cache-enabled"
    assert shown[key] == session[key] == given.get("cache-enabled", "false")
    assert shown[CACHE] == session[CACHE] == "false"
    assert not any(str(tmp_path) in value for value in shown.values())


def settings_with(folder: Path, properties: dict[str, str]) -> EngineSettings:
    catalog = CatalogSettings("mine", "bench", properties)
    return EngineSettings(folder, TableSpec(2**20), spark=SparkSettings(), catalog=catalog)


@pytest.mark.parametrize(
    ("spark", "cpu"),
    [
        (SparkSettings(), "process"),
        (SparkSettings("spark://host:7077"), "processes of a cluster"),
        (SparkSettings("local-cluster[2,1,1024]"), "processes of a cluster"),
        (SparkSettings("spark://host:7077", executor_cpu="tasks"), "driver and tasks"),
    ],
)
def test_what_counts_as_cpu_is_noted(tmp_path, spark, cpu):
    assert provenance.notes("real", load(tmp_path), spark, CatalogSettings())["cpu"] == cpu


def test_of_an_imported_table_the_order_of_keys_is_not_known_and_only_partitions_rule_out_files(tmp_path):
    imported = replace(load(tmp_path), workload=History(str(written(tmp_path, commit(0, [data(0)])))))
    noted = provenance.notes("simulated", imported, SparkSettings(), CatalogSettings())
    assert noted["pruning"] == "by partition"
    assert "keys" not in noted


def test_a_simulation_says_that_it_does_not_know_the_storage_of_a_catalog(tmp_path):
    settings = (CatalogSettings(journal=Journal(tmp_path / "namespaces")), CatalogSettings())
    of_catalog, own = (
        provenance.notes("simulated", load(tmp_path), SparkSettings(), one).get("storage") for one in settings
    )
    assert (of_catalog, own) == ("not modelled", None)


def test_a_run_has_a_namespace_of_its_own_in_a_catalog_that_outlives_it(tmp_path):
    catalog = {"name": "mine", "namespace": "db", "properties": {"type": "rest", "uri": "http://host"}}
    run_folder = tmp_path / "20260101T000000Z-iceberg-real-a_b.c-r1-0f3a"
    chosen = engine_settings(load(tmp_path, catalog=catalog), "never", tmp_path, run_folder=run_folder)
    assert chosen.catalog.namespace == "db_20260101t000000z_iceberg_real_a_b_c_r1_0f3a"
    assert chosen.catalog.journal.folder == run_folder / "namespaces"
    own = engine_settings(load(tmp_path), "never", tmp_path, run_folder=run_folder).catalog
    assert (own.namespace, own.journal) == ("bench", None)


def catalog_of(tmp_path, **keys):
    run_folder = tmp_path / "20260101T000000Z-iceberg-real-never-r1-0f3a"
    return engine_settings(load(tmp_path, **keys), "never", tmp_path, run_folder=run_folder).catalog


@pytest.mark.parametrize(
    "keys",
    [
        {"spark": {"spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog"}},
        {"spark": {"spark.sql.catalog.lake.type": "rest"}},
        {"catalog": {"name": "mine", "properties": {"catalog-impl": "com.example.Catalog"}}},
    ],
)
def test_a_catalog_that_is_named_outlives_the_run(tmp_path, keys):
    chosen = catalog_of(tmp_path, **keys)
    assert chosen.is_shared
    catalog = Catalog(tmp_path, chosen.name, chosen.namespace, chosen.properties, chosen.journal)
    assert not catalog.is_default
    assert not any("sqlite" in value for value in catalog.spark_conf().values())


@pytest.mark.parametrize(
    "keys",
    [
        {"spark": {"spark.sql.catalog.lake.cache-enabled": "true"}},
        {"catalog": {"name": "mine", "properties": {"cache-enabled": "true"}}},
    ],
)
def test_the_cache_of_the_default_catalog_may_be_set(tmp_path, keys):
    chosen = catalog_of(tmp_path, **keys)
    catalog = Catalog(tmp_path, chosen.name, chosen.namespace, chosen.properties, chosen.journal)
    assert catalog.is_default
    conf = catalog.spark_conf()
    assert conf[f"spark.sql.catalog.{catalog.name}.uri"] == f"jdbc:sqlite:{tmp_path}/catalog.db"


def test_what_a_run_has_noted_may_only_name_its_own(tmp_path):
    catalog = Catalog(tmp_path, "lake", "bench_r1", {}, Journal(tmp_path / "namespaces"))
    _check_made_by_run("bench_r1_control", catalog)
    with pytest.raises(
        EngineError, match=rf"makes \(bench_r1, bench_r1_.*then delete {tmp_path}/namespaces/prod"
    ):
        _check_made_by_run("prod", catalog)
