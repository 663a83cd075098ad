from dataclasses import replace
from types import SimpleNamespace

import pytest
import tomlkit
from refused import refused
from scenario_builder import SOUND, load, maintenance

from bench.engines import runtime
from bench.engines.registry import FORMATS, engine_kind
from bench.engines.simulated.costs import shipped_file
from bench.errors import MissingRuntimeError
from bench.runs.preflight import checks, places, space
from bench.runs.preflight.checks import check_coefficients
from bench.runs.suite.cases import plan_runs
from bench.scenario.load import load_scenario
from strategies.plan import Capability

PLENTY = 10**15
DELTA = SOUND.replace("iceberg.rewrite_data_files", "delta.optimize").replace("iceberg", "delta")
UPSERT = {"type": "upsert", "initial_rows": 1000}


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """A machine that has everything; the disk has `free` bytes, and what was asked of it is in `asked`.

    The cache is empty, and on the same disk.
    """
    fake = SimpleNamespace(free=PLENTY, asked=[])
    monkeypatch.setenv("COMPACTBENCH_CACHE", str(tmp_path / "no" / "cache"))
    monkeypatch.setattr(checks.runtime, "java_home", lambda: fake.asked.append("java"))
    monkeypatch.setattr(checks.runtime, "jars", lambda name: fake.asked.append(name))
    monkeypatch.setattr(space.shutil, "disk_usage", lambda folder: SimpleNamespace(free=fake.free))
    return fake


@pytest.fixture(autouse=True)
def tried(monkeypatch):
    """The scenarios of which a table was tried, each in its variant; all could be made."""
    scenarios = []
    monkeypatch.setattr(places, "_check", lambda scenario, folder: scenarios.append(scenario))
    return scenarios


def check(folder, keep_tables=False, mode="real", only=(), **changes):
    folder.mkdir(exist_ok=True)
    runs = plan_runs([load(folder, **changes)], only, 1, (), mode=mode)
    planned = sorted(runs, key=lambda run: run.case.index)
    checks.check(planned, folder, keep_tables=keep_tables)
    return planned


def test_a_machine_that_has_everything_passes(machine, tmp_path):
    check(tmp_path)
    assert machine.asked == ["java", "iceberg"]


def test_a_table_is_tried_once_in_each_place_that_real_runs_share_with_others(machine, tried, tmp_path):
    check(tmp_path)
    assert tried == []
    changes = ({"table.format_version": 3}, {"spark.master": "spark://here:7077"})
    variants = [{"label": f"v{number}", "set": change} for number, change in enumerate(changes)]
    hive = {"properties": {"type": "hive", "uri": "thrift://here:9083"}}
    check(tmp_path, catalog=hive, variants=variants)
    assert [scenario.variant_label for scenario in tried] == [None, "v1"]
    check(tmp_path, catalog=hive, mode="simulated")
    assert len(tried) == 2


REST = {"properties": {"type": "rest", "uri": "http://localhost:8181"}}


@pytest.mark.parametrize(
    "keys",
    [
        {"catalog": REST},
        {"spark": {"spark.sql.catalog.lake.type": "REST"}},
        {"spark": {"spark.sql.catalog.lake.catalog-impl": "org.apache.iceberg.rest.RESTCatalog"}},
    ],
)
def test_a_rest_catalog_needs_a_java_with_its_module(machine, monkeypatch, tmp_path, keys):
    monkeypatch.setattr(runtime, "java_modules", lambda home: frozenset({"java.base"}))
    with refused("module-missing", "demo"):
        check(tmp_path, **keys)
    monkeypatch.setattr(runtime, "java_modules", lambda home: frozenset({"java.base", "jdk.net"}))
    check(tmp_path, **keys)


@pytest.mark.parametrize("name", ["res[1]", "a,b", "all*", "50%", "a%20b", "a#b", "a?b"])
def test_a_folder_that_would_be_misread_is_refused(machine, tmp_path, name):
    with refused("bad-name", tmp_path / name):
        check(tmp_path / name)


def test_more_memory_than_the_machine_has_is_refused(machine, tmp_path):
    with refused("out-of-range", "demo"):
        check(tmp_path, spark={"driver_memory": "1000TiB"})


