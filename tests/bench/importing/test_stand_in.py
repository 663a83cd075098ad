import pytest
from histories import MINUTE_MS, START_MS, commit, data, equality, history, positions

from bench.engines.registry import FORMATS
from bench.errors import ScenarioError
from bench.importing.stand_in import stand_in, trace_text
from bench.importing.time_grid import TimeGrid

ICEBERG = FORMATS["iceberg"]
GRID = TimeGrid(MINUTE_MS, 6, 0)
KIB = 2**10


def made(recorded, scale=1.0, table_format=ICEBERG):
    return stand_in(recorded, GRID, scale, table_format, "orders")


def appends():
    commits = (
        commit(minute, [data(10 * minute + n, 5_000, 500 * KIB) for n in range(4)]) for minute in (1, 2, 4)
    )
    return history(*commits, from_ms=START_MS)


@pytest.mark.parametrize("scale", [1.0, 0.1])
def test_commits_have_as_many_files_of_the_scaled_bytes_at_their_times(scale):
    one = made(appends(), scale)
    assert (one.files_count, one.stream.files_per_commit, one.stream.insert_share) == (4, 4, 1.0)
    assert one.file_bytes == pytest.approx(500 * KIB * scale, rel=0.02)
    assert [bool(rows) for rows in one.rows] == [True, True, False, True, False, False]
    assert one.stream.target_file_size_bytes == round(128 * 2**20 * scale)
    assert one.overhead == pytest.approx(1 if scale == 1 else 1.22, abs=0.01)


def test_how_much_more_of_a_file_is_footer_is_told():
    assert made(appends(), 1).overhead == pytest.approx(1)
    assert made(appends(), 0.01).overhead > 1.5


def test_there_are_as_many_files_as_in_the_table_on_average():
    commits = [commit(n, [data(100 * n + k) for k in range(1 if n % 3 else 13)]) for n in range(1, 37)]
    assert made(history(*commits)).files_count == 5


def test_deleted_rows_are_updates_and_deletes_by_position_are_merges():
    recorded = history(
        *(commit(n, [data(n), positions(10 + n, 0, 30)]) for n in (1, 2, 3)), start=[data(0, rows=1_000)]
    )
    stream = made(recorded).stream
    assert (stream.insert_share, stream.upsert_mode) == (pytest.approx(0.7), "merge-on-read")
    by_key = history(
        *(commit(n, [data(n), equality(10 + n, 50)]) for n in (1, 2, 3)), start=[data(0)], hit_share=0.8
    )
    stream = made(by_key).stream
    assert (stream.insert_share, stream.upsert_mode) == (pytest.approx(0.6), None)


def test_a_first_commit_that_fills_the_table_is_its_load():
    load = commit(1, [data(n, 50_000, 4 * KIB * KIB) for n in range(3)])
    recorded = history(load, *(commit(n, [data(10 + n)]) for n in (2, 3, 4)), from_ms=START_MS)
    one = made(recorded)
    assert one.stream.initial_files == 3
    assert [bool(rows) for rows in one.rows] == [False, True, True, True, False, False]


@pytest.mark.parametrize(
    ("partitions", "partitioning", "buckets", "files"), [(1, "day", None, 6), (3, "bucket", 3, 2)]
)
def test_partitions_of_a_commit_are_days_or_buckets(partitions, partitioning, buckets, files):
    commits = [
        commit(n, [data(10 * n + k, partition=f"p={k % partitions}") for k in range(6)]) for n in (1, 2, 3)
    ]
    stream = made(history(*commits, partition_columns=("p",))).stream
    assert (stream.partitioning, stream.buckets, stream.files_per_commit) == (partitioning, buckets, files)


@pytest.mark.parametrize(
    ("recorded", "problem"),
    [
        (history(commit(1, [data(1, group=1)]), table_format="hudi"), "Hudi's file groups"),
        (history(commit(1, [positions(1, 0, 5)]), start=[data(0)]), "no commit adds data files"),
        (history(commit(1, [data(1)], [data(0)]), start=[data(0)]), "copy files to change rows"),
        (history(commit(1, [data(1)]), commit(2, [], [data(0)]), start=[data(0)]), "remove whole files"),
    ],
)
def test_what_does_not_tell_its_stream_is_refused(recorded, problem):
    with pytest.raises(ScenarioError, match=problem):
        made(recorded)


def test_the_trace_has_the_rows_of_each_tick_at_its_beginning():
    one = made(appends())
    lines = trace_text(one).splitlines()
    assert lines[0] == "time,rows"
    assert [line.partition(",")[0] for line in lines[1:]] == ["0.000", "60.000", "180.000"]
