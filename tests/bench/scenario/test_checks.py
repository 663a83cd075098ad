import json
from dataclasses import replace
from typing import ClassVar, Literal

import pytest
from scenario_builder import SOUND, load, maintenance

from bench.engines.format import CatalogRules
from bench.engines.keys import TableKeys
from bench.engines.registry import FORMATS
from bench.errors import ScenarioError
from bench.scenario.load import load_scenario


def refusal(folder, text=SOUND, **changes):
    with pytest.raises(ScenarioError) as caught:
        load(folder, text, **changes)
    return str(caught.value)


WHOLE = "must be a whole number of commit intervals (commit_interval = 1min)"
CONTRADICTIONS = [
    ({"duration": "90s"}, f'duration = "90s": {WHOLE}'),
    ({"duration": "30s"}, 'duration = "30s": must be a whole'),
    ({"duration": "0s"}, 'duration = "0s": must be a whole'),
    ({"duration": "100001d"}, "'100001d' is too large: a duration is"),
    ({"duration": "9" * 300 + "d"}, "99...' is too large: a duration is"),
    ({"duration": 600}, "duration = 600: 600 is not a duration"),
    ({"spark": {"spark.driver.extraJavaOptions": "-Dstore.password=hunter22"}},
     'spark."spark.driver.extraJavaOptions" = "(hidden)": contains a secret'),
    ({"spark": {"spark.yarn.am.extraJavaOptions": "-Dstore.password=hunter22"}},
     'spark."spark.yarn.am.extraJavaOptions" = "(hidden)": contains a secret'),
    ({"spark": {"spark.driver.extraJavaOptions ": "-Dstore.password=hunter22"}},
     'spark."spark.driver.extraJavaOptions " = "-Dstore.password=(hidden)": has a blank'),
    ({"spark": {"spark.master\t": "local"}}, "has a blank at an end of its name: remove it"),
    ({"catalog": {"properties": {"type": "rest", "token": "hunter22-of-a-catalog"}},
      "spark": {"spark.driver.extraJavaOptions": "-Dheader=hunter22-of-a-catalog"}},
     'spark."spark.driver.extraJavaOptions" = "(hidden)": contains a secret'),
    ({"repetitions": 1001}, "repetitions = 1001: must be less than or equal to 1000"),
    ({"table": {"partitioning": "bucket", "buckets": 10_001}},
     "table.buckets = 10001: must be less than"),
    ({"workload": {"files_per_commit": 100_001}}, "must be <= 100000: each file is"),
    ({"strategies": [{"label": "a", "writer": {"files_per_commit": 100_001}}]},
     "strategies[0].writer.files_per_commit = 100001: must be less than"),
    ({"commit_interval": "0s"}, 'commit_interval = "0s": must be greater'),
    ({"commit_interval": "0.5ms"},
     "commit_interval = \"0.5ms\": '0.5ms' is not"),
    ({"duration": "0.00001min"},
     "duration = \"0.00001min\": '0.00001min' is not"),
    ({"strategies[every-2min].rules[0].trigger.interval": "60.0001s"},
     "trigger.interval = \"60.0001s\": '60.0001s' is not"),
    ({"clock": "real"}, 'clock = "real": must be'),
    ({"clock": "sun"}, 'clock = "sun": must be'),
    ({"seed": True}, "seed = true: must be a valid"),
    ({"seed": -1}, "seed = -1: must be greater"),
    ({"repetitions": 0}, "repetitions = 0: must be greater"),
    ({"probe_every": "90s"}, f'probe_every = "90s": {WHOLE}'),
    ({"probe_every": "20min"}, 'probe_every = "20min": must be a whole'),
    ({"probe_every": "0s"}, 'probe_every = "0s": must be a whole'),
    ({"probe_every": "2min", "side_probe_every": "3min"},
     'side_probe_every = "3min": must be a whole'),
    ({"side_probe_every": "11min"}, 'side_probe_every = "11min": must be a whole'),
    ({"side_probe_every": "0s"}, 'side_probe_every = "0s": must be a whole'),
    ({"probe_phase": "late"}, "probe_phase = \"late\": must be 'random'"),
    ({"compaction_delay": "1s"},
     'planner.type = "iceberg.rewrite_data_files": cannot be delayed'),
    ({"durations": "1h"}, 'durations = "1h": unknown key; did'),
    ({"table": {"format": "delta", "target_file_size": "8MiB", "cluster_by": ["order_id", "a b"]}},
     'table.cluster_by[1] = "a b": must be 1 to 60 ASCII'),
    ({"table": {"format": "delta", "target_file_size": "8MiB",
                "properties": {"delta.checkpointInterval": "x"}}},
     'table.properties."delta.checkpointInterval" = "x": must be a whole'),
    ({"table": {"format": "delta", "target_file_size": "8MiB"},
      "strategies": [{"label": "a", "properties": {"delta.autoOptimize": "maybe"}}]},
     'strategies[0].properties."delta.autoOptimize" = "maybe": must be true'),
    ({"table": {"format": "parquet"}},
     'table.format = "parquet": unknown format; known'),
    ({"table": {"format": "icebreg"}},
     'table.format = "icebreg": unknown format; did'),
    ({"table": {"format": ["iceberg"]}}, 'table.format = ["iceberg"]: unknown format'),
    ({"table": {"format_versions": 2}},
     "table.format_versions = 2: unknown key; did"),
    ({"table": {"format_version": 4}}, "table.format_version = 4: must be 2 or 3"),
    ({"table": {"target_file_size": "0B"}}, 'table.target_file_size = "0B": must be greater'),
    ({"table": {"target_file_size": "8MB2"}}, "table.target_file_size = \"8MB2\": '8MB2' is not"),
    ({"table": {"buckets": 4}}, "table.buckets = 4: only applies to"),
    ({"table": {"partitioning": "week"}}, 'table.partitioning = "week": must be'),
    ({"table": {"properties": {"write.object-storage.path": "s3://b"}}},
     'table.properties."write.object-storage.path" = "s3://b": is a deprecated'),
    ({"table": {"properties": {"write.folder-storage.path": "s3://b"}}},
     'table.properties."write.folder-storage.path" = "s3://b": is a deprecated'),
    ({"table": {"properties": {"write.target-file-size-bytes": 5}}},
     'table.properties."write.target-file-size-bytes" = "5": is set by table.target_file_size'),
    ({"table": {"properties": {"format-version": 3}}}, "is set by table.format_version: set that instead"),
    ({"table": {"properties": {"list": [1]}}}, "table.properties.list = [1]: must be a valid"),
    ({"workload": {"type": "apend"}}, 'workload.type = "apend": unknown workload; did'),
    ({"workload": {"columns": 5}}, "workload.columns = 5: must be one of 3, 7, 17, 40"),
    ({"workload": {"rows_per_commit": 10**12}}, "rows_per_commit=1000000000000 must be"),
    ({"workload": {"initial_rows": 10**400}}, "about 2 TB in one commit: make the scenario"),
    ({"workload": {"type": "upsert", "initial_rows": 10**12}}, "initial_rows=1000000000000 must be <="),
    ({"workload": {"rows_per_commit": 0}}, "workload.rows_per_commit = 0: rows_per_commit=0 must be"),
    ({"workload": {"arrival": {"type": "daily", "day": "0s"}}},
     'workload.arrival.day = "0s": day_s=0.0 must be'),
    ({"workload": {"arrival": {"type": "trace", "path": "no.csv"}}}, "no.csv: no such file"),
    ({"workload": "append"}, 'workload = "append": must be a table'),
    ({"strategies": 5}, "strategies = 5: must be a list"),
    ({"strategies": []}, "strategies = []: must not be empty"),
    ({"maintenance": [maintenance("iceberg.rewrite_manifests", "30s")]},
     'maintenance[0].trigger.interval = "30s": must be at least commit_interval'),
    ({"maintenance": [maintenance("iceberg.rewrite_manifests", "0s")]},
     'maintenance[0].trigger.interval = "0s": interval_ms=0 must be'),
    ({"maintenance": [maintenance("iceberg.expire_snapshots", retain_last=0)]},
     "maintenance[0].planner.retain_last = 0: retain_last=0 must be"),
    ({"maintenance": [maintenance("iceberg.expire_snapshot")]},
     'maintenance[0].planner.type = "iceberg.expire_snapshot": unknown planner; did'),
    ({"maintenance": 5}, "maintenance = 5: must be a list"),
    ({"resources": {"writer": {"memory": "0B"}}}, 'resources.writer.memory = "0B": must be greater'),
    ({"prices": {"gb_hour": -1}}, "prices.gb_hour = -1: must be greater"),
    ({"prices": {"put_per_1000": "inf"}}, 'prices.put_per_1000 = "inf": must be a valid'),
    ({"prices": {"job_start": 30}}, "prices.job_start = 30: 30 is not a duration"),
    ({"prices": {"request": "20ms"}}, 'prices.request = "20ms": unknown key; known'),
    ({"prices": {"currency": "U S D"}},
     'prices.currency = "U S D": must be 1 to 8 characters'),
    ({"spark": {"master": "a b"}}, 'spark.master = "a b": must be text'),
    ({"spark": {"mster": "local"}}, 'spark.mster = "local": unknown key; did'),
    ({"spark": {"spark.master": "local"}}, 'spark."spark.master" = "local": is set by spark.master'),
    ({"spark": {"spark.executor_cpu": "tasks"}},
     "is set by spark.executor_cpu: write `executor_cpu ="),
    ({"spark": {"driver_memory": "1MiB"}}, 'spark.driver_memory = "1MiB": must be at least 512MiB'),
    ({"spark": {"executor_cpu": "all"}}, "must be 'processes'"),
    ({"spark": {"executor_cpu": "tasks"}},
     'spark.executor_cpu = "tasks": has no effect'),
    ({"spark": {"spark.x": [1]}}, 'spark."spark.x" = [1]: must be a valid'),
    ({"catalog": {"name": "bench"}}, "catalog.properties: is missing, e.g."),
    ({"catalog": {"properties": {}, "namespace": "a b"}},
     'catalog.namespace = "a b": must be 1 to 60 ASCII'),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "text"), CONTRADICTIONS)