def test_a_place_for_tables_needs_a_catalog(machine, tmp_path):
    check(tmp_path, spark={"spark.sql.catalog.lake.cache-enabled": "true"})
    elsewhere = {"spark.sql.catalog.lake.warehouse": "file:///elsewhere"}
    with refused("key-missing", "demo"):
        check(tmp_path, spark=elsewhere)
    check(tmp_path, spark=elsewhere | {"spark.sql.catalog.lake.type": "hadoop"})


@pytest.mark.parametrize("prefix", ["table-default", "table-override"])
@pytest.mark.parametrize(
    ("path", "instead"),
    [
        ("write.data.path", "write.data.path"),
        ("write.metadata.path", "write.metadata.path"),
        ("write.object-storage.path", "write.data.path"),
        ("write.folder-storage.path", "write.data.path"),
    ],
)
def test_a_folder_for_all_tables_of_a_catalog_is_refused(machine, tmp_path, prefix, path, instead):
    key = f"{prefix}.{path}"
    with refused("not-allowed", "demo") as caught:
        check(tmp_path, catalog={"properties": {"type": "hadoop", key: "s3://b/x"}})
    assert f'set "{instead}"' in str(caught.value)
    catalog = "spark.sql.catalog.lake."
    with refused("not-allowed", "demo"):
        check(tmp_path, spark={f"{catalog}type": "rest", f"{catalog}{key}": "s3://b/x"})


def test_the_jars_of_every_format_that_is_used_are_asked_for(machine, tmp_path):
    other = {"table.format": "delta", "strategies[every-2min].rules[0].planner.type": "delta.optimize"}
    check(tmp_path, variants=[{"label": "other", "set": other}])
    assert set(machine.asked) == {"java", "iceberg", "delta"}


def test_no_runs_need_nothing(machine, tmp_path):
    machine.free = 0
    checks.check((), tmp_path, keep_tables=False)
    assert machine.asked == []


def test_simulated_runs_ask_nothing_of_the_machine(machine, tmp_path):
    machine.free = 0
    # Shares and folders that would be refused of real tables.
    check(tmp_path / "a%20b", mode="simulated", resources={"compactor": {"cores": 1}})
    assert machine.asked == []


def limit(monkeypatch, mode, able):
    """Iceberg's engine of one mode with these capabilities alone."""
    iceberg, kind = FORMATS["iceberg"], replace(engine_kind("iceberg", mode), capabilities=frozenset(able))
    engines = replace(iceberg.engines, **{mode: kind})
    monkeypatch.setitem(FORMATS, "iceberg", replace(iceberg, engines=engines))


def test_maintenance_an_engine_cannot_do_is_refused(machine, tmp_path):
    rules = [maintenance("iceberg.rewrite_position_delete_files")]
    with refused("unsupported", "demo"):
        check(tmp_path, mode="simulated", maintenance=rules)


@pytest.mark.parametrize("mode", ["real", "simulated"])
def test_what_an_engine_cannot_do_is_refused_by_the_strategies_that_are_to_run(
    machine, tmp_path, monkeypatch, mode
):
    limit(monkeypatch, mode, {Capability.COMPACT, Capability.REWRITE})
    for only in ((), ("every-2min",)):
        with refused("unsupported", "demo"):
            check(tmp_path, mode=mode, only=only)
    assert machine.asked == []  # before anything is looked for
    assert [run.spec.label for run in check(tmp_path, mode=mode, only=("never",))] == ["never"]


@pytest.mark.parametrize("mode", ["real", "simulated"])
def test_updates_an_engine_cannot_write_are_refused(machine, tmp_path, monkeypatch, mode):
    able = engine_kind("iceberg", mode).capabilities
    limit(monkeypatch, mode, able - {Capability.UPSERT})
    with refused("unsupported", "demo"):
        check(tmp_path, mode=mode, workload=UPSERT)
    limit(monkeypatch, mode, able)
    check(tmp_path, mode=mode, workload=UPSERT)


def test_shares_a_local_process_cannot_honour_are_refused(machine, tmp_path):
    with refused("resources-not-honoured", "resources.compactor.cores"):
        check(tmp_path, resources={"compactor": {"cores": 1}})


