"""The rows of the `orders` table: pure functions of (seed, row number), for every number of columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from workloads import order_details
from workloads.dates import DateWindow
from workloads.draws import array, below, happens, share, word
from workloads.schema import ORDERS, Schema
from workloads.words import vocabulary

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

EPOCH_MS = 1_767_225_600_000  # 2026-01-01T00:00:00Z, where the stream starts

USERS = 1_000_000


@dataclass(frozen=True, slots=True)
class Vocabularies:
    """The words of the STRING columns among the 17; each tuple holds distinct ASCII words without quotes."""

    cities: tuple[str, ...]
    payment_ways: tuple[str, ...]
    products: tuple[str, ...]
    colors: tuple[str, ...]
    tags: tuple[str, ...]


@cache
def vocabularies(seed: int) -> Vocabularies:
    """The vocabularies of `seed`; the same seed and Faker release give the same words.

    The 50 cities have letters only, so that each is safe as a partition folder. There are about ten payment
    methods.
    """
    return Vocabularies(
        cities=vocabulary(seed, "cities", lambda fake: "".join(filter(str.isalpha, fake.city())), 50),
        payment_ways=vocabulary(seed, "payment_ways", lambda fake: fake.credit_card_provider(), 10),
        products=vocabulary(seed, "products", lambda fake: fake.bothify("???-####").upper(), 200),
        colors=vocabulary(seed, "colors", lambda fake: fake.color_name(), 24),
        tags=vocabulary(seed, "tags", lambda fake: fake.word(), 60),
    )


@dataclass(frozen=True, slots=True)
class RowBlock:
    """Rows [`first_row`, `first_row` + `rows`), numbered from 0, split into `writers` contiguous parts."""

    first_row: int
    rows: int
    writers: int
    dates: DateWindow
    schema: Schema = ORDERS


def rows(spark: SparkSession, seed: int, block: RowBlock) -> DataFrame:
    """The rows of `block` in order of `order_id`, in one Spark partition per writer with at least one row.

    A row depends only on the seed, its number and the date window of the block. So a commit can be generated
    on its own, by any number of writers and on any machine. A column has the same values in every schema that
    contains it.
    """
    end = block.first_row + block.rows
    partitions = max(1, min(block.writers, block.rows))
    numbered = spark.range(block.first_row, end, 1, partitions)
    return with_payload(numbered, block.schema, seed, {"order_date": order_date(seed, block.dates)})


def with_payload(
    numbered: DataFrame, schema: Schema, seed: int, own: Mapping[str, str], carried: Sequence[str] = ()
) -> DataFrame:
    """The columns of `schema` for the orders numbered by `id`, followed by the columns `carried`.

    `own` is the SQL, over the columns of `numbered`, of order_date and of any other column that does not
    follow from the number alone.
    """
    keyed = numbered.selectExpr("*", *_key_expressions(seed))
    values = _user_values(seed) | _product_values(seed) | _order_values(seed)
    values |= order_details.values(seed) | dict(own)
    return keyed.selectExpr(
        *(f"CAST({values[c.name]} AS {c.spark_type}) AS {c.name}" for c in schema.columns), *carried
    )


def _key_expressions(seed: int) -> tuple[str, str]:
    """SQL of the user and product. Squaring a uniform share skews users: the first 1 % get 10 % of orders."""
    drawn = share(seed, "user_id")
    return (
        f"CAST(1 + floor({drawn} * {drawn} * {USERS}) AS BIGINT) AS user_id",
        f"{below(seed, 'product_id', len(vocabularies(seed).products))} AS product_number",
    )


def _user_values(seed: int) -> dict[str, str]:
    return {
        "user_id": "user_id",
        "user_city": word(seed, "user_city", vocabularies(seed).cities, "user_id"),
        "user_gender": below(seed, "user_gender", 2, "user_id"),
        "user_age": f"18 + {below(seed, 'user_age', 63, 'user_id')}",
    }


def _product_values(seed: int) -> dict[str, str]:
    """Prices are 1.00 to 1000.00; tags are two to four adjacent words."""
    tags = vocabularies(seed).tags
    first = f"CAST(1 + {below(seed, 'first_tag', len(tags) - 3, 'product_number')} AS INT)"
    count = f"CAST(2 + {below(seed, 'tag_count', 3, 'product_number')} AS INT)"
    return {
        "product_id": f"element_at({array(vocabularies(seed).products)}, CAST(1 + product_number AS INT))",
        "product_prices": f"(100 + {below(seed, 'product_prices', 99_901, 'product_number')}) / 100D",
        "product_tags": f"array_join(slice({array(tags)}, {first}, {count}), ',')",
    }


def _order_values(seed: int) -> dict[str, str]:
    words = vocabularies(seed)
    return _status_values(seed, "", "id") | {
        "order_id": "id + 1",
        "order_duration": f"1 + {below(seed, 'order_duration', 30)}",
        "buy_times": f"1 + {below(seed, 'buy_times', 20)}",
        "payment_way": word(seed, "payment_way", words.payment_ways, "id"),
        "product_discount": f"{below(seed, 'product_discount', 51)} / 100D",
        "product_color": word(seed, "product_color", words.colors, "id"),
    }


def changed_values(schema: Schema, seed: int, key: str) -> dict[str, str]:
    """SQL of the columns of `schema` that an update changes, with a new draw for each `key`."""
    values = _status_values(seed, "changed_", key) | order_details.status_values(seed, "changed_", key)
    return {name: values[name] for name in schema.names if name in values}


def _status_values(seed: int, stream: str, key: str) -> dict[str, str]:
    return {
        "order_status": below(seed, f"{stream}order_status", 3, key),
        "delivery_id": below(seed, f"{stream}delivery_id", 10**12, key),
        "feedback_level": f"1 + {below(seed, f'{stream}feedback_level', 5, key)}",
    }


def order_date(seed: int, dates: DateWindow) -> str:
    """SQL of the time at which the order numbered `id` was placed, in ms since 1970."""
    from_ms, length_ms = window_ms(dates)
    if dates.ordered_rows:
        row_ms = length_ms / dates.ordered_rows
        within = below(seed, "order_date", max(1, int(row_ms)))
        return f"{from_ms}L + CAST(floor(id * {row_ms!r}D) AS BIGINT) + {within}"
    on_time = f"{from_ms}L + {below(seed, 'order_date', length_ms)}"
    return on_time + late_by(seed, dates, "id")


def window_ms(dates: DateWindow) -> tuple[int, int]:
    """The start of a window in ms since 1970, and its length in ms."""
    return EPOCH_MS + round(dates.from_s * 1000), round((dates.to_s - dates.from_s) * 1000)


def late_by(seed: int, dates: DateWindow, key: str) -> str:
    """SQL, to be appended to a date, that subtracts its delay; empty if no date is late."""
    late_by_ms = round(dates.late_by_s * 1000)
    if dates.late_share == 0 or late_by_ms == 0:
        return ""
    late = happens(seed, "is_late", dates.late_share, key)
    return f" - IF({late}, {below(seed, 'late_by', late_by_ms, key)}, 0L)"