def test_contradictions_name_file_key_value_and_remedy(tmp_path, changes, text):
    refused = refusal(tmp_path, **changes)
    assert refused.startswith(str(tmp_path / "demo.toml"))
    assert text in refused
    assert "\n" not in refused


EACH_2MIN = {"type": "every", "interval": "2min"}
STRATEGY_CONTRADICTIONS = [
    ([{"label": "a"}, {"label": "a"}],
     'strategies[1].label = "a": is also the label'),
    ([{"label": ""}], 'strategies[0].label = "": must be 1 to 60 printable'),
    ([{"label": "x" * 61}], "must be 1 to 60 printable"),
    ([{"label": "a\tb"}], "must be 1 to 60 printable"),
    ([{"label": " a"}], "without spaces at either end"),
    ([{"label": "../etc"}], 'strategies[0].label = "../etc": must not be or contain'),
    ([{"label": "a\\b"}], "must not be or contain"),
    ([{"label": ".."}], "must not be or contain"),
    ([{"labl": "a"}], 'strategies[0].labl = "a": unknown key; did'),
    ([{}], "strategies[0].label: is missing, e.g."),
    ([{"label": "a", "switch": [{"at": "5min", "strategy": "b"}]}],
     'strategies[0].switch[0].strategy = "b": no strategy has'),
    ([{"label": "a", "switch": [{"at": "0s", "strategy": "a"}]}],
     'switch[0].at = "0s": must be after'),
    ([{"label": "a", "switch": [{"at": "10min", "strategy": "a"}]}],
     'at = "10min": must be after'),
    ([{"label": "a", "switch": [{"at": "5min", "strategy": "a"}, {"at": "5min", "strategy": "a"}]}],
     'switch[1].at = "5min": must be after'),
    ([{"label": "a", "switch": [{"at": "90s", "strategy": "a"}]}],
     'switch[0].at = "90s": must be on a commit'),
    ([{"label": "a", "properties": {"format-version": 3}}],
     'strategies[0].properties.format-version = "3": is the same'),
    ([{"label": "a", "properties": {"write.target-file-size-bytes": "64 elephants"}}],
     "strategies[0].properties.\"write.target-file-size-bytes\" = \"64 elephants\": '64 elephants' is"),
    ([{"label": "a", "properties": {"write.target-file-size-bytes": 0}}],
     'properties."write.target-file-size-bytes" = "0": must be a size'),
    ([{"label": "a", "writer": {"files_per_commit": 0}}],
     "writer.files_per_commit = 0: must be greater"),
    ([{"label": "a", "rules": [{"trigger": {**EACH_2MIN, "interval": "1s"}, "planner": {"type": "never"}}]}],
     'strategies[0].rules[0].trigger.interval = "1s": must be at least commit_interval'),
    ([{"label": "a", "rules": [{"trigger": EACH_2MIN}]}], "rules[0].planner: is missing"),
    ([{"label": "a", "rules": [{"trigger": EACH_2MIN, "planner": {"type": "nevr"}}]}],
     'rules[0].planner.type = "nevr": unknown planner; did'),
    ([{"label": "a", "rules": [{"trigger": EACH_2MIN,
                                "planner": {"type": "amoro", "full_sort_columns": ["user_id", "age"],
                                            "options": {"self-optimizing.full.trigger.interval": "1h"}}}]}],
     "strategies[0].rules[0].planner: names age, which the table"),
    ([{"label": "a", "rules": [{"trigger": EACH_2MIN, "planner": {
        "type": "iceberg.rewrite_data_files", "strategy": "sort", "sort_order": "zorder(user_id, age)"}}]}],
     "strategies[0].rules[0].planner: names age, which the table"),
    ([{"label": "a", "rules": [{"trigger": EACH_2MIN,
                                "planner": {"type": "amoro", "full_sort_columns": ["user_id"]}}]}],
     "sorts full optimizations, of which there are none: give option self-optimizing.full.trigger.interval"),
    ([{"label": "a", "writer": {"commit_every": "90s"}}],
     'strategies[0].writer.commit_every = "90s": must be a whole'),
    ([{"label": "a", "writer": {"commit_every": "4min"}}],
     'strategies[0].writer.commit_every = "4min": must be a whole'),
    ([{"label": "a", "writer": {"commit_every": "0s"}}], 'strategies[0].writer.commit_every = "0s": must'),
    ([{"label": "a", "writer": {"upsert_mode": "merge-on-read"}}],
     'strategies[0].writer.upsert_mode = "merge-on-read": sets how changes'),
]  # fmt: skip


