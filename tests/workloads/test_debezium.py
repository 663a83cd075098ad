import json
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from workload_builders import stream

from strategies.partitions import path_of
from workloads.debezium import Debezium
from workloads.debezium_events import read_events
from workloads.fold import CHANGE_FACTS, change_columns
from workloads.schema import ORDERS

DAY_MS = 86_400_000
DAY_0 = 20_000 * DAY_MS  # 2024-10-04
CREATED = {"before": None, "after": {"order_id": 1}, "op": "c", "ts_ms": 1000}


def row(key, city="Oslo", day=0, **columns):
    return {"order_id": key, "user_city": city, "order_date": DAY_0 + day * DAY_MS, **columns}


def event(op, ts_ms, after=None, before=None):
    return {"before": before, "after": after, "op": op, "ts_ms": ts_ms, "source": {"table": "orders"}}


# A snapshot of three, and four seconds of changes to it.
EVENTS = [
    event("r", 500, row(1)),
    event("r", 500, row(2, "Rome", 1)),
    event("r", 500, row(3, "Rome")),
    event("c", 10_000, row(4, "Oslo", 2)),
    event("u", 10_999, row(1, "Rome"), before=row(1)),
    event("u", 11_000, row(1, "Rome", buy_times=3)),  # the same commit as the next but one
    event("d", 10_500, before={"order_id": 2}),  # late
    event("c", 11_999, row(2, "Lima")),  # made again
    event("d", 14_000, before=row(3)),
]


def lines(path, events):
    path.write_text("".join(json.dumps(e) + "\n" for e in events))
    return path


@pytest.fixture
def recorded(tmp_path):
    folder = tmp_path / "events"
    folder.mkdir()
    lines(folder / "b.jsonl", EVENTS[5:])
    lines(folder / "a.json", EVENTS[:5])
    return Debezium(str(folder))


def events_of(workload):
    return workload._events.table.to_pylist()


def test_the_epoch_of_the_stream_is_the_time_of_the_first_change(recorded, tmp_path):
    assert recorded.stream_epoch_ms == 10_000
    snapshot = Debezium(str(lines(tmp_path / "snapshot.jsonl", EVENTS[:3])))
    assert snapshot.stream_epoch_ms is None


def test_events_are_read_in_order_of_file_and_line(recorded):
    events = events_of(recorded)
    assert [(e["order_id"], e["op"], e["change_number"], e["ts"]) for e in events] == [
        (1, "I", 0, 500), (2, "I", 1, 500), (3, "I", 2, 500), (4, "I", 3, 10_000), (1, "U", 4, 10_999),
        (1, "U", 5, 11_000), (2, "D", 6, 10_500), (2, "I", 7, 11_999), (3, "D", 8, 14_000),
    ]  # fmt: skip
    assert tuple(events[0]) == change_columns(ORDERS.names)


def test_the_row_before_is_the_last_one_of_the_key(recorded):
    rows_before = [tuple(e[name] for name in CHANGE_FACTS[3:]) for e in events_of(recorded)]
    assert rows_before[3:] == [
        (False, None, None), (True, "Oslo", DAY_0), (True, "Rome", DAY_0), (True, "Rome", DAY_0 + DAY_MS),
        (False, None, None),  # deleted just before
        (True, "Rome", DAY_0),
    ]  # fmt: skip


def test_missing_columns_are_null_and_a_delete_keeps_the_partition_columns(recorded):
    _, _, _, _, update, second_update, delete, *_ = events_of(recorded)
    assert (update["buy_times"], second_update["buy_times"]) == (None, 3)
    assert {name: delete[name] for name in ORDERS.names if delete[name] is not None} == {
        "order_id": 2, "user_city": "Rome", "order_date": DAY_0 + DAY_MS,
    }  # fmt: skip


def test_commits_are_cut_by_time_of_arrival(recorded):
    load, *specs = stream(recorded, commits=6, interval_ms=1000)
    assert (load.is_initial, load.first_row, load.rows, load.inserts) == (True, 0, 3, 3)
    # A late event (10.5 s after 11.0 s) comes with what is before it.
    assert [(s.first_row, s.inserts, s.updates, s.deletes) for s in specs] == [
        (3, 1, 1, 0), (5, 1, 1, 1), (8, 0, 0, 0), (8, 0, 0, 0), (8, 0, 0, 1), (9, 0, 0, 0),
    ]  # fmt: skip
    assert [spec.at_ms for spec in specs] == [1000, 2000, 3000, 4000, 5000, 6000]
    assert stream(recorded, commits=2, interval_ms=1000) == [load, *specs[:2]]


def test_events_after_the_end_of_the_stream_are_counted(recorded):
    assert [recorded.left_out_rows(duration_ms) for duration_ms in (1000, 2000, 4000, 5000)] == [4, 1, 1, 0]


def test_a_stream_without_a_snapshot_starts_from_an_empty_table(tmp_path):
    workload = Debezium(str(lines(tmp_path / "e.jsonl", EVENTS[3:])))
    specs = stream(workload, commits=1, interval_ms=1000)
    assert [(s.index, s.first_row, s.rows, s.is_initial) for s in specs] == [(1, 0, 2, False)]
    assert events_of(workload)[1]["before_exists"] is False  # although the event has a `before`


