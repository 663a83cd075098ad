import pytest
from result_builder import build_results

from bench.cli.main import main
from bench.results.folders import load_runs
from bench.runs import suite


@pytest.fixture
def results(tmp_path):
    """Two runs that kept their tables, and what a suite that died left; 5 bytes each."""
    folder = build_results(tmp_path / "results", {"never": None, "b": 1}, 1, 2)
    runs = [run.folder for run in load_runs(folder)]
    for left in (*(run / suite.TABLES for run in runs), folder / suite.WORK):
        (left / "deep").mkdir(parents=True)
        (left / "deep" / "part.parquet").write_bytes(b"12345")
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
    assert printed[0] == f"removed {results / suite.WORK} (5 B)"
    assert [line.split(" (")[0] for line in printed[1:]] == [
        f"removed {run.folder / suite.TABLES}" for run in sorted(before, key=lambda run: run.folder)
    ]
    assert left(results) == []
    assert load_runs(results) == before
    assert (cache / "change_logs").exists()


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
    assert capsys.readouterr().out == "nothing to remove in results\n"
    assert not (tmp_path / "results").exists()


def test_clean_leaves_a_suite_in_progress_alone(results, cache, capsys):
    with suite.locked(results, sweep=False):
        assert main(["clean", str(results)]) == 2
    assert "another compactbench is writing there" in capsys.readouterr().err
    assert len(left(results)) == 3