@pytest.mark.parametrize(("strategies", "text"), STRATEGY_CONTRADICTIONS)
def test_contradictions_of_strategies(tmp_path, strategies, text):
    assert text in refusal(tmp_path, strategies=strategies)


def test_a_planner_that_knows_no_such_format_version_is_refused(tmp_path):
    rule = {"trigger": EACH_2MIN, "planner": {"type": "amoro"}}
    strategies = [{"label": "a", "rules": [rule]}]
    told = refusal(tmp_path, strategies=strategies, table={"format": "iceberg", "target_file_size": "8MiB",
                                                          "format_version": 3})  # fmt: skip
    assert 'rules[0].planner.type = "amoro": supports tables up' in told


@pytest.mark.parametrize("sql", ["SELECT 1", "SELECT 'orders' -- orders", "SELECT 1 FROM reorders", ""])
def test_probes_that_do_not_read_orders_are_refused(tmp_path, sql):
    refused = refusal(tmp_path, probes=[{"name": "own", "sql": sql}])
    assert f"probes[0].sql = {json.dumps(sql)}: must read the table" in refused


@pytest.mark.parametrize(
    "sql",
    [
        "select * from `orders`",
        "WITH a AS (SELECT * FROM Orders) SELECT 1 FROM a;",
        "-- all\nSELECT ';' FROM orders",
    ],
)
def test_probes_that_read_orders_are_accepted(tmp_path, sql):
    assert load(tmp_path, probes=[{"name": "own", "sql": sql}]).probes[-1].sql == sql


