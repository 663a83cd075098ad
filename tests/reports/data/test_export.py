import duckdb
import pyarrow.parquet as pq
import pytest
from result_builder import build_results

import reports.data.export
from bench.results.folders import load_runs
from bench.results.metrics import METRICS
from reports.data.export import RECORD_TABLES, export, parts

NAMES = {"runs", "metrics", *RECORD_TABLES}

ONE = "strategy = 'every-1min'"


@pytest.fixture(scope="module")
def small_runs(tmp_path_factory):
    fate = {("never", 1): "failed", ("every-1min", 2): "cut off"}
    return load_runs(build_results(tmp_path_factory.mktemp("small"), repetitions=2, ticks=10, fate=fate))


def test_export_writes_a_parquet_file_a_table(small_runs, tmp_path):
    made = export(small_runs, tmp_path / "out", "parquet")
    assert {path.stem for path in made} == NAMES
    assert pq.read_table(tmp_path / "out" / "runs.parquet").num_rows == len(small_runs)
    assert pq.read_table(tmp_path / "out" / "maintenance.parquet").num_rows == 0


def test_export_writes_one_duckdb_file_that_answers_questions(small_runs, tmp_path):
    (path,) = export(small_runs, tmp_path / "out" / "results.duckdb", "duckdb")
    with duckdb.connect(str(path), read_only=True) as database:
        assert {row[0] for row in database.sql("show tables").fetchall()} == NAMES
        unusable = database.sql("select strategy, content from runs where not usable order by all").fetchall()
        counted = database.sql(
            f"select sum(value) from metrics where metric = 'compactions' and {ONE}"
        ).fetchall()
        listed = database.sql(f"select count(*) from compactions where repetition = 1 and {ONE}").fetchall()
    assert unusable == [("every-1min", "unchecked"), ("never", "unchecked")]
    assert counted == listed == [(10,)]


def test_export_metrics_have_a_line_for_each_usable_run(small_runs, tmp_path):
    export(small_runs, tmp_path / "out", "parquet")
    found = pq.read_table(tmp_path / "out" / "metrics.parquet").to_pandas()
    assert len(found) == 6 * len(METRICS)
    assert found[found["metric"] == "break_even_queries_per_h"]["value"].notna().any()


@pytest.mark.parametrize("kind", ["parquet", "duckdb"])
def test_export_never_overwrites(small_runs, tmp_path, kind):
    with pytest.raises(ValueError, match="already exists"):
        export(small_runs, tmp_path, kind)


@pytest.mark.parametrize("kind", ["parquet", "duckdb"])
def test_nothing_is_left_of_an_export_that_fails(small_runs, tmp_path, monkeypatch, kind):
    def failing(runs):
        yield "runs", parts(runs, "runs")
        raise OSError("disk full")

    monkeypatch.setattr(reports.data.export, "tables", failing)
    with pytest.raises(OSError, match="disk full"):
        export(small_runs, tmp_path / "out", kind)
    assert [*tmp_path.iterdir()] == []


def test_export_takes_any_label(hostile_runs, tmp_path):
    (path,) = export(hostile_runs, tmp_path / "results.duckdb", "duckdb")
    with duckdb.connect(str(path), read_only=True) as database:
        labels = {row[0] for row in database.sql("select distinct strategy from runs").fetchall()}
    assert labels == {run.manifest.strategy for run in hostile_runs}
