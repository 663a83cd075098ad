"""The rows of the workload `upsert`, compared with a dictionary that applies them one by one."""

from collections import Counter
from dataclasses import replace
from itertools import groupby, pairwise

import pyarrow.parquet as pq
import pytest
from workload_builders import rows_parquet, stream

from workloads import change_log
from workloads.change_log import ensure_change_log, open_change_log
from workloads.content import content
from workloads.fold import STATE_COLUMNS, change_columns
from workloads.orders import EPOCH_MS, changed_values
from workloads.partitioning import Partitioning
from workloads.schema import ORDERS, SCHEMAS
from workloads.upsert import Upsert

pytestmark = pytest.mark.spark

LIVELY = Upsert(
    rows_per_commit=80, files_per_commit=4, initial_rows=60, initial_files=2, insert_share=0.3,
    delete_share=0.2, key_skew="zipf", repeat_share=0.3, move_share=0.4, duplicate_share=0.2,
)  # fmt: skip
COMMITS = 5
LARGE = Upsert(5_000, 4, 2_500, 1, initial_span_s=5 * 86_400, repeat_share=0.1, duplicate_share=0.05)


def logged(spark, folder, workload=LIVELY, commits=COMMITS, seed=7):
    return ensure_change_log(lambda: spark, folder, workload, seed, commits, 60_000, lambda done, total: None)


@pytest.fixture(scope="module")
def log(spark, tmp_path_factory):
    return logged(spark, tmp_path_factory.mktemp("cache"))


def rows_of(log, commit):
    return [row for path in log.paths(commit) for row in pq.read_table(path).to_pylist()]


@pytest.fixture(scope="module")
def load(log):
    return rows_of(log, log.commits[0])


@pytest.fixture(scope="module")
def changes(log):
    """The rows of each commit of the stream."""
    return [rows_of(log, commit) for commit in log.commits[1:]]


@pytest.fixture(scope="module")
def large(spark):
    """One large commit over a loaded table of nearly as many rows."""
    (spec,) = stream(LARGE, commits=1)[1:]
    return LARGE.rows(spark, 7, spec, 60_000).cache()


def test_a_log_of_changes_starts_with_plain_orders(log, load):
    assert log.is_cdc
    assert open_change_log(log.folder) == log
    assert tuple(load[0]) == ORDERS.names
    assert [row["order_id"] for row in load] == list(range(1, 61))
    assert all(EPOCH_MS - 30 * 86_400_000 <= row["order_date"] < EPOCH_MS for row in load)


def test_each_commit_has_the_changes_of_its_shape(log, changes):
    for spec, rows in zip(stream(LIVELY, commits=COMMITS)[1:], changes, strict=True):
        ops = Counter(row["op"] for row in rows)
        assert (ops["I"], ops["U"], ops["D"]) == (spec.inserts, spec.updates, spec.deletes)
        assert [r["change_number"] for r in rows] == list(range(spec.first_row, spec.first_row + spec.rows))
        assert tuple(rows[0]) == change_columns(ORDERS.names)
    assert [len(commit.files) for commit in log.commits] == [2, 4, 4, 4, 4, 4]


def test_inserts_number_keys_without_gaps_and_other_changes_hit_existing_keys(changes):
    known = set(range(1, 61))
    for rows in changes:
        for row in rows:
            if row["op"] == "I" and row["order_id"] not in known:
                assert row["order_id"] == len(known) + 1
                known.add(row["order_id"])
            assert row["order_id"] in known


def test_the_row_before_is_the_row_in_the_table(load, changes):
    table = {row["order_id"]: row for row in load}
    seen = Counter()
    for row in (row for rows in changes for row in rows):
        before = table.get(row["order_id"])
        assert row["before_exists"] == (before is not None)
        assert row["before_user_city"] == (before and before["user_city"])
        assert row["before_order_date"] == (before and before["order_date"])
        seen[row["op"], before is not None] += 1
        if row["op"] == "D":
            table.pop(row["order_id"], None)
        else:
            table[row["order_id"]] = row
    # Duplicates of inserts, updates that insert a row again, deletes of a missing row: all occur.
    assert set(seen) == {(op, existed) for op in "IUD" for existed in (True, False)}


