import shutil

import duckdb
import pyarrow.parquet as pq
import pytest
from refused import printed_codes
from result_builder import build_results

from bench.cli.main import main
from bench.results.folders import load_runs


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return build_results(tmp_path_factory.mktemp("results"), {"never": None, "every-1min": 1}, 1, 4)


def test_export_writes_a_parquet_file_a_table_and_prints_them(capsys, results, tmp_path):
    assert main(["export", str(results), "-o", str(tmp_path / "tables")]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert sorted(printed) == sorted(str(path) for path in (tmp_path / "tables").iterdir())
    commits = duckdb.sql(f"SELECT count(*) FROM '{tmp_path}/tables/commits.parquet'").fetchall()
    assert commits == [(8,)]  # two runs of four commits


def test_export_writes_one_duckdb_file(capsys, results, tmp_path):
    target = tmp_path / "new" / "results.duckdb"
    assert main(["export", str(results), "--to", "duckdb", "-o", str(target)]) == 0
    assert capsys.readouterr().out == f"{target}\n"
    with duckdb.connect(str(target), read_only=True) as database:
        strategies = database.table("runs").order("strategy").project("strategy").fetchall()
    assert strategies == [("every-1min",), ("never",)]


@pytest.mark.parametrize("kind", ["parquet", "duckdb"])
def test_export_overwrites_nothing(capsys, results, tmp_path, kind):
    (tmp_path / "there").write_text("precious")
    assert main(["export", str(results), "--to", kind, "-o", str(tmp_path / "there")]) == 2
    assert printed_codes(capsys.readouterr().err) == ["taken"]
    assert (tmp_path / "there").read_text() == "precious"


@pytest.mark.parametrize("kind", ["parquet", "duckdb"])
@pytest.mark.parametrize("place", ["~x", "file:x", ":memory:"])
def test_special_names_are_plain_files(results, tmp_path, monkeypatch, kind, place):
    monkeypatch.chdir(tmp_path)
    assert main(["export", str(results), "--to", kind, f"--out={place}"]) == 0
    assert [path.name for path in tmp_path.iterdir()] == [place]


def test_a_file_with_the_name_of_duckdbs_log_is_not_overwritten(capsys, results, tmp_path):
    log = tmp_path / "u.duckdb.wal"
    log.write_text("precious")
    assert main(["export", str(results), "--to", "duckdb", "-o", str(tmp_path / "u.duckdb")]) == 2
    assert printed_codes(capsys.readouterr().err) == ["taken"]
    assert log.read_text() == "precious"


def test_results_in_a_folder_that_is_not_utf_8_are_exported(results, tmp_path):
    odd = tmp_path / "odd\udcff"
    shutil.copytree(results, odd)
    assert main(["export", str(odd), "-o", str(tmp_path / "tables")]) == 0
    folders = pq.read_table(tmp_path / "tables" / "runs.parquet")["folder"].to_pylist()
    assert all("odd\\xff" in folder for folder in folders)


def test_export_to_an_impossible_place_is_an_error(capsys, results, tmp_path):
    (tmp_path / "file").write_text("")
    assert main(["export", str(results), "-o", str(tmp_path / "file" / "tables")]) == 2
    assert printed_codes(capsys.readouterr().err) == ["not-writable"]


def test_a_duckdb_file_that_cannot_be_created_is_an_error(capsys, results, tmp_path, monkeypatch):
    def refuse(path):
        raise duckdb.IOException(f"no permission for {path}")

    monkeypatch.setattr(duckdb, "connect", refuse)
    target = tmp_path / "results.duckdb"
    assert main(["export", str(results), "--to", "duckdb", "-o", str(target)]) == 2
    error = capsys.readouterr().err
    assert f"no permission for {target}" in error
    assert printed_codes(error) == ["not-writable"]


@pytest.mark.parametrize(
    ("options", "written"), [([], "tables/runs.parquet"), (["--to", "duckdb"], "tables.duckdb")]
)
def test_export_writes_into_the_results_by_default(capsys, tmp_path, options, written):
    folder = build_results(tmp_path / "results", {"never": None}, 1, 2)
    assert main(["export", str(folder), *options]) == 0
    assert str(folder / written) in capsys.readouterr().out.splitlines()
    assert main(["show", str(folder)]) == 0  # the tables are no runs


def test_export_of_one_run_needs_a_place(capsys, tmp_path):
    (run,) = load_runs(build_results(tmp_path / "results", {"never": None}, 1, 2))
    assert main(["export", str(run.folder)]) == 2
    assert printed_codes(capsys.readouterr().err) == ["exclusive"]