@pytest.mark.parametrize(
    ("probes", "text"),
    [
        ([("a", None), ("a", None)], 'probes = "a": 2 probes are'),
        ([("a", True), ("b", True)], 'probes = ["a", "b"]: more than one is primary'),
        ([("min_order", False)], "no probe is primary: min_order has primary"),
        ([("A b", None)], 'probes[0].name = "A b": must be 1 to 60 of a-z, 0-9, _ and -'),
    ],
)
def test_probes_that_contradict_each_other_are_refused(tmp_path, probes, text):
    given = [
        {"name": n, "sql": "SELECT 1 FROM orders"} | ({} if p is None else {"primary": p}) for n, p in probes
    ]
    assert text in refusal(tmp_path, probes=given)


def test_updates_that_no_engine_of_the_format_can_write_are_refused(tmp_path, monkeypatch):
    iceberg = FORMATS["iceberg"]
    monkeypatch.setitem(FORMATS, "iceberg", replace(iceberg, writer=replace(iceberg.writer, upsert_modes={})))
    text = refusal(tmp_path, workload={"type": "upsert", "initial_rows": 10})
    assert 'workload.type = "upsert": updates and deletes' in text


OWN = """
from dataclasses import dataclass
from strategies.plan import Compact, Plan, Reason
from strategies.planner import Planner, PlannerTraits
from strategies.triggers import Trigger, TriggerTraits
@dataclass(frozen=True)
class Pulse(Trigger):
    interval_ms: int
    def traits(self):
        return TriggerTraits(interval_ms=self.interval_ms)
    def due(self, state, memory):
        return True
@dataclass(frozen=True)
class Old(Planner):
    def traits(self):
        return PlannerTraits(max_format_version=1)
    def decide(self, state):
        return None
@dataclass(frozen=True)
class Whole(Planner):
    def traits(self):
        return PlannerTraits(needs=frozenset({"iceberg.rewrite_data_files"}))
    def decide(self, state):
        return Plan((Compact(),), Reason.OTHER)
"""


