"""The `orders` table: its 17 columns, and rows that are pure functions of (seed, row number)."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from faker import Faker

from workloads.dates import DateWindow

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

EPOCH_MS = 1_767_225_600_000  # 2026-01-01T00:00:00Z, where the stream starts

USERS = 1_000_000

# Rows of a file and its bytes: Spark 3.5.8 with zstd, seed 7, the mean of 8 files a size (2 of the
# largest). Dictionaries make small files grow faster with their rows than large ones.
_MEASURED_BYTES = (
    (1, 5_100), (10, 6_167), (100, 10_437), (1_000, 31_068), (10_000, 222_099), (100_000, 2_140_830),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Column:
    """A column as Spark SQL declares it."""

    name: str
    spark_type: str
    nullable: bool
    comment: str


COLUMNS: tuple[Column, ...] = (
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

column_names: tuple[str, ...] = tuple(column.name for column in COLUMNS)


def ddl() -> str:
    """The column list as it stands between the parentheses of `CREATE TABLE orders (...)`."""
    return ",\n".join(
        f"{c.name} {c.spark_type}{'' if c.nullable else ' NOT NULL'} COMMENT '{c.comment}'" for c in COLUMNS
    )


@dataclass(frozen=True, slots=True)
class Vocabularies:
    """The words of the STRING columns; each tuple holds distinct ASCII texts without quotes."""

    cities: tuple[str, ...]
    payment_ways: tuple[str, ...]
    products: tuple[str, ...]
    colors: tuple[str, ...]
    tags: tuple[str, ...]


@cache
def vocabularies(seed: int) -> Vocabularies:
    """The vocabularies of `seed`: the same seed and Faker release, the same words.

    50 cities, letters only so that each is safe as a partition folder; about ten payment ways.
    """
    return Vocabularies(
        cities=_words(seed, "cities", lambda fake: "".join(filter(str.isalpha, fake.city())), 50),
        payment_ways=_words(seed, "payment_ways", lambda fake: fake.credit_card_provider(), 10),
        products=_words(seed, "products", lambda fake: fake.bothify("???-####").upper(), 200),
        colors=_words(seed, "colors", lambda fake: fake.color_name(), 24),
        tags=_words(seed, "tags", lambda fake: fake.word(), 60),
    )


def _words(seed: int, name: str, draw: Callable[[Faker], str], count: int) -> tuple[str, ...]:
    """At most `count` distinct words in the order drawn; fewer where Faker knows no more."""
    fake = Faker("en_US")
    fake.seed_instance(f"{seed}/{name}")
    return tuple(dict.fromkeys(draw(fake) for _ in range(20 * count)))[:count]


@dataclass(frozen=True, slots=True)
class RowBlock:
    """Rows [`first_row`, `first_row` + `rows`), numbered from 0, in `writers` contiguous parts."""

    first_row: int
    rows: int
    writers: int
    dates: DateWindow


def rows(spark: SparkSession, seed: int, block: RowBlock) -> DataFrame:
    """The rows of `block`: a partition per writer that has a row, in order of `order_id`.

    A row depends on the seed, its number and the block's date window only, so that a commit can be
    generated alone, by any number of writers and on any machine.
    """
    end = block.first_row + block.rows
    partitions = max(1, min(block.writers, block.rows))
    numbered = spark.range(block.first_row, end, 1, partitions)
    keyed = numbered.selectExpr("id", *_key_expressions(seed))
    values = _user_values(seed) | _product_values(seed) | _order_values(seed, block.dates)
    return keyed.selectExpr(*(f"CAST({values[c.name]} AS {c.spark_type}) AS {c.name}" for c in COLUMNS))


def expected_bytes(rows: int, files: int = 1) -> int:
    """Bytes of `files` Parquet files that hold `rows` rows between them, evenly.

    Linear between the sizes that were measured, and beyond the largest (21.3 bytes a row).
    """
    return round(files * _file_bytes(rows / files))


def _file_bytes(rows: float) -> float:
    ends = min(len(_MEASURED_BYTES) - 1, max(1, bisect_left(_MEASURED_BYTES, (rows, 0))))
    (from_rows, from_bytes), (to_rows, to_bytes) = _MEASURED_BYTES[ends - 1], _MEASURED_BYTES[ends]
    return from_bytes + (rows - from_rows) * (to_bytes - from_bytes) / (to_rows - from_rows)


def _key_expressions(seed: int) -> tuple[str, str]:
    """Who bought what. Users are skewed: the square of a uniform share gives the first 1 % a tenth."""
    share = f"(shiftrightunsigned({_hash(seed, 'user_id')}, 11) / {2**53}D)"
    return (
        f"CAST(1 + floor({share} * {share} * {USERS}) AS BIGINT) AS user_id",
        f"{_below(seed, 'product_id', len(vocabularies(seed).products))} AS product_number",
    )


def _user_values(seed: int) -> dict[str, str]:
    """Columns that follow from the user."""
    return {
        "user_id": "user_id",
        "user_city": _word(seed, "user_city", vocabularies(seed).cities, "user_id"),
        "user_gender": _below(seed, "user_gender", 2, "user_id"),
        "user_age": f"18 + {_below(seed, 'user_age', 63, 'user_id')}",
    }


def _product_values(seed: int) -> dict[str, str]:
    """Columns that follow from the product: prices 1.00 to 1000.00, two to four neighbouring tags."""
    tags = vocabularies(seed).tags
    first = f"CAST(1 + {_below(seed, 'first_tag', len(tags) - 3, 'product_number')} AS INT)"
    count = f"CAST(2 + {_below(seed, 'tag_count', 3, 'product_number')} AS INT)"
    return {
        "product_id": f"element_at({_array(vocabularies(seed).products)}, CAST(1 + product_number AS INT))",
        "product_prices": f"(100 + {_below(seed, 'product_prices', 99_901, 'product_number')}) / 100D",
        "product_tags": f"array_join(slice({_array(tags)}, {first}, {count}), ',')",
    }


def _order_values(seed: int, dates: DateWindow) -> dict[str, str]:
    """Columns that are drawn for each row."""
    words = vocabularies(seed)
    return {
        "order_id": "id + 1",
        "order_status": _below(seed, "order_status", 3),
        "order_duration": f"1 + {_below(seed, 'order_duration', 30)}",
        "buy_times": f"1 + {_below(seed, 'buy_times', 20)}",
        "payment_way": _word(seed, "payment_way", words.payment_ways, "id"),
        "product_discount": f"{_below(seed, 'product_discount', 51)} / 100D",
        "product_color": _word(seed, "product_color", words.colors, "id"),
        "delivery_id": _below(seed, "delivery_id", 10**12),
        "order_date": _order_date(seed, dates),
        "feedback_level": f"1 + {_below(seed, 'feedback_level', 5)}",
    }


def _order_date(seed: int, dates: DateWindow) -> str:
    from_ms = EPOCH_MS + round(dates.from_s * 1000)
    length_ms = round((dates.to_s - dates.from_s) * 1000)
    on_time = f"{from_ms}L + {_below(seed, 'order_date', length_ms)}"
    late_by_ms = round(dates.late_by_s * 1000)
    if dates.late_share == 0 or late_by_ms == 0:
        return on_time
    late = f"{_below(seed, 'is_late', 10**9)} < {round(dates.late_share * 10**9)}L"
    return f"{on_time} - IF({late}, {_below(seed, 'late_by', late_by_ms)}, 0L)"


def _hash(seed: int, stream: str, key: str = "id") -> str:
    """SQL of 64 bits that depend on (seed, stream, key) alone."""
    salt = int.from_bytes(hashlib.sha256(f"{seed}/{stream}".encode()).digest()[:7])
    return f"xxhash64({salt}L, {key})"


def _below(seed: int, stream: str, limit: int, key: str = "id") -> str:
    """SQL of a whole number uniform in [0, limit)."""
    return f"pmod({_hash(seed, stream, key)}, {limit}L)"


def _word(seed: int, stream: str, words: tuple[str, ...], key: str) -> str:
    return f"element_at({_array(words)}, CAST(1 + {_below(seed, stream, len(words), key)} AS INT))"


def _array(words: tuple[str, ...]) -> str:
    return "array(" + ", ".join(f"'{word}'" for word in words) + ")"
