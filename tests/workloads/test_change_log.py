import json
import shutil
from dataclasses import replace

import pytest
from workload_builders import change_log_folder

from workloads.append import Append
from workloads.arrival import Poisson
from workloads.change_log import (
    MANIFEST,
    ChangeLogError,
    _work_folder,
    ensure_change_log,
    open_change_log,
)
from workloads.content import content
from workloads.partitioning import Partitioning
from workloads.schema import ORDERS
from workloads.trace import Trace

STREAM = Append(rows_per_commit=20, files_per_commit=4, initial_rows=50, initial_files=2)


def no_spark():
    raise AssertionError("a complete change log needs no Spark")


def ensure(factory, folder, workload=STREAM, seed=7, commits=2, progress=lambda done, total: None):
    return ensure_change_log(factory, folder, workload, seed, commits, 60_000, progress)


@pytest.fixture(scope="module")
def written(spark, tmp_path_factory):
    """A log, its cache folder, and the arguments of the calls of `progress`."""
    folder, progress = tmp_path_factory.mktemp("cache"), []
    log = ensure(lambda: spark, folder, progress=lambda done, total: progress.append((done, total)))
    return log, folder, progress


def test_open_change_log_reads_the_manifest(tmp_path):
    log = open_change_log(change_log_folder(tmp_path / "log"))
    assert (log.key, log.total_rows, log.total_bytes, log.content_hash) == ("k", 3, 5, 2**65)
    assert log.paths(log.commits[0]) == (tmp_path / "log" / "commit-00001" / "part-00000.parquet",)
    assert log.paths(log.commits[1]) == ()


@pytest.mark.parametrize("columns", [["order_id"], None])
def test_open_change_log_has_the_columns_of_the_manifest_or_the_seventeen(tmp_path, columns):
    manifest = change_log_folder(tmp_path / "log") / MANIFEST
    if columns:
        manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"columns": columns}))
    assert open_change_log(manifest.parent).columns == tuple(columns or ORDERS.names)


@pytest.mark.parametrize(
    ("file", "content", "problem"),
    [
        ("commit-00001/part-00000.parquet", None, "is missing"),
        ("commit-00001/part-00000.parquet", "123", "has 3 bytes"),
        (MANIFEST, None, "cannot be parsed"),
        (MANIFEST, '{"schema_version": 2', "cannot be parsed"),
        (MANIFEST, '{"schema_version": 99}', "schema_version=99"),
        (MANIFEST, '{"schema_version": 2, "commits": [{"index": 1}]}', "cannot be parsed"),
        (MANIFEST, '{"schema_version": 2, "commits": [{"index": 1, "files": []}]}', "cannot be parsed"),
    ],
)
def test_open_change_log_names_the_damaged_file_and_the_remedy(tmp_path, file, content, problem):
    folder = change_log_folder(tmp_path / "log")
    (folder / file).unlink()
    if content:
        (folder / file).write_text(content)
    with pytest.raises(ChangeLogError) as caught:
        open_change_log(folder)
    text = str(caught.value)
    assert f"change log {folder / file} " in text
    assert problem in text
    assert f"delete the folder {folder}" in text


@pytest.mark.spark
def test_change_log_holds_the_stream_commit_by_commit(written):
    log, folder, progress = written
    specs = list(STREAM.shape(7, 2, 60_000, Partitioning()))
    assert [(c.index, c.at_ms, c.rows, c.writers) for c in log.commits] == [
        (s.index, s.at_ms, s.rows, s.writers) for s in specs
    ]
    assert progress == [(1, 3), (2, 3), (3, 3)]
    assert [path.name for path in folder.iterdir()] == [log.key]


@pytest.mark.spark
def test_change_log_has_a_file_per_writer_and_nothing_else(written):
    log, _, _ = written
    assert [len(commit.files) for commit in log.commits] == [2, 4, 4]
    named = {path for commit in log.commits for path in log.paths(commit)}
    assert {p for p in log.folder.rglob("*") if p.is_file()} == named | {log.folder / "manifest.json"}


