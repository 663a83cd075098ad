import json

import pytest
from refused import printed_codes
from result_builder import build_results

from bench.cli.commands import clean as cli_clean
from bench.cli.main import main
from bench.engines.journal import Journal
from bench.errors import EngineError
from bench.results.folders import load_run, load_runs
from bench.results.records import MANIFEST
from bench.runs.preflight.places import TRIES
from bench.runs.settings import NAMESPACE_NOTES
from bench.runs.suite import results_folder
from bench.runs.suite.dropping import TABLES, left_by
from bench.scenario.load import load_scenario


@pytest.fixture
def results(tmp_path):
    """Two runs that kept their tables, and what a suite that died left; 5 bytes each."""
    folder = build_results(tmp_path / "results", {"never": None, "b": 1}, 1, 2)
    runs = [run.folder for run in load_runs(folder)]
    for left in (*(run / TABLES for run in runs), folder / results_folder.WORK):
        (left / "deep").mkdir(parents=True)
        (left / "deep" / "part.parquet").write_bytes(b"12345")
    (folder / results_folder.LOCK).touch()
    return folder


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache with a change log, jars, and something that is not ours."""
    folder = tmp_path / "cache"
    for name in ("change_logs/k", "jars/j", "other"):
        (folder / name).mkdir(parents=True)
    monkeypatch.setenv("COMPACTBENCH_CACHE", str(folder))
    return folder


def left(folder):
    return sorted(path.name for path in folder.rglob("part.parquet"))


def test_clean_removes_tables_and_keeps_results(results, cache, capsys):
    before = load_runs(results)
    assert main(["clean", str(results)]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == f"removed {results / results_folder.WORK} (5 B)"
    assert [line.split(" (")[0] for line in printed[1:]] == [
        f"removed {run.folder / TABLES}" for run in sorted(before, key=lambda run: run.folder)
    ]
    assert left(results) == []
    assert load_runs(results) == before
    assert (cache / "change_logs").exists()


def test_folders_of_others_are_kept(tmp_path, results, cache):
    other = tmp_path / "project"
    for place in ("src/part/tables", ".work"):
        (other / place).mkdir(parents=True)
        (other / place / "part.parquet").write_bytes(b"12345")
    (other / "src" / "part" / MANIFEST).write_text("{}")
    assert main(["clean", str(other)]) == 0
    assert len(left(other)) == 2
    assert not (other / results_folder.LOCK).exists()  # or the next one would take .work for a suite's
    linked = next(results.glob(f"*/*/{TABLES}"))
    linked.rename(tmp_path / "elsewhere")
    linked.symlink_to(tmp_path / "elsewhere")
    assert main(["clean", str(results)]) == 0
    assert linked.is_symlink()
    assert len(left(tmp_path / "elsewhere")) == 1


def test_a_linked_folder_of_runs_is_not_followed(tmp_path, results, cache):
    linked = next(results.glob(f"*/*/{TABLES}")).parents[1]
    linked.rename(tmp_path / "elsewhere")
    linked.symlink_to(tmp_path / "elsewhere")
    assert main(["clean", str(results)]) == 0
    assert len(left(tmp_path / "elsewhere")) == 2


def test_the_tables_of_a_report_are_kept(results, cache):
    page = results / "s" / "report" / "tables"
    page.mkdir(parents=True)
    (page / "compactions.csv").write_text("at_ms\n")
    assert main(["clean", str(results)]) == 0
    assert (page / "compactions.csv").is_file()


def test_a_dry_run_removes_nothing(results, cache, capsys):
    assert main(["clean", str(results), "--cache", "--dry-run"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 5
    assert all(line.startswith("would remove ") for line in printed)
    assert len(left(results)) == 3
    assert (cache / "jars").exists()


def test_the_cache_goes_only_when_asked(results, cache):
    assert main(["clean", str(results), "--cache"]) == 0
    assert [path.name for path in cache.iterdir()] == ["other"]


def test_clean_says_so_when_there_is_nothing(tmp_path, cache, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["clean"]) == 0
    assert capsys.readouterr().out == "nothing to remove in results, which is not a folder\n"
    assert not (tmp_path / "results").exists()


def test_clean_leaves_a_suite_in_progress_alone(results, cache, capsys):
    with results_folder.locked(results, sweep=False):
        assert main(["clean", str(results)]) == 2
    assert "another compactbench is writing there" in capsys.readouterr().err
    assert len(left(results)) == 3


LAKE = """
seed = 7
duration = "2min"
commit_interval = "1min"
[table]
format = "iceberg"
target_file_size = "8MiB"
[catalog]
name = "mine"
properties = { type = "hadoop", warehouse = "file:///nowhere" }
[workload]
type = "append"
rows_per_commit = 80
files_per_commit = 8
[[strategies]]
label = "never"
"""


@pytest.fixture
def kept(tmp_path):
    """Results of a scenario "lake", one of whose runs has kept its table; and the scenario's file."""
    folder = build_results(tmp_path / "results", {"never": None}, 2, 2, scenario="lake")
    run, _ = (run.folder for run in load_runs(folder))
    Journal(run / NAMESPACE_NOTES).note("bench_r1")
    (run / TABLES).mkdir()
    file = tmp_path / "lake.toml"
    file.write_text(LAKE)
    manifest = json.loads((run / MANIFEST).read_text())
    manifest["scenario_text"]["catalog"] = load_scenario(str(file)).resolved["catalog"]
    (run / MANIFEST).write_text(json.dumps(manifest))
    return folder, run, file


