from datetime import UTC, datetime, timedelta

import pytest
from workload_builders import parquet

from workloads.trace import Trace


def csv(folder, text, name="trace.csv"):
    path = folder / name
    path.write_text(text)
    return str(path)


def rows_of(trace, commits, interval_ms=60_000):
    return [trace.rows(i, (i - 1) * interval_ms, i * interval_ms, 1e9, "1") for i in range(1, commits + 1)]


def test_trace_sums_the_rows_of_each_interval_and_gives_none_after_its_end(tmp_path):
    trace = Trace(csv(tmp_path, "time,rows\n0,5\n59.9,6\n60,7\n200,1\n"))
    assert rows_of(trace, 6) == [11, 7, 0, 1, 0, 0]


@pytest.mark.parametrize("start", [None, datetime(2026, 3, 1, 12, 0, 0, 300, UTC)])
def test_each_row_of_a_trace_is_in_one_commit_at_any_interval(tmp_path, start):
    tenths = [n / 10 for n in range(100)]
    times = tenths if start is None else [(start + timedelta(seconds=at_s)).isoformat() for at_s in tenths]
    lines = "".join(f"{time},{n + 1}\n" for n, time in enumerate(times))
    trace = Trace(csv(tmp_path, f"time,rows\n{lines}"))
    assert rows_of(trace, 100, 100) == list(range(1, 101))
    assert sum(rows_of(trace, 3_334, 3)) == 5_050


@pytest.mark.parametrize("time", ["0.7", " 0.7", "7e-1", "0.700999", "0.7009999999999999"])
def test_a_fraction_of_a_millisecond_is_dropped(tmp_path, time):
    trace = Trace(csv(tmp_path, f"time,rows\n{time},5\n"))
    assert rows_of(trace, 702, 1) == [*[0] * 700, 5, 0]


def test_a_trace_may_begin_with_a_byte_order_mark(tmp_path):
    assert rows_of(Trace(csv(tmp_path, "\ufefftime,rows\n0,5\n")), 1) == [5]


def test_trace_takes_times_in_any_order(tmp_path):
    trace = Trace(csv(tmp_path, "rows,time\n7,60\n5,0\n"))
    assert rows_of(trace, 2) == [5, 7]


@pytest.mark.parametrize(
    "second", ["2026-03-01T12:01:00Z", "2026-03-01T14:01:00+02:00", "2026-03-01 12:01:00"]
)
def test_trace_counts_timestamps_from_the_first(tmp_path, second):
    text = f"time,rows\n2026-03-01T12:00:00Z,5\n{second},7\n"
    assert rows_of(Trace(csv(tmp_path, text)), 3) == [5, 7, 0]


@pytest.mark.parametrize(
    "time", ["t * 60.0", "make_timestamp(t * 60000000)", "make_timestamp(t * 60000000)::TIMESTAMPTZ"]
)
def test_trace_reads_parquet(tmp_path, time):
    path = parquet(tmp_path / "trace.parquet", f'SELECT {time} AS "time", t + 1 AS "rows" FROM range(3) x(t)')
    assert rows_of(Trace(str(path)), 4) == [1, 2, 3, 0]


def test_repr_of_a_trace_follows_its_content_and_not_its_path(tmp_path):
    first = Trace(csv(tmp_path, "time,rows\n0,5\n", "one.csv"))
    moved = Trace(csv(tmp_path, "time,rows\n0,5\n", "two.csv"))
    changed = Trace(csv(tmp_path, "time,rows\n0,6\n", "three.csv"))
    assert repr(first) == repr(moved) != repr(changed)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("when,rows\n0,5\n", "column 'time' is missing"),
        ("time,count\n0,5\n", "column 'rows' is missing"),
        ("time,rows\nsoon,5\n", "column 'time' holds 'soon'"),
        ("time,rows\n0,5\n2026-01-01,5\n", "column 'time' holds '2026-01-01'"),
        ("time,rows\n-1,5\n", "column 'time' holds '-1'"),
        ("time,rows\ninf,5\n", "column 'time' holds 'inf'"),
        ("time,rows\n0,many\n", "column 'rows' holds 'many'"),
        ("time,rows\n0,-5\n", "column 'rows' holds '-5'"),
        ("time,rows\n0,2.5\n", "column 'rows' holds '2.5'"),
        ("time,rows\n0,1e300\n", "column 'rows' holds '1e300'"),
        ("time,rows\n0,\n", "column 'rows' holds ''"),
        ("time,rows\n", "holds no rows"),
        ("", "holds no rows"),
        ("time,rows\n0\n", "column 'rows' holds 'None'"),
    ],
)
def test_trace_names_file_and_column_of_bad_input(tmp_path, text, complaint):
    with pytest.raises(ValueError, match=rf"trace .*trace.csv: {complaint}"):
        Trace(csv(tmp_path, text))


def test_unreadable_trace_files_are_named(tmp_path):
    with pytest.raises(ValueError, match=r"trace .*none.csv: no such file"):
        Trace(str(tmp_path / "none.csv"))
    with pytest.raises(ValueError, match=r"trace .*trace.txt: must end"):
        Trace(csv(tmp_path, "time,rows\n", "trace.txt"))
    with pytest.raises(ValueError, match=r"trace .*trace.parquet: cannot be read"):
        Trace(csv(tmp_path, "time,rows\n", "trace.parquet"))
