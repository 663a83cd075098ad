from dataclasses import replace
from typing import ClassVar, Literal

import pytest
from refused import refused
from scenario_builder import SOUND, load, maintenance

from bench.engines.format import CatalogRules
from bench.engines.keys import TableKeys
from bench.engines.registry import FORMATS
from bench.scenario.load import load_scenario

EACH_2MIN = {"type": "every", "interval": "2min"}
RULE = {"trigger": {"type": "every", "interval": "10min"}, "planner": {"type": "hudi.compaction"}}
HUDI = {"format": "hudi", "target_file_size": "1MiB"}
DELTA = {"format": "delta", "target_file_size": "8MiB"}
DELTA_TEXT = SOUND.replace("iceberg.rewrite_data_files", "delta.optimize").replace("iceberg", "delta")
UPSERT = {"type": "upsert", "initial_rows": 10}
JAVA = "spark.driver.extraJavaOptions"


def strategy(**keys):
    """The changes that give the scenario one strategy."""
    return {"strategies": [{"label": "a", **keys}]}


def rule(planner, trigger=EACH_2MIN, **keys):
    return strategy(rules=[{"trigger": trigger, "planner": planner, **keys}])


@pytest.mark.parametrize(
    ("changes", "code", "path"),
    [
        ({"duration": "90s"}, "not-a-multiple", "duration"),
        ({"duration": "30s"}, "not-a-multiple", "duration"),
        ({"duration": "0s"}, "not-a-multiple", "duration"),
        ({"duration": "100001d"}, "invalid", "duration"),
        ({"duration": "9" * 300 + "d"}, "invalid", "duration"),
        ({"duration": 600}, "invalid", "duration"),
        ({"repetitions": 1001}, "out-of-range", "repetitions"),
        ({"commit_interval": "0s"}, "out-of-range", "commit_interval"),
        ({"commit_interval": "0.5ms"}, "invalid", "commit_interval"),
        ({"clock": "wall"}, "invalid", "clock"),
        ({"seed": True}, "wrong-type", "seed"),
        ({"durations": "1h"}, "unknown-name", "durations"),
        ({"probe_every": "90s"}, "not-a-multiple", "probe_every"),
        ({"probe_every": "20min"}, "not-a-multiple", "probe_every"),
        ({"probe_every": "0s"}, "not-a-multiple", "probe_every"),
        ({"probe_every": "2min", "side_probe_every": "3min"}, "not-a-multiple", "side_probe_every"),
        ({"side_probe_every": "11min"}, "not-a-multiple", "side_probe_every"),
        ({"side_probe_every": "0s"}, "not-a-multiple", "side_probe_every"),
        ({"compaction_delay": "1s"}, "cannot-be-delayed", "strategies[1].rules[0].planner.type"),
        ({"table": {"format": "parquet"}}, "unknown-name", "table.format"),
        ({"table": {"format": ["iceberg"]}}, "unknown-name", "table.format"),
        ({"table": {"format_versions": 2}}, "unknown-name", "table.format_versions"),
        ({"table": {"format_version": 4}}, "invalid", "table.format_version"),
        ({"table": {"buckets": 4}}, "no-effect", "table.buckets"),
        ({"table": {"partitioning": "bucket", "buckets": 10_001}}, "out-of-range", "table.buckets"),
        ({"table": {**DELTA, "cluster_by": ["order_id", "a b"]}}, "invalid", "table.cluster_by[1]"),
        ({"table": {"properties": {"list": [1]}}}, "wrong-type", "table.properties.list"),
        ({"table": {"properties": {"write.object-storage.path": "s3://b"}}},
         "unsupported", 'table.properties."write.object-storage.path"'),
        ({"table": {**DELTA, "properties": {"delta.checkpointInterval": "x"}}},
         "unsupported", 'table.properties."delta.checkpointInterval"'),
        ({"table": {"properties": {"write.target-file-size-bytes": 5}}},
         "set-elsewhere", 'table.properties."write.target-file-size-bytes"'),
        ({"table": {"properties": {"format-version": 3}}},
         "set-elsewhere", "table.properties.format-version"),
        ({"workload": {"type": "apend"}}, "unknown-name", "workload.type"),
        ({"workload": {"columns": 5}}, "invalid", "workload.columns"),
        ({"workload": {"files_per_commit": 100_001}}, "invalid", "workload.files_per_commit"),
        ({"workload": {"initial_rows": 10**400}}, "invalid", "workload.initial_rows"),
        ({"workload": {"type": "upsert", "initial_rows": 10**12}}, "invalid", "workload.initial_rows"),
        ({"workload": {"arrival": {"type": "daily", "day": "0s"}}}, "invalid", "workload.arrival.day"),
        ({"workload": {"arrival": {"type": "trace", "path": "no.csv"}}}, "invalid", "workload.arrival.path"),
        ({"workload": "append"}, "invalid", "workload"),
        ({"strategies": 5}, "wrong-type", "strategies"),
        ({"strategies": []}, "too-short", "strategies"),
        ({"maintenance": [maintenance("iceberg.rewrite_manifests", "30s")]},
         "out-of-range", "maintenance[0].trigger.interval"),
        ({"maintenance": [maintenance("iceberg.expire_snapshots", retain_last=0)]},
         "invalid", "maintenance[0].planner.retain_last"),
        ({"maintenance": [{**RULE, "inline": True}]}, "unknown-name", "maintenance[0].inline"),
        ({"page_cache": "warm"}, "invalid", "page_cache"),
        ({"jvm": "cold"}, "invalid", "jvm"),
        ({"prices": {"gb_hour": -1}}, "out-of-range", "prices.gb_hour"),
        ({"prices": {"currency": "U S D"}}, "invalid", "prices.currency"),
        ({"spark": {"master": "a b"}}, "invalid", "spark.master"),
        ({"spark": {"mster": "local"}}, "unknown-name", "spark.mster"),
        ({"spark": {"spark.master": "local"}}, "set-elsewhere", 'spark."spark.master"'),
        ({"spark": {"spark.master\t": "local"}}, "set-elsewhere", r'spark."spark.master\t"'),
        ({"spark": {"executor_cpu": "tasks"}}, "no-effect", "spark.executor_cpu"),
        ({"spark": {"spark.x": [1]}}, "wrong-type", 'spark."spark.x"'),
        *(({"spark": {"spark.sql.catalog.lake.type": "bogus"}, **catalog},
           "unknown-name", 'spark."spark.sql.catalog.lake.type"')
          for catalog in ({}, {"catalog": {"properties": {"type": "rest"}}})),
        ({"catalog": {"name": "bench"}}, "missing", "catalog.properties"),
        ({"catalog": {"properties": {}, "namespace": "a b"}}, "invalid", "catalog.namespace"),
        ({"catalog": {"properties": {"type": ""}}}, "unknown-name", "catalog.properties.type"),
        ({"catalog": {"properties": {"type": "sqlite"}}}, "unknown-name", "catalog.properties.type"),
    ],
)  # fmt: skip
def test_contradictions_name_the_file_and_the_key_on_one_line(tmp_path, changes, code, path):
    with refused(code, path) as caught:
        load(tmp_path, **changes)
    assert str(caught.value).startswith(str(tmp_path / "demo.toml"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("number", ["nan", "inf", "-inf"])
@pytest.mark.parametrize(
    ("before", "after", "path"),
    [
        ("seed = 7", "seed = {}", "seed"),
        ('rewrite_data_files"', 'rewrite_data_files", options = {{ min-input-files = {} }}',
         "strategies[1].rules[0].planner.options.min-input-files"),
        ('label = "never"', 'label = "never"\nproperties = {{ x = [{}] }}', "strategies[0].properties.x[0]"),
    ],
)  # fmt: skip
def test_no_number_is_infinite_or_none(tmp_path, before, after, path, number):
    with refused("finite-number", path):
        load(tmp_path, SOUND.replace(before, after.format(number)))


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"spark": {JAVA: "-Dstore.password=hunter22"}}, JAVA),
        ({"spark": {"spark.yarn.am.extraJavaOptions": "-Dstore.password=hunter22"}},
         "spark.yarn.am.extraJavaOptions"),
        ({"spark": {f"{JAVA} ": "-Dstore.password=hunter22"}}, f"{JAVA} "),
        ({"catalog": {"properties": {"type": "rest", "token": "hunter22-of-a-catalog"}},
          "spark": {JAVA: "-Dheader=hunter22-of-a-catalog"}}, JAVA),
    ],
)  # fmt: skip
def test_secrets_on_the_command_line_of_java_are_refused_and_not_shown(tmp_path, changes, key):
    with refused("secret-exposed", f'spark."{key}"') as caught:
        load(tmp_path, **changes)
    assert "hunter22" not in str(caught.value)


