import tomllib

import pytest
from jsonschema import Draft7Validator
from scenario_builder import SOUND

from bench.scenario import plugins
from bench.scenario.file import override, shipped
from bench.scenario.json_schema import scenario_schema
from strategies.never import Never

FIRST_LINE = "#:schema scenario.schema.json\n"


@pytest.fixture(scope="module")
def schema():
    return scenario_schema()


@pytest.fixture
def problems(schema):
    """What the schema says of the sound scenario with these settings."""

    def found(*settings, text=SOUND):
        document = tomllib.loads(text)
        for setting in settings:
            override(document, setting)
        return [error.message for error in Draft7Validator(schema).iter_errors(document)]

    return found


def test_it_is_a_schema(schema):
    Draft7Validator.check_schema(schema)


@pytest.mark.parametrize("name", sorted(shipped()))
def test_shipped_scenarios_name_the_schema_and_fulfil_it(problems, name):
    text = shipped()[name].read_text(encoding="utf-8")
    assert text.startswith(FIRST_LINE)
    assert problems(text=text) == []


RULE = "strategies[every-2min].rules[0]"


@pytest.mark.parametrize(
    "setting",
    [
        'table={ format = "hudi", target_file_size = "8MiB", index = "simple" }',
        'table.properties={ write.parquet.page-size-bytes = "1MiB", "commit.retry.num-retries" = 5 }',
        "spark.spark.sql.shuffle.partitions=4",
        'spark={ master = "local[2]", "spark.ui.enabled" = false }',
        f'{RULE}.planner={{ type = "my_module:Mine", anything = [1, "2"] }}',
        f"{RULE}.planner.options={{ partial-progress.enabled = true }}",
        f'{RULE}.planner.options={{ "partial-progress.enabled" = true }}',
        'workload.arrival={ type = "daily", day = "1.5 h" }',
        'prices={ preset = "aws-us-east-1", queries_per_hour = 60 }',
        'prices.preset="../mine.toml"',
        'variants=[{ label = "a", set = { "table.format_version" = 3 }, only = ["never"] }]',
    ],
)
def test_what_the_loader_takes_is_taken(problems, setting):
    assert problems(setting) == []


@pytest.mark.parametrize(
    "setting",
    [
        "sed=7",
        "seed=seven",
        "seed=-1",
        "duration=600",
        "duration=10 minutes",
        "clock=wall",
        "strategies=[]",
        "table.format=parquet",
        "table.format_versions=2",
        "table.cluster_by=['user_id']",  # of Delta only
        "workload.rows=3",
        "workload.rows_per_commit=3.5",
        "workload.arrival.type=dayly",
        "prices.core_hours=1",
        "prices.preset=aws-on-mars",
        "spark.mster=local",
        "strategies[never].writer.upsert_mode=merge",
        f"{RULE}.trigger.interval=2",
        f"{RULE}.trigger.type=evry",
        f"{RULE}.planner.type=iceberg.rewrite",
        f"{RULE}.planner.options.min-input=2",
        f"{RULE}.planner.optons.min-input-files=2",
        f"{RULE}.executor=flink",
    ],
)
def test_what_the_loader_refuses_is_refused(problems, setting):
    assert problems(setting) != []


def test_a_missing_key_is_a_problem(problems):
    assert problems(text=SOUND.replace("seed = 7", "")) != []


def test_planners_of_other_packages_are_known_once_they_are_installed(monkeypatch):
    class Point:
        name = "mine"

        def load(self):
            return Never

    document = tomllib.loads(SOUND)
    override(document, f'{RULE}.planner={{ type = "mine" }}')
    assert not Draft7Validator(scenario_schema()).is_valid(document)
    monkeypatch.setattr(plugins, "entry_points", lambda group: [Point()])
    assert Draft7Validator(scenario_schema()).is_valid(document)


def test_keys_are_explained_by_the_example_and_by_docstrings(schema):
    keys, definitions = schema["properties"], schema["$defs"]
    assert [key for key, entry in keys.items() if not entry.get("description")] == []
    assert keys["repetitions"]["description"].startswith("How many times each strategy runs.")
    assert keys["probes"]["description"].startswith("Timed queries. ")  # a line of which begins like a key
    assert keys["commit_interval"]["description"] == keys["duration"]["description"]  # one comment for both
    prices = definitions["Prices"]["properties"]
    assert prices["put_per_1000"]["description"].startswith("for PUT, POST and LIST requests")
    assert prices["job_start"]["default"] == "0s"
    (every,) = (
        one for one in definitions["trigger"]["anyOf"] if one["properties"]["type"].get("const") == "every"
    )
    assert every["properties"]["interval"]["description"].startswith("Fires at `interval`, then every ")
    assert all(
        entry.get("description")
        for kind in ("planner", "trigger", "workload", "arrival")
        for one in definitions[kind]["anyOf"]
        for key, entry in one["properties"].items()
        if key != "type"
    )
