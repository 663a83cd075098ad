from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workloads import orders
from workloads.append import Append
from workloads.dates import DateWindow
from workloads.orders import EPOCH_MS, RowBlock
from workloads.partitioning import Partitioning
from workloads.schema import SCHEMAS
from workloads.words import VOCABULARIES, vocabulary


def collected(spark, block, seed=7):
    return sorted(orders.rows(spark, seed, block).collect(), key=lambda row: row.order_id)


@pytest.fixture
def in_auckland(spark):
    """A time zone that is a day ahead of UTC for half of it."""
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "Pacific/Auckland")
    yield
    spark.conf.set("spark.sql.session.timeZone", before)


@settings(max_examples=5)
@given(seed=st.integers())
def test_vocabularies_are_distinct_and_safe_in_folders_and_sql(seed):
    cities = vocabulary(seed, "cities")
    assert len(cities) == 50
    assert all(city.isascii() and city.isalpha() for city in cities)
    for name in VOCABULARIES:
        words = vocabulary(seed, name)
        assert len(set(words)) == len(words) > 5
        assert all(word.isascii() and not set(word) & set("'\",\\") for word in words)


def test_vocabularies_depend_on_the_seed_alone():
    first = vocabulary(1, "cities")
    vocabulary.cache_clear()
    assert vocabulary(1, "cities") == first != vocabulary(2, "cities")


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
@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_rows_have_exactly_the_declared_columns_and_types(spark, schema):
    written = orders.rows(spark, 7, RowBlock(0, 10, 2, DateWindow(0, 60), schema)).schema
    types = [(f.name, f.dataType.simpleString().upper()) for f in written]
    assert types == [(c.name, c.spark_type) for c in schema.columns]
    assert not written["order_id"].nullable


@pytest.mark.spark
def test_dates_may_be_in_the_order_of_the_rows(spark):
    dates = DateWindow(-86_400, 0, ordered_rows=100)
    dates_ms = [row.order_date - EPOCH_MS for row in collected(spark, RowBlock(0, 100, 2, dates))]
    part_ms = 864_000
    assert [date_ms // part_ms for date_ms in dates_ms] == list(range(-100, 0))
    assert len({date_ms % part_ms for date_ms in dates_ms}) > 90


@pytest.mark.spark
def test_rows_have_the_same_values_in_every_width(spark):
    blocks = [RowBlock(100, 20, 2, DateWindow(0, 60), schema) for schema in SCHEMAS.values()]
    *narrower, widest = ([row.asDict() for row in collected(spark, block)] for block in blocks)
    for block, rows in zip(blocks, narrower, strict=False):
        assert rows == [{name: row[name] for name in block.schema.names} for row in widest]


@pytest.mark.spark
def test_rows_are_the_same_alone_and_by_any_number_of_writers(spark):
    dates = DateWindow(0, 60, late_share=0.3, late_by_s=1000)
    whole = collected(spark, RowBlock(100, 50, 8, dates))
    assert collected(spark, RowBlock(100, 50, 1, dates)) == whole
    assert collected(spark, RowBlock(120, 10, 3, dates)) == whole[20:30]
    assert [row.order_id for row in whole] == list(range(101, 151))
    assert collected(spark, RowBlock(100, 50, 8, dates), seed=8) != whole


@pytest.mark.spark
def test_rows_stay_in_their_ranges(spark):
    for row in collected(spark, RowBlock(10**10, 2000, 4, DateWindow(0, 60))):
        assert None not in row
        assert 1 <= row.user_id <= orders.USERS
        assert row.user_city in vocabulary(7, "cities")
        assert row.user_gender in (0, 1)
        assert row.order_status in (0, 1, 2)
        assert 1 <= row.feedback_level <= 5
        assert 1 <= row.product_prices <= 1000
        assert 0 <= row.product_discount <= 0.5
        tags = row.product_tags.split(",")
        assert 2 <= len(set(tags)) == len(tags) <= 4
        assert set(tags) <= set(vocabulary(7, "tags"))
        assert EPOCH_MS <= row.order_date < EPOCH_MS + 60_000


@pytest.mark.spark
def test_the_additional_columns_of_the_widest_table_stay_in_their_ranges(spark):
    rows = orders.rows(spark, 7, RowBlock(10**10, 2000, 4, DateWindow(0, 60), SCHEMAS[40])).collect()
    start = date(2026, 1, 1)
    for row in rows:
        first_name, last_name = row.user_name.split()
        assert first_name in vocabulary(7, "first_names")
        assert last_name in vocabulary(7, "last_names")
        assert row.user_email == f"{first_name.lower()}.{row.user_id}@example.org"
        assert 0 <= row.user_level <= 9
        assert start - timedelta(days=3650) <= row.user_since < start
        assert 2 <= len(row.product_name.split()) <= 4
        assert 20 <= len(row.product_description.split()) <= 40
        assert set(row.product_description.split()) <= set(vocabulary(7, "text"))
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


@pytest.mark.spark
def test_late_rows_have_the_share_and_span_of_the_window(spark):
    dates = [r.order_date for r in collected(spark, RowBlock(0, 4000, 2, DateWindow(0, 60, 0.25, 10_000)))]
    assert min(dates) >= EPOCH_MS - 10_000_000
    assert max(dates) < EPOCH_MS + 60_000
    late = sum(date < EPOCH_MS for date in dates)
    expected_share = DateWindow(0, 60, 0.25, 10_000).share_before(0)
    assert late / 4000 == pytest.approx(expected_share, abs=0.03)  # four standard errors


@pytest.mark.spark
@pytest.mark.parametrize("by", ["day", "bucket", "city"])
def test_rows_per_partition_match_the_shape(spark, in_auckland, by):
    workload, partitioning = Append(4000, 4, late_share=0.5, late_by_s=86_400), Partitioning(by)
    (spec,) = workload.shape(7, 1, 60_000, partitioning)
    derived = [f"{sql} AS {name}" for name, sql in partitioning.derived.items()]
    rows = workload.rows(spark, 7, spec, 60_000).selectExpr("*", *derived)
    groups = rows.groupBy(partitioning.column).count().collect()
    counts = {f"{partitioning.column}={value}": count for value, count in groups}
    # Five standard errors of a count, plus rounding to whole rows.
    assert counts == {p.partition: pytest.approx(p.rows, abs=5 * p.rows**0.5 + 1) for p in spec.partitions}