def test_a_later_snapshot_event_is_an_upsert(tmp_path):
    again = Debezium(str(lines(tmp_path / "e.jsonl", [EVENTS[0], EVENTS[4], event("r", 12_000, row(1))])))
    assert [(e["op"], e["before_exists"]) for e in events_of(again)] == [
        ("I", False), ("U", True), ("I", True),
    ]  # fmt: skip
    assert [spec.rows for spec in stream(again, commits=2, interval_ms=1000)] == [1, 1, 1]


def shapes(workload, by, index):
    spec = stream(workload, commits=5, interval_ms=1000, by=by)[index]
    return {p.partition: (p.rows, p.deleted_keys, p.superseded_rows) for p in spec.partitions}


def test_partitions_count_added_rows_and_deleted_keys(recorded):
    assert shapes(recorded, "none", 0) == {"": (3, 0, 0)}
    assert shapes(recorded, "none", 1) == {"": (2, 2, 0)}
    # Order 1 moves from Oslo to Rome, order 4 is new.
    assert shapes(recorded, "city", 1) == {"user_city=Oslo": (1, 2, 0), "user_city=Rome": (1, 0, 0)}
    assert shapes(recorded, "city", 2) == {"user_city=Lima": (1, 1, 0), "user_city=Rome": (1, 2, 0)}
    assert shapes(recorded, "day", 1) == {
        "partition_day=2024-10-04": (1, 1, 0),
        "partition_day=2024-10-06": (1, 1, 0),
    }
    buckets = shapes(recorded, "bucket", 0)
    assert (len(buckets), sum(rows for rows, _, _ in buckets.values())) == (3, 3)


def test_a_row_changed_twice_in_a_commit_is_superseded(recorded):
    (spec,) = stream(recorded, commits=1, interval_ms=10_000)[1:]
    (shape,) = spec.partitions
    # Order 1 is updated twice, and one order made again after its delete, which counts as a new one.
    assert (shape.rows, shape.deleted_keys, shape.superseded_rows) == (4, 5, 1)


def test_partitions_of_nulls_are_called_null(tmp_path):
    workload = Debezium(str(lines(tmp_path / "e.jsonl", [CREATED])))
    for by, name in (("city", "user_city=null"), ("day", "partition_day=null")):
        assert [p.partition for p in stream(workload, commits=1, by=by)[0].partitions] == [name]


@pytest.mark.parametrize("city", ["null", "a/b", "a%2Fb", "5 % off"])
def test_cities_are_values_in_partition_paths(tmp_path, city):
    workload = Debezium(str(lines(tmp_path / "e.jsonl", [change(after=row(1, city=city))])))
    (shape,) = stream(workload, commits=1, by="city")[0].partitions
    assert shape.partition == path_of([("user_city", city)])


def test_the_first_and_the_last_day_are_partitions(tmp_path):
    days = [change(after=row(key, day=day)) for key, day in ((1, -739_162), (2, 2_912_896))]
    workload = Debezium(str(lines(tmp_path / "e.jsonl", days)))
    (spec,) = stream(workload, commits=1, by="day")
    assert [p.partition for p in spec.partitions] == ["partition_day=0001-01-01", "partition_day=9999-12-31"]


def test_messages_with_schema_tombstones_and_blank_lines(tmp_path):
    wrapped = [{"schema": {}, "payload": CREATED}, None, {"schema": {}, "payload": None}]
    file = lines(tmp_path / "e.jsonl", wrapped)
    file.write_text(file.read_text() + "\n  \n")
    assert [e["order_id"] for e in events_of(Debezium(str(file)))] == [1]


def test_parquet_holds_the_same_events_as_json(tmp_path, recorded):
    struct = pa.struct([("order_id", pa.int64()), ("user_city", pa.string()), ("order_date", pa.int64()),
                        ("buy_times", pa.int32())])  # fmt: skip
    schema = pa.schema([("before", struct), ("after", struct), ("op", pa.string()), ("ts_ms", pa.int64())])
    pq.write_table(pa.Table.from_pylist(EVENTS, schema=schema), tmp_path / "e.parquet")
    assert events_of(Debezium(str(tmp_path / "e.parquet"))) == events_of(recorded)


def test_the_repr_follows_the_content_and_not_the_path(tmp_path):
    first, moved, other = (tmp_path / name for name in ("first.jsonl", "moved.jsonl", "other.jsonl"))
    lines(first, EVENTS), lines(moved, EVENTS), lines(other, EVENTS[:-1])
    assert repr(Debezium(str(first))) == repr(Debezium(str(moved))) != repr(Debezium(str(other)))
    assert str(tmp_path) not in repr(Debezium(str(first)))
    lines(first, EVENTS[:-1])
    assert len(events_of(Debezium(str(first)))) == len(EVENTS) - 1


def change(**changes):
    return CREATED | changes


