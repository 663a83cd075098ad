import json
import math
import re
from collections import Counter
from pathlib import Path

import pytest
from pydantic import BaseModel
from refused import refused
from scenario_builder import EVERY, SOUND, load, maintenance, toml

from bench.engines.registry import FORMATS
from bench.runs.preflight.real_run import check_real_run
from bench.scenario.file import shipped
from bench.scenario.load import load_scenario
from bench.scenario.plugins import model_of
from bench.scenario.schema import Resources, ScenarioKeys
from strategies.iceberg.commands import Command
from strategies.iceberg.procedures import ExpireSnapshots, RewriteDataFiles, RewriteManifests
from strategies.never import Never
from strategies.plan import Capability
from strategies.strategy import Rule
from strategies.triggers import AfterCommits, Every
from workloads.append import Append
from workloads.debezium import Debezium
from workloads.partitioning import Partitioning
from workloads.upsert import Upsert


def test_a_scenario_in_its_parsed_form(tmp_path):
    scenario = load(tmp_path, table={"partitioning": "bucket", "properties": {"a-bytes": "1KiB", "b": True}})
    assert scenario.name == "demo"
    assert (scenario.seed, scenario.duration_ms, scenario.commit_interval_ms) == (7, 600_000, 60_000)
    assert (scenario.commits_count, scenario.probe_every_ms, scenario.repetitions) == (10, 60_000, 1)
    assert (scenario.side_probe_every_ms, scenario.probe_phase) == (120_000, "random")
    assert scenario.compaction_delay_ms == 0
    assert (scenario.workload, scenario.workload_name) == (Append(80, 8), "append")
    assert scenario.partitioning == Partitioning("bucket", 8)
    assert scenario.table.target_file_size_bytes == 8 * 2**20
    assert scenario.table.properties == {"a-bytes": "1024", "b": "true"}
    assert (scenario.catalog, scenario.maintenance) == (None, ())
    assert (scenario.spark.master, scenario.spark.driver_memory_bytes) == ("local[2]", 4 * 2**30)


def test_a_strategy_without_rules_is_the_baseline(tmp_path):
    never, every = load(tmp_path).strategies
    assert never.strategy.rules == (Rule(AfterCommits(1), Never()),)
    assert every.strategy.rules == (Rule(Every(120_000), RewriteDataFiles()),)
    assert never.summary == "no compaction"
    assert every.summary == "every(interval=2min): iceberg.rewrite_data_files()"


def test_a_rule_that_never_plans_is_no_compaction(tmp_path):
    """As recorded scenarios state the baseline, which recommend and tune read again."""
    rules = [{"trigger": {"type": "after_commits", "commits": 1}, "planner": {"type": "never"}}]
    (spec,) = load(tmp_path, strategies=[{"label": "never", "rules": rules}]).strategies
    assert spec.summary == "no compaction"


def test_a_strategy_with_overrides(tmp_path):
    own = {"label": "own", "writer": {"files_per_commit": 2}, "properties": {"write.x": 5}}
    (spec,) = load(tmp_path, strategies=[own]).strategies
    assert (spec.writer.files_per_commit, spec.properties) == (2, {"write.x": "5"})
    assert spec.summary == "no rules, writes 2 files per commit, write.x=5"


def test_needs_are_those_of_the_rules(tmp_path):
    scenario = load(tmp_path)
    needs = {spec.label: scenario.needs_of(spec) for spec in scenario.strategies}
    assert needs == {"never": frozenset(), "every-2min": {Command.REWRITE_DATA_FILES}}


def test_the_way_to_write_changes_is_the_format_s_default(tmp_path):
    upsert = {"type": "upsert", "initial_rows": 10}
    named, default, other = load(tmp_path, workload=upsert, strategies=[
        {"label": "a", "writer": {"upsert_mode": "equality-delete"}}, {"label": "b"},
        {"label": "c", "writer": {"upsert_mode": "copy-on-write"}},
    ]).strategies  # fmt: skip
    assert (named.upsert_mode, default.upsert_mode) == ("equality-delete", "equality-delete")
    assert (named.hash, named.summary) == (default.hash, default.summary) == (default.hash, "no compaction")
    assert (other.upsert_mode, other.summary) == ("copy-on-write", "no compaction, upserts by copy-on-write")
    assert other.hash != named.hash