@pytest.mark.parametrize(
    ("keys", "named"),
    [
        ({"warm_up_rounds": 9}, "warm_up_rounds"),
        ({"spark": {"master": "spark://host:7077"}}, 'spark.master = "spark://host:7077"'),
        ({"spark.master": "local[*]"}, 'spark.master = "local[*]"'),
    ],
)
def test_a_variant_that_a_simulation_would_find_equal_is_refused_there(machine, tmp_path, keys, named):
    variants = [{"label": "other", "set": keys}]
    with refused("no-effect", "demo") as caught:
        check(tmp_path, mode="simulated", variants=variants)
    assert named in str(caught.value)
    check(tmp_path, variants=variants)


def test_a_query_that_a_simulation_does_not_model_is_refused_there(machine, tmp_path):
    probes = [{"name": "both", "sql": "SELECT count(*) FROM orders WHERE order_id = 1 OR order_id = 9"}]
    with refused("unsupported", "demo") as caught:
        check(tmp_path, mode="simulated", probes=probes)
    assert "probe 'both': the condition order_id = 1 OR order_id = 9 is not modelled" in str(caught.value)
    check(tmp_path, probes=probes)


@pytest.mark.parametrize("mode", ["real", "simulated"])
def test_what_to_use_instead_of_what_a_format_does_not_have_is_told(machine, tmp_path, mode):
    strategies = [{"label": "a", "rules": [maintenance("amoro")]}]
    with refused("unsupported", "demo") as caught:
        check(tmp_path, mode=mode, text=DELTA, strategies=strategies)
    assert "convert (planner amoro), rewrite (planner amoro)" in str(caught.value)
    assert "Instead of rewrite: delta.optimize" in str(caught.value)


def test_settings_that_the_simulation_of_a_format_does_not_know_are_refused_there(machine, tmp_path):
    changes = {"text": DELTA, "spark": {"spark.databricks.delta.autoCompact.minNumFiles": 10}}
    check(tmp_path, **changes)
    with refused("no-effect", "demo"):
        check(tmp_path, mode="simulated", **changes)


@pytest.mark.parametrize("mode", ["real", "simulated"])
def test_settings_that_commands_would_overwrite_are_refused(machine, tmp_path, mode):
    setting = {"spark.databricks.delta.optimize.minFileSize": 10}
    with refused("no-effect", "demo"):
        check(tmp_path, mode=mode, text=DELTA, spark=setting)
    check(tmp_path, mode=mode, spark=setting)  # of another format


@pytest.mark.parametrize(
    "keys", [{"spark": {"spark.sql.shuffle.partitions": 8}}, {"spark.spark.sql.shuffle.partitions": 8}]
)
def test_a_variant_of_a_setting_that_the_simulation_heeds_is_simulated(machine, tmp_path, keys):
    variants = [{"label": "other", "set": keys}]
    check(tmp_path, mode="simulated", text=DELTA, variants=variants)
    with refused("no-effect", "demo"):
        check(tmp_path, mode="simulated", variants=variants)  # of a format without MERGE


def test_a_variant_with_other_cores_is_simulated(machine, tmp_path):
    check(tmp_path, mode="simulated", variants=[{"label": "other", "set": {"spark.master": "local[8]"}}])


def test_a_missing_java_is_reported(machine, tmp_path, monkeypatch):
    def missing():
        raise MissingRuntimeError("no Java 17", code="test")

    monkeypatch.setattr(checks.runtime, "java_home", missing)
    with refused("test"):
        check(tmp_path)


STREAM_BYTES = 10 * 8 * 6167  # orders.expected_bytes: 10 commits of 8 files of 10 rows


def needed(*args, **changes):
    """What each run needs, in the order of the strategies."""
    return [space.needed_bytes(run) for run in check(*args, **changes)]


def about(size_bytes):
    return pytest.approx(size_bytes, abs=10)


def test_needed_bytes_are_the_stream_its_versions_and_metadata(machine, tmp_path):
    # Every 2 of 10 minutes is 5 rounds, of a table that grows to the stream: half of it on average.
    assert needed(tmp_path) == [
        about(2 * STREAM_BYTES + 10 * 100_000 + space.SCRATCH_BYTES),
        about((2 + 3) * STREAM_BYTES + (10 + 5) * 100_000 + space.SCRATCH_BYTES),
    ]


