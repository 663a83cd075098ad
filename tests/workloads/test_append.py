import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from workload_builders import stream
from workload_strategies import appends, partitionings, seeds

from workloads.append import Append
from workloads.arrival import Poisson
from workloads.schema import ORDERS, SCHEMAS
from workloads.trace import Trace


@given(workload=appends, by=partitionings, seed=seeds)
def test_shape_adds_up(workload, by, seed):
    for spec in stream(workload, seed, by=by):
        assert spec.rows == spec.inserts + spec.updates + spec.deletes
        assert spec.rows == sum(p.rows for p in spec.partitions)
        assert spec.expected_bytes == sum(p.expected_bytes for p in spec.partitions)
        assert len({p.partition for p in spec.partitions}) == len(spec.partitions)


@given(workload=appends, seed=seeds, interval_ms=st.integers(100, 10**8))
def test_shape_orders_commits_in_time_and_numbers_rows_without_gaps(workload, seed, interval_ms):
    specs = stream(workload, seed, interval_ms=interval_ms)
    assert specs[0].first_row == 0
    assert [spec.at_ms for spec in specs] == [spec.index * interval_ms for spec in specs]
    for before, after in pairwise(specs):
        assert before.at_ms < after.at_ms
        assert before.first_row + before.rows == after.first_row


@given(workload=appends, seed=seeds, by=partitionings)
def test_shape_is_the_same_for_the_same_seed_and_a_longer_stream(workload, seed, by):
    assert stream(workload, seed, commits=5, by=by) == stream(workload, seed, commits=8, by=by)[:-3]


def test_shape_starts_with_the_initial_load_only_where_there_is_one():
    specs = stream(Append(10, 8, initial_rows=1000, initial_files=3), commits=2)
    assert [(s.index, s.at_ms, s.rows, s.writers, s.is_initial) for s in specs] == [
        (0, 0, 1000, 3, True),
        (1, 60_000, 10, 8, False),
        (2, 120_000, 10, 8, False),
    ]
    assert [spec.index for spec in stream(Append(10, 8), commits=2)] == [1, 2]


def test_a_trace_is_replayed_whole_at_an_interval_that_is_no_binary_fraction(tmp_path):
    file = tmp_path / "trace.csv"
    file.write_text("time,rows\n" + "".join(f"{n / 10},{n + 1}\n" for n in range(100)))
    specs = stream(Append(1, 1, arrival=Trace(str(file))), commits=100, interval_ms=100)
    assert [spec.rows for spec in specs] == list(range(1, 101))


def test_shape_keeps_commits_without_rows():
    specs = stream(Append(1, 8, arrival=Poisson()), commits=100)
    empty = [spec for spec in specs if spec.rows == 0]
    assert len(specs) == 100
    assert len(empty) == pytest.approx(100 * math.exp(-1), abs=25)
    assert {(spec.partitions, spec.expected_bytes) for spec in empty} == {((), 0)}


def test_shape_touches_every_city_over_time_though_few_in_one_commit():
    specs = stream(Append(5, 2), commits=200, by="city")
    assert all(len(spec.partitions) == 5 for spec in specs)
    assert len({p.partition for spec in specs for p in spec.partitions}) == 50


@given(files=st.integers(1, 100), rows=st.integers(0, 10**9), more_rows=st.integers(1, 10**6))
def test_expected_bytes_grow_with_rows_and_with_files(files, rows, more_rows):
    assert ORDERS.expected_bytes(rows + more_rows, files) > ORDERS.expected_bytes(rows, files)
    assert ORDERS.expected_bytes(rows, files + 1) > ORDERS.expected_bytes(rows, files)


@pytest.mark.parametrize("columns", SCHEMAS)
def test_files_are_as_large_as_the_columns_make_them(columns):
    (spec,) = stream(Append(80, 8, columns=columns), commits=1)
    assert spec.expected_bytes == SCHEMAS[columns].expected_bytes(80, 8)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("rows_per_commit", 0),
        ("files_per_commit", 0),
        ("initial_rows", -1),
        ("initial_files", 0),
        ("late_share", 1.5),
        ("late_share", math.nan),
        ("late_by_s", 0.0),
        ("late_by_s", math.inf),
        ("columns", 5),
    ],
)
def test_append_rejects_bad_values(field, value):
    with pytest.raises(ValueError, match=f"{field}={value} must be"):
        Append(**{"rows_per_commit": 10, "files_per_commit": 8, field: value})