def test_the_capabilities_for_writing_changes_come_from_the_format(tmp_path):
    def needs(mode, version):
        strategies = [{"label": "a", "writer": {"upsert_mode": mode}}]
        table = {"format_version": version}
        upsert = {"type": "upsert", "initial_rows": 10}
        scenario = load(tmp_path, workload=upsert, strategies=strategies, table=table)
        return scenario.needs_of(scenario.strategies[0])

    assert needs("equality-delete", 2) == {Capability.UPSERT}
    assert needs("merge-on-read", 3) == {Capability.MERGE, Capability.VECTORS}


def test_maintenance_is_a_list_of_rules(tmp_path):
    rules = [maintenance("iceberg.expire_snapshots", "2min", retain="1min"),
             maintenance("iceberg.rewrite_manifests")]  # fmt: skip
    scenario = load(tmp_path, maintenance=rules)
    expiry, manifests = (
        Rule(Every(120_000), ExpireSnapshots(60_000)),
        Rule(Every(300_000), RewriteManifests()),
    )
    assert scenario.maintenance == (expiry, manifests)
    assert scenario.maintenance_needs() == {Command.EXPIRE_SNAPSHOTS, Command.REWRITE_MANIFESTS}
    assert scenario.resolved["maintenance"] == [
        maintenance("iceberg.expire_snapshots", "2min", retain="1min", retain_last=1), rules[1],
    ]  # fmt: skip
    assert scenario.hash != load(tmp_path).hash
    assert load(tmp_path, maintenance=[]).hash == load(tmp_path).hash


def test_a_delay_needs_delayed_commits_and_is_not_for_maintenance(tmp_path):
    rules, strategies = [maintenance("iceberg.rewrite_manifests")], [{"label": "never"}]
    scenario = load(tmp_path, strategies=strategies, compaction_delay="30s", maintenance=rules)
    assert scenario.needs_of(scenario.strategies[0]) == {Capability.DELAYED_COMMIT}
    assert scenario.maintenance == (Rule(Every(300_000), RewriteManifests()),)


def test_the_table_knows_the_date_at_which_the_stream_begins(tmp_path):
    scenario = load(tmp_path)
    table = scenario.table_of(scenario.strategies[0])
    assert table.stream_epoch_ms == 1_767_225_600_000  # 2026-01-01T00:00:00Z


def test_a_planner_that_names_its_files_may_be_delayed(tmp_path):
    strategies = [{"label": "amoro", "rules": [maintenance("amoro")]}]
    scenario = load(tmp_path, strategies=strategies, compaction_delay="30s")
    expected = {Capability.REWRITE, Capability.CONVERT, Capability.DELAYED_COMMIT}
    assert scenario.needs_of(scenario.strategies[0]) == expected


def test_standard_probes_come_first_and_min_order_is_primary(tmp_path):
    scenario = load(tmp_path, probes=[{"name": "own", "sql": "select 1 from orders;"}])
    assert [p.name for p in scenario.probes] == ["min_order", "key_lookup", "range", "aggregate", "own"]
    assert scenario.primary_probe.sql == "SELECT order_id FROM orders ORDER BY order_id LIMIT 1"
    assert [p.primary for p in scenario.probes] == [True, False, False, False, False]


@pytest.mark.parametrize(("columns", "probes_count"), [(3, 2), (7, 4), (17, 4), (40, 4)])
def test_standard_probes_run_where_the_table_has_their_columns(tmp_path, columns, probes_count):
    names = ["min_order", "key_lookup", "range", "aggregate"][:probes_count]
    scenario = load(tmp_path, workload={"columns": columns})
    assert [p.name for p in scenario.probes] == names
    assert [p["name"] for p in scenario.resolved["probes"]] == names
    assert scenario.primary_probe.name == "min_order"