def test_needed_bytes_sum_the_rules_that_may_plan_at_different_commits(machine, tmp_path):
    rules = [maintenance("iceberg.rewrite_data_files", interval) for interval in ("2min", "5min", "1min")]
    strategies = [{"label": str(n), "rules": rules[:n]} for n in (1, 2, 3)]
    first, second, third = needed(tmp_path, strategies=strategies)
    # 5 plans, 5 + 2 of them, and no more than one a commit.
    assert second - first == about(STREAM_BYTES + 2 * 100_000)
    assert third - second == about(1.5 * STREAM_BYTES + 3 * 100_000)


def test_needed_bytes_include_maintenance_that_rewrites_data(machine, tmp_path):
    plain, every = needed(tmp_path)
    tidy = [maintenance("iceberg.rewrite_manifests", "2min")]
    assert needed(tmp_path, only=("never",), maintenance=tidy) == [plain + 5 * 100_000]  # no data file
    merge = [maintenance("iceberg.rewrite_data_files", "2min")]
    assert needed(tmp_path, only=("never",), maintenance=merge) == [every]


def test_needed_bytes_follow_from_the_traits_of_a_trigger_and_not_from_its_class(machine, tmp_path):
    trigger = {"type": "own_planners:Pulse", "interval": "2min"}
    rule = {"trigger": trigger, "planner": {"type": "own_planners:Fails"}}
    own = needed(tmp_path, strategies=[{"label": "own", "rules": [rule]}])
    assert own == needed(tmp_path, only=("every-2min",))


def test_needed_bytes_count_delete_files_with_the_table(machine, tmp_path):
    never, every = check(tmp_path, mode="simulated", workload=UPSERT)
    specs = list(never.scenario.shape())
    shapes = [shape for spec in specs for shape in spec.partitions]
    data_bytes = sum(shape.expected_bytes for shape in shapes)
    # Eight equality-delete files a commit, of 500 bytes and 3.6 a key, and one position delete of 1,400:
    # 40 draws among 1,000 keys hit one twice.
    deletes_bytes = 10 * (8 * 500 + 80 * 3.6 + 1_400)
    scratch_bytes = 10 * 100_000 + space.SCRATCH_BYTES
    table_bytes = space.needed_bytes(never) - data_bytes - scratch_bytes
    assert table_bytes - data_bytes == pytest.approx(deletes_bytes, rel=0.01)
    rewritten_bytes = 3 * table_bytes + 5 * 100_000
    assert space.needed_bytes(every) == space.needed_bytes(never) + rewritten_bytes


def test_too_little_disk_is_reported_with_what_is_needed(machine, tmp_path):
    planned = check(tmp_path)
    machine.free = max(map(space.needed_bytes, planned)) + space.log_bytes(planned)
    check(tmp_path)
    machine.free -= 1
    with refused("disk-full"):
        check(tmp_path)


def test_tables_that_are_kept_add_up(machine, tmp_path):
    planned = check(tmp_path)
    machine.free = sum(space.needed_bytes(run) for run in planned) + space.log_bytes(planned)
    check(tmp_path, keep_tables=True)
    machine.free -= 1
    check(tmp_path)
    with refused("disk-full"):
        check(tmp_path, keep_tables=True)


def test_tables_in_a_catalog_of_ones_own_need_no_disk_here(machine, tmp_path):
    elsewhere = {"catalog": {"properties": {"type": "jdbc", "uri": "jdbc:sqlite:/lake/catalog.db"}}}
    planned = check(tmp_path, **elsewhere)
    # The dump, and scratch.
    assert needed(tmp_path, **elsewhere) == [about(STREAM_BYTES + space.SCRATCH_BYTES)] * 2
    machine.free = space.needed_bytes(planned[0]) + space.log_bytes(planned)
    check(tmp_path, keep_tables=True, **elsewhere)
    machine.free -= 1
    with refused("disk-full"):
        check(tmp_path, **elsewhere)


