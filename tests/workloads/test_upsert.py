import math
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from workload_builders import stream
from workload_strategies import partitionings, seeds, upserts

from workloads.partitioning import Partitioning
from workloads.schema import ORDERS, SCHEMAS
from workloads.spread import dealt_writers
from workloads.upsert import Upsert

MIB = 2**20


def total(spec, of):
    return sum(of(shape) for shape in spec.partitions)


@given(workload=upserts(), by=partitionings, seed=seeds)
def test_each_delivery_hits_a_new_key_an_old_key_or_a_key_of_its_own_commit(workload, by, seed):
    for spec in stream(workload, seed, commits=6, by=by)[1:]:
        keys_count = spec.keys.new_count + spec.keys.changed_count
        assert total(spec, lambda p: p.deleted_keys) == keys_count
        assert 0 <= total(spec, lambda p: p.superseded_rows) <= spec.rows - keys_count
        assert spec.keys.new_count <= spec.inserts <= 2 * spec.keys.new_count


@given(workload=upserts(), seed=seeds)
def test_new_keys_are_numbered_without_gaps_after_those_of_the_load(workload, seed):
    load, *specs = stream(workload, seed, commits=6)
    assert (load.index, load.keys) == (0, None)
    assert load.rows == load.inserts == specs[0].keys.population == workload.initial_rows
    for before, after in pairwise(specs):
        assert before.keys.population + before.keys.new_count == after.keys.population


def test_changes_have_their_shares():
    workload = Upsert(1000, 8, 10**6, 1, insert_share=0.3, delete_share=0.1, duplicate_share=0.2)
    specs = stream(workload, commits=50)[1:]
    for spec in specs:
        assert (spec.inserts, spec.updates, spec.deletes) == (
            pytest.approx(300, abs=3), pytest.approx(600, abs=3), pytest.approx(100, abs=3),
        )  # fmt: skip
        assert spec.keys.new_count == pytest.approx(240, abs=2)  # of 800 different changes
    assert sum(spec.inserts for spec in specs) == pytest.approx(15_000, abs=25)


def test_repeats_and_duplicates_replace_rows_of_their_own_commit():
    # Of 1,000 deliveries 500 insert and 450 update; a tenth of the 500 others hit their own commit.
    workload = Upsert(1000, 8, 10**9, 1, repeat_share=0.1)
    (shape,) = stream(workload, commits=1)[1].partitions
    assert shape.deleted_keys == pytest.approx(950, abs=1)
    assert shape.superseded_rows == pytest.approx(50 * 0.95, abs=2)
    (shape,) = stream(Upsert(1000, 8, 10**9, 1, duplicate_share=0.2), commits=1)[1].partitions
    assert shape.deleted_keys == pytest.approx(800, abs=1)
    assert shape.superseded_rows == pytest.approx(200 * 0.95, abs=2)


def test_hot_keys_delete_fewer_keys_and_supersede_more_rows_of_their_own_commit():
    shapes = {
        skew: stream(Upsert(1000, 8, 10**6, 1, key_skew=skew), commits=1)[1].partitions[0]
        for skew in ("uniform", "zipf", "recent-first")
    }
    assert shapes["zipf"] == shapes["recent-first"]  # as often, elsewhere
    assert shapes["zipf"].deleted_keys - 500 < 0.85 * (shapes["uniform"].deleted_keys - 500)  # but inserts
    assert shapes["zipf"].superseded_rows > 50 > shapes["uniform"].superseded_rows


def by_day(spec, of):
    return {shape.partition.removeprefix("partition_day="): of(shape) for shape in spec.partitions}


def test_old_rows_are_deleted_in_the_days_of_their_order_dates():
    ten_days = Upsert(1000, 2, 10**6, 1, insert_share=0.0, delete_share=1.0, initial_span_s=10 * 86_400)
    deleted_keys = by_day(stream(ten_days, commits=1, by="day")[1], lambda p: p.deleted_keys)
    assert deleted_keys == {f"2025-12-{day}": pytest.approx(100, abs=1) for day in range(22, 32)}


def test_new_and_moved_rows_are_in_the_day_of_the_change():
    still = Upsert(1000, 2, 10**6, 1, initial_span_s=86_400.0)
    old_day, new_day = "2025-12-31", "2026-01-01"
    rows = by_day(stream(still, commits=1, by="day")[1], lambda p: p.rows)
    assert rows == {old_day: pytest.approx(450, abs=2), new_day: pytest.approx(500, abs=2)}
    moving = Upsert(1000, 2, 10**6, 1, initial_span_s=86_400.0, move_share=1.0)
    spec = stream(moving, commits=1, by="day")[1]
    assert by_day(spec, lambda p: p.rows) == {old_day: 0, new_day: spec.inserts + spec.updates}


