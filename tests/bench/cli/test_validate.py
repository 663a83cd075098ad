import json
import re
import subprocess
import sys

import pytest
from refused import printed_codes
from scenario_builder import SOUND, load, toml, write

from bench.cli.commands.validate import summary
from bench.scenario.load import load_scenario


@pytest.fixture
def validated(compactbench):
    """What `compactbench validate WORDS` prints, in one line."""

    def run(*words):
        printed = compactbench("validate", *words)
        assert printed.err == ""
        return printed.words

    return run


@pytest.fixture
def refusal(compactbench):
    """The errors of `compactbench validate WORDS`."""
    return lambda *words: compactbench("validate", *words, code=2).err


def test_validate_prints_what_would_run(validated, tmp_path):
    printed = validated(write(tmp_path), "--set", "repetitions=3")
    parts = (
        "demo: ok", "6 runs", "2 strategies", "3 repetitions", "10 commits", "800 rows", "80 files", "0.5 MB",
        "every-2min every(interval=2min): iceberg.rewrite_data_files()",
    )  # fmt: skip
    assert [part for part in parts if part not in printed] == []
    assert "no intervals" not in printed


def test_validate_counts_what_each_writer_commits(validated, tmp_path):
    late = f'{SOUND}[[strategies]]\nlabel = "late"\nwriter = {{ commit_every = "5min" }}\n'
    file = write(tmp_path, late)
    printed = validated(file)
    assert "2 to 10 commits" in printed
    assert "16 to 80 files" in printed
    facts = summary(load_scenario(file))
    assert [strategy["commits"] for strategy in facts["strategies"]] == [10, 10, 2]
    assert [strategy["files"] for strategy in facts["strategies"]] == [80, 80, 16]
    assert (facts["commits"], facts["files"]) == (10, 80)


def test_too_few_repetitions_are_remarked_unless_simulated(validated, tmp_path):
    for options, has_remark in (([], True), (["--simulate"], False)):
        printed = validated(write(tmp_path), "--set", "repetitions=1", *options)
        assert ("--repetitions 3" in printed) is has_remark


def test_validate_prints_the_maintenance_of_every_table(validated):
    assert "every(interval=10min): iceberg.expire_snapshots(retain=5min)" in validated("example")


BURSTS = {"type": "bursts", "every": "4min", "length": "1min", "factor": 16.0}


def test_validate_says_how_much_adapting_can_gain(validated, tmp_path):
    # 16 files in each fourth minute and 1 in the others: 19 / 4 = 4.75, and 7 / 4 is the mean of the roots.
    # 1.75 / sqrt(4.75) = 0.803, squared 0.645.
    workload = {"rows_per_commit": 475, "files_per_commit": 99, "rows_per_file": 100, "arrival": BURSTS}
    settings = ["duration=8min", *(f"workload.{key}={toml(value)}" for key, value in workload.items())]
    words = [word for setting in settings for word in ("--set", setting)]
    printed = validated(write(tmp_path), *words)
    assert "no less than 80 % of the best fixed interval" in printed
    assert "no less than 64 % of the CPU" in printed
    (facts,) = json.loads(validated(write(tmp_path), *words, "--format", "json"))
    assert facts["adaptive_cost"] == pytest.approx(1.75 / 4.75**0.5)


def test_with_a_real_clock_validate_says_what_decides_conflicts(validated):
    said = validated("merge-at-once")
    assert "By a real clock scenario time = 12 x real time, so the stream of a run takes 10 min." in said
    assert re.search(r"commit interval \(5 s\): 0\.\d+x for the files of one commit, 0\.\d+x for all", said)
    assert "does not wait for scenario time" not in said
    in_turns = validated("append-only")
    assert "commit interval (" not in in_turns
    assert "does not wait for scenario time" in in_turns


def test_readers_who_come_and_go_matter_as_much_as_traffic(tmp_path):
    # 8 files in each of 8 ticks; bursts of readers begin at 3 and 7 minutes, when commits 3 and 7 are new.
    scenario = load(tmp_path, duration="8min", queries={"arrival": BURSTS})
    assert summary(scenario)["adaptive_cost"] == pytest.approx(1.75 / 4.75**0.5, abs=1e-5)


