"""[[variants]]: the scenario once more, with some of its keys changed."""

import json

import pytest
from scenario_builder import EVERY, SOUND, load, write

from bench.engines import runtime
from bench.errors import ScenarioError
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


def refused(tmp_path, text, *overrides):
    with pytest.raises(ScenarioError) as caught:
        load_scenario(write(tmp_path, text), overrides)
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'demo.toml'}")
    return message.removeprefix(f"{tmp_path / 'demo.toml'}")


def test_each_variant_is_the_scenario_with_its_keys_set(tmp_path):
    scenario = load_scenario(write(tmp_path, TWO))
    three, cached = scenario.variants
    assert (scenario.table.keys.version, three.table.keys.version, cached.table.keys.version) == (2, 3, 2)
    assert three.table.properties == {"write.x": "y"}
    assert (dict(scenario.spark.settings), dict(cached.spark.settings)) == ({}, {CACHE: "true"})
    changes = {"table.format_version": 3, 'table.properties."write.x"': "y"}
    assert three.variant.to_json() == {"label": "v3", "set": changes, "versions": None}
    assert str(cached.variant) == f'spark."{CACHE}" = true'
    assert (scenario.variant, scenario.versions, three.variants) == (None, None, ())
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
    assert (scenario.table.keys.version, other.table.keys.version) == (3, None)
    assert (scenario.table.properties, other.table.properties) == ({"write.x": "y"}, {})
    assert other.table.target_file_size_bytes == scenario.table.target_file_size_bytes
    assert other.hash == scenario.hash
    assert set(other.variant.changes) == {"table.format", "strategies[1].rules"}
    kept = delta.replace('"table.format" = "delta"', '"table.format" = "delta"\n"table.format_version" = 3')
    assert "table.format_version = 3: unknown key" in refused(tmp_path, kept)


OTHER_FORMAT = """
seed = 7
duration = "10min"
commit_interval = "1min"
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
label = "never"
[[strategies]]
label = "auto"
writer = { upsert_mode = "merge-on-read", files_per_commit = 3 }
properties = { "delta.autoOptimize.autoCompact" = "true" }
[[variants]]
label = "iceberg"
[variants.set]
"table.format" = "iceberg"
"""


def test_a_variant_of_another_format_keeps_no_properties_and_no_upsert_mode(tmp_path):
    scenario = load_scenario(write(tmp_path, OTHER_FORMAT))
    own, other = scenario.strategies[1], scenario.variants[0].strategies[1]
    assert (own.upsert_mode, own.properties) == ("merge-on-read", {"delta.autoOptimize.autoCompact": "true"})
    assert (other.upsert_mode, other.properties) == ("equality-delete", {})
    assert other.writer.files_per_commit == 3
    sets = """"strategies[auto].properties" = { "write.x" = "y" }
"strategies[auto].writer.upsert_mode" = "copy-on-write"
"""
    told = load_scenario(write(tmp_path, OTHER_FORMAT + sets)).variants[0].strategies[1]
    assert (told.upsert_mode, told.properties) == ("copy-on-write", {"write.x": "y"})


def test_a_variant_of_a_format_without_catalogs_has_none(tmp_path):
    catalog = '[catalog]\nname = "mine"\nproperties = { type = "hadoop", warehouse = "/tmp/house" }\n'
    text = variant('set = { "table.format" = "delta", "strategies[every-2min].rules" = [] }', "delta")
    scenario = load_scenario(write(tmp_path, text.replace("[workload]", f"{catalog}[workload]")))
    assert scenario.catalog is not None
    assert scenario.variants[0].catalog is None


def test_strategies_have_labels_of_their_own_in_a_variant(tmp_path):
    text = TWO.replace(
        f"rules = [{EVERY}]", f'rules = [{EVERY}]\nswitch = [{{ at = "5min", strategy = "never" }}]'
    )
    three = load_scenario(write(tmp_path, text)).variants[0]
    assert [spec.label for spec in three.strategies] == ["never @ v3", "every-2min @ v3"]
    assert [spec.strategy.label for spec in three.strategies] == ["never @ v3", "every-2min @ v3"]
    assert three.strategies[1].switches == ((300_000, "never @ v3"),)
    assert [one["label"] for one in three.resolved["strategies"]] == ["never @ v3", "every-2min @ v3"]
    assert set(three.needs()) == {"never @ v3", "every-2min @ v3"}


def test_the_hash_is_that_of_the_scenario_with_or_without_variants(tmp_path):
    plain, scenario = load(tmp_path), load_scenario(write(tmp_path, TWO))
    assert {plain.hash} == {scenario.hash, *(one.hash for one in scenario.variants)}
    assert [spec.hash for spec in scenario.variants[0].strategies] == [spec.hash for spec in plain.strategies]


def test_variants_are_written_out_and_told_again(tmp_path):
    scenario = load_scenario(write(tmp_path, TWO))
    assert [one["label"] for one in scenario.resolved["variants"]] == ["v3", "cache-on"]
    assert scenario.resolved["variants"][0]["set"]["table"] == {"format_version": 3}
    assert load(tmp_path).resolved["variants"] == []


def test_a_variant_may_change_a_strategy_of_the_scenario(tmp_path):
    text = variant(
        """set = { "strategies[every-2min].writer.files_per_commit" = 4,
        "strategies[every-2min].rules[0].planner.options" = { "min-input-files" = 9 } }""".replace("\n", "")
    )
    scenario = load_scenario(write(tmp_path, text))
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
    scenario = load_scenario(
        write(tmp_path, TWO), ["workload.rows_per_commit=7", "variants[v3].set.table.format_version=2"]
    )
    assert scenario.variants[0].workload.rows_per_commit == 7
    assert scenario.variants[0].table.keys.version == 2


