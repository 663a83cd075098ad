"""[[variants]]: the scenario once more, with some of its keys changed."""

import json

import pytest
from refused import refused
from scenario_builder import SOUND, load, write

from bench.scenario.load import load_scenario

CACHE = "spark.sql.iceberg.executor-cache.enabled"
TWO = (
    SOUND
    + f"""
[[variants]]
label = "v3"
set = {{ table = {{ format_version = 3 }}, "table.properties" = {{ "write.x" = "y" }} }}
[[variants]]
label = "cache-on"
set = {{ spark = {{ "{CACHE}" = true }} }}
"""
)


def variant(text, label="one"):
    """The sound scenario with one variant."""
    return f'{SOUND}[[variants]]\nlabel = "{label}"\n{text}\n'


def test_each_variant_is_the_scenario_with_its_keys_set(tmp_path):
    scenario = load_scenario(write(tmp_path, TWO))
    three, cached = scenario.variants
    assert (scenario.table.version, three.table.version, cached.table.version) == (2, 3, 2)
    assert three.table.properties == {"write.x": "y"}
    assert (dict(scenario.spark.settings), dict(cached.spark.settings)) == ({}, {CACHE: "true"})
    changes = {"table.format_version": 3, 'table.properties."write.x"': "y"}
    assert three.variant.to_json() == {"label": "v3", "set": changes}
    assert str(cached.variant) == f'spark."{CACHE}" = true'
    assert (scenario.variant, three.variants) == (None, ())
    assert scenario.in_variant(None) is scenario
    assert scenario.in_variant("cache-on") is cached


def test_a_variant_of_another_format_has_no_keys_of_the_scenario_s_own(tmp_path):
    delta = variant(
        """[variants.set]
"table.format" = "delta"
"strategies[every-2min].rules" = [
    { trigger = { type = "every", interval = "2min" }, planner = { type = "delta.optimize" } },
]""",
        "delta",
    )
    own = 'format = "iceberg"\nformat_version = 3\nproperties = { "write.x" = "y" }'
    scenario = load_scenario(write(tmp_path, delta.replace('format = "iceberg"', own, 1)))
    (other,) = scenario.variants
    assert (scenario.table.format, other.table.format) == ("iceberg", "delta")
    assert (scenario.table.version, other.table.version) == (3, None)
    assert (scenario.table.properties, other.table.properties) == ({"write.x": "y"}, {})
    assert other.table.target_file_size_bytes == scenario.table.target_file_size_bytes
    assert other.hash == scenario.hash
    assert set(other.variant.changes) == {"table.format", "strategies[1].rules"}
    both = delta.replace('"table.format" = "delta"', '"table.format" = "delta"\n"table.format_version" = 3')
    with refused("unknown-name", "table.format_version"):
        load_scenario(write(tmp_path, both))


OTHER_FORMAT = f"""
{SOUND[: SOUND.index("[table]")]}
[table]
format = "delta"
target_file_size = "8MiB"
[workload]
type = "upsert"
initial_rows = 1000
initial_files = 2
rows_per_commit = 80
files_per_commit = 2
[[strategies]]
label = "auto"
writer = {{ upsert_mode = "merge-on-read", files_per_commit = 3 }}
properties = {{ "delta.autoOptimize.autoCompact" = "true" }}
[[variants]]
label = "iceberg"
[variants.set]
"table.format" = "iceberg"
"""


def test_a_variant_of_another_format_keeps_no_properties_and_no_upsert_mode(tmp_path):
    scenario = load_scenario(write(tmp_path, OTHER_FORMAT))
    (own,), (other,) = scenario.strategies, scenario.variants[0].strategies
    assert (own.upsert_mode, own.properties) == ("merge-on-read", {"delta.autoOptimize.autoCompact": "true"})
    assert (other.upsert_mode, other.properties) == ("equality-delete", {})
    assert other.writer.files_per_commit == 3
    sets = """"strategies[auto].properties" = { "write.x" = "y" }
"strategies[auto].writer.upsert_mode" = "copy-on-write"
"""
    (changed,) = load_scenario(write(tmp_path, OTHER_FORMAT + sets)).variants[0].strategies
    assert (changed.upsert_mode, changed.properties) == ("copy-on-write", {"write.x": "y"})


