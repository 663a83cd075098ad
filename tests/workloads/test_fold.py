from itertools import count, pairwise

import pyarrow.parquet as pq
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from workload_builders import CHANGES, rows_parquet

from workloads.content import Content, content, differences
from workloads.fold import STATE_COLUMNS, Fold, change_columns, condense
from workloads.schema import ORDERS, SCHEMAS

NAMES = count()
COLUMNS = ORDERS.names

keys = st.integers(1, 6)
changes = st.lists(st.tuples(keys, st.sampled_from("IUD"), st.integers(0, 3)), max_size=14)
loads = st.dictionaries(keys, st.integers(0, 3))
# The folder is shared by the examples, each of which writes files of new names.
few = settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])


def order(key, value):
    """A row in which `value` determines a text and a number, which is NULL for 0."""
    return {"order_id": key, "user_city": f"city {value}", "order_status": value or None}


def model(load, changes):
    """The table after the stream, as value by key."""
    table = dict(load)
    for key, op, value in changes:
        if op == "D":
            table.pop(key, None)
        else:
            table[key] = value
    return table


def load_files(folder, table):
    rows = [order(*item) for item in table.items()]
    return (rows_parquet(folder / f"{next(NAMES)}.parquet", rows),) if rows else ()


def change_files(folder, numbered, cuts):
    """Files of changes split at `cuts`, with the rows of each file in reverse order."""
    edges = [0, *sorted(cuts), len(numbered)]
    rows = [
        {**(order(key, value) if op != "D" else {"order_id": key}), "op": op, "change_number": number}
        for number, (key, op, value) in numbered
    ]
    return tuple(
        rows_parquet(folder / f"{next(NAMES)}.parquet", rows[a:b][::-1], CHANGES)
        for a, b in pairwise(edges)
        if b > a
    )


def written(folder, load, changes, data):
    numbered = list(enumerate(changes, start=len(load)))
    cuts = data.draw(st.lists(st.integers(0, len(changes)), max_size=3))
    files = change_files(folder, numbered, cuts)
    return Fold(load_files(folder, load), data.draw(st.permutations(files)) if files else ())


@few
@given(load=loads, changes=changes, data=st.data())
def test_fold_holds_the_rows_of_the_model(tmp_path, load, changes, data):
    fold = written(tmp_path, load, changes, data)
    expected = model(load, changes)
    folded = content(fold, COLUMNS)
    assert folded == content(load_files(tmp_path, expected), COLUMNS)
    assert folded.rows == len(expected)


@few
@given(load=loads, changes=changes, other=loads, data=st.data())
def test_fold_differs_in_the_keys_in_which_the_model_does(tmp_path, load, changes, other, data):
    fold, table = written(tmp_path, load, changes, data), load_files(tmp_path, other)
    folded = model(load, changes)
    expected = [
        (key, int(key in folded), int(key in other))
        for key in sorted({*folded, *other})
        if folded.get(key) != other.get(key)
    ]
    different = differences(fold, table, COLUMNS, limit=10)
    assert [(d.key, d.left_rows, d.right_rows) for d in different] == expected
    assert (content(fold, COLUMNS) == content(table, COLUMNS)) == (not expected)


@few
@given(changes=changes)
def test_condensed_changes_hold_the_last_change_of_each_key(tmp_path, changes):
    first = change_files(tmp_path, list(enumerate(changes)), [len(changes) // 2])
    if not first:
        return
    target = tmp_path / f"{next(NAMES)}.parquet"
    condense(first, target)
    rows = pq.read_table(target).to_pylist()
    last = {key: (number, op, value) for number, (key, op, value) in enumerate(changes)}
    assert sorted((row["order_id"], row["change_number"], row["op"], row["user_city"]) for row in rows) == [
        (key, number, op, None if op == "D" else f"city {value}")
        for key, (number, op, value) in sorted(last.items())
    ]
    assert tuple(rows[0]) == tuple(STATE_COLUMNS)


def test_fold_of_nothing_has_no_rows():
    assert content(Fold((), ()), COLUMNS) == Content(0, 0)
    assert differences(Fold((), ()), [], COLUMNS) == ()


def test_columns_of_a_change_are_the_payload_and_six_more():
    assert tuple(CHANGES.names) == change_columns(COLUMNS)
    assert set(STATE_COLUMNS) < set(change_columns(SCHEMAS[3].names))
