from hypothesis import given
from hypothesis import strategies as st

from workloads.schema import ORDERS, SCHEMAS

schemas = st.sampled_from(list(SCHEMAS.values()))


def test_each_width_contains_the_columns_of_the_narrower_ones():
    for columns, schema in SCHEMAS.items():
        assert len(schema.columns) == len(set(schema.names)) == columns
        assert [c.name for c in schema.columns if not c.nullable] == ["order_id"]
    three, seven, seventeen, forty = (SCHEMAS[columns].columns for columns in (3, 7, 17, 40))
    assert {*three} < {*seven} < {*seventeen}
    assert forty[:17] == seventeen
    assert {column.name for column in three} == {"order_id", "user_city", "order_date"}


def test_ddl_declares_a_column_a_line():
    assert ORDERS.ddl().count("\n") == 16
    assert "order_id BIGINT NOT NULL COMMENT 'Order ID',\n" in ORDERS.ddl()
    assert SCHEMAS[40].ddl().startswith(ORDERS.ddl())
    assert "shipping_fee DECIMAL(8,2) COMMENT 'Shipping fee',\n" in SCHEMAS[40].ddl()


def test_expected_bytes_are_the_measured_sizes():
    for schema in SCHEMAS.values():
        for rows, size_bytes in schema.measured_bytes:
            assert schema.expected_bytes(rows) == size_bytes
            assert schema.expected_bytes(8 * rows, 8) == 8 * size_bytes


def test_expected_bytes_are_linear_between_measured_sizes_and_beyond_the_largest():
    assert ORDERS.expected_bytes(30) == 7_444  # half way from 10 to 50 rows: (6,167 + 8,720) / 2
    assert ORDERS.expected_bytes(5_500) == round((31_068 + 222_099) / 2)
    assert ORDERS.expected_bytes(60, 2) == 14_887
    # 9.5 rows a file: 5,100 + 8.5 x (6,167 - 5,100) / 9 = 6,107.7.
    assert ORDERS.expected_bytes(19, 2) == 12_215
    # Beyond 100,000 rows another 90,000 take as much again: 2,140,830 + (2,140,830 - 222,099).
    assert ORDERS.expected_bytes(190_000) == 4_059_561
    # Of 3 columns beyond a million another 900,000: 6,492,650 + (6,492,650 - 657,640).
    assert SCHEMAS[3].expected_bytes(1_900_000) == 12_327_660


@given(schema=schemas, rows=st.integers(1, 10**6))
def test_dates_of_a_month_take_two_bytes_a_row_more_than_those_of_a_minute(schema, rows):
    wide, narrow = schema.dated(wide=True), schema.dated(wide=False)
    assert schema in (wide, narrow)
    assert wide.columns == narrow.columns
    assert abs(wide.expected_bytes(rows) - narrow.expected_bytes(rows) - 1.9 * rows) <= 0.01 * rows + 1
    assert wide.dated(wide=False).dated(wide=True).has_wide_dates


@given(schema=schemas, rows=st.integers(1, 10**9), more=st.integers(1, 10**6), files=st.integers(1, 1000))
def test_expected_bytes_grow_with_rows_and_with_files(schema, rows, more, files):
    assert schema.expected_bytes(rows + more, files) >= schema.expected_bytes(rows, files)
    assert schema.expected_bytes(rows, files + 1) > schema.expected_bytes(rows, files) > 0


@given(rows=st.integers(1, 10**9))
def test_a_wider_row_takes_more_bytes(rows):
    sizes = [SCHEMAS[columns].expected_bytes(rows) for columns in (3, 7, 17, 40)]
    assert sizes == sorted(set(sizes))