@pytest.mark.parametrize(
    "name", ["append-only", "append-traffic", "upsert-quick", "hudi-upsert-quick", "trust"]
)
def test_nothing_is_said_where_adapting_gains_nothing_or_the_model_does_not_apply(validated, name):
    assert "do not arrive evenly" not in validated(name)


@pytest.mark.parametrize("name", ["append-bursts", "append-bursts-partitions"])
def test_shipped_bursts_leave_much_to_gain(validated, name):
    (facts,) = json.loads(validated(name, "--format", "json"))
    assert 0.7 < facts["adaptive_cost"] < 0.8
    assert "do not arrive evenly" in validated(name)


VARIED = f'{SOUND}[[variants]]\nlabel = "v3"\nset = {{ table = {{ format_version = 3 }} }}\n'


def test_validate_prints_the_variants_and_counts_their_runs(validated, tmp_path):
    file = write(tmp_path, VARIED)
    printed = validated(file, "--set", "repetitions=3")
    assert "12 runs (2 strategies x 2 variants" in printed
    assert "v3 table.format_version = 3" in printed
    (facts,) = json.loads(validated(file, "--format", "json"))
    assert facts["variants"] == [
        {
            "label": "v3",
            "summary": "table.format_version = 3",
            "set": {"table.format_version": 3},
            "places": {"master": "local[2]", "catalog": None, "staging": None},
        }
    ]
    assert facts["runs"] == 4


def test_validate_counts_no_runs_of_strategies_that_a_variant_leaves_out(validated, tmp_path):
    file = write(tmp_path, VARIED + 'only = ["never"]\n')
    printed = validated(file)
    assert "3 runs (2 strategies x 2 variants x 1 repetition, less what variants leave out)" in printed
    assert 'v3 table.format_version = 3, only = ["never"]' in printed


def test_validate_checks_each_variant_for_the_mode(validated, refusal, tmp_path):
    file = write(tmp_path, SOUND + '[[variants]]\nlabel = "big"\nset = { resources.writer.cores = 8 }\n')
    validated(file, "--simulate")
    assert "resources.writer.cores = 8: " in refusal(file)
    validated("executor-cache")
    assert "variant 'cache-on'" in refusal("executor-cache", "--simulate")


def test_validate_prints_nothing_but_json_if_asked(validated):
    quickstart, append_only = json.loads(validated("quickstart", "append-only", "--format", "json"))
    assert (quickstart["scenario"], quickstart["hash"]) == ("quickstart", load_scenario("quickstart").hash)
    assert (append_only["runs"], append_only["commits"]) == (18, 60)


def test_validate_prints_each_problem_and_what_is_valid(compactbench, tmp_path):
    bad = write(tmp_path, SOUND.replace("seed", "sed"), "bad.toml")
    printed = compactbench("validate", bad, "quickstart", "nope", code=2)
    assert "quickstart: ok" in printed.out
    first, second = printed.err.splitlines()
    assert first.startswith(f"error: {bad}: sed = 7: ")
    assert '"seed"' in first
    assert second.startswith('error: "nope": ')
    assert len(printed.codes) == 2


def test_validate_prints_each_problem_of_a_scenario_on_a_line_of_its_own(compactbench, tmp_path):
    bad = write(tmp_path, SOUND.replace("seed", "sed").replace("8MiB", "8"), "bad.toml")
    printed = compactbench("validate", bad, code=2)
    first, *others, last = printed.err.splitlines()
    assert first == f"error: {bad}: 2 problems [several]"
    assert last == "  more may follow once these are corrected"
    assert [line.split(" = ")[0] for line in others] == ["  sed", "  table.target_file_size"]
    assert printed.codes == ["several", "unknown-name", "invalid"]