def test_change_logs_need_the_space_of_the_cache(machine, monkeypatch, tmp_path):
    """On a file system of its own it needs that and no more, and the results folder nothing of it."""
    cache = tmp_path / "cache"
    cache.mkdir()
    monkeypatch.setenv("COMPACTBENCH_CACHE", str(cache))
    out = tmp_path / "out"
    planned = check(out)
    log_bytes = space.log_bytes(planned)
    assert log_bytes == about(STREAM_BYTES)  # both strategies replay the same
    free = {out: max(map(space.needed_bytes, planned)), cache: log_bytes}
    monkeypatch.setattr(space, "_file_system", list(free).index)
    monkeypatch.setattr(space.shutil, "disk_usage", lambda folder: SimpleNamespace(free=free[folder]))
    check(out)
    free[cache] -= 1
    with refused("disk-full", cache):
        check(out)
    monkeypatch.setattr(space, "cached_log", lambda scenario: "there already")
    check(out)


def by_delta_rs(**planner):
    rule = maintenance("delta.optimize", "10min", **planner)
    return [{"label": "mine", "rules": [{**rule, "executor": "delta-rs"}]}]


def test_an_executor_that_can_do_what_a_rule_plans_is_accepted(machine, tmp_path):
    check(tmp_path, text=DELTA, strategies=by_delta_rs())


@pytest.mark.parametrize(
    ("planner", "missing"),
    [({"where": "day > '2026-01-01'"}, "row_filter"), ({"min_small_files": 5}, "compact")],
)
def test_an_executor_that_cannot_is_refused_with_the_planner(machine, tmp_path, planner, missing):
    with refused("unsupported", "demo") as caught:
        check(tmp_path, text=DELTA, strategies=by_delta_rs(**planner))
    assert missing in str(caught.value)


def by_single_node(planner="iceberg.convert_deletes", **keys):
    return [
        {"label": "mine", "rules": [{**maintenance(planner, "10min"), "executor": "single-node"}], **keys}
    ]


@pytest.mark.parametrize("planner", ["iceberg.convert_deletes", "amoro"])
def test_single_node_executes_explicit_rewrites(machine, tmp_path, planner):
    check(tmp_path, strategies=by_single_node(planner), workload=UPSERT)


def test_single_node_does_not_sort(machine, tmp_path):
    sorting = {"full_sort_columns": ["user_id"], "options": {"self-optimizing.full.trigger.interval": "1h"}}
    rule = {**maintenance("amoro", "10min", **sorting), "executor": "single-node"}
    with refused("unsupported", "demo") as caught:
        check(tmp_path, strategies=[{"label": "mine", "rules": [rule]}])
    assert "sort" in str(caught.value)


@pytest.mark.parametrize("value", ["orc", "avro"])
def test_single_node_refuses_a_table_that_it_cannot_read_before_the_run(machine, tmp_path, value):
    properties = {"write.format.default": value}
    with refused("unsupported") as caught:
        check(tmp_path, strategies=by_single_node("amoro", properties=properties))
    assert f"write.format.default = '{value}'" in str(caught.value)


def test_coefficients_without_the_executor_are_refused_where_a_rule_needs_it(tmp_path):
    document = tomlkit.parse(shipped_file("iceberg").read_text())
    del document["operations"]["single_node"]
    old = tmp_path / "old.toml"
    old.write_text(tomlkit.dumps(document))
    check_coefficients(old, [load_scenario("append-only")])
    with refused("missing") as caught:
        check_coefficients(old, [load_scenario("policies-append")])
    assert "[operations.single_node]" in str(caught.value)


def test_single_node_runs_no_procedure(machine, tmp_path):
    with refused("unsupported", "demo") as caught:
        check(tmp_path, strategies=by_single_node("iceberg.rewrite_data_files"))
    assert "iceberg.rewrite_data_files" in str(caught.value)


@pytest.mark.parametrize(
    "changes",
    [
        {"catalog": {"properties": {"type": "hive", "uri": "thrift://here:9083"}}},
        {"spark": {"spark.sql.catalog.lake.type": "rest", "spark.sql.catalog.lake.uri": "http://here"}},
    ],
)
def test_single_node_needs_tables_in_the_runs_own_folder(machine, tmp_path, changes):
    with refused("unsupported", "demo") as caught:
        check(tmp_path, strategies=by_single_node(), workload=UPSERT, **changes)
    assert "single-node" in str(caught.value)
    assert "'lake'" in str(caught.value)


def test_a_simulation_has_no_other_executor(machine, tmp_path):
    with refused("unknown-name", "demo"):
        check(tmp_path, mode="simulated", text=DELTA, strategies=by_delta_rs())
