import time
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from histories import commit, data, history, positions, written
from iceberg_tables import catalog_properties, make_table

from bench.cli.importing import Source
from bench.cli.predicted import _came
from bench.engines.registry import FORMATS
from bench.importing.answers import Answers
from bench.importing.scenario import scenario_text
from bench.results.folders import load_runs
from bench.results.records import QueryRecord
from bench.scenario.load import load_scenario
from workloads.history_file import read_history, write_history

COMMITS = [{"Oslo": 4, "Rome": 2}, {"Oslo": 3, "Rome": 2}, {"Oslo": 2}]


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A table in a folder `lake`; the working folder is another one."""
    lake, work = tmp_path / "lake", tmp_path / "work"
    lake.mkdir()
    work.mkdir()
    monkeypatch.chdir(work)
    return make_table(lake, COMMITS)


@pytest.fixture
def location(table):
    return table.location().removeprefix("file://")


def test_an_imported_table_is_simulated_under_every_policy(compactbench, location, tmp_path):
    printed = compactbench("import", location)
    assert "commits 3, besides 0 compactions" in printed.words
    assert "at the end 5 data files" in printed.words
    assert "next: compactbench run visits.toml --simulate" in printed.words
    compactbench("validate", "visits.toml", "--simulate")
    compactbench("run", "visits.toml", "--simulate")
    rows = compactbench("show", "--format", "json").json["rows"]
    assert [row["strategy"] for row in rows] == ["never", "rewrite", "amoro"]
    assert rows[0]["files_end"] == 5


def test_the_scenario_explains_what_to_adapt(compactbench, location):
    compactbench("import", location, "--cores", "8", "-f", "mine.toml")
    with open("mine.toml", "rb") as file:  # noqa: PTH123
        scenario = tomllib.load(file)
    assert scenario["workload"] == {"type": "history", "path": "mine.history.parquet"}
    assert scenario["resources"]["compactor"] == {"cores": 8}
    assert scenario["table"] == {"format": "iceberg", "format_version": 2, "target_file_size": "512MiB"}


def test_a_stand_in_has_the_files_of_the_stream_and_rows(compactbench, location):
    printed = compactbench("import", location, "--stand-in", "real.toml")
    assert "the stand-in has 3 commits of 2 files on average" in printed.err
    assert "next: compactbench run real.toml" in printed.words
    scenario = load_scenario("real.toml")
    assert scenario.workload_name == "append"
    compactbench("run", "real.toml", "--simulate", "--only", "strategy=never")
    (row,) = compactbench("show", "--format", "json").json["rows"]
    assert row["files_end"] == 5  # as the table itself: 2, 2 and 1


def test_a_table_that_cannot_be_imitated_is_imported_nevertheless(compactbench, table, location):
    table.delete("id = 1")  # copies the other rows of three files
    printed = compactbench("import", location, "--stand-in", "real.toml", code=2)
    assert "error: --stand-in: visits cannot be imitated: its commits copy files" in printed.err
    assert "written: visits.toml" in printed.out
    assert sorted(map(str, Path().iterdir())) == ["visits.history.parquet", "visits.toml"]


def test_a_stand_in_has_the_policies_and_the_cadence_of_the_import(compactbench, location):
    compactbench("import", location, "--stand-in", "real.toml")
    imported, real = load_scenario("visits.toml"), load_scenario("real.toml")
    assert real.strategies == imported.strategies
    assert real.probe_every_ms == imported.probe_every_ms
    assert real.description.startswith("3 commits of ")


def test_what_a_simulation_expected_stands_beside_what_came(compactbench, location):
    compactbench("import", location)
    compactbench("run", "visits.toml", "--simulate", "-q")
    again = ("import", location, "-f", "again.toml", "--predicted", "results/visits", "--strategy")
    printed = compactbench(*again, "never").words
    assert "compactions a day 0 0" in printed
    assert "files_end 5 5 1.00x" in printed
    assert (
        "has no simulated strategy gone; it has never, rewrite and amoro"
        in compactbench(*again, "gone", "--force", code=2).err
    )
    assert "needs --strategy, too" in compactbench(*again[:-1], "--force", code=2).err


def test_what_came_is_counted_a_day():
    day = 24 * 60
    merged = commit(day, [data(9, 200, 15_000)], [data(1), data(2)], is_compaction=True)
    last = commit(2 * day, [data(4), positions(3, 4, 5)])
    came = dict(_came(history(commit(0, [data(1), data(2)]), merged, last)))
    assert came["commit_added_bytes"] == (3 * 10_000 + 1_500) / 2
    assert (came["compactions"], came["compaction_added_bytes"]) == (1 / 2, 15_000 / 2)
    assert (came["files_end"], came["delete_files_end"]) == (2, 1)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--scale", "1/100"], "add --stand-in FILE"),
        (["--stand-in", "real.toml", "--scale", "2"], "write a share of 1 such as 1/100 or 0.01"),
        (["--stand-in", "real.toml", "--scale", "1/0"], "write a share of 1 such as 1/100 or 0.01"),
        (["--stand-in", "real.txt"], "real.txt"),
        (["--stand-in", "visits.toml"], "is the scenario of the history: name another file"),
        (["--stand-in", "../work/visits.toml"], "is the scenario of the history: name another file"),
        (["--stand-in", "gone/real.toml"], "choose another file with --stand-in"),
    ],
)
def test_a_mistaken_stand_in_leaves_no_file(compactbench, location, words, problem):
    printed = compactbench("import", location, *words, code=2)
    assert problem in printed.err
    assert not list(Path().iterdir())


def test_conditions_on_the_partition_skip_files(compactbench, location):
    compactbench("import", location)
    probe = "probes=[{name='oslo', sql=\"SELECT * FROM orders WHERE city = 'Oslo'\", primary=true}]"
    compactbench("run", "visits.toml", "--simulate", "--set", probe, "--only", "strategy=never")
    (run,) = load_runs(Path("results"))
    queries = [query for query in run.records.of(QueryRecord) if query.primary]
    assert queries[-1].work.files_count == 3


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        (["table={format='delta', target_file_size='1MiB'}"], "the imported table is in Iceberg"),
        (["table.partitioning=day"], "has its own partitions: leave it out"),
        (["strategies[never].writer.files_per_commit=4"], "replayed as recorded: leave it out"),
        (["workload.hit_share=2"], "must be in [0, 1]"),
        (["workload.path=gone.parquet"], "no such file; import the table again"),
        (
            ["probes=[{name='key', sql='SELECT * FROM orders WHERE order_id = 1'}]"],
            "of an imported table only conditions on partition columns are",
        ),
    ],
)
def test_what_does_not_fit_an_imported_table_is_refused(compactbench, location, settings, problem):
    compactbench("import", location)
    words = [word for setting in settings for word in ("--set", setting)]
    printed = compactbench("validate", "visits.toml", "--simulate", *words, code=2)
    assert problem in " ".join(printed.err.split())


def test_a_table_with_deletes_has_figures(compactbench, tmp_path, monkeypatch):
    """Rows that its commits delete or copy are no rows that the replay has lost."""
    monkeypatch.chdir(tmp_path)
    files = [data(n, 100, 10_000) for n in range(4)]
    deletes = [commit(1, [positions(10, 0, 25)]), commit(2, [data(11, 90, 9_500)], [files[1]])]
    written(tmp_path, commit(0, files), *deletes)
    (tmp_path / "t.toml").write_text(
        'seed = 1\nduration = "5min"\ncommit_interval = "1min"\n[table]\nformat = "iceberg"\n'
        'target_file_size = "1MiB"\n[workload]\ntype = "history"\npath = "t.history.parquet"\n'
        '[[strategies]]\nlabel = "never"\n'
    )
    compactbench("run", "t.toml", "--simulate")
    (row,) = compactbench("show", "--format", "json").json["rows"]
    assert row["runs"] == 1
    assert (row["files_end"], row["delete_files_end"]) == (4, 1)
    assert row["read_amplification"] is not None


def test_a_history_that_begins_with_a_compaction_is_replayed_to_its_end(compactbench, table, location):
    compactbench("import", location)
    made = read_history(Path("visits.history.parquet"))
    files = [data(100), data(101)]
    early = made.facts.from_ms - 36_000_000
    compaction = replace(commit(0, [data(102, 200)], files, is_compaction=True), at_ms=early)
    facts = replace(made.facts, from_ms=early)
    late = replace(made, facts=facts, start=tuple(files), commits=(compaction, *made.commits))
    text = scenario_text(
        late, FORMATS["iceberg"].existing.imports, "t", Path("t.toml"), Path("t.history.parquet"), Answers()
    )
    write_history(late, Path("t.history.parquet"))
    Path("t.toml").write_text(text)
    answer = compactbench("validate", "t.toml", "--simulate", "--format", "json").json[0]
    assert (answer["commits"], answer["left_out_rows"]) == (4, 0)  # the start counts as one


def test_a_history_has_no_rows_for_a_real_run(compactbench, location):
    compactbench("import", location)
    assert "add --simulate" in compactbench("run", "visits.toml", code=2).err


def test_names_of_tables_become_names_of_scenarios(compactbench, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = make_table(tmp_path, COMMITS, name="shop.page_views")
    printed = compactbench("import", table.location().removeprefix("file://"))
    assert "compactbench run page-views.toml --simulate" in printed.words
    location = table.location().removeprefix("file://")
    assert (
        "use a-z, 0-9 and single hyphens" in compactbench("import", location, "-f", "My_T.toml", code=2).err
    )


def test_files_are_replaced_only_by_force(compactbench, location):
    compactbench("import", location)
    assert "exists: choose another file" in compactbench("import", location, code=2).err
    compactbench("import", location, "--force")


def test_a_table_is_found_in_a_catalog(compactbench, table, tmp_path):
    pairs = (f"{key}={value}" for key, value in catalog_properties(tmp_path / "lake").items())
    words = ["--catalog", "lake", *(word for pair in pairs for word in ("--catalog-property", pair))]
    compactbench("import", "shop.visits", *words)
    assert "visits.toml" in compactbench("import", "shop.visits", *words, "--force").words


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["nowhere/orders"], "nowhere/orders: does not exist"),
        (["--since", "soon"], "--since"),
        (["--since", "1s", "--force"], "no commit in this time: its newest is of"),
        (["-f", "no/folder.toml"], "its folder does not exist"),
        (["--branch", "other"], "has no branch other"),
    ],
)
def test_mistakes_get_one_line(compactbench, location, words, problem):
    time.sleep(1.1 if "1s" in words else 0)
    arguments = words if "nowhere" in words[0] else [location, *words]
    printed = compactbench("import", *arguments, code=2)
    assert problem in printed.err
    assert len(printed.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("table", "name"),
    [
        ("lake.db.orders", "orders"),
        ("/data/orders.v2", "orders.v2"),
        ("s3://lake/db.db/orders/", "orders"),
        ("/data/orders/metadata/v3.metadata.json", "orders"),
    ],
)
def test_a_scenario_is_named_after_the_table(table, name):
    assert Source(table, None, {}, None).name == name