SIZE = "write.target-file-size-bytes"


@pytest.mark.parametrize(
    ("changes", "code", "path"),
    [
        ({"strategies": [{"label": "a"}, {"label": "a"}]}, "taken", "strategies[1].label"),
        *(({"strategies": [{"label": label}]}, "bad-name", "strategies[0].label")
          for label in ("", "x" * 101, "a\tb", " a", "../etc", "a\\b", "..")),
        ({"strategies": [{}]}, "missing", "strategies[0].label"),
        (strategy(properties={"format-version": 3}),
         "set-elsewhere", "strategies[0].properties.format-version"),
        (strategy(properties={SIZE: "64 elephants"}), "invalid", f'strategies[0].properties."{SIZE}"'),
        (strategy(properties={SIZE: 0}), "invalid", f'strategies[0].properties."{SIZE}"'),
        (strategy(writer={"files_per_commit": 0}), "out-of-range", "strategies[0].writer.files_per_commit"),
        (strategy(writer={"commit_every": "90s"}), "not-a-multiple", "strategies[0].writer.commit_every"),
        (strategy(writer={"commit_every": "4min"}), "not-a-multiple", "strategies[0].writer.commit_every"),
        (strategy(writer={"commit_every": "0s"}), "not-a-multiple", "strategies[0].writer.commit_every"),
        ({"workload": UPSERT, **strategy(writer={"commit_every": "5min"})},
         "unsupported", "strategies[0].writer.commit_every"),
        (strategy(writer={"upsert_mode": "merge-on-read"}), "no-effect", "strategies[0].writer.upsert_mode"),
        ({"workload": UPSERT, **strategy(writer={"upsert_mode": "merge"})},
         "unknown-name", "strategies[0].writer.upsert_mode"),
        *(({"table": {**HUDI, "partitioning": by}, "workload": {**UPSERT, "move_share": 0.1}},
           "unsupported", "table.partitioning") for by in ("city", "day")),
        ({"table": HUDI, **strategy(writer={"files_per_commit": 3})},
         "no-effect", "strategies[0].writer.files_per_commit"),
        (rule({"type": "never"}, {**EACH_2MIN, "interval": "1s"}),
         "out-of-range", "strategies[0].rules[0].trigger.interval"),
        (strategy(rules=[{"trigger": EACH_2MIN}]), "missing", "strategies[0].rules[0].planner"),
        (rule({"type": "never"}, {"type": "own_planners:Pulse", "interval": "30s"}),
         "out-of-range", "strategies[0].rules[0].trigger.interval"),
        (rule({"type": "own_planners:Narrow", "trait": "whole"}) | {"compaction_delay": "30s"},
         "cannot-be-delayed", "strategies[0].rules[0].planner.type"),
        (rule({"type": "nevr"}), "unknown-name", "strategies[0].rules[0].planner.type"),
        (rule({"type": "amoro", "full_sort_columns": ["user_id", "age"],
               "options": {"self-optimizing.full.trigger.interval": "1h"}}),
         "unknown-column", "strategies[0].rules[0].planner"),
        (rule({"type": "iceberg.rewrite_data_files", "strategy": "sort",
               "sort_order": "zorder(user_id, age)"}),
         "unknown-column", "strategies[0].rules[0].planner"),
        (rule({"type": "amoro", "full_sort_columns": ["user_id"]}),
         "invalid", "strategies[0].rules[0].planner.full_sort_columns"),
        ({"table": {"format": "iceberg", "target_file_size": "8MiB", "format_version": 3},
          **rule({"type": "amoro"})},
         "unsupported", "strategies[0].rules[0].planner.type"),
        (rule({"type": "iceberg.rewrite_data_files"}, delay="10min"),
         "cannot-be-delayed", "strategies[0].rules[0].planner.type"),
        (rule({"type": "iceberg.rewrite_data_files"}, executor="delta-rs"),
         "unknown-name", "strategies[0].rules[0].executor"),
        ({"table": {"format": "iceberg", "target_file_size": "8MiB", "format_version": 3},
          **rule({"type": "iceberg.convert_deletes"}, executor="single-node")},
         "unsupported", "strategies[0].rules[0].planner"),
    ],
)  # fmt: skip
def test_contradictions_of_strategies(tmp_path, changes, code, path):
    with refused(code, path):
        load(tmp_path, **changes)


