import json

import pytest
from result_builder import build_results

from bench.cli.commands import clean as cli_clean
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
    """Two runs that kept their tables, and the leftovers of an interrupted suite; 5 bytes each."""
    folder = build_results(tmp_path / "results", {"never": None, "b": 1}, 1, 2)
    runs = [run.folder for run in load_runs(folder)]
    for left in (*(run / TABLES for run in runs), folder / results_folder.WORK):
        (left / "deep").mkdir(parents=True)
        (left / "deep" / "part.parquet").write_bytes(b"12345")
    (folder / results_folder.LOCK).touch()
    return folder


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache with a change log, jars, and somebody else's folder."""
    folder = tmp_path / "cache"
    for name in ("change_logs/k", "jars/j", "other"):
        (folder / name).mkdir(parents=True)
    monkeypatch.setenv("COMPACTBENCH_CACHE", str(folder))
    return folder


def left(folder):
    return sorted(path.name for path in folder.rglob("part.parquet"))


@pytest.fixture
def clean(compactbench):
    return lambda *words, code=0: compactbench("clean", *words, code=code)


def test_clean_removes_tables_and_keeps_results(clean, results, cache):
    before = load_runs(results)
    first, *others = clean(results).out.splitlines()
    assert first == f"removed {results / results_folder.WORK} (5 B)"
    assert [line.split(" (")[0] for line in others] == [
        f"removed {run.folder / TABLES}" for run in sorted(before, key=lambda run: run.folder)
    ]
    assert left(results) == []
    assert [list(run.records) for run in load_runs(results)] == [list(run.records) for run in before]
    assert (cache / "change_logs").exists()


def test_folders_of_others_are_kept(clean, tmp_path, results, cache):
    other = tmp_path / "project"
    for place in ("src/part/tables", ".work"):
        (other / place).mkdir(parents=True)
        (other / place / "part.parquet").write_bytes(b"12345")
    (other / "src" / "part" / MANIFEST).write_text("{}")
    clean(other)
    assert len(left(other)) == 2
    assert not (other / results_folder.LOCK).exists()  # with a lock, the next clean would remove .work
    page = results / "s" / "report" / "tables"
    page.mkdir(parents=True)
    (page / "compactions.csv").write_text("at_ms\n")
    clean(results)
    assert (page / "compactions.csv").is_file()


@pytest.mark.parametrize(("above", "kept"), [(0, 1), (2, 2)])
def test_linked_folders_are_not_followed(clean, tmp_path, results, cache, above, kept):
    tables = next(results.glob(f"*/*/{TABLES}"))
    linked = (tables, *tables.parents)[above]  # the tables of one run, or the folder of both runs
    linked.rename(tmp_path / "elsewhere")
    linked.symlink_to(tmp_path / "elsewhere")
    clean(results)
    assert linked.is_symlink()
    assert len(left(tmp_path / "elsewhere")) == kept


def test_a_dry_run_removes_nothing(clean, results, cache):
    lines = clean(results, "--cache", "--dry-run").out.splitlines()
    assert len(lines) == 5
    assert all(line.startswith("would remove ") for line in lines)
    assert len(left(results)) == 3
    assert (cache / "jars").exists()


def test_the_cache_is_removed_on_request_only(clean, results, cache):
    clean(results, "--cache")
    assert [path.name for path in cache.iterdir()] == ["other"]


def test_clean_without_results_creates_none(clean, tmp_path, cache, monkeypatch):
    monkeypatch.chdir(tmp_path)
    printed = clean()
    assert printed.out.startswith("nothing to remove in results, ")
    assert printed.err == ""
    assert not (tmp_path / "results").exists()


def test_clean_leaves_a_suite_in_progress_alone(clean, results, cache):
    with results_folder.locked(results, sweep=False):
        assert clean(results, code=2).codes == ["locked"]
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
def lake(tmp_path):
    """Results of a scenario "lake", a run of it that kept its table, and the scenario's file."""
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


def test_a_failed_drop_does_not_stop_others_and_is_reported_at_the_end(clean, lake, monkeypatch):
    results, run, file = lake
    other = next(stored.folder for stored in load_runs(results) if stored.folder != run)
    text = json.loads((run / MANIFEST).read_text())["scenario_text"]
    manifest = json.loads((other / MANIFEST).read_text())
    (other / MANIFEST).write_text(json.dumps(manifest | {"scenario_text": text}))
    Journal(other / NAMESPACE_NOTES).note("bench_r2")
    (other / TABLES).mkdir()

    def drop(stored, source, work_folder):
        if stored.folder == run:
            raise EngineError("unreachable", code="test", path="bench_r1")
        cross_out(stored)

    monkeypatch.setattr(cli_clean, "drop_left_by", drop)
    printed = clean(results, "--scenario", file, code=1)
    assert printed.out == f"dropped bench_r2 (of {other})\nremoved {other / TABLES} (0 B)\n"
    assert "bench_r1: unreachable" in printed.err
    assert (run / TABLES).is_dir()  # without it, --resume would drop the table


def test_namespaces_are_dropped_in_the_catalog_of_their_scenario(clean, lake, monkeypatch):
    results, run, file = lake
    calls = []

    def drop(*arguments):
        calls.append(arguments)
        cross_out(*arguments)

    monkeypatch.setattr(cli_clean, "drop_left_by", drop)
    printed = clean(results, "--dry-run").out
    assert printed == f"would drop bench_r1 (of {run})\nwould remove {run / TABLES} (0 B)\n"
    assert clean(results, code=2).codes == ["key-missing"]
    assert not calls
    assert (run / TABLES).is_dir()
    printed = clean(results, "--scenario", file).out
    assert printed == f"dropped bench_r1 (of {run})\nremoved {run / TABLES} (0 B)\n"
    ((dropped, scenario, _),) = calls
    assert (dropped.folder, scenario.catalog.name) == (run, "mine")


@pytest.mark.parametrize(
    ("changed", "key"),
    [
        ("catalog.name=other", "catalog.name"),
        ("catalog.properties.warehouse=file:///elsewhere", "catalog.properties.warehouse"),
        ('spark."spark.sql.catalog.mine.uri"="thrift://elsewhere"', "spark.spark.sql.catalog.mine.uri"),
        ('spark."spark.hadoop.fs.s3a.endpoint"="http://else"', "spark.spark.hadoop.fs.s3a.endpoint"),
    ],
)
def test_nothing_is_dropped_from_another_catalog(clean, lake, monkeypatch, changed, key):
    results, run, file = lake
    monkeypatch.delattr(cli_clean, "drop_left_by")
    printed = clean(results, "--scenario", file, "--set", changed, code=2)
    assert printed.codes == ["mixed-runs"]
    assert f"the run had {key} = " in printed.err
    assert left_by(run) == ["bench_r1"]
    assert (run / TABLES).is_dir()


def test_trial_tables_are_dropped_in_the_catalog_of_their_scenario(clean, lake, monkeypatch):
    results, run, file = lake
    cross_out(load_run(run))
    tried = results / TRIES / "lake" / "base" / "try_1234"
    Journal(tried / NAMESPACE_NOTES).note("bench_try_1234")
    dropped = []
    monkeypatch.setattr(cli_clean, "drop_noted", lambda folder, *_: dropped.append(folder))
    assert clean(results, code=2).codes == ["key-missing"]
    assert f"dropped bench_try_1234 (of {tried})" in clean(results, "--scenario", file).out
    assert dropped == [tried]
    assert not (results / TRIES).exists()
