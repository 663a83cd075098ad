from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from workload_builders import orders_parquet, parquet

from workloads.content import Content, Difference, content, differences

COLUMNS = ("order_id", "city", "price")
NAMES = count()

rows = st.lists(
    st.tuples(st.integers(1, 5), st.sampled_from(["'Oslo'", "'Rome'", "NULL"]), st.sampled_from([1.5, 2.5])),
    max_size=8,
)
# The folder is shared by the examples, each of which writes files of new names.
few = settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])


def written(folder, rows):
    values = ", ".join(f"({key}, {city}, {price})" for key, city, price in rows)
    return orders_parquet(folder / f"{next(NAMES)}.parquet", values)


@few
@given(rows=rows, data=st.data())
def test_content_is_the_same_in_any_order_and_number_of_files(tmp_path, rows, data):
    whole = content([written(tmp_path, rows)], COLUMNS)
    shuffled = data.draw(st.permutations(rows))
    cut = data.draw(st.integers(0, len(rows)))
    parts = [written(tmp_path, shuffled[:cut]), written(tmp_path, shuffled[cut:])]
    assert whole == content(parts, COLUMNS)
    assert whole == content(parts[:1], COLUMNS) + content(parts[1:], COLUMNS)
    assert whole.rows == len(rows)


@few
@given(left=rows, right=rows)
def test_content_and_differences_agree_with_multisets(tmp_path, left, right):
    left_path, right_path = written(tmp_path, left), written(tmp_path, right)
    same = sorted(left) == sorted(right)
    assert (content([left_path], COLUMNS) == content([right_path], COLUMNS)) == same
    expected = []
    for key in sorted({row[0] for row in left + right}):
        only_left = sum(max(0, left.count(r) - right.count(r)) for r in {*left, *right} if r[0] == key)
        only_right = sum(max(0, right.count(r) - left.count(r)) for r in {*left, *right} if r[0] == key)
        if only_left or only_right:
            expected.append(Difference(key, only_left, only_right))
    assert differences([left_path], [right_path], COLUMNS) == tuple(expected)


def test_content_sees_two_rows_swapping_a_value(tmp_path):
    base = orders_parquet(tmp_path / "base.parquet", "(1, 'Oslo', 1.5), (2, 'Rome', 2.5)")
    swapped = orders_parquet(tmp_path / "swapped.parquet", "(1, 'Rome', 1.5), (2, 'Oslo', 2.5)")
    assert content([base], COLUMNS) != content([swapped], COLUMNS)


@pytest.mark.parametrize(
    "select",
    [
        "SELECT 1::INT AS order_id, 2::BIGINT AS price",  # another type
        "SELECT NULL::BIGINT AS order_id, 2::BIGINT AS price",
        "SELECT 2::BIGINT AS order_id, 1::BIGINT AS price",  # swapped
        "SELECT 1::BIGINT AS order_id, 2::DOUBLE AS price",
    ],
)
def test_content_sees_types_nulls_and_the_order_of_columns(tmp_path, select):
    base = parquet(tmp_path / "base.parquet", "SELECT 1::BIGINT AS order_id, 2::BIGINT AS price")
    other = parquet(tmp_path / "other.parquet", select)
    columns = ("order_id", "price")
    assert content([base], columns) != content([other], columns)
    assert content([base], columns) != content([base], columns[::-1])


def test_content_takes_globs_and_ignores_partition_values_in_folder_names(tmp_path):
    folder = tmp_path / "city=Paris"
    folder.mkdir()
    plain = orders_parquet(tmp_path / "plain.parquet", "(1, 'Oslo', 1.5)")
    orders_parquet(folder / "a.parquet", "(1, 'Oslo', 1.5)")
    assert content([f"{folder}/*.parquet"], COLUMNS) == content([plain], COLUMNS)


def test_no_files_have_no_rows(tmp_path):
    left = orders_parquet(tmp_path / "l.parquet", "(2, 'Oslo', 1)")
    assert content([], COLUMNS) == Content(0, 0)
    assert differences([], [], COLUMNS) == ()
    assert differences([left], [], COLUMNS) == (Difference(2, 1, 0),)


def test_content_names_a_missing_column(tmp_path):
    path = orders_parquet(tmp_path / "one.parquet", "(1, 'Oslo', 1.5)")
    with pytest.raises(ValueError, match=r"one.parquet .* lack columns: color"):
        content([path], ("order_id", "color"))


def test_differences_give_the_side_that_lacks_rows_in_key_order(tmp_path):
    left = orders_parquet(
        tmp_path / "l.parquet", "(9, 'Oslo', 1), (2, 'Oslo', 1), (2, 'Oslo', 1), (3, 'Oslo', 1)"
    )
    right = orders_parquet(
        tmp_path / "r.parquet", "(1, 'Oslo', 1), (2, 'Oslo', 1), (3, 'Rome', 1), (9, 'Oslo', 1)"
    )
    by_key = differences([left], [right], COLUMNS)
    assert [(d.key, d.kind) for d in by_key] == [(1, "missing_left"), (2, "missing_right"), (3, "changed")]
    assert differences([left], [right], COLUMNS, limit=1) == by_key[:1]