def own_rules(trigger, planner):
    return [{"label": "a", "rules": [{"trigger": trigger, "planner": {"type": planner}}]}]


def test_a_user_s_own_interval_is_checked_like_ours(tmp_path, monkeypatch):
    (tmp_path / "own_pulse.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    pulse = {"type": "own_pulse:Pulse", "interval": "30s"}
    told = refusal(tmp_path, strategies=own_rules(pulse, "never"))
    assert 'rules[0].trigger.interval = "30s": must be at least commit_interval' in told


def test_no_format_version_is_advised_that_the_format_does_not_have(tmp_path, monkeypatch):
    (tmp_path / "own_old.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    told = refusal(tmp_path, strategies=own_rules(EACH_2MIN, "own_old:Old"))
    assert 'planner.type = "own_old:Old": supports tables up to format version 1' in told
    assert "table.format_version" not in told


class LakeKeys(TableKeys):
    """[table] of a format that names its versions otherwise."""

    format: Literal["lake"]
    protocol: Literal[1, 4] = 4
    version_key: ClassVar[str] = "protocol"

    @property
    def version(self):
        return self.protocol

    @classmethod
    def versions(cls):
        return (1, 4)


def test_the_version_to_set_is_named_by_the_format(tmp_path, monkeypatch):
    iceberg = FORMATS["iceberg"]
    lake = replace(iceberg, name="lake", table=replace(iceberg.table, keys=LakeKeys))
    monkeypatch.setitem(FORMATS, "lake", lake)
    (tmp_path / "own_old_lake.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    rules = {"trigger": EACH_2MIN, "planner": {"type": "own_old_lake:Old"}}
    for given, place in (
        ({"strategies": [{"label": "a", "rules": [rules]}]}, "strategies[0].rules[0]"),
        ({"maintenance": [rules]}, "maintenance[0]"),
    ):
        told = refusal(tmp_path, table={"format": "lake"}, **given)
        assert f'{place}.planner.type = "own_old_lake:Old"' in told
        assert "set table.protocol = 1" in told


def test_a_planner_of_the_users_own_is_delayed_like_ours(tmp_path, monkeypatch):
    (tmp_path / "own_whole.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    strategies = own_rules(EACH_2MIN, "own_whole:Whole")
    told = refusal(tmp_path, strategies=strategies, compaction_delay="30s")
    assert 'own_whole:Whole": cannot be delayed' in told


def test_a_way_to_write_changes_the_format_does_not_have_is_refused(tmp_path):
    told = refusal(tmp_path, workload={"type": "upsert", "initial_rows": 10},
                   strategies=[{"label": "a", "writer": {"upsert_mode": "merge"}}])  # fmt: skip
    assert 'strategies[0].writer.upsert_mode = "merge": unknown mode' in told
    assert "copy-on-write, equality-delete, merge-on-read" in told


RULE = {"trigger": {"type": "every", "interval": "10min"}, "planner": {"type": "hudi.compaction"}}
HUDI = {"format": "hudi", "target_file_size": "1MiB"}


def test_a_delay_of_a_rule_needs_a_planner_that_can_be_delayed(tmp_path):
    whole = {**RULE, "planner": {"type": "iceberg.rewrite_data_files"}, "delay": "10min"}
    told = refusal(tmp_path, strategies=[{"label": "a", "rules": [whole]}])
    assert "or the delay" in told


@pytest.mark.parametrize("also", [{}, {"delay": "0s"}, {"inline": True}])
def test_a_rule_is_only_concurrent_with_a_delay(tmp_path, also):
    told = refusal(tmp_path, table=HUDI, workload={"type": "upsert", "initial_rows": 10},
                   strategies=[{"label": "a", "rules": [{**RULE, "concurrent": True, **also}]}])  # fmt: skip
    assert "strategies[0].rules[0].concurrent = true" in told


INLINE = "hoodie.compact.inline"
REGEX, DAYS = "PartitionRegexBased", "DayBased,UnBoundedPartitionAware"
MERGE_LOGS = {**RULE, "planner": {"type": "hudi.log_compaction"}, "delay": "10min"}
CLUSTER = {**RULE, "planner": {"type": "hudi.clustering"}, "delay": "10min"}
TARGET_IO = "hoodie.compaction.target.io"
BOUNDED = {TARGET_IO: 20}


@pytest.mark.parametrize(
    ("table", "strategy", "problem"),
    [
        ({}, {"rules": [{**RULE, "planner": {**RULE["planner"], "strategy": REGEX}}]},
         "strategy 'PartitionRegexBased' needs"),
        ({"partitioning": "day"}, {"rules": [{**RULE, "planner": {**RULE["planner"], "strategy": DAYS}}]},
         "both as a number"),
        ({}, {"rules": [MERGE_LOGS]}, "rules[0].planner: has a delay"),
        ({"index": "simple"}, {"rules": [CLUSTER]}, "planner: has a delay"),
        ({"index": "simple"}, {"rules": [{**CLUSTER, "trigger": {"type": "hudi.num_commits"}, "delay": "0s"}],
                               "writer": {"upsert_mode": "copy-on-write"}}, "delta commits"),
        ({}, {"rules": [{**RULE, "trigger": {"type": "hudi.num_commits"}}],
              "writer": {"upsert_mode": "copy-on-write"}}, "merges log files"),
        ({}, {"rules": [{**RULE, "planner": {**RULE["planner"], "strategy": "UnBounded",
                                             "options": BOUNDED}}]},
         "UnBounded"),
        ({}, {"rules": [{**RULE, "planner": {**RULE["planner"], "options": {**BOUNDED, TARGET_IO: 0}}}]},
         "hoodie.compaction.target.io = 0"),
        ({}, {"rules": [{**RULE, "planner": {**RULE["planner"], "options": {**BOUNDED, TARGET_IO: "2GiB"}}}]},
         "is in MiB and must be a whole"),
        ({}, {"rules": [RULE], "properties": {INLINE: "true"}}, "hoodie.compact.inline"),
        ({}, {"properties": {"hoodie.compaction.target.io": "5"}}, "table service"),
        ({}, {"properties": {INLINE: "true", "hoodie.compaction.strategy": REGEX}},
         'properties."hoodie.compaction.strategy" = "PartitionRegexBased": strategy'),
        ({}, {"properties": {INLINE: "true"}, "writer": {"upsert_mode": "copy-on-write"}},
         f"properties.\"{INLINE}\" = \"true\": has no effect on a COPY_ON_WRITE table"),
        ({"properties": {INLINE: "true", f"{INLINE}.trigger.strategy": "NUM_OR_TIME"}}, {},
         "hudi.num_or_time"),
    ],
)  # fmt: skip
def test_what_hudi_would_do_otherwise_than_expected_is_refused(tmp_path, table, strategy, problem):
    told = refusal(tmp_path, table=HUDI | table, workload={"type": "upsert", "initial_rows": 10},
                   strategies=[{"label": "a", **strategy}])  # fmt: skip
    assert problem in told


def test_maintenance_is_neither_inline_nor_delayed(tmp_path):
    told = refusal(tmp_path, maintenance=[{**RULE, "inline": True}])
    assert "maintenance[0].inline" in told


def test_a_number_of_writers_is_refused_where_it_decides_nothing(tmp_path):
    told = refusal(tmp_path, table=HUDI,
                   strategies=[{"label": "a", "writer": {"files_per_commit": 3}}])  # fmt: skip
    assert "strategies[0].writer.files_per_commit = 3: has no effect" in told


@pytest.mark.parametrize("by", ["city", "day"])
def test_changes_that_move_rows_are_refused_where_the_format_would_lose_track_of_them(tmp_path, by):
    table = {**HUDI, "partitioning": by}
    moving = {"type": "upsert", "initial_rows": 10, "move_share": 0.1}
    told = refusal(tmp_path, table=table, workload=moving)
    assert f'table.partitioning = "{by}": changes of this workload may put a row into' in told
    assert "workload.move_share to 0" in told


def test_a_catalog_is_refused_where_the_format_takes_none(tmp_path, monkeypatch):
    monkeypatch.setitem(FORMATS, "iceberg", replace(FORMATS["iceberg"], catalog=CatalogRules()))
    told = refusal(tmp_path, catalog={"properties": {"type": "rest"}})
    assert "catalog: tables of format" in told


@pytest.mark.parametrize("kind", ["nonsense", "", "sqlite"])
def test_a_type_of_catalog_that_does_not_exist_is_refused(tmp_path, kind):
    told = refusal(tmp_path, catalog={"properties": {"type": kind}})
    assert f'catalog.properties.type = "{kind}": is not a type of catalog' in told
    assert "one of bigquery" in told


@pytest.mark.parametrize(
    ("catalog", "settings", "told"),
    [
        (None, {"type": "bogus"}, 'spark."spark.sql.catalog.lake.type" = "bogus": is not a type'),
        ({"type": "rest"}, {"type": "bogus"}, 'spark."spark.sql.catalog.lake.type" = "bogus": is not'),
        ({"catalog-impl": ""}, {}, 'catalog.properties.catalog-impl = "": names no class'),
        (
            {"type": "rest", "catalog-impl": "a.B"},
            {},
            "cannot be combined with catalog.properties.type: leave one of",
        ),
        (
            {"type": "rest"},
            {"catalog-impl": "a.B"},
            "cannot be combined with catalog.properties.type: leave one of",
        ),
    ],
)
def test_a_catalog_that_cannot_be_made_is_refused(tmp_path, catalog, settings, told):
    spark = {f"spark.sql.catalog.lake.{key}": value for key, value in settings.items()}
    tables = {} if catalog is None else {"catalog": {"properties": catalog}}
    assert told in refusal(tmp_path, spark=spark, **tables)


def test_spark_configures_the_catalog_by_the_name_that_the_scenario_gives_it(tmp_path):
    spark = {"spark.sql.catalog.mine.type": "bogus"}
    named = {"name": "mine", "properties": {"type": "rest"}}
    assert "spark.sql.catalog.mine.type" in refusal(tmp_path, spark=spark, catalog=named)
    assert load(tmp_path, spark=spark, catalog={"properties": {"type": "rest"}}).catalog.name == "lake"


def test_a_catalog_of_another_name_is_not_ours_to_judge(tmp_path):
    assert load(tmp_path, spark={"spark.sql.catalog.other.type": "bogus"}).catalog is None


def test_the_type_of_a_catalog_may_be_written_in_any_case(tmp_path):
    loaded = load(tmp_path, catalog={"properties": {"type": "REST", "uri": "http://localhost:8181"}})
    assert loaded.catalog.properties["type"] == "REST"


def sorted_by(*columns):
    """Rules that sort a table of the format that can."""
    return [{"trigger": EACH_2MIN, "planner": {"type": "delta.zorder", "columns": list(columns)}}]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"table": {"cluster_by": ["user"]}},
         'demo.toml with --set table."cluster_by"=["user"]: table.cluster_by = ["user"]'),
        ({"table": {"cluster_by": ["user_id", "user_id"]}}, "user_id"),
        ({"workload": {"columns": 3}, "table": {"cluster_by": ["user_id"]}},
         "name some of"),
        ({"table": {"cluster_by": ["user_age"]},
          "strategies": [{"label": "a", "properties": {"delta.dataSkippingNumIndexedCols": 2}}]},
         'table.cluster_by = ["user_age"]: '),
        ({"strategies": [{"label": "a", "rules": sorted_by("user")}]},
         "strategies[0].rules[0].planner: names user, which"),
        ({"table": {"partitioning": "city"}, "strategies": [{"label": "a", "rules": sorted_by("user_city")}]},
         "strategies[0].rules[0].planner: "),
        ({"table": {"cluster_by": ["user_id"]}, "maintenance": sorted_by("user_age")},
         "maintenance[0].planner: "),
        ({"strategies": [
            {"label": "a", "properties": {"delta.dataSkippingNumIndexedCols": 2},
             "switch": [{"at": "3min", "strategy": "b"}]},
            {"label": "b", "rules": sorted_by("user_age")},
         ]},
         "strategies[1].rules[0].planner: "),
    ],
)  # fmt: skip
def test_columns_that_the_format_cannot_order_a_table_by_are_refused(tmp_path, changes, told):
    text = SOUND.replace("iceberg.rewrite_data_files", "delta.optimize").replace("iceberg", "delta")
    assert told in refusal(tmp_path, text, **changes)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"table": {"properties": {"delta.enabledeletionvectors": True}}},
         'table.properties."delta.enabledeletionvectors" = "true": is set by writer.upsert_mode'),
        ({"strategies": [{"label": "a", "properties": {"DELTA.enableDeletionVectors": True}}]},
         'Vectors" = "true": is set by writer.upsert_mode'),
        ({"table": {"properties": {"delta.autoOptimize": True, "delta.autooptimize": False}}},
         'table.properties."delta.autooptimize" = "false": is the same'),
        ({"strategies": [{"label": "a", "properties": {"delta.appendOnly": 1, "delta.autooptimize": True,
                                                        "delta.AutoOptimize": True}}]},
         'properties."delta.AutoOptimize" = "true": is the same'),
    ],
)  # fmt: skip
def test_the_spelling_of_a_property_is_that_of_the_format(tmp_path, changes, told):
    text = SOUND.replace("iceberg.rewrite_data_files", "delta.optimize").replace("iceberg", "delta")
    assert told in refusal(tmp_path, text, **changes)