@pytest.mark.spark
def test_change_log_has_the_content_of_its_files(written):
    log, _, _ = written
    whole = content([f"{log.folder}/*/*.parquet"], ORDERS.names)
    assert (whole.rows, whole.hash) == (log.total_rows, log.content_hash) == (90, log.content_hash)


@pytest.mark.spark
def test_change_log_is_reused_without_spark(written):
    log, folder, _ = written
    assert ensure(no_spark, folder) == log


@pytest.mark.spark
def test_change_log_written_again_is_the_same(written, spark, tmp_path):
    log, _, _ = written
    again = ensure(lambda: spark, tmp_path)
    assert (again.key, again.commits) == (log.key, log.commits)


@pytest.mark.spark
def test_change_log_without_a_manifest_is_written_again(written, spark, tmp_path):
    log, folder, _ = written
    shutil.copytree(folder / log.key, tmp_path / log.key)
    (tmp_path / log.key / "manifest.json").unlink()
    (tmp_path / log.key / "stray").touch()
    assert ensure(lambda: spark, tmp_path).commits == log.commits
    assert not (tmp_path / log.key / "stray").exists()


@pytest.mark.spark
def test_change_log_that_fails_half_way_leaves_nothing(spark, tmp_path):
    def fail(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ensure(lambda: spark, tmp_path, progress=fail)
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_writer_has_left_is_removed_and_what_one_at_work_writes_is_not(tmp_path):
    (tmp_path / ".0123456789abcdef-killed" / "log").mkdir(parents=True)
    (tmp_path / ".other").mkdir()
    with _work_folder(tmp_path / "0123456789abcdef") as first, _work_folder(tmp_path / ("f" * 16)) as second:
        assert {path.name for path in tmp_path.iterdir()} == {".other", first.name, second.name}
    assert [path.name for path in tmp_path.iterdir()] == [".other"]


@pytest.mark.spark
def test_change_log_written_twice_at_the_same_time_is_complete(spark, tmp_path):
    def second(done, total):
        if done == total:
            ensure(lambda: spark, tmp_path)

    log = ensure(lambda: spark, tmp_path, progress=second)
    assert [path.name for path in tmp_path.iterdir()] == [log.key]


@pytest.mark.spark
def test_change_log_keeps_commits_without_rows(spark, tmp_path):
    sparse = Append(rows_per_commit=1, files_per_commit=4, arrival=Poisson())
    log = ensure(lambda: spark, tmp_path, sparse, commits=6)
    specs = list(sparse.shape(7, 6, 60_000, Partitioning()))
    assert [c.rows for c in log.commits] == [s.rows for s in specs]
    assert 0 in [c.rows for c in log.commits]
    assert [len(c.files) for c in log.commits] == [min(s.rows, s.writers) for s in specs]


@pytest.mark.spark
@pytest.mark.parametrize(
    "changed",
    [{"seed": 8}, {"commits": 3}, {"workload": Append(20, 4)}, {"workload": replace(STREAM, columns=3)}],
)
def test_change_log_of_another_stream_is_another(written, changed):
    _, folder, _ = written
    with pytest.raises(AssertionError, match="needs no Spark"):
        ensure(no_spark, folder, **changed)


@pytest.mark.spark
def test_change_log_follows_the_content_of_a_trace_not_its_path(spark, tmp_path):
    def replay(name, rows):
        (tmp_path / name).write_text(f"time,rows\n0,{rows}\n")
        return Append(1, 1, arrival=Trace(str(tmp_path / name)))

    log = ensure(lambda: spark, tmp_path / "cache", replay("one.csv", 5))
    assert ensure(no_spark, tmp_path / "cache", replay("moved.csv", 5)) == log
    with pytest.raises(AssertionError, match="needs no Spark"):
        ensure(no_spark, tmp_path / "cache", replay("one.csv", 6))