def cross_out(run, *others):
    """As if the worker had dropped it."""
    for name in left_by(run.folder):
        Journal(run.folder / NAMESPACE_NOTES).cross_out(name)


def test_what_cannot_be_dropped_keeps_no_other_run_and_is_told_at_the_end(kept, capsys, monkeypatch):
    results, run, file = kept
    other = next(one.folder for one in load_runs(results) if one.folder != run)
    text = json.loads((run / MANIFEST).read_text())["scenario_text"]
    manifest = json.loads((other / MANIFEST).read_text())
    (other / MANIFEST).write_text(json.dumps(manifest | {"scenario_text": text}))
    Journal(other / NAMESPACE_NOTES).note("bench_r2")
    (other / TABLES).mkdir()

    def drop(one, source, work_folder):
        if one.folder == run:
            raise EngineError("bench_r1: the catalog does not answer", code="test")
        cross_out(one)

    monkeypatch.setattr(cli_clean, "drop_left_by", drop)
    assert main(["clean", str(results), "--scenario", str(file)]) == 1
    said = capsys.readouterr()
    assert said.out == f"dropped bench_r2 (of {other})\nremoved {other / TABLES} (0 B)\n"
    assert "bench_r1: the catalog does not answer" in said.err
    assert (run / TABLES).is_dir()  # or --resume would take what is left for unwanted


def test_namespaces_are_dropped_with_the_scenario_that_says_where(kept, capsys, monkeypatch):
    results, run, file = kept
    asked = []

    def drop(*arguments):
        asked.append(arguments)
        cross_out(*arguments)

    monkeypatch.setattr(cli_clean, "drop_left_by", drop)
    assert main(["clean", str(results), "--dry-run"]) == 0
    assert capsys.readouterr().out == f"would drop bench_r1 (of {run})\nwould remove {run / TABLES} (0 B)\n"
    assert main(["clean", str(results)]) == 2
    error = capsys.readouterr().err
    assert "bench_r1" in error
    assert "--scenario" in error
    assert not asked
    assert (run / TABLES).is_dir()
    assert main(["clean", str(results), "--scenario", str(file)]) == 0
    assert capsys.readouterr().out == f"dropped bench_r1 (of {run})\nremoved {run / TABLES} (0 B)\n"
    ((dropped, source, _),) = asked
    assert (dropped.folder, source.scenario.catalog.name) == (run, "mine")


@pytest.mark.parametrize(
    ("changed", "key"),
    [
        ("catalog.name=other", "catalog.name"),
        ("catalog.properties.warehouse=file:///elsewhere", "catalog.properties.warehouse"),
        ('spark."spark.sql.catalog.mine.uri"="thrift://elsewhere"', "spark.spark.sql.catalog.mine.uri"),
        ('spark."spark.hadoop.fs.s3a.endpoint"="http://else"', "spark.spark.hadoop.fs.s3a.endpoint"),
    ],
)
def test_nothing_is_dropped_from_another_catalog(kept, capsys, monkeypatch, changed, key):
    results, run, file = kept
    monkeypatch.delattr(cli_clean, "drop_left_by")
    assert main(["clean", str(results), "--scenario", str(file), "--set", changed]) == 2
    error = capsys.readouterr().err
    assert printed_codes(error) == ["mixed-runs"]
    assert f"the run had {key} = " in " ".join(error.split())
    assert left_by(run) == ["bench_r1"]
    assert (run / TABLES).is_dir()


def test_notes_of_a_table_that_was_tried_are_dropped_with_their_scenario(kept, capsys, monkeypatch):
    results, run, file = kept
    cross_out(load_run(run))
    tried = results / TRIES / "lake" / "base" / "try_1234"
    Journal(tried / NAMESPACE_NOTES).note("bench_try_1234")
    dropped = []
    monkeypatch.setattr(cli_clean, "drop_noted", lambda folder, *_: dropped.append(folder))
    assert main(["clean", str(results)]) == 2
    assert printed_codes(capsys.readouterr().err) == ["key-missing"]
    assert main(["clean", str(results), "--scenario", str(file)]) == 0
    assert f"dropped bench_try_1234 (of {tried})" in capsys.readouterr().out
    assert dropped == [tried]
    assert not (results / TRIES).exists()