def test_a_probe_may_take_the_name_of_one_that_is_left_out(tmp_path):
    own = {"name": "range", "sql": "SELECT count(*) FROM orders -- no product_prices", "primary": True}
    scenario = load(tmp_path, workload={"columns": 3}, probes=[own])
    assert [p.name for p in scenario.probes] == ["min_order", "key_lookup", "range"]
    assert scenario.primary_probe.sql == own["sql"]


def test_a_probe_the_table_is_too_narrow_for_is_refused(tmp_path):
    own = {"name": "own", "sql": "SELECT PAYMENT_WAY, 'user_age', max(order_date) FROM orders"}
    assert load(tmp_path, probes=[own]).probes[-1].name == "own"
    with refused("unknown-column", "probes[0].sql") as caught:
        load(tmp_path, workload={"columns": 3}, probes=[own])
    assert "names payment_way, " in str(caught.value)


def test_columns_change_the_hash_where_they_are_not_the_seventeen(tmp_path):
    hashes = [load(tmp_path, workload=keys).hash for keys in ({}, {"columns": 17}, {"columns": 40})]
    assert hashes[0] == hashes[1] != hashes[2]


@pytest.mark.parametrize(
    ("probes", "primary"),
    [
        ([{"name": "own", "sql": "SELECT 1 FROM orders", "primary": True}], "own"),
        ([{"name": "range", "sql": "SELECT 1 FROM orders", "primary": True}], "range"),
        ([{"name": "min_order", "sql": "SELECT 1 FROM orders"}], "min_order"),
    ],
)
def test_a_probe_may_replace_one_and_take_the_flag(tmp_path, probes, primary):
    scenario = load(tmp_path, probes=probes)
    assert [p.name for p in scenario.probes if p.primary] == [primary]
    assert next(p.sql for p in scenario.probes if p.name == probes[0]["name"]) == "SELECT 1 FROM orders"


def test_a_misspelt_key_is_reported_before_the_missing_one(tmp_path):
    with refused("unknown-name", "sed"):
        load(tmp_path, SOUND.replace("seed", "sed"))
    with refused("missing", "seed"):
        load(tmp_path, SOUND.replace("seed = 7", ""))


def problems_of(tmp_path, text, **changes):
    """The code and the path of each problem, and what is printed of them."""
    with refused("several") as caught:
        load(tmp_path, text, **changes)
    return [(error.code, error.path) for error in caught.value.each], str(caught.value)


def test_all_problems_are_told_at_once_those_of_the_format_first(tmp_path):
    wrong = SOUND.replace('"iceberg"', '"icebrg"').replace("= 80", '= "80"').replace("seed = 7", "sed = 7")
    problems, text = problems_of(tmp_path, wrong, probe_every=1)
    assert problems == [
        ("unknown-name", "table.format"), ("unknown-name", "sed"), ("invalid", "probe_every"),
        ("invalid", "workload.rows_per_commit"),
    ]  # fmt: skip
    first, *others, last = text.splitlines()
    assert "more may follow" in last
    assert first == f"{tmp_path / 'demo.toml'} with --set probe_every=1: 4 problems"
    assert others[1].startswith('  sed = 7: unknown key; did you mean "seed"? ')
    assert [line.partition(" = ")[0].strip() for line in others] == [path for _, path in problems]


def test_an_unknown_key_hides_no_problem_of_the_other_keys_of_its_table(tmp_path):
    table = {"partitionng": "day", "target_file_size": "big", "format_version": 9}
    problems, _ = problems_of(tmp_path, SOUND, table=table)
    assert problems == [
        ("unknown-name", "table.partitionng"), ("invalid", "table.target_file_size"),
        ("invalid", "table.format_version"),
    ]  # fmt: skip


def test_all_contradictions_are_told_at_once(tmp_path):
    twice = [{"label": "a", "writer": {"upsert_mode": "merge-on-read"}}, {"label": "a"}]
    problems, _ = problems_of(
        tmp_path, SOUND, duration="90s", strategies=twice, spark={"spark.master": "x", "mster": "y"}
    )
    assert problems == [
        ("not-a-multiple", "duration"), ("taken", "strategies[1].label"),
        ("no-effect", "strategies[0].writer.upsert_mode"),
        ("set-elsewhere", 'spark."spark.master"'), ("unknown-name", "spark.mster"),
    ]  # fmt: skip


