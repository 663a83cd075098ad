import json
import re

import pytest
from scenario_builder import SOUND, write

from bench.cli.commands.validate import summary
from bench.cli.main import main
from bench.engines.runtime import LINES
from bench.scenario.load import load_scenario


def test_validate_prints_what_would_run(capsys, tmp_path):
    assert main(["validate", write(tmp_path), "--set", "repetitions=3"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    printed = " ".join(captured.out.split())
    parts = (
        "demo: ok",
        "6 runs (2 strategies x 3 repetitions)",
        "10 commits",
        "800 rows",
        "80 files",
        "0.5 MB",
    )
    assert all(part in printed for part in parts)
    assert "no intervals" not in printed
    assert "every-2min every(interval=2min): iceberg.rewrite_data_files()" in printed


def test_validate_counts_what_each_writer_commits(capsys, tmp_path):
    late = f'{SOUND}[[strategies]]\nlabel = "late"\nwriter = {{ commit_every = "5min" }}\n'
    file = write(tmp_path, late)
    assert main(["validate", file]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "2 to 10 commits" in printed
    assert "16 to 80 files" in printed
    facts = summary(load_scenario(file))
    assert [strategy["commits"] for strategy in facts["strategies"]] == [10, 10, 2]
    assert [strategy["files"] for strategy in facts["strategies"]] == [80, 80, 16]
    assert (facts["commits"], facts["files"]) == (10, 80)


def test_validate_says_what_one_repetition_cannot_tell(capsys, tmp_path):
    for more, is_told in (([], True), (["--simulate"], False)):
        assert main(["validate", write(tmp_path), "--set", "repetitions=1", *more]) == 0
        printed = " ".join(capsys.readouterr().out.split())
        assert ("--repetitions 3" in printed) is is_told


def test_validate_prints_the_maintenance_of_every_table(capsys):
    assert main(["validate", "example"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "every(interval=10min): iceberg.expire_snapshots(retain=5min)" in printed


VARIED = (
    SOUND
    + """
[[variants]]
label = "v3"
set = { table = { format_version = 3 } }
"""
)


def test_validate_prints_the_variants_and_counts_their_runs(capsys, tmp_path):
    file = write(tmp_path, VARIED)
    assert main(["validate", file, "--set", "repetitions=3"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "12 runs (2 strategies x 2 variants x 3 repetitions)" in printed
    assert "v3 table.format_version = 3" in printed
    assert main(["validate", file, "--format", "json"]) == 0
    (facts,) = json.loads(capsys.readouterr().out)
    assert facts["variants"] == [
        {
            "label": "v3",
            "summary": "table.format_version = 3",
            "set": {"table.format_version": 3},
            "versions": None,
            "places": {"master": "local[2]", "catalog": None, "staging": None},
        }
    ]
    assert facts["runs"] == 4


def test_validate_checks_each_variant_for_the_mode(capsys, tmp_path):
    file = write(tmp_path, SOUND + '[[variants]]\nlabel = "big"\nset = { resources.writer.cores = 8 }\n')
    assert main(["validate", file, "--simulate"]) == 0
    capsys.readouterr()
    assert main(["validate", file]) == 2
    assert "resources.writer.cores = 8: " in capsys.readouterr().err
    line = write(
        tmp_path, SOUND + f'[[variants]]\nlabel = "old"\nversions = "{LINES[-1].name}"\n', "line.toml"
    )
    assert main(["validate", line]) == 0
    capsys.readouterr()
    assert main(["validate", line, "--simulate"]) == 2
    assert "variant 'old' sets versions = 'iceberg-" in " ".join(capsys.readouterr().err.split())


def test_a_variant_that_a_simulation_does_not_know_is_refused_there(capsys):
    assert main(["validate", "executor-cache"]) == 0
    capsys.readouterr()
    assert main(["validate", "executor-cache", "--simulate"]) == 2
    message = " ".join(capsys.readouterr().err.split())
    assert "variant 'cache-on' sets" in message
    assert "--only variant=LABEL" in message


def test_validate_gives_json_and_only_json_on_stdout(capsys):
    assert main(["validate", "quickstart", "append-only", "--format", "json"]) == 0
    captured = capsys.readouterr()
    printed = json.loads(captured.out)
    assert [one["scenario"] for one in printed] == ["quickstart", "append-only"]
    assert printed[1]["runs"] == 18
    assert printed[1]["commits"] == 60
    assert printed[0]["hash"] == load_scenario("quickstart").hash
    assert captured.err == ""


def test_validate_prints_each_problem_and_what_is_valid(capsys, tmp_path):
    bad = write(tmp_path, SOUND.replace("seed", "sed"), "bad.toml")
    assert main(["validate", bad, "quickstart", "nope"]) == 2
    captured = capsys.readouterr()
    assert "quickstart: ok" in captured.out
    first, second = captured.err.splitlines()
    assert first.startswith(f'error: {bad}: sed = 7: unknown key; did you mean "seed"? known: ')
    assert second.startswith('error: "nope": ')


def test_validate_refuses_resources_a_local_process_cannot_honour(capsys):
    assert main(["validate", "quickstart", "--set", "resources.writer.cores=8"]) == 2
    assert "resources.writer.cores = 8: " in capsys.readouterr().err


def test_validate_for_simulation_honours_resources_and_counts_one_repetition(capsys):
    setting = ["--set", "resources.writer.cores=8", "--set", "repetitions=3"]
    assert main(["validate", "quickstart", "--simulate", *setting]) == 0
    assert "3 runs (3 strategies x 1 repetition)" in capsys.readouterr().out


def test_validate_for_simulation_refuses_what_needs_rows(capsys, tmp_path):
    rules = '{ type = "iceberg.rewrite_data_files", where = "order_id < 5" }'
    file = write(tmp_path, SOUND.replace('{ type = "iceberg.rewrite_data_files" }', rules))
    assert main(["validate", file]) == 0
    assert main(["validate", file, "--simulate"]) == 2
    assert "'every-2min' needs row_filter (where)" in capsys.readouterr().err


@pytest.mark.parametrize(
    "setting", ["strategies[every-1min].rules[0].trigger.interval=[/]", "[bold]", "a=[bold]"]
)
def test_validate_prints_overrides_as_they_were_given(capsys, setting):
    assert main(["validate", "quickstart", "--set", setting]) == 2
    assert setting in capsys.readouterr().err


def test_the_summary_counts_an_initial_load_as_a_commit(tmp_path):
    scenario = load_scenario(write(tmp_path), ["workload.initial_rows=1000", "workload.initial_files=2"])
    facts = summary(scenario)
    assert (facts["commits"], facts["rows"], facts["files"]) == (11, 1800, 82)


def test_files_that_depend_on_the_table_are_not_counted(capsys):
    assert main(["validate", "hudi-upsert-quick"]) == 0
    assert re.search(r": [\d,]+ rows, about [\d.]+ MB as Parquet", " ".join(capsys.readouterr().out.split()))


CLUSTER = '[spark]\nmaster = "spark://host:7077"\nstaging = "s3://bucket/staged"\n'


def test_validate_says_where_runs_leave_something(capsys, tmp_path):
    lake = '[catalog]\nname = "shop"\nnamespace = "Trial"\n[catalog.properties]\ntype = "rest"\n'
    path = write(tmp_path, f'{SOUND}{lake}uri = "http://lake:8181"\n{CLUSTER}')
    assert main(["validate", path]) == 0
    told = " ".join(capsys.readouterr().out.split())
    parts = ("spark://host:7077.", "catalog shop (rest)", "trial_<run id>", "s3://bucket/staged")
    assert all(part in told for part in parts)
    assert main(["validate", path, "--simulate"]) == 0
    assert "shop" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (
            "",
            "tables, change logs and dumps. ",
        ),
        ('staging = "s3://b/x"\n', "must share: tables. "),
        ('[catalog.properties]\ntype = "rest"\n', ": change logs and dumps. "),
        ('staging = "s3://b/x"\n[catalog.properties]\ntype = "rest"\n', None),
    ],
)
def test_validate_says_what_executors_must_share(capsys, tmp_path, lines, told):
    path = write(tmp_path, f'{SOUND}[spark]\nmaster = "spark://host:7077"\n{lines}')
    assert main(["validate", path]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert ("must share" in text) == (told is not None)
    assert (told or "") in text


def test_validate_says_where_runs_of_a_variant_leave_something(capsys, tmp_path):
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
    assert main(["validate", path]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "Variant shared: " in told
    assert all(part in told for part in ("catalog shop (rest)", "s3://bucket/staged"))
    assert "Variant small:" not in told
    assert main(["validate", path, "--format", "json"]) == 0
    (facts,) = json.loads(capsys.readouterr().out)
    assert [variant["places"]["staging"] for variant in facts["variants"]] == ["s3://bucket/staged", None]


def test_validate_counts_delete_files_and_what_is_left_out(capsys, tmp_path):
    assert main(["validate", "upsert-quick"]) == 0
    assert re.search(r"rows in \d+ files and 9\d delete files,", " ".join(capsys.readouterr().out.split()))
    events = tmp_path / "events.jsonl"
    made = ({"op": "c", "ts_ms": 60_000 * at, "before": None, "after": {"order_id": at}} for at in range(10))
    events.write_text("".join(f"{json.dumps(event)}\n" for event in made))
    workload = f'workload={{ type = "debezium", path = "{events}" }}'
    assert main(["validate", "upsert-quick", "--set", workload, "--set", "duration=7min"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "3 recorded changes after duration = 7min" in out