def test_a_variant_of_a_format_without_catalogs_has_none(tmp_path):
    catalog = '[catalog]\nname = "mine"\nproperties = { type = "hadoop", warehouse = "/tmp/house" }\n'
    text = variant('set = { "table.format" = "delta", "strategies[every-2min].rules" = [] }', "delta")
    scenario = load_scenario(write(tmp_path, text.replace("[workload]", f"{catalog}[workload]")))
    assert scenario.catalog is not None
    assert scenario.variants[0].catalog is None


def test_strategies_have_labels_of_their_own_in_a_variant(tmp_path):
    three = load_scenario(write(tmp_path, TWO)).variants[0]
    labels = ["never @ v3", "every-2min @ v3"]
    assert [spec.label for spec in three.strategies] == labels
    assert [spec.strategy.label for spec in three.strategies] == labels
    assert [table["label"] for table in three.resolved["strategies"]] == labels


def test_the_hash_is_that_of_the_scenario_with_or_without_variants(tmp_path):
    plain, scenario = load(tmp_path), load_scenario(write(tmp_path, TWO))
    assert {plain.hash} == {scenario.hash, *(variant.hash for variant in scenario.variants)}
    assert [spec.hash for spec in scenario.variants[0].strategies] == [spec.hash for spec in plain.strategies]


def test_the_resolved_scenario_has_its_variants(tmp_path):
    scenario = load_scenario(write(tmp_path, TWO))
    assert [table["label"] for table in scenario.resolved["variants"]] == ["v3", "cache-on"]
    assert scenario.resolved["variants"][0]["set"]["table"] == {"format_version": 3}
    assert load(tmp_path).resolved["variants"] == []


def test_a_variant_may_change_a_strategy_of_the_scenario(tmp_path):
    scenario = load_scenario(
        write(
            tmp_path,
            variant("""[variants.set]
"strategies[every-2min].writer.files_per_commit" = 4
"strategies[every-2min].rules[0].planner.options" = { "min-input-files" = 9 }"""),
        )
    )
    base, changed = scenario.strategies[1], scenario.variants[0].strategies[1]
    assert (base.writer.files_per_commit, changed.writer.files_per_commit) == (None, 4)
    assert changed.strategy.rules[0].planner.options == {"min-input-files": 9}
    assert base.hash != changed.hash
    assert scenario.variants[0].strategies[0].hash == scenario.strategies[0].hash
    assert scenario.variants[0].variant.changes == {
        "strategies[1].writer.files_per_commit": 4,
        "strategies[1].rules[0].planner.options.min-input-files": 9,
    }


def test_the_command_line_overrides_what_variants_start_from(tmp_path):
    settings = ["workload.rows_per_commit=7", "variants[v3].set.table.format_version=2"]
    three = load_scenario(write(tmp_path, TWO), settings).variants[0]
    assert (three.workload.rows_per_commit, three.table.version) == (7, 2)


def test_partitioning_may_vary_since_the_stream_does_not_depend_on_it(tmp_path):
    scenario = load_scenario(write(tmp_path, variant('set = { table.partitioning = "city" }')))
    assert scenario.variants[0].table.partitioning == "city"


SET = "variants[0].set"


@pytest.mark.parametrize(
    ("text", "code", "path"),
    [
        ("set = { seed = 8 }", "shared-by-variants", SET),
        ('set = { "workload.columns" = 3 }', "shared-by-variants", SET),
        ("set = { workload = { rows_per_commit = 9 } }", "shared-by-variants", SET),
        ('set = { probe_every = "2min" }', "shared-by-variants", SET),
        ('set = { queries = { arrival = { type = "poisson" } } }', "shared-by-variants", SET),
        ("set = { probes = [] }", "shared-by-variants", SET),
        ("set = { repetitions = 5 }", "shared-by-variants", SET),
        ("set = { strategies = [] }", "shared-by-variants", SET),
        ('set = { "strategies[never].label" = "x" }', "shared-by-variants", SET),
        ('set = { "strategies[nver].writer.files_per_commit" = 2 }', "unknown-name", SET),
        ("set = { spark = {} }", "no-change", SET),
        ("set = { table = { properties = {} } }", "no-change", SET),
        ('set = { "strategies[every-2min].writer" = {} }', "no-change", SET),
        ('set = { "table..x" = 2 }', "not-a-key", SET),
        ("", "no-change", "variants[0]"),
        ("sets = { seed = 8 }", "unknown-name", "variants[0].sets"),
        ('set = { spark = { "spark.x" = 1 } }\nonly = ["nver"]', "unknown-name", "variants[0].only"),
    ],
)
def test_what_a_variant_may_not_set_is_refused(tmp_path, text, code, path):
    with refused(code, path):
        load_scenario(write(tmp_path, variant(text)))