def test_the_fold_of_the_log_equals_a_dictionary_of_its_rows(log, load, changes, tmp_path):
    table = {row["order_id"]: row for row in load}
    for index in range(COMMITS + 1):
        for row in changes[index - 1] if index else ():
            table.pop(row["order_id"], None)
            if row["op"] != "D":
                table[row["order_id"]] = row
        rows = [{name: row[name] for name in ORDERS.names} for row in table.values()]
        expected = rows_parquet(tmp_path / f"{index}.parquet", rows)
        folded = log.table_after(log.commits[: index + 1])
        assert content(folded, ORDERS.names) == content([expected], ORDERS.names)


def test_an_update_changes_the_progress_of_an_order_and_nothing_else(load, changes):
    first = {row["order_id"]: row for row in load}
    constant = set(ORDERS.names) - {*STATE_COLUMNS, *changed_values(ORDERS, 7, "number")}
    changed = Counter()
    for row in (row for rows in changes for row in rows):
        inserted = first.setdefault(row["order_id"], row)
        if row["op"] == "U":
            assert {name: row[name] for name in constant} == {name: inserted[name] for name in constant}
            changed.update(n for n in changed_values(ORDERS, 7, "number") if row[n] != inserted[n])
        if row["op"] == "D":
            assert {name for name in ORDERS.names if row[name] is not None} == {
                "order_id", "user_city", "order_date",
            }  # fmt: skip
    assert set(changed) == {"order_status", "delivery_id", "feedback_level"}


def test_moved_rows_are_in_the_day_of_the_change_and_others_stay(changes):
    updates = [row for rows in changes for row in rows if row["op"] == "U" and row["before_exists"]]
    moved = [row for row in updates if row["order_date"] != row["before_order_date"]]
    assert all(row["order_date"] == row["ts"] for row in moved)
    stayed = [row for row in updates if row["order_date"] == row["before_order_date"]]
    again = {row["ts"] for row in moved}  # a duplicate of a move finds the row moved already
    assert all(row["user_city"] == row["before_user_city"] for row in stayed if row["ts"] not in again)
    assert len(moved) / len([row for row in updates if row["ts"]]) == pytest.approx(0.4, abs=0.15)


@pytest.mark.parametrize("columns", [3, 40])
def test_a_log_of_another_width_has_the_same_changes(spark, log, changes, tmp_path, columns):
    schema = SCHEMAS[columns]
    other = logged(spark, tmp_path, replace(LIVELY, columns=columns), commits=2)
    assert other.key != log.key
    assert open_change_log(other.folder) == other
    assert other.columns == schema.names
    assert other.is_unchanged(other.commits)
    shared = [name for name in change_columns(schema.names) if name in change_columns(ORDERS.names)]
    for index, expected in enumerate(changes[:2], start=1):
        rows = rows_of(other, other.commits[index])
        assert tuple(rows[0]) == change_columns(schema.names)
        assert [[row[n] for n in shared] for row in rows] == [[row[n] for n in shared] for row in expected]
    folded, shorter = other.table_after(other.commits[:3]), log.table_after(log.commits[:3])
    assert content(folded, SCHEMAS[3].names) == content(shorter, SCHEMAS[3].names)


def test_details_are_changed_by_updates_and_gone_with_deletes(spark):
    workload = replace(LIVELY, columns=40)
    load, commit = stream(workload, commits=1)
    loaded = {row.order_id: row for row in workload.rows(spark, 7, load, 60_000).collect()}
    details = [name for name in SCHEMAS[40].names if name not in ORDERS.names]
    changed = Counter()
    for row in workload.rows(spark, 7, commit, 60_000).collect():
        if row.op == "D":
            assert {row[name] for name in details} == {None}
        elif row.order_id in loaded:
            changed.update(name for name in details if row[name] != loaded[row.order_id][name])
    assert set(changed) == {"promised_date", "delivery_attempts", "is_paid", "status_note"}


def test_a_duplicate_is_the_change_before_once_more(changes):
    own = ("change_number", "before_exists", "before_user_city", "before_order_date")
    for spec, rows in zip(stream(LIVELY, commits=COMMITS)[1:], changes, strict=True):
        plain = [{name: value for name, value in row.items() if name not in own} for row in rows]
        twice = sum(first == second for first, second in pairwise(plain))
        assert twice == pytest.approx(0.2 * spec.rows, abs=1)
        assert all(len(list(same)) <= 2 for _, same in groupby(plain))


