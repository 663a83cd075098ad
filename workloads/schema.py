"""The columns of the `orders` table in each of its widths, and the sizes of their files."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

ColumnCount = Literal[3, 7, 17, 40]


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    spark_type: str
    nullable: bool
    comment: str


@dataclass(frozen=True, slots=True)
class Schema:
    """The payload columns of a table in order, and measured pairs (rows of a file, its bytes), ascending.

    `has_wide_dates`: the order dates of a file span days and not a minute, which makes it larger. `of_table`:
    the sizes are those of an existing table, with all that its format and codec make of plain Parquet.
    """

    columns: tuple[Column, ...]
    measured_bytes: tuple[tuple[int, int], ...]
    has_wide_dates: bool = False
    of_table: bool = False

    def dated(self, *, wide: bool) -> Schema:
        """The same columns, with sizes of files whose dates span a month (`wide`) or a minute."""
        if wide == self.has_wide_dates:
            return self
        more = _WIDE_DATE_BYTES if wide else -_WIDE_DATE_BYTES
        sizes = tuple((rows, size_bytes + round(rows * more)) for rows, size_bytes in self.measured_bytes)
        return replace(self, measured_bytes=sizes, has_wide_dates=wide)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def ddl(self) -> str:
        """The column list for the parentheses of `CREATE TABLE orders (...)`."""
        return ",\n".join(
            f"{c.name} {c.spark_type}{'' if c.nullable else ' NOT NULL'} COMMENT '{c.comment}'"
            for c in self.columns
        )

    def expected_bytes(self, rows: int, files: int = 1) -> int:
        """The total bytes of `files` Parquet files that hold `rows` rows in equal parts.

        Sizes are interpolated linearly between those measured, and extrapolated beyond them.
        """
        return round(files * self._file_bytes(rows / files))

    def _file_bytes(self, rows: float) -> float:
        measured = self.measured_bytes
        ends = min(len(measured) - 1, max(1, bisect_left(measured, (rows, 0))))
        (from_rows, from_bytes), (to_rows, to_bytes) = measured[ends - 1], measured[ends]
        return from_bytes + (rows - from_rows) * (to_bytes - from_bytes) / (to_rows - from_rows)


_ORDERS = (
    Column("user_id", "BIGINT", True, "User ID"),
    Column("user_city", "STRING", True, "User city location"),
    Column("user_gender", "INT", True, "User gender, 0: female, 1: male"),
    Column("user_age", "INT", True, "User age"),
    Column("order_id", "BIGINT", False, "Order ID"),
    Column("order_status", "INT", True, "Order status, 0: completed, 1: canceled, 2: ordered"),
    Column("order_duration", "INT", True, "Product duration in days"),
    Column("buy_times", "INT", True, "Purchase count (which time to buy)"),
    Column("payment_way", "STRING", True, "Payment method"),
    Column("product_id", "STRING", True, "Product ID"),
    Column("product_prices", "DOUBLE", True, "Product price"),
    Column("product_discount", "DOUBLE", True, "Product discount"),
    Column("product_color", "STRING", True, "Product color"),
    Column("product_tags", "STRING", True, "Product tags"),
    Column("delivery_id", "BIGINT", True, "Delivery tracking number"),
    Column("order_date", "BIGINT", True, "Order date in timestamp, ms since 1970-01-01 UTC"),
    Column("feedback_level", "INT", True, "Rating stars (1-5)"),
)

_DETAILS = (
    Column("user_name", "STRING", True, "Name of the user"),
    Column("user_email", "STRING", True, "Mail address of the user"),
    Column("user_level", "INT", True, "Membership level (0-9)"),
    Column("user_since", "DATE", True, "Day the user registered"),
    Column("is_subscriber", "BOOLEAN", True, "Whether the user gets the newsletter"),
    Column("product_name", "STRING", True, "Product name"),
    Column("product_category", "STRING", True, "Product category"),
    Column("product_brand", "STRING", True, "Product brand"),
    Column("product_weight", "DOUBLE", True, "Product weight in kg"),
    Column("product_description", "STRING", True, "Product description"),
    Column("quantity", "INT", True, "Pieces ordered"),
    Column("currency", "STRING", True, "Currency of the payment"),
    Column("tax_rate", "DOUBLE", True, "Tax as a share of the price"),
    Column("shipping_fee", "DECIMAL(8,2)", True, "Shipping fee"),
    Column("carrier", "STRING", True, "Who delivers"),
    Column("device", "STRING", True, "Where the order was placed"),
    Column("coupon_code", "STRING", True, "Coupon, if one was used"),
    Column("is_gift", "BOOLEAN", True, "Whether it is wrapped as a gift"),
    Column("customer_note", "STRING", True, "What the user wrote to the order, if anything"),
    Column("promised_date", "DATE", True, "Day the delivery is promised for"),
    Column("delivery_attempts", "INT", True, "Attempts to deliver so far"),
    Column("is_paid", "BOOLEAN", True, "Whether it is paid"),
    Column("status_note", "STRING", True, "What the carrier said last"),
)

# Of the 17: the columns that identify a row and its partition, and with four more a plain table of sales.
_IDENTITY = ("user_city", "order_id", "order_date")
_SALES = (*_IDENTITY, "user_id", "order_status", "product_id", "product_prices")


def _of_orders(names: tuple[str, ...]) -> tuple[Column, ...]:
    return tuple(column for column in _ORDERS if column.name in names)


# Rows of a file and its bytes: Spark 3.5.8 with zstd, seed 7, the mean of 8 files per size (2 of 100,000
# rows, 1 of a million). Because of dictionaries small files grow faster with their rows than large ones.
# An order date takes as many bits as the time span of its file in milliseconds needs: in every width 1.9
# bytes per row more in files that span 30 days (of a load) than in files that span a minute (of a commit).
# The 17 columns were measured with dates of a minute; their sizes at 50 to 400 rows are those of published
# runs with zstd (`formats-append`, `delta-frequent`, `delta-small-files-user`), less what Iceberg and Delta
# add to a file. The other widths, where dates make up to a third of a file, have dates of 30 days.
_WIDE_DATE_BYTES = 1.9
SCHEMAS: Mapping[int, Schema] = {
    3: Schema(
        _of_orders(_IDENTITY),
        (
            (1, 1_090), (10, 1_315), (30, 1_618), (100, 2_328), (300, 3_673), (1_000, 8_212), (3_000, 21_128),
            (10_000, 66_991), (100_000, 657_640), (1_000_000, 6_492_650),
        ),
        has_wide_dates=True,
    ),
    7: Schema(
        _of_orders(_SALES),
        (
            (1, 2_184), (10, 2_675), (30, 3_355), (100, 5_066), (300, 8_179), (1_000, 17_001),
            (3_000, 41_064), (10_000, 126_016), (100_000, 1_219_957), (1_000_000, 12_089_951),
        ),
        has_wide_dates=True,
    ),
    17: Schema(
        _ORDERS,
        (
            (1, 5_100), (10, 6_167), (50, 8_720), (100, 10_640), (312, 16_290), (400, 18_308),
            (1_000, 31_068), (10_000, 222_099), (100_000, 2_140_830),
        ),
    ),
    40: Schema(
        (*_ORDERS, *_DETAILS),
        (
            (1, 13_124), (10, 16_518), (30, 21_926), (100, 35_031), (300, 59_894), (1_000, 121_952),
            (3_000, 288_597), (10_000, 875_008), (100_000, 8_047_124), (1_000_000, 78_278_080),
        ),
        has_wide_dates=True,
    ),
}  # fmt: skip

ORDERS = SCHEMAS[17]


@cache
def schema_of(columns: int, wide_dates: bool | None = None) -> Schema:
    """The schema with this number of columns, `dated` if it is said how; otherwise as it was measured.

    Raises ValueError, which names the valid numbers.
    """
    if columns not in SCHEMAS:
        raise ValueError(f"columns={columns} must be one of {', '.join(map(str, SCHEMAS))}")
    measured = SCHEMAS[columns]
    return measured if wide_dates is None else measured.dated(wide=wide_dates)