@pytest.mark.parametrize(
    ("events", "line", "problem"),
    [
        ([CREATED, 5], 2, "is not an object"),
        ([change(op="t")], 1, "op is 't'"),
        ([change(op=None)], 1, "op is missing"),
        ([change(ts_ms="2026-01-01")], 1, "ts_ms is '2026-01-01'"),
        ([change(ts_ms=True)], 1, "ts_ms is True"),
        ([change(ts_ms=1_767_225_600_000_000)], 1, "ts_ms is 1767225600000000"),  # microseconds
        ([change(ts_ms=10**400)], 1, "ts_ms is 1000"),
        ([change(after=None)], 1, "after is None"),
        ([change(op="d", after=None)], 1, "before is None"),
        ([change(after={"order_id": 1, "colour": 1})], 1, "after holds colour"),
        ([change(after={"user_id": 1})], 1, "after.order_id is None"),
        ([change(after={"order_id": 2**63})], 1, "after.order_id is 9223372036854775808"),
        ([change(after={"order_id": 1, "user_age": 2**31})], 1, "after.user_age is 2147483648"),
        ([change(after={"order_id": 1, "user_city": 5})], 1, "after.user_city is 5"),
        ([change(after={"order_id": 1, "product_prices": "9.99"})], 1, "after.product_prices is '9.99'"),
        ([change(after={"order_id": 1, "buy_times": True})], 1, "after.buy_times is True"),
        ([change(op=["c"])], 1, r"op is \['c'\]"),
        ([change(op={"c": 1})], 1, "op is {'c': 1}"),
        ([change(after={"order_id": 1, "user_city": "\ud800"})], 1, "after.user_city is"),
        ([change(after={"order_id": 1, "product_prices": 10**400})], 1, "after.product_prices is 1000"),
        ([change(after={"order_id": 1, "order_date": 2**55})], 1, "after.order_date is 36028797018963968"),
        ([change(after={"order_id": 1, "order_date": -(2**46)})], 1, "after.order_date is -70368744177664"),
        ([event("u", 1, {"order_id": 2}, before={"order_id": 1})], 1, "changes order_id to 2"),
        ([EVENTS[0], EVENTS[0]], 2, "holds order_id 1 twice"),
    ],
)
def test_errors_in_events_name_file_line_and_problem(tmp_path, events, line, problem):
    file = lines(tmp_path / "e.jsonl", events)
    with pytest.raises(ValueError, match=re.escape(f"debezium {file}, line {line}: ") + f".*{problem}"):
        Debezium(str(file))


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("none.jsonl", None, ": no such file"),
        ("cut.jsonl", b'null\n{"op": ', ", line 2: is not JSON"),
        ("nested.jsonl", b"null\n" + b"[" * 10**5, ", line 2: is not JSON"),
        ("bytes.jsonl", b"null\n\xff\xfe\n", ", line 2: is not JSON"),
        ("broken.parquet", b"no", ": is not a Parquet"),
        ("events.csv", b"a", ": holds no events"),
        ("empty.jsonl", b"\n", "holds no events"),
    ],
)
def test_unreadable_files_are_refused(tmp_path, name, content, problem):
    file = tmp_path / name
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ValueError, match=f"debezium .*{problem}"):
        Debezium(str(file))


def test_folders_without_files_of_events_are_refused(tmp_path):
    (tmp_path / "parts.json").mkdir()
    with pytest.raises(ValueError, match="holds no events"):
        Debezium(str(tmp_path))


def test_errors_in_parquet_name_the_row(tmp_path):
    table = pa.table({"op": ["x"], "ts_ms": [1], "after": [{"order_id": 1}]})
    pq.write_table(table, tmp_path / "e.parquet")
    with pytest.raises(ValueError, match=r"e\.parquet, row 1: op is 'x'"):
        Debezium(str(tmp_path / "e.parquet"))


@pytest.mark.parametrize("name", ["files_per_commit", "initial_files"])
def test_debezium_rejects_bad_values(name, recorded):
    with pytest.raises(ValueError, match=f"{name}=0 must be >= 1"):
        Debezium(recorded.path, **{name: 0})


def test_events_that_were_read_are_not_read_again(recorded):
    before = read_events.cache_info().misses
    Debezium(recorded.path)
    assert read_events.cache_info().misses == before


@pytest.mark.spark
def test_rows_are_the_events_in_order_with_one_partition_per_writer(spark, recorded):
    two = Debezium(recorded.path, files_per_commit=2, initial_files=5)
    load, first, second, empty, *_ = stream(two, commits=5, interval_ms=1000)
    events = events_of(two)
    for spec, parts in ((load, 3), (first, 2), (second, 2), (empty, 1)):
        frame = two.rows(spark, 7, spec, 1000)
        columns = ORDERS.names if spec.is_initial else change_columns(ORDERS.names)
        assert tuple(frame.columns) == columns
        assert frame.rdd.getNumPartitions() == parts
        expected = events[spec.first_row : spec.first_row + spec.rows]
        assert [row.asDict() for row in frame.collect()] == [{n: e[n] for n in columns} for e in expected]
        types = [field.dataType.simpleString().upper() for field in frame.schema]
        assert types[: len(ORDERS.columns)] == [column.spark_type for column in ORDERS.columns]