def test_changes_of_the_newest_keys_hit_the_last_days_if_the_load_is_in_their_order():
    week = Upsert(
        1000, 2, 700_000, 1, insert_share=0.0, key_skew="recent-first", initial_span_s=7 * 86_400.0,
        initial_order="by-date",
    )  # fmt: skip
    deleted_keys = by_day(stream(week, commits=1, by="day")[1], lambda p: p.deleted_keys)
    # A rank r has the density 1 / r: below 100,000 of 700,000 are ln 100,000 / ln 700,000 of all draws, 86 %.
    # Draws that hit one key again do not count, and most of these are among the newest.
    assert list(deleted_keys) == sorted(deleted_keys, key=deleted_keys.__getitem__) == sorted(deleted_keys)
    assert deleted_keys["2025-12-31"] > 0.7 * sum(deleted_keys.values())
    rows = by_day(stream(week, commits=0, by="day")[0], lambda p: p.rows)
    assert list(rows.values()) == [pytest.approx(100_000, abs=1)] * 7


@pytest.mark.parametrize("span_s", [86_400.0 * 2.5, 1000.0, 86_400.0])
def test_parts_of_a_load_ordered_by_date_have_all_keys_and_the_whole_span(span_s):
    workload = Upsert(10, 1, 12_345, 1, initial_span_s=span_s, initial_order="by-date")
    parts = list(workload._initial_parts())
    assert sum(keys for keys, _ in parts) == 12_345
    assert (parts[0][1].from_s, parts[-1][1].to_s) == (-span_s, 0.0)


def test_recent_first_changes_hit_the_newest_day():
    workload = Upsert(1000, 2, 1000, 1, key_skew="recent-first", key_exponent=2.0, initial_span_s=86_400.0)
    last = stream(workload, commits=100, interval_ms=864_000, by="day")[-1]
    deleted_keys = by_day(last, lambda p: p.deleted_keys)
    assert deleted_keys["2026-01-01"] > 50 * deleted_keys.get("2025-12-31", 0)


# At least six times as many rows as one file's worth, in one or eight partitions.
@pytest.mark.parametrize(("by", "rows"), [("none", 3 * 10**6), ("bucket", 24 * 10**6), ("none", 10**7)])
@pytest.mark.parametrize("target", [2 * MIB, 3 * MIB])
@pytest.mark.parametrize("columns", SCHEMAS)
def test_files_of_the_initial_load_fill_three_quarters_of_the_target_and_never_all(by, rows, target, columns):
    workload = Upsert(10, 1, rows, columns=columns)
    sized = workload.sized_for(target, 7, Partitioning(by))
    load = stream(sized, commits=0, by=by)[0]
    assert load.expected_bytes > 5.2 * target * len(load.partitions)  # six files of 0.87 each
    # Dictionaries of 40 columns take 6 % of such small files. The load of 17 columns is dealt by the size of
    # files whose dates span a minute, and its own span a month.
    fill_max = {17: 0.99, 40: 0.96}.get(columns, 0.91)
    for shape in load.partitions:
        files = dealt_writers(shape.rows, load.rows, load.writers)
        assert 0.75 * target <= shape.expected_bytes / files <= fill_max * target


@pytest.mark.parametrize("columns", [3, 40])
def test_columns_change_the_sizes_of_data_files_and_nothing_else(columns):
    workload = Upsert(500, 4, 10_000, 2, repeat_share=0.2)
    plain, other = (stream(w, commits=3) for w in (workload, replace(workload, columns=columns)))
    for old, new in zip(plain, other, strict=True):
        assert (new.expected_bytes < old.expected_bytes) == (columns < 17)
        sizes = [replace(p, expected_bytes=0) for p in old.partitions]
        assert [replace(p, expected_bytes=0) for p in new.partitions] == sizes


def test_the_initial_load_is_sized_only_if_initial_files_is_0():
    assert Upsert(10, 1, 10).sized_for(MIB, 7, Partitioning()).initial_files == 1
    assert Upsert(10, 1, 10**7, 5).sized_for(MIB, 7, Partitioning()).initial_files == 5
    with pytest.raises(ValueError, match="initial_files=0"):
        stream(Upsert(10, 1, 10))


@given(files=st.integers(1, 50), rows=st.integers(1, 10**6))
def test_the_initial_load_is_as_large_as_an_append_of_it(files, rows):
    load = stream(Upsert(10, 1, rows, files), commits=0)[0]
    assert load.expected_bytes == ORDERS.dated(wide=True).expected_bytes(rows, min(files, rows))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("rows_per_commit", 0), ("files_per_commit", 0), ("initial_rows", 0), ("initial_files", -1),
        ("initial_span_s", 0.0), ("insert_share", 1.5), ("insert_share", math.nan), ("delete_share", -0.1),
        ("delete_share", 0.6), ("repeat_share", 1.1), ("move_share", -1), ("late_share", 2),
        ("duplicate_share", 0.51), ("key_skew", "normal"), ("key_exponent", 0.0), ("late_by_s", math.inf),
        ("columns", 5),
    ],
)  # fmt: skip
def test_upsert_rejects_bad_values(field, value):
    with pytest.raises(ValueError, match=f"{field}={value} must be"):
        Upsert(**{"rows_per_commit": 10, "files_per_commit": 8, "initial_rows": 100, field: value})