def test_an_unknown_executor_is_refused_with_the_names_that_there_are(tmp_path):
    with refused("unknown-name", "strategies[0].rules[0].executor") as caught:
        load(tmp_path, **rule({"type": "iceberg.convert_deletes"}, executor="duckdb"))
    assert '"duckdb"' in str(caught.value)
    assert "spark or single-node" in str(caught.value)


@pytest.mark.parametrize(
    ("memory", "code"),
    [
        ("127MiB", "out-of-range"),
        ("0B", "out-of-range"),
        ("-1GiB", "invalid"),
        ("much", "invalid"),
        (1024, "invalid"),
    ],
)
def test_the_memory_of_compactions_has_a_unit_and_suffices_for_a_row_group(tmp_path, memory, code):
    with refused(code, "compaction_memory"):
        load(tmp_path, compaction_memory=memory)
    assert load(tmp_path, compaction_memory="128MiB").compaction_memory_bytes == 128 * 2**20
    assert load(tmp_path).compaction_memory_bytes is None


def test_probes_that_read_orders_are_accepted(tmp_path):
    cte = "WITH a AS (SELECT * FROM Orders) SELECT 1 FROM a;"
    for sql in ("select * from `orders`", cte, "-- all\nSELECT ';' FROM orders"):
        assert load(tmp_path, probes=[{"name": "own", "sql": sql}]).probes[-1].sql == sql