def test_what_all_tables_have_is_told_once(tmp_path):
    with refused("unsupported", 'table.properties."write.object-storage.path"'):
        load(tmp_path, table={"properties": {"write.object-storage.path": "s3://b"}})


def test_all_problems_of_all_variants_are_told_with_their_labels(tmp_path):
    variants = [
        {"label": "v", "set": {"table.partitionng": "day", "table.format_version": 9}},
        {"label": "w"},
        {"label": "x", "set": {"seed": 3}, "only": ["nver"]},
        {"label": "y", "set": {"table.target_file_size": "big"}},
    ]
    problems, text = problems_of(tmp_path, SOUND, variants=variants)
    assert sorted(problems) == [
        ("invalid", "table.format_version"), ("invalid", "table.target_file_size"),
        ("no-change", "variants[1]"), ("shared-by-variants", "variants[2].set"),
        ("unknown-name", "table.partitionng"), ("unknown-name", "variants[2].only"),
    ]  # fmt: skip
    assert text.startswith(f"{tmp_path / 'demo.toml'}: 6 problems\n")
    assert "  in variant 'v': table.partitionng = " in text
    assert "  in variant 'y': table.target_file_size = " in text


def test_an_error_in_an_override_names_it(tmp_path):
    with refused("out-of-range", "seed") as caught:
        load(tmp_path, seed=-1)
    assert "demo.toml with --set seed=-1: seed = -1" in str(caught.value)
    with refused("out-of-range", "seed") as caught:
        load(tmp_path, SOUND.replace("seed = 7", "seed = -7"), repetitions=2)
    assert "--set" not in str(caught.value)


def test_steps_that_take_turns_share_no_cores(tmp_path):
    assert load(tmp_path, resources={"shared_cores": 2}, clock="real").resources.shared_cores == 2
    with refused("no-effect", "resources.shared_cores"):
        load(tmp_path, resources={"shared_cores": 2})


def test_spark_settings_are_texts_however_they_are_written(tmp_path):
    text = SOUND + '[spark]\n"spark.a.b" = true\nspark.c.d = 4\nspark.e = "x"\n'
    assert load(tmp_path, text).spark.settings == {"spark.a.b": "true", "spark.c.d": "4", "spark.e": "x"}


def test_the_hash_leaves_out_what_may_grow_in_a_result_folder(tmp_path):
    scenario = load(tmp_path)
    for same in (
        {"repetitions": 5}, {"description": "x"}, {"strategies": [{"label": "never"}]}, {"duration": "600s"},
        {"probe_every": "1min"}, {"side_probe_every": "2min"}, {"probe_phase": "random"},
        {"table": {"partitioning": "none"}},
    ):  # fmt: skip
        assert load(tmp_path, **same).hash == scenario.hash
    for other in (
        {"seed": 8}, {"duration": "20min"}, {"workload": {"rows_per_commit": 81}},
        {"spark": {"spark.x": "1"}}, {"probe_phase": "fixed"}, {"side_probe_every": "5min"},
        {"table": {"properties": {"a": "b"}}}, {"probes": [{"name": "x", "sql": "SELECT 1 FROM orders"}]},
    ):  # fmt: skip
        assert load(tmp_path, **other).hash != scenario.hash


def test_the_hash_follows_the_content_of_a_trace_and_not_its_path(tmp_path):
    hashes = []
    for name, rows in (("a.csv", 5), ("b.csv", 5), ("c.csv", 6)):
        (tmp_path / name).write_text(f"time,rows\n0,{rows}\n")
        hashes.append(load(tmp_path, workload={"arrival": {"type": "trace", "path": name}}).hash)
    assert hashes[0] == hashes[1] != hashes[2]


