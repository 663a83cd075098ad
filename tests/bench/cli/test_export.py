import shutil

import duckdb
import pyarrow.parquet as pq
import pytest
from result_builder import build_results

from bench.results.folders import load_runs


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return build_results(tmp_path_factory.mktemp("results"), {"never": None, "every-1min": 1}, 1, 4)


@pytest.fixture
def export(compactbench):
    return lambda *words, code=0: compactbench("export", *words, code=code)


def test_export_writes_a_parquet_file_a_table_and_prints_them(export, results, tmp_path):
    printed = export(results, "-o", tmp_path / "tables").out.splitlines()
    assert sorted(printed) == sorted(str(path) for path in (tmp_path / "tables").iterdir())
    commits = duckdb.sql(f"SELECT count(*) FROM '{tmp_path}/tables/commits.parquet'").fetchall()
    assert commits == [(8,)]  # two runs of four commits


def test_export_writes_one_duckdb_file(export, results, tmp_path):
    target = tmp_path / "new" / "results.duckdb"
    assert export(results, "--to", "duckdb", "-o", target).out == f"{target}\n"
    with duckdb.connect(str(target), read_only=True) as database:
        strategies = database.table("runs").order("strategy").project("strategy").fetchall()
    assert strategies == [("every-1min",), ("never",)]


@pytest.mark.parametrize(("kind", "existing"), [("parquet", "out"), ("duckdb", "out"), ("duckdb", "out.wal")])
def test_export_overwrites_nothing(export, results, tmp_path, kind, existing):
    (tmp_path / existing).write_text("precious")
    assert export(results, "--to", kind, "-o", tmp_path / "out", code=2).codes == ["taken"]
    assert (tmp_path / existing).read_text() == "precious"


@pytest.mark.parametrize("kind", ["parquet", "duckdb"])
@pytest.mark.parametrize("place", ["~x", "file:x", ":memory:"])
def test_special_names_are_plain_files(export, results, tmp_path, monkeypatch, kind, place):
    monkeypatch.chdir(tmp_path)
    export(results, "--to", kind, f"--out={place}")
    assert [path.name for path in tmp_path.iterdir()] == [place]


def test_results_in_a_folder_that_is_not_utf_8_are_exported(export, results, tmp_path):
    odd = tmp_path / "odd\udcff"
    shutil.copytree(results, odd)
    export(odd, "-o", tmp_path / "tables")
    folders = pq.read_table(tmp_path / "tables" / "runs.parquet")["folder"].to_pylist()
    assert all("odd\\xff" in folder for folder in folders)


def test_export_to_an_impossible_place_is_an_error(export, results, tmp_path):
    (tmp_path / "file").write_text("")
    assert export(results, "-o", tmp_path / "file" / "tables", code=2).codes == ["not-writable"]


def test_a_duckdb_file_that_cannot_be_created_is_an_error(export, results, tmp_path, monkeypatch):
    def refuse(path):
        raise duckdb.IOException(f"no permission for {path}")

    monkeypatch.setattr(duckdb, "connect", refuse)
    target = tmp_path / "results.duckdb"
    printed = export(results, "--to", "duckdb", "-o", target, code=2)
    assert f"no permission for {target}" in printed.err
    assert printed.codes == ["not-writable"]


@pytest.mark.parametrize(
    ("options", "written"), [([], "tables/runs.parquet"), (["--to", "duckdb"], "tables.duckdb")]
)
def test_export_writes_into_the_results_by_default(export, compactbench, tmp_path, options, written):
    folder = build_results(tmp_path / "results", {"never": None}, 1, 2)
    assert str(folder / written) in export(folder, *options).out.splitlines()
    compactbench("show", folder)  # the tables are no runs


def test_export_of_one_run_needs_a_place(export, results):
    run, _ = load_runs(results)
    assert export(run.folder, code=2).codes == ["exclusive"]