def probe(name, sql="SELECT 1 FROM orders", **keys):
    return {"name": name, "sql": sql, **keys}


@pytest.mark.parametrize(
    ("probes", "code", "path"),
    [
        ([probe("a"), probe("a")], "taken", "probes"),
        ([probe("a", primary=True), probe("b", primary=True)], "not-one-primary", "probes"),
        ([probe("min_order", primary=False)], "not-one-primary", "probes"),
        ([probe("A b")], "invalid", "probes[0].name"),
        ([probe("own", "SELECT 1")], "reads-no-table", "probes[0].sql"),
        ([probe("own", "SELECT 'orders' -- orders")], "reads-no-table", "probes[0].sql"),
        ([probe("own", "SELECT 1 FROM reorders")], "reads-no-table", "probes[0].sql"),
        ([probe("a"), probe("own", "DELETE FROM orders")], "not-a-query", "probes[1].sql"),
        ([probe("own", "")], "reads-no-table", "probes[0].sql"),
    ],
)
def test_contradictions_of_probes(tmp_path, probes, code, path):
    with refused(code, path):
        load(tmp_path, probes=probes)


def test_updates_that_no_engine_of_the_format_can_write_are_refused(tmp_path, monkeypatch):
    iceberg = FORMATS["iceberg"]
    monkeypatch.setitem(FORMATS, "iceberg", replace(iceberg, writer=replace(iceberg.writer, upsert_modes={})))
    with refused("unsupported", "workload.type"):
        load(tmp_path, workload=UPSERT)


OLD = {"type": "own_planners:Narrow", "trait": "version"}  # a planner for version 1 of a format


def test_a_format_version_that_the_format_does_not_have_is_not_advised(tmp_path):
    with refused("unsupported", "strategies[0].rules[0].planner.type") as caught:
        load(tmp_path, **rule(OLD))
    assert "table.format_version" not in str(caught.value)


