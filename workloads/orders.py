"""The rows of the `orders` table: pure functions of (seed, row number), for every number of columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workloads.dates import DateWindow
from workloads.draws import array, below, happens, share, word
from workloads.schema import ORDERS, Schema
from workloads.words import vocabulary

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

EPOCH_MS = 1_767_225_600_000  # 2026-01-01T00:00:00Z, where the stream starts
USERS = 1_000_000

_DEVICES = ("web", "phone", "tablet", "store")
_TAX_RATES = "array(0D, 0.05D, 0.07D, 0.19D)"
# The day the stream starts: users registered before it, and deliveries are promised for later.
_FIRST_DAY = "DATE'2026-01-01'"


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
    numbered: DataFrame,
    schema: Schema,
    seed: int,
    expressions: Mapping[str, str],
    carried: Sequence[str] = (),
) -> DataFrame:
    """The columns of `schema` for the orders numbered by `id`, followed by the columns `carried`.

    `expressions` is the SQL, over the columns of `numbered`, of order_date and of any other column that does
    not follow from the number alone.
    """
    keyed = numbered.selectExpr("*", *_key_expressions(seed))
    values = {**_user_values(seed), **_product_values(seed), **_order_values(seed), **expressions}
    return keyed.selectExpr(
        *(f"CAST({values[c.name]} AS {c.spark_type}) AS {c.name}" for c in schema.columns), *carried
    )


def _key_expressions(seed: int) -> tuple[str, str]:
    """SQL of the user and product. Squaring a uniform share skews users: the first 1 % get 10 % of orders."""
    drawn = share(seed, "user_id")
    return (
        f"CAST(1 + floor({drawn} * {drawn} * {USERS}) AS BIGINT) AS user_id",
        f"{below(seed, 'product_id', len(vocabulary(seed, 'products')))} AS product_number",
    )


def _user_values(seed: int) -> dict[str, str]:
    key = "user_id"
    first_name = _word_of(seed, "first_name", "first_names", key)
    last_name = _word_of(seed, "last_name", "last_names", key)
    return {
        "user_id": key,
        "user_city": _word_of(seed, "user_city", "cities", key),
        "user_gender": below(seed, "user_gender", 2, key),
        "user_age": f"18 + {below(seed, 'user_age', 63, key)}",
        "user_name": f"concat_ws(' ', {first_name}, {last_name})",
        "user_email": f"concat(lower({first_name}), '.', user_id, '@example.org')",
        "user_level": below(seed, "user_level", 10, key),
        "user_since": _days_from(f"-1 - {below(seed, 'user_since', 3_650, key)}"),
        "is_subscriber": happens(seed, "is_subscriber", 0.4, key),
    }


def _product_values(seed: int) -> dict[str, str]:
    """Prices are 1.00 to 1000.00; tags are two to four adjacent words."""
    key, tags = "product_number", vocabulary(seed, "tags")
    first = f"CAST(1 + {below(seed, 'first_tag', len(tags) - 3, key)} AS INT)"
    count = f"CAST(2 + {below(seed, 'tag_count', 3, key)} AS INT)"
    return {
        "product_id": f"element_at({array(vocabulary(seed, 'products'))}, CAST(1 + product_number AS INT))",
        "product_prices": f"(100 + {below(seed, 'product_prices', 99_901, key)}) / 100D",
        "product_tags": f"array_join(slice({array(tags)}, {first}, {count}), ',')",
        "product_name": _text(seed, "product_name", (2, 4), key),
        "product_category": _word_of(seed, "product_category", "categories", key),
        "product_brand": _word_of(seed, "product_brand", "brands", key),
        "product_weight": f"(1 + {below(seed, 'product_weight', 20_000, key)}) / 1000D",
        "product_description": _text(seed, "product_description", (20, 40), key),
    }


def _order_values(seed: int) -> dict[str, str]:
    coupon = f"lpad(hex({below(seed, 'coupon_code', 16**8)}), 8, '0')"
    note = _text(seed, "customer_note", (8, 24), "id")
    return _status_values(seed, "", "id") | {
        "order_id": "id + 1",
        "order_duration": f"1 + {below(seed, 'order_duration', 30)}",
        "buy_times": f"1 + {below(seed, 'buy_times', 20)}",
        "payment_way": _word_of(seed, "payment_way", "payment_ways", "id"),
        "product_discount": f"{below(seed, 'product_discount', 51)} / 100D",
        "product_color": _word_of(seed, "product_color", "colors", "id"),
        "quantity": f"1 + {below(seed, 'quantity', 9)}",
        "currency": _word_of(seed, "currency", "currencies", "id"),
        "tax_rate": f"element_at({_TAX_RATES}, CAST(1 + {below(seed, 'tax_rate', 4)} AS INT))",
        "shipping_fee": f"{below(seed, 'shipping_fee', 3_000)} / 100D",
        "carrier": _word_of(seed, "carrier", "carriers", "id"),
        "device": word(seed, "device", _DEVICES, "id"),
        "coupon_code": f"IF({happens(seed, 'has_coupon', 0.2)}, {coupon}, NULL)",
        "is_gift": happens(seed, "is_gift", 0.1),
        "customer_note": f"IF({happens(seed, 'has_note', 0.3)}, {note}, NULL)",
    }


def changed_values(schema: Schema, seed: int, key: str) -> dict[str, str]:
    """SQL of the columns of `schema` that an update changes, with a new draw for each `key`."""
    values = _status_values(seed, "changed_", key)
    return {name: values[name] for name in schema.names if name in values}


def _status_values(seed: int, stream: str, key: str) -> dict[str, str]:
    return {
        "order_status": below(seed, f"{stream}order_status", 3, key),
        "delivery_id": below(seed, f"{stream}delivery_id", 10**12, key),
        "feedback_level": f"1 + {below(seed, f'{stream}feedback_level', 5, key)}",
        "promised_date": _days_from(below(seed, f"{stream}promised_date", 60, key)),
        "delivery_attempts": below(seed, f"{stream}delivery_attempts", 4, key),
        "is_paid": happens(seed, f"{stream}is_paid", 0.7, key),
        "status_note": _text(seed, f"{stream}status_note", (6, 14), key),
    }


def _days_from(days: str) -> str:
    return f"date_add({_FIRST_DAY}, CAST({days} AS INT))"


def _word_of(seed: int, stream: str, name: str, key: str) -> str:
    """SQL of a word of the vocabulary `name`."""
    return word(seed, stream, vocabulary(seed, name), key)


def _text(seed: int, stream: str, length: tuple[int, int], key: str) -> str:
    """SQL of a text whose number of words lies in the range `length`, each word drawn independently."""
    fewest, most = length
    count = f"{fewest} + {below(seed, f'{stream}_length', most - fewest + 1, key)}"
    drawn_word = _word_of(seed, stream, "text", f"{key}, position")
    return f"array_join(transform(sequence(1L, {count}), position -> {drawn_word}), ' ')"


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