def test_a_table_without_a_format_is_told_so_first(tmp_path):
    told = refusal(tmp_path, SOUND.replace('format = "iceberg"', "format_versions = 2"))
    assert "table.format: is missing, e.g." in told


def test_a_table_that_is_none_is_refused(tmp_path):
    text = SOUND.replace("[table]", "").replace('format = "iceberg"', "table = 3").replace(
        'target_file_size = "8MiB"', ""
    )  # fmt: skip
    assert "table = 3: must be" in refusal(tmp_path, text)
    assert "table: is missing" in refusal(tmp_path, text.replace("table = 3", ""))


def test_changes_cannot_be_kept_back(tmp_path):
    strategies = [{"label": "a", "writer": {"commit_every": "5min"}}]
    assert 'strategies[0].writer.commit_every = "5min": commits several batches' in refusal(
        tmp_path, workload={"type": "upsert", "initial_rows": 10}, strategies=strategies
    )


@pytest.mark.parametrize("place", ["table", "strategies[never]"])
def test_the_remedy_for_a_property_names_the_key_that_sets_it(place):
    name = "delta.enableDeletionVectors"
    with pytest.raises(ScenarioError) as caught:
        load_scenario("delta-frequent", [f'{place}.properties={{ "{name}" = "true" }}'])
    told = "is set by writer.upsert_mode"
    assert f'"{name}" = "true": {told}' in str(caught.value)


@pytest.mark.parametrize(("executor", "text"), [("duckdb", SOUND), ("delta-rs", SOUND)])
def test_an_unknown_executor_is_refused_with_the_names_there_are(tmp_path, executor, text):
    rule = {
        "trigger": {"type": "every", "interval": "10min"},
        "planner": {"type": "iceberg.rewrite_data_files"},
    }
    refused = refusal(tmp_path, text, strategies=[{"label": "a", "rules": [{**rule, "executor": executor}]}])
    assert f'strategies[0].rules[0].executor = "{executor}"' in refused
    assert "choose spark" in refused


def test_the_name_of_a_planner_that_became_an_executor_says_what_to_write(tmp_path):
    rule = {"trigger": {"type": "every", "interval": "10min"}, "planner": {"type": "delta.delta_rs"}}
    refused = refusal(tmp_path, strategies=[{"label": "a", "rules": [rule]}])
    assert 'type = "delta.optimize"' in refused
    assert 'executor = "delta-rs"' in refused
