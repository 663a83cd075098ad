from datetime import date, timedelta

import pytest

from workloads import order_details, orders
from workloads.dates import DateWindow
from workloads.orders import RowBlock
from workloads.schema import ORDERS, SCHEMAS


def test_there_is_a_value_for_every_additional_column_and_no_other():
    assert set(order_details.values(7)) == {*SCHEMAS[40].names} - {*ORDERS.names}


@pytest.mark.parametrize(
    ("columns", "changed"),
    [
        (3, set()),
        (7, {"order_status"}),
        (17, {"order_status", "delivery_id", "feedback_level"}),
        (40, {"order_status", "delivery_id", "feedback_level",
              "promised_date", "delivery_attempts", "is_paid", "status_note"}),
    ],
)  # fmt: skip
def test_an_update_changes_the_columns_on_the_progress_of_an_order(columns, changed):
    assert set(orders.changed_values(SCHEMAS[columns], 7, "number")) == changed


@pytest.mark.spark
def test_details_stay_in_their_ranges(spark):
    words = order_details.detail_vocabularies(7)
    rows = orders.rows(spark, 7, RowBlock(10**10, 2000, 4, DateWindow(0, 60), SCHEMAS[40])).collect()
    start = date(2026, 1, 1)
    for row in rows:
        first_name, last_name = row.user_name.split()
        assert first_name in words.first_names
        assert last_name in words.last_names
        assert row.user_email == f"{first_name.lower()}.{row.user_id}@example.org"
        assert 0 <= row.user_level <= 9
        assert start - timedelta(days=3650) <= row.user_since < start
        assert 2 <= len(row.product_name.split()) <= 4
        assert 20 <= len(row.product_description.split()) <= 40
        assert set(row.product_description.split()) <= set(words.text)
        assert 0 < row.product_weight <= 20
        assert 0 <= row.shipping_fee < 30
        assert row.coupon_code is None or int(row.coupon_code, 16) < 2 ** (4 * len(row.coupon_code)) == 2**32
        assert row.customer_note is None or 8 <= len(row.customer_note.split()) <= 24
        assert start <= row.promised_date < start + timedelta(days=60)
        assert 6 <= len(row.status_note.split()) <= 14
    optional = {"coupon_code", "customer_note"}
    assert {name for row in rows for name, value in row.asDict().items() if value is None} == optional
    # Four standard errors of 2,000 rows.
    for name, share in {"is_gift": 0.1, "is_paid": 0.7}.items():
        assert sum(row[name] for row in rows) / 2000 == pytest.approx(share, abs=0.041)
    for name, share in {"coupon_code": 0.2, "customer_note": 0.3}.items():
        assert sum(row[name] is not None for row in rows) / 2000 == pytest.approx(share, abs=0.041)
    assert len({row.status_note for row in rows}) > 1990
    assert len({row.product_description for row in rows}) == len({row.product_id for row in rows})