def test_the_initial_load_of_an_upsert_is_sized_for_the_table(tmp_path):
    upsert = {"type": "upsert", "initial_rows": 10**6}  # 21.3 MB
    files = [
        load(tmp_path, workload=upsert | keys, table=table).workload.initial_files
        for keys, table in (
            ({}, {}), ({}, {"target_file_size": "1MiB"}),
            ({}, {"target_file_size": "1MiB", "partitioning": "bucket"}), ({"initial_files": 2}, {}),
        )
    ]  # fmt: skip
    # Of 8 MiB 2.9, of 1 MiB 23.3; in each of 8 buckets 2.9.
    assert files == [3, 24, 3, 2]
    resolved = load(tmp_path, workload=upsert).resolved["workload"]
    assert (resolved["initial_files"], resolved["initial_span"]) == (3, "30d")


def test_a_strategy_hash_names_the_definition_whatever_the_label(tmp_path):
    text = SOUND + f'[[strategies]]\nlabel = "same"\nrules = [{EVERY}]\n'
    for extra in ("writer = { files_per_commit = 2 }", 'properties = { "write.x" = 5 }'):
        text += f'[[strategies]]\nlabel = "{extra[:6]}"\nrules = [{EVERY}]\n{extra}\n'
    never, every, same, *others = (spec.hash for spec in load(tmp_path, text).strategies)
    assert every == same
    assert len({never, every, *others}) == 4


def test_resolved_keeps_secrets_out(tmp_path):
    catalog = {"properties": {"type": "rest", "token": "abc", "s3.secret-access-key": "abc"}}
    scenario = load(tmp_path, catalog=catalog, spark={"spark.hadoop.fs.s3a.secret.key": "abc"})
    assert "abc" not in json.dumps(scenario.resolved)
    assert scenario.catalog.properties["token"] == "abc"
    assert scenario.spark.settings["spark.hadoop.fs.s3a.secret.key"] == "abc"


@pytest.mark.parametrize("name", sorted(shipped()))
def test_shipped_scenarios_are_sound_and_resolve_to_themselves(tmp_path, name):
    scenario = load_scenario(name)
    if not scenario.has_real_clock:
        check_real_run(scenario)
    assert scenario.description.endswith(".")
    assert scenario.strategies[0].label == "never" or name == "trust"  # strategies against themselves
    again = tmp_path / f"{name}.toml"
    again.write_text("\n".join(f"{key} = {toml(value)}" for key, value in scenario.resolved.items()))
    reloaded = load_scenario(str(again))
    assert (reloaded.hash, reloaded.resolved) == (scenario.hash, scenario.resolved)
    assert [spec.hash for spec in reloaded.strategies] == [spec.hash for spec in scenario.strategies]


@pytest.mark.parametrize(
    ("name", "more"), [("append-only", {"every-5min"}), ("append-traffic", set()), ("append-layered", set())]
)
def test_published_comparisons_have_the_published_strategies(name, more):
    scenario = load_scenario(name)
    assert more <= {spec.label for spec in scenario.strategies}
    never, *published = [spec for spec in scenario.strategies if spec.label not in more]
    intervals = {"every-1min": 60_000, "every-10min": 600_000, "every-60min": 3_600_000, "amoro": 300_000}
    triggers = [(spec.label, spec.strategy.rules[0].trigger) for spec in published]
    assert never.label == "never"
    assert triggers == [(label, Every(interval_ms)) for label, interval_ms in intervals.items()]
    assert (scenario.commits_count, scenario.repetitions) == (60, 3)


def test_upsert_rewrites_by_two_thresholds_and_once_an_hour():
    strategies = {spec.label: spec.strategy for spec in load_scenario("upsert").strategies}
    thresholds = {
        label: [(rule.trigger, rule.planner.options.get("delete-file-threshold")) for rule in strategy.rules]
        for label, strategy in strategies.items() if label.startswith("spark")
    }  # fmt: skip
    assert thresholds == {
        "spark-5min": [(Every(300_000), None)],
        "spark-10min-deletes": [(Every(600_000), 10)],
        "spark-10min-deletes-160": [(Every(600_000), 160)],
        "spark-5min-hourly-deletes": [(Every(3_600_000, 1_800_000), 10), (Every(300_000), None)],
    }