def test_insert_dates_and_times_follow_the_stream(changes):
    for index, rows in enumerate(changes, start=1):
        times = [row["ts"] for row in rows]
        assert times == sorted(times)
        assert EPOCH_MS + (index - 1) * 60_000 <= times[0] < times[-1] < EPOCH_MS + index * 60_000
        assert times[len(times) // 2] == pytest.approx(EPOCH_MS + (index - 0.5) * 60_000, abs=3000)
        assert all(row["order_date"] == row["ts"] for row in rows if row["op"] == "I")


def test_rows_are_the_same_alone_and_by_any_number_of_writers(spark, log, changes):
    *_, before_last, spec = stream(LIVELY, commits=COMMITS)
    paths = [str(path) for commit in log.commits[1:-1] for path in log.paths(commit)]
    earlier = spark.read.parquet(*paths)
    for writers in (1, 3, 20):
        frame = LIVELY.rows(spark, 7, replace(spec, writers=writers), 60_000, earlier)
        assert frame.rdd.getNumPartitions() == min(writers, spec.rows - round(0.2 * spec.rows))
        assert [row.asDict() for row in frame.collect()] == changes[-1]
    other = LIVELY.rows(spark, 8, spec, 60_000, earlier)
    assert [row.asDict() for row in other.collect()] != changes[-1]
    assert before_last.index == COMMITS - 1


def test_a_log_does_not_depend_on_when_earlier_changes_are_condensed(spark, log, tmp_path, monkeypatch):
    monkeypatch.setattr(change_log, "EARLIER_FILES_MAX", 1)
    again = logged(spark, tmp_path)
    assert (again.key, again.commits) == (log.key, log.commits)
    assert {path.name for path in again.folder.iterdir()} == {path.name for path in log.folder.iterdir()}


def test_a_shorter_log_is_a_prefix_of_a_longer_one(spark, log, tmp_path):
    assert logged(spark, tmp_path, commits=2).commits == log.commits[:3]


def test_rows_have_the_declared_columns_and_types(large):
    types = {field.name: field.dataType.simpleString().upper() for field in large.schema}
    assert types == {
        **{c.name: c.spark_type for c in ORDERS.columns},
        "op": "STRING", "change_number": "BIGINT", "ts": "BIGINT", "before_exists": "BOOLEAN",
        "before_user_city": "STRING", "before_order_date": "BIGINT",
    }  # fmt: skip


def test_repeats_hit_keys_of_their_own_commit(large):
    (spec,) = stream(LARGE, commits=1)[1:]
    # Which of the 4,750 changes are of keys beyond those there before: inserts, and repeats of them.
    rows = large.filter("op <> 'I'").selectExpr("order_id", "change_number").collect()
    repeats_of_new = sum(row.order_id > spec.keys.population for row in rows)
    # A tenth of 2,375 others; of what is before one, 2,375 to 2,138 are inserts. Duplicates add 1/19.
    assert repeats_of_new == pytest.approx(237 * 2375 / (2375 + 2138) * 20 / 19, abs=38)  # five errors
    assert large.filter("op = 'U' AND order_id > 2500").count() > 0.8 * repeats_of_new


def test_a_repeat_hits_no_key_its_commit_has_not_touched(spark):
    workload = Upsert(400, 2, 10**9, 1, repeat_share=0.3)  # so many rows that no two draws meet
    (spec,) = stream(workload, commits=1)[1:]
    rows = workload.rows(spark, 7, spec, 60_000).select("order_id").collect()
    assert len({row.order_id for row in rows}) == spec.keys.new_count + spec.keys.changed_count
    assert spec.keys.changed_count == pytest.approx(140, abs=1)  # of 200 updates and deletes


@pytest.mark.parametrize("by", ["none", "day", "bucket", "city"])
def test_rows_and_deletes_per_partition_match_the_shape(large, by):
    partitioning = Partitioning(by)
    (spec,) = stream(LARGE, commits=1, by=by)[1:]
    old = {"user_city": "before_user_city", "order_date": "before_order_date"}
    sql = old_sql = next(iter(partitioning.derived.values()), "user_city" if by == "city" else "''")
    for column, before in old.items():
        old_sql = old_sql.replace(column, before)
    column = f"{partitioning.column}=" if by != "none" else ""
    first = "row_number() OVER (PARTITION BY order_id ORDER BY change_number) = 1"
    placed = large.selectExpr("*", f"{sql} AS new", f"{old_sql} AS old", f"{first} AS is_first")
    added = counted(placed.filter("op <> 'D'"), "new", column)
    blind = placed.filter("NOT before_exists").selectExpr("new AS at")
    known = placed.filter("is_first AND before_exists").selectExpr("old AS at")
    deleted_keys = counted(known.union(blind), "at", column)
    superseded = counted(placed.filter("NOT is_first AND before_exists"), "old", column)
    for shape in spec.partitions:
        assert added[shape.partition] == near(shape.rows)
        assert deleted_keys[shape.partition] == near(shape.deleted_keys)
        assert superseded[shape.partition] == near(shape.superseded_rows)
    assert added.keys() == {shape.partition for shape in spec.partitions if shape.rows}


def counted(frame, by, prefix):
    return Counter({f"{prefix}{value}": count for value, count in frame.groupBy(by).count().collect()})


def near(expected):
    """Five standard errors of a count, plus rounding to whole rows."""
    return pytest.approx(expected, abs=5 * expected**0.5 + 2)


@pytest.mark.parametrize("skew", ["uniform", "zipf", "recent-first"])
@pytest.mark.parametrize("exponent", [0.7, 1.0, 1.6])
def test_keys_are_hit_by_their_share_of_the_choice(spark, skew, exponent):
    workload = Upsert(5_000, 4, 1000, 1, insert_share=0.0, key_skew=skew, key_exponent=exponent)
    (spec,) = stream(workload, commits=1)[1:]
    hits = Counter(row.order_id for row in workload.rows(spark, 7, spec, 60_000).select("order_id").collect())
    assert min(hits) >= 1
    assert max(hits) <= 1000
    edges = (1, 2, 3, 11, 101, 501, 991, 1000, 1001)
    if skew == "zipf":  # hot keys are anywhere: only the number of distinct keys and the top share are known
        assert len(hits) == pytest.approx(spec.keys.changed_count, rel=0.4)
        top = max(hits.values())
        assert top >= 5_000 * spec.keys.choice._ranks(1, 2, 1000) - 5 * top**0.5
        return
    assert len(hits) == pytest.approx(spec.keys.changed_count, abs=5 * 16)
    for start, end in pairwise(edges):
        in_range = sum(count for key, count in hits.items() if start <= key < end)
        assert in_range == near(5_000 * spec.keys.choice.share(start, end, 1000))


def test_hot_keys_stay_hot_while_the_table_grows(spark):
    workload = Upsert(4000, 2, 500, 1, key_skew="zipf", key_exponent=1.4)
    hottest = []
    for spec in stream(workload, commits=3)[1:]:
        rows = workload.rows(spark, 7, spec, 60_000).filter("op <> 'I'").select("order_id").collect()
        hottest.append([key for key, _ in Counter(row.order_id for row in rows).most_common(3)])
    assert hottest[0] == hottest[1] == hottest[2]


def test_late_changes_are_older_than_the_interval_of_their_commit(spark):
    workload = Upsert(4000, 2, 500, 1, late_share=0.25, late_by_s=10_000)
    spec = stream(workload, commits=3)[3]
    rows = workload.rows(spark, 7, spec, 60_000).select("op", "ts", "order_date").collect()
    late = sum(row.ts < EPOCH_MS + 120_000 for row in rows)
    assert late / 4000 == pytest.approx(0.25, abs=0.035)
    assert min(row.ts for row in rows) >= EPOCH_MS + 120_000 - 10_000_000
    assert max(row.ts for row in rows) < EPOCH_MS + 180_000
    assert all(row.order_date == row.ts for row in rows if row.op == "I")


@pytest.mark.parametrize("shares", [(1.0, 0.0), (0.0, 0.0), (0.0, 1.0), (0.5, 0.5)])
def test_streams_of_one_kind(spark, shares):
    insert_share, delete_share = shares
    workload = Upsert(40, 3, 100, 1, insert_share=insert_share, delete_share=delete_share, repeat_share=1.0)
    (spec,) = stream(workload, commits=1)[1:]
    ops = Counter(row.op for row in workload.rows(spark, 7, spec, 60_000).collect())
    assert (ops["I"], ops["U"], ops["D"]) == (spec.inserts, spec.updates, spec.deletes)
    assert spec.inserts == 40 * insert_share


def test_commits_without_changes_have_no_rows(spark):
    spec = replace(stream(LIVELY, commits=1)[1], rows=0)
    assert LIVELY.rows(spark, 7, spec, 60_000).collect() == []