def test_partitioning_may_vary_since_the_stream_does_not_depend_on_it(tmp_path):
    scenario = load_scenario(write(tmp_path, variant('set = { table.partitioning = "city" }')))
    assert scenario.variants[0].table.partitioning.by == "city"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("set = { seed = 8 }", "seed determines the"),
        ('set = { duration = "5min" }', "duration determines the stream"),
        ('set = { commit_interval = "2min" }', "commit_interval determines the stream"),
        ('set = { "workload.columns" = 3 }', "workload.columns determines the stream"),
        ("set = { workload = { rows_per_commit = 9 } }", "workload.rows_per_commit determines the stream"),
        ('set = { probe_every = "2min" }', "probe_every determines what"),
        ('set = { side_probe_every = "2min" }', "side_probe_every determines what"),
        ('set = { probe_phase = "fixed" }', "probe_phase determines what"),
        ("set = { probes = [] }", "probes determines what"),
        ("set = { repetitions = 5 }", "repetitions belongs to"),
        ("set = { strategies = [] }", "strategies names the"),
        ('set = { "strategies[never].label" = "x" }', "strategies[0].label names the strategies"),
        (
            'set = { "strategies[nver].writer.files_per_commit" = 2 }',
            "has no entry",
        ),
        ("set = { spark = {} }", "spark = {}"),
        ("set = { table = { properties = {} } }", "table.properties = {}"),
        ('set = { "strategies[every-2min].writer" = {} }', "strategies[1].writer = {}"),
        ('set = { "table..x" = 2 }', '"table..x" is not a key: write it as'),
        ("", 'variants[0] = "one": changes nothing: give'),
        ('versions = "iceberg-0.1"', 'variants[0].versions = "iceberg-0.1": no such line'),
        ("sets = { seed = 8 }", 'variants[0].sets = {"seed": 8}: unknown key'),
    ],
)
def test_what_a_variant_may_not_say_is_refused(tmp_path, text, problem):
    message = refused(tmp_path, variant(text))
    assert problem in message
    assert message.startswith(": variants[0]")


def test_an_error_in_a_key_that_a_variant_sets_names_the_variant(tmp_path):
    message = refused(tmp_path, variant("set = { table = { format_version = 7 } }"))
    assert message == " in variant 'one': table.format_version = 7: must be 2 or 3"
    message = refused(tmp_path, variant("set = { table = { formatversion = 3 } }"))
    assert message.startswith(" in variant 'one': table.formatversion = 3: unknown key; did you mean")


@pytest.mark.parametrize(
    ("label", "problem"),
    [
        ("base", "means the scenario as it is: choose another"),
        ("a b", "must be 1 to 30 letters"),
        ("x" * 31, "must be 1 to 30 letters"),
        ("", "must be 1 to 30 letters"),
        ("a/b", "must be 1 to 30 letters"),
    ],
)
def test_labels_that_would_mislead_are_refused(tmp_path, label, problem):
    message = refused(tmp_path, variant("set = { table = { format_version = 3 } }", label))
    assert message.startswith(f': variants[0].label = "{label}"')
    assert problem in message


def test_a_label_is_taken_only_once(tmp_path):
    twice = TWO.replace('"cache-on"', '"v3"')
    assert 'variants[1].label = "v3": is also the label' in refused(tmp_path, twice)
    taken = TWO + '[[strategies]]\nlabel = "never @ v3"\n'
    assert "makes 'never @ v3' of 'never', which is a strategy: rename one" in refused(tmp_path, taken)


def test_a_table_key_that_sizes_the_initial_load_is_refused(tmp_path):
    upsert = '{ type = "upsert", initial_rows = 90_000, initial_files = FILES, rows_per_commit = 9, '
    upsert += "files_per_commit = 1 }"
    text = variant('set = { table = { target_file_size = "1MiB" } }')
    sized, fixed = (f"workload={upsert.replace('FILES', files)}" for files in ("0", "3"))
    assert "changes the files" in refused(tmp_path, text, sized)
    assert load_scenario(write(tmp_path, text), [fixed]).variants[0].table.target_file_size_bytes == 2**20


def test_versions_of_another_format_are_refused(tmp_path):
    line = next(line for line in runtime.LINES if line.format == "iceberg")
    text = variant(f'set = {{ table = {{ format = "delta" }} }}\nversions = "{line.name}"')
    told = refused(tmp_path, text)
    assert told.startswith(f': variants[0].versions = "{line.name}": ')
    assert "'delta'; leave it out" in told


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
    assert "Zq7" not in refused(tmp_path, broken)


@pytest.mark.parametrize("table", ["3", "[]", '"iceberg"'])
def test_a_table_that_is_none_is_refused(tmp_path, table):
    message = refused(tmp_path, variant(f"set = {{ table = {table} }}"))
    assert message == f" in variant 'one': table = {table}: must be a table"


def test_versions_name_a_line(tmp_path):
    names = [line.name for line in runtime.LINES]
    assert len(set(names)) == len(names)
    scenario = load_scenario(write(tmp_path, variant(f'versions = "{names[-1]}"')))
    assert scenario.variants[0].versions == names[-1]
    assert str(scenario.variants[0].variant) == f'versions = "{names[-1]}"'


def test_a_variant_that_counts_other_cpu_is_refused(tmp_path):
    cluster = '[variants.set]\n"spark.master" = "spark://host:7077"\n'
    assert load_scenario(write(tmp_path, variant(cluster, "cluster"))).variants
    tasks = variant(f'{cluster}"spark.executor_cpu" = "tasks"', "cluster")
    assert "counts CPU differently" in refused(tmp_path, tasks)