def expected_bytes(name):
    s = load_scenario(name)
    commits = s.workload.shape(s.seed, s.commits_count, s.commit_interval_ms, s.partitioning)
    layout = FORMATS[s.table.format].writer.layout
    return [(layout(commit, s.spark.settings).data_files_count, commit.expected_bytes) for commit in commits]


def test_append_only_writes_eight_files_of_about_6_kb_a_minute():
    assert all(files == 8 and 5_000 <= size / 8 <= 7_500 for files, size in expected_bytes("append-only"))


def test_append_layered_outgrows_several_times_its_target():
    assert sum(size for _, size in expected_bytes("append-layered")) >= 60e6
    assert load_scenario("append-layered").table.target_file_size_bytes == 8 * 2**20


def test_append_traffic_keeps_its_mean_between_a_quiet_night_and_a_burst():
    s = load_scenario("append-traffic")
    rows = [c.rows for c in s.workload.shape(s.seed, 60, 60_000, s.partitioning)]
    assert sum(rows) == pytest.approx(60 * 80, rel=0.01)
    assert min(rows) < 80 / 5 < 80 * 3 < max(rows)


@pytest.mark.parametrize("name", ["append-bursts", "append-bursts-partitions"])
def test_the_files_of_bursts_follow_the_rows(name):
    s = load_scenario(name)
    commits = list(s.workload.shape(s.seed, s.commits_count, s.commit_interval_ms, s.partitioning))
    rows = [commit.rows for commit in commits]
    assert s.commits_count == 240
    assert sum(rows) == pytest.approx(240 * s.workload.rows_per_commit, rel=0.01)
    peak = sorted(rows)[-25]  # but for eight bursts, each in up to three commits
    assert min(commit.writers for commit in commits) == 1
    assert peak / min(rows) == pytest.approx(40, rel=0.3)  # of whole rows
    assert max(rows) > 2 * peak
    assert max(commit.writers for commit in commits) == math.ceil(max(rows) / 10) < 100
    assert [spec.label for spec in s.strategies] == [
        "never", "every-1min", "every-5min", "every-15min", "every-60min", "amoro", "break-even"
    ]  # fmt: skip


def test_partitions_of_bursts_have_unequal_traffic():
    s, rows = load_scenario("append-bursts-partitions"), Counter()
    for commit in s.workload.shape(s.seed, s.commits_count, s.commit_interval_ms, s.partitioning):
        rows.update({shape.partition: shape.rows for shape in commit.partitions})
    (_, busiest), *others = rows.most_common()
    assert len(others) == 7
    assert busiest > 50 * max(count for _, count in others)


def keys_of(model):
    for name, field in model.model_fields.items():
        yield field.alias or name
        for inner in (field.annotation, *getattr(field.annotation, "__args__", ())):
            if isinstance(inner, type) and issubclass(inner, BaseModel):
                yield from keys_of(inner)


def test_the_example_mentions_every_key():
    text = Path(shipped()["example"]).read_text()
    kinds = (Append, Upsert, Debezium, ExpireSnapshots, RewriteManifests)
    options = [key for kind in kinds for key in model_of(kind).fields_by_key()]
    of_formats = [key for table_format in FORMATS.values() for key in keys_of(table_format.table.keys)]
    known = {*keys_of(ScenarioKeys), *of_formats, *options}
    assert "format_version" in known
    assert known > {"retain_last", "job_start", "initial_files", "files_per_commit", "namespace"}
    missing = [key for key in sorted(known) if not re.search(rf"\b{key}\b(?= ?[\]=])", text)]
    assert missing == []
    assert set(Resources.model_fields) <= known


def test_a_rule_that_names_the_engine_itself_is_one_that_names_no_executor(tmp_path):
    rule = EVERY.removesuffix(" }")
    named, usual = (
        load(tmp_path, SOUND.replace(EVERY, f"{rule}{more} }}")) for more in (', executor = "spark"', "")
    )
    assert [spec.hash for spec in named.strategies] == [spec.hash for spec in usual.strategies]
    assert {rule.executor for spec in named.strategies for rule in spec.strategy.rules} == {None}