class LakeKeys(TableKeys):
    """[table] of a format with another key for its version."""

    format: Literal["lake"]
    protocol: Literal[1, 4] = 4
    version_key: ClassVar[str] = "protocol"

    @property
    def version(self):
        return self.protocol

    @classmethod
    def versions(cls):
        return (1, 4)


def test_the_advised_version_is_named_by_the_key_of_the_format(tmp_path, monkeypatch):
    iceberg = FORMATS["iceberg"]
    lake = replace(iceberg, name="lake", table=replace(iceberg.table, keys=LakeKeys))
    monkeypatch.setitem(FORMATS, "lake", lake)
    old = {"trigger": EACH_2MIN, "planner": OLD}
    with refused("unsupported", "maintenance[0].planner.type") as caught:
        load(tmp_path, table={"format": "lake"}, strategies=[{"label": "a"}], maintenance=[old])
    assert "table.protocol = 1" in str(caught.value)


INLINE = "hoodie.compact.inline"
MERGE_LOGS = {**RULE, "planner": {"type": "hudi.log_compaction"}, "delay": "10min"}
CLUSTER = {**RULE, "planner": {"type": "hudi.clustering"}, "delay": "10min"}
TARGET_IO = "hoodie.compaction.target.io"
REGEX = "PartitionRegexBased"
COPY_ON_WRITE = {"upsert_mode": "copy-on-write"}


def hudi_rule(**planner):
    return {"rules": [{**RULE, "planner": {**RULE["planner"], **planner}}]}


@pytest.mark.parametrize(
    ("table", "keys", "path"),
    [
        ({}, hudi_rule(strategy=REGEX), "strategies[0].rules[0].planner"),
        ({"partitioning": "day"}, hudi_rule(strategy="DayBased,UnBoundedPartitionAware"),
         "strategies[0].rules[0].planner"),
        ({}, {"rules": [MERGE_LOGS]}, "strategies[0].rules[0].planner"),
        ({"index": "simple"}, {"rules": [CLUSTER]}, "strategies[0].rules[0].planner"),
        ({"index": "simple"}, {"rules": [{**CLUSTER, "trigger": {"type": "hudi.num_commits"}, "delay": "0s"}],
                               "writer": COPY_ON_WRITE}, "strategies[0].rules[0].planner"),
        ({}, {"rules": [{**RULE, "trigger": {"type": "hudi.num_commits"}}], "writer": COPY_ON_WRITE},
         "strategies[0].rules[0].planner"),
        ({}, hudi_rule(strategy="UnBounded", options={TARGET_IO: 20}), "strategies[0].rules[0].planner"),
        ({}, hudi_rule(options={TARGET_IO: 0}), "strategies[0].rules[0].planner"),
        ({}, {"rules": [RULE], "properties": {INLINE: "true"}}, "strategies[0].rules[0].planner"),
        ({}, {"properties": {TARGET_IO: "5"}}, f'strategies[0].properties."{TARGET_IO}"'),
        ({}, {"properties": {INLINE: "true", "hoodie.compaction.strategy": REGEX}},
         'strategies[0].properties."hoodie.compaction.strategy"'),
        ({}, {"properties": {INLINE: "true"}, "writer": COPY_ON_WRITE},
         f'strategies[0].properties."{INLINE}"'),
        ({"properties": {INLINE: "true", f"{INLINE}.trigger.strategy": "NUM_OR_TIME"}}, {},
         f'table.properties."{INLINE}.trigger.strategy"'),
    ],
)  # fmt: skip
def test_what_hudi_would_not_do_as_expected_is_refused(tmp_path, table, keys, path):
    with refused("unsupported", path):
        load(tmp_path, table=HUDI | table, workload=UPSERT, **strategy(**keys))


def test_a_catalog_is_refused_where_the_format_takes_none(tmp_path, monkeypatch):
    monkeypatch.setitem(FORMATS, "iceberg", replace(FORMATS["iceberg"], catalog=CatalogRules()))
    with refused("no-effect", "catalog"):
        load(tmp_path, catalog={"properties": {"type": "rest"}})