def test_an_error_is_all_that_is_printed_of_a_bad_scenario(tmp_path):
    """Also when the process has ended, at which some libraries complain of what an error still holds."""
    bad = SOUND.replace("seed", "sed").replace("8MiB", "8").replace("80", "true").replace("label", "lable")
    command = [sys.executable, "-m", "bench.cli", "validate", write(tmp_path, bad, "bad.toml")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    *coded, _ = done.stderr.splitlines()
    assert len(coded) == len(printed_codes(done.stderr)) == 6


def test_a_simulation_honours_resources_that_a_local_process_cannot_and_has_one_repetition(
    validated, refusal
):
    setting = ["--set", "resources.writer.cores=8", "--set", "repetitions=3"]
    assert "resources.writer.cores = 8: " in refusal("quickstart", *setting)
    assert "3 strategies x 1 repetition" in validated("quickstart", "--simulate", *setting)


def test_validate_for_simulation_refuses_what_needs_rows(validated, refusal, tmp_path):
    planner = 'type = "iceberg.rewrite_data_files"'
    file = write(tmp_path, SOUND.replace(planner, f'{planner}, where = "order_id < 5"'))
    validated(file)
    assert "needs row_filter" in refusal(file, "--simulate")


@pytest.mark.parametrize(
    "setting", ["strategies[every-1min].rules[0].trigger.interval=[/]", "[bold]", "a=[bold]"]
)
def test_errors_contain_overrides_unchanged(refusal, setting):
    assert setting in refusal("quickstart", "--set", setting)


def test_the_summary_counts_an_initial_load_as_a_commit(tmp_path):
    scenario = load_scenario(write(tmp_path), ["workload.initial_rows=1000", "workload.initial_files=2"])
    facts = summary(scenario)
    assert (facts["commits"], facts["rows"], facts["files"]) == (11, 1800, 82)


def test_files_that_depend_on_the_table_are_not_counted(validated):
    assert re.search(r": [\d,]+ rows, about [\d.]+ MB", validated("hudi-upsert-quick"))


CLUSTER = '[spark]\nmaster = "spark://host:7077"\nstaging = "s3://bucket/staged"\n'


def test_validate_prints_where_runs_write(validated, tmp_path):
    lake = '[catalog]\nname = "shop"\nnamespace = "Trial"\n[catalog.properties]\ntype = "rest"\n'
    path = write(tmp_path, f'{SOUND}{lake}uri = "http://lake:8181"\n{CLUSTER}')
    printed = validated(path)
    parts = ("spark://host:7077.", "catalog shop (rest)", "trial_<run id>", "s3://bucket/staged")
    assert all(part in printed for part in parts)
    assert "shop" not in validated(path, "--simulate")


STAGING, CATALOG = 'staging = "s3://b/x"\n', '[catalog.properties]\ntype = "rest"\n'


@pytest.mark.parametrize(
    ("lines", "shared"),
    [
        ("", "tables, change logs and dumps."),
        (STAGING, ": tables."),
        (CATALOG, ": change logs and dumps."),
        (STAGING + CATALOG, ""),
    ],
)
def test_validate_prints_what_executors_must_share(validated, tmp_path, lines, shared):
    printed = validated(write(tmp_path, f'{SOUND}[spark]\nmaster = "spark://host:7077"\n{lines}'))
    assert ("must share" in printed) is bool(shared)
    assert shared in printed


def test_validate_prints_where_runs_of_a_variant_write(validated, tmp_path):
    lake = '{ name = "shop", properties = { type = "rest", uri = "http://lake:8181" } }'
    variants = f"""
[[variants]]
label = "shared"
set = {{ catalog = {lake}, spark.staging = "s3://bucket/staged" }}
[[variants]]
label = "small"
set = {{ warm_up_rounds = 1 }}
"""
    path = write(tmp_path, SOUND + variants)
    printed = validated(path)
    assert "Variant shared: " in printed
    assert all(part in printed for part in ("catalog shop (rest)", "s3://bucket/staged"))
    assert "Variant small:" not in printed
    (facts,) = json.loads(validated(path, "--format", "json"))
    assert [variant["places"]["staging"] for variant in facts["variants"]] == ["s3://bucket/staged", None]


def test_validate_counts_delete_files_and_left_out_changes(validated, tmp_path):
    assert re.search(r" files and 9\d delete files,", validated("upsert-quick"))
    file = tmp_path / "events.jsonl"
    events = (
        {"op": "c", "ts_ms": 60_000 * at, "before": None, "after": {"order_id": at}} for at in range(10)
    )
    file.write_text("".join(f"{json.dumps(event)}\n" for event in events))
    workload = f'workload={{ type = "debezium", path = "{file}" }}'
    assert "3 recorded changes" in validated("upsert-quick", "--set", workload, "--set", "duration=7min")
