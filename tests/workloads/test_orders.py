import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workloads import orders
from workloads.append import Append
from workloads.dates import DateWindow
from workloads.orders import EPOCH_MS, RowBlock
from workloads.partitioning import Partitioning


def collected(spark, block, seed=7):
    return sorted(orders.rows(spark, seed, block).collect(), key=lambda row: row.order_id)


@pytest.fixture
def in_auckland(spark):
    """A time zone that is a day ahead of UTC for half of it."""
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "Pacific/Auckland")
    yield
    spark.conf.set("spark.sql.session.timeZone", before)


def test_columns_are_the_seventeen_of_the_orders_table():
    assert len(orders.COLUMNS) == 17
    assert [c.name for c in orders.COLUMNS if not c.nullable] == ["order_id"]
    assert orders.ddl().count("\n") == 16
    assert "order_id BIGINT NOT NULL COMMENT 'Order ID',\n" in orders.ddl()


@settings(max_examples=5)
@given(seed=st.integers())
def test_vocabularies_are_distinct_and_safe_in_folders_and_sql(seed):
    words = orders.vocabularies(seed)
    assert len(words.cities) == 50
    assert all(city.isascii() and city.isalpha() for city in words.cities)
    for name in words.__slots__:
        vocabulary = getattr(words, name)
        assert len(set(vocabulary)) == len(vocabulary) > 5
        assert all(word.isascii() and not set(word) & set("'\",\\") for word in vocabulary)


def test_vocabularies_depend_on_the_seed_alone():
    first = orders.vocabularies(1)
    orders.vocabularies.cache_clear()
    assert orders.vocabularies(1) == first != orders.vocabularies(2)


@pytest.mark.spark
def test_rows_have_exactly_the_declared_columns_and_types(spark):
    schema = orders.rows(spark, 7, RowBlock(0, 10, 2, DateWindow(0, 60))).schema
    types = [(f.name, f.dataType.simpleString().upper()) for f in schema]
    assert types == [(c.name, c.spark_type) for c in orders.COLUMNS]
    assert not schema["order_id"].nullable


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
    words = orders.vocabularies(7)
    for row in collected(spark, RowBlock(10**10, 2000, 4, DateWindow(0, 60))):
        assert None not in row
        assert 1 <= row.user_id <= orders.USERS
        assert row.user_city in words.cities
        assert row.user_gender in (0, 1)
        assert row.order_status in (0, 1, 2)
        assert 1 <= row.feedback_level <= 5
        assert 1 <= row.product_prices <= 1000
        assert 0 <= row.product_discount <= 0.5
        tags = row.product_tags.split(",")
        assert 2 <= len(set(tags)) == len(tags) <= 4
        assert set(tags) <= set(words.tags)
        assert EPOCH_MS <= row.order_date < EPOCH_MS + 60_000


@pytest.mark.spark
def test_rows_are_late_by_the_share_and_span_asked_for(spark):
    dates = [r.order_date for r in collected(spark, RowBlock(0, 4000, 2, DateWindow(0, 60, 0.25, 10_000)))]
    assert min(dates) >= EPOCH_MS - 10_000_000
    assert max(dates) < EPOCH_MS + 60_000
    late = sum(date < EPOCH_MS for date in dates)
    expected_share = DateWindow(0, 60, 0.25, 10_000).share_before(0)
    assert late / 4000 == pytest.approx(expected_share, abs=0.03)  # four standard errors


@pytest.mark.spark
@pytest.mark.parametrize("by", ["day", "bucket", "city"])
def test_rows_spread_over_partitions_as_their_shape_expects(spark, in_auckland, by):
    workload, partitioning = Append(4000, 4, late_share=0.5, late_by_s=86_400), Partitioning(by)
    (spec,) = workload.shape(7, 1, 60.0, partitioning)
    derived = [f"{sql} AS {name}" for name, sql in partitioning.derived.items()]
    rows = workload.rows(spark, 7, spec, 60.0).selectExpr("*", *derived)
    found = rows.groupBy(partitioning.column).count().collect()
    counts = {f"{partitioning.column}={value}": count for value, count in found}
    # Five standard errors of a count; beside it the shape rounds to whole rows.
    assert counts == {p.partition: pytest.approx(p.rows, abs=5 * p.rows**0.5 + 1) for p in spec.partitions}


# Of the table in workloads/orders.py: rows of a file, and its bytes as Spark wrote them.
@pytest.mark.parametrize(
    ("rows", "size_bytes"),
    [(1, 5_100), (10, 6_167), (100, 10_437), (1_000, 31_068), (10_000, 222_099), (100_000, 2_140_830)],
)
def test_expected_bytes_are_those_that_were_measured(rows, size_bytes):
    assert orders.expected_bytes(rows) == size_bytes
    assert orders.expected_bytes(8 * rows, 8) == 8 * size_bytes


def test_expected_bytes_are_linear_between_measured_sizes_and_beyond_the_largest():
    assert orders.expected_bytes(55) == 8_302  # half way from 10 to 100 rows: (6,167 + 10,437) / 2
    assert orders.expected_bytes(5_500) == round((31_068 + 222_099) / 2)
    assert orders.expected_bytes(110, 2) == 2 * 8_302
    # 9.5 rows a file: 5,100 + 8.5 x (6,167 - 5,100) / 9 = 6,107.7.
    assert orders.expected_bytes(19, 2) == 12_215
    # Beyond 100,000 rows another 90,000 take as much again: 2,140,830 + (2,140,830 - 222,099).
    assert orders.expected_bytes(190_000) == 4_059_561


@given(rows=st.integers(1, 10**9), more=st.integers(1, 10**6), files=st.integers(1, 1000))
def test_expected_bytes_grow_with_rows_and_with_files(rows, more, files):
    assert orders.expected_bytes(rows + more, files) >= orders.expected_bytes(rows, files)
    assert orders.expected_bytes(rows, files + 1) > orders.expected_bytes(rows, files) > 0