def test_spark_configures_the_catalog_by_the_name_that_the_scenario_gives_it(tmp_path):
    spark = {"spark.sql.catalog.mine.type": "bogus"}
    properties = {"type": "REST"}  # in any case
    with refused("unknown-name", 'spark."spark.sql.catalog.mine.type"'):
        load(tmp_path, spark=spark, catalog={"name": "mine", "properties": properties})
    assert load(tmp_path, spark=spark, catalog={"properties": properties}).catalog.name == "lake"
    assert load(tmp_path, spark=spark).catalog is None


def sorted_by(*columns):
    """Rules that sort a Delta table."""
    return [{"trigger": EACH_2MIN, "planner": {"type": "delta.zorder", "columns": list(columns)}}]


TWO_INDEXED = {"delta.dataSkippingNumIndexedCols": 2}


@pytest.mark.parametrize(
    ("changes", "code", "path"),
    [
        ({"table": {"cluster_by": ["user"]}}, "unsupported", "table.cluster_by"),
        ({"workload": {"columns": 3}, "table": {"cluster_by": ["user_id"]}},
         "unsupported", "table.cluster_by"),
        ({"table": {"cluster_by": ["user_age"]}, **strategy(properties=TWO_INDEXED)},
         "unsupported", "table.cluster_by"),
        (strategy(rules=sorted_by("user")), "unknown-column", "strategies[0].rules[0].planner"),
        ({"table": {"partitioning": "city"}, **strategy(rules=sorted_by("user_city"))},
         "unsupported", "strategies[0].rules[0].planner"),
        ({"table": {"cluster_by": ["user_id"]}, "maintenance": sorted_by("user_age")},
         "unsupported", "maintenance[0].planner"),
    ],
)  # fmt: skip
def test_columns_that_the_format_cannot_order_a_table_by_are_refused(tmp_path, changes, code, path):
    with refused(code, path):
        load(tmp_path, DELTA_TEXT, **changes)


@pytest.mark.parametrize(
    ("changes", "code", "path"),
    [
        ({"table": {"properties": {"delta.enabledeletionvectors": True}}},
         "set-elsewhere", 'table.properties."delta.enabledeletionvectors"'),
        (strategy(properties={"DELTA.enableDeletionVectors": True}),
         "set-elsewhere", 'strategies[0].properties."DELTA.enableDeletionVectors"'),
        ({"table": {"properties": {"delta.autoOptimize": True, "delta.autooptimize": False}}},
         "taken", 'table.properties."delta.autooptimize"'),
        (strategy(properties={"delta.autooptimize": True, "delta.AutoOptimize": True}),
         "taken", 'strategies[0].properties."delta.AutoOptimize"'),
        (strategy(properties={"delta.autoOptimize": "maybe"}),
         "unsupported", 'strategies[0].properties."delta.autoOptimize"'),
    ],
)  # fmt: skip
def test_properties_are_recognised_in_any_spelling_of_the_format(tmp_path, changes, code, path):
    with refused(code, path):
        load(tmp_path, DELTA_TEXT, **changes)


@pytest.mark.parametrize(
    ("table", "code", "path"),
    [
        ("table = 3\n", "wrong-type", "table"),
        ("", "missing", "table"),
        ("[table]\nformat_versions = 2\n", "missing", "table.format"),  # before the keys that depend on it
    ],
)
def test_a_table_must_be_a_table_with_a_format(tmp_path, table, code, path):
    head, _, rest = SOUND.partition('[table]\nformat = "iceberg"\ntarget_file_size = "8MiB"\n')
    with refused(code, path):
        load(tmp_path, head + table + rest)


@pytest.mark.parametrize("place", ["table", "strategies[never]"])
def test_the_remedy_for_a_property_names_the_key_that_sets_it(place):
    setting = f'{place}.properties={{ "delta.enableDeletionVectors" = "true" }}'
    with refused("set-elsewhere") as caught:
        load_scenario("delta-frequent", [setting])
    assert "writer.upsert_mode" in str(caught.value)