@pytest.mark.parametrize(
    ("text", "code", "path"),
    [
        ("set = { table = { format_version = 7 } }", "invalid", "table.format_version"),
        ("set = { table = { formatversion = 3 } }", "unknown-name", "table.formatversion"),
        ("set = { table = 3 }", "wrong-type", "table"),
        ("set = { table = [] }", "wrong-type", "table"),
    ],
)
def test_an_error_in_a_key_that_a_variant_sets_names_the_variant(tmp_path, text, code, path):
    with refused(code, path) as caught:
        load_scenario(write(tmp_path, variant(text)))
    assert str(caught.value).startswith(f"{tmp_path / 'demo.toml'}: in variant 'one': {path}")


@pytest.mark.parametrize("label", ["base", "a b", "x" * 31, "", "a/b"])
def test_labels_that_would_mislead_are_refused(tmp_path, label):
    code = "taken" if label == "base" else "invalid"
    with refused(code, "variants[0].label"):
        load_scenario(write(tmp_path, variant("set = { table = { format_version = 3 } }", label)))


def test_a_label_is_taken_only_once(tmp_path):
    with refused("taken", "variants[1].label"):
        load_scenario(write(tmp_path, TWO.replace('"cache-on"', '"v3"')))
    with refused("taken", "variants[0].label"):
        load_scenario(write(tmp_path, TWO + '[[strategies]]\nlabel = "never @ v3"\n'))


def test_a_table_key_that_sizes_the_initial_load_is_refused(tmp_path):
    text = variant('set = { table = { target_file_size = "1MiB" } }')
    upsert = {"type": "upsert", "initial_rows": 90_000}
    with refused("shared-by-variants", SET):
        load(tmp_path, text, workload={**upsert, "initial_files": 0})
    fixed = load(tmp_path, text, workload={**upsert, "initial_files": 3})
    assert fixed.variants[0].table.target_file_size_bytes == 2**20


def test_a_scenario_with_a_strategy_is_the_variant_that_has_it(tmp_path):
    scenario = load_scenario(write(tmp_path, TWO))
    assert scenario.with_strategy("never @ v3") is scenario.variants[0]
    assert scenario.with_strategy("never") is scenario
    assert scenario.with_strategy("unknown") is scenario


def test_secrets_of_a_variant_stay_out_of_everything_that_is_stored(tmp_path):
    text = variant('set = { spark = { "spark.hadoop.fs.s3a.secret.key" = "Zq7planted" } }')
    scenario = load_scenario(write(tmp_path, text))
    within = scenario.variants[0]
    stored = json.dumps([scenario.resolved, within.resolved, within.variant.to_json(), str(within.variant)])
    assert "Zq7planted" not in stored
    assert within.spark.settings["spark.hadoop.fs.s3a.secret.key"] == "Zq7planted"
    assert within.secrets.scrub("x Zq7planted") == "x (hidden)"
    broken = text.replace("spark = {", 'table = { format_version = "Zq7planted" }, spark = {')
    with refused("invalid") as caught:
        load_scenario(write(tmp_path, broken))
    assert "Zq7" not in str(caught.value)


def test_a_variant_that_counts_other_cpu_is_refused(tmp_path):
    cluster = '[variants.set]\n"spark.master" = "spark://host:7077"\n'
    assert load_scenario(write(tmp_path, variant(cluster, "cluster"))).variants
    tasks = variant(f'{cluster}"spark.executor_cpu" = "tasks"', "cluster")
    with refused("shared-by-variants", SET):
        load_scenario(write(tmp_path, tasks))
