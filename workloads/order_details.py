"""SQL of the 23 additional columns of the widest `orders` table, drawn like those of the 17."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from faker import Faker

from workloads.draws import below, happens, word
from workloads.words import vocabulary

_DEVICES = ("web", "phone", "tablet", "store")
_TAX_RATES = "array(0D, 0.05D, 0.07D, 0.19D)"
# The stream starts on 2026-01-01: users registered before it, and deliveries are promised for later.
_FIRST_DAY = "DATE'2026-01-01'"


@dataclass(frozen=True, slots=True)
class DetailVocabularies:
    """The words of the additional STRING columns; each tuple holds distinct ASCII words without quotes."""

    first_names: tuple[str, ...]
    last_names: tuple[str, ...]
    categories: tuple[str, ...]
    brands: tuple[str, ...]
    currencies: tuple[str, ...]
    carriers: tuple[str, ...]
    text: tuple[str, ...]


@cache
def detail_vocabularies(seed: int) -> DetailVocabularies:
    return DetailVocabularies(
        first_names=vocabulary(seed, "first_names", lambda fake: _letters(fake.first_name()), 150),
        last_names=vocabulary(seed, "last_names", lambda fake: _letters(fake.last_name()), 300),
        categories=vocabulary(seed, "categories", lambda fake: f"{fake.color_name()} {fake.word()}", 30),
        brands=vocabulary(seed, "brands", _brand, 60),
        currencies=vocabulary(seed, "currencies", lambda fake: fake.currency_code(), 12),
        carriers=vocabulary(seed, "carriers", lambda fake: f"{_letters(fake.last_name())} Logistics", 8),
        text=vocabulary(seed, "text", lambda fake: fake.word(), 400),
    )


def _letters(text: str) -> str:
    return "".join(filter(str.isalpha, text))


def _brand(fake: Faker) -> str:
    return f"{_letters(fake.last_name())} {fake.company_suffix()}"


def values(seed: int) -> dict[str, str]:
    """SQL of every additional column, over `id`, `user_id` and `product_number`."""
    return _user_values(seed) | _product_values(seed) | _order_values(seed) | status_values(seed, "", "id")


def _user_values(seed: int) -> dict[str, str]:
    words = detail_vocabularies(seed)
    first_name = word(seed, "first_name", words.first_names, "user_id")
    last_name = word(seed, "last_name", words.last_names, "user_id")
    return {
        "user_name": f"concat_ws(' ', {first_name}, {last_name})",
        "user_email": f"concat(lower({first_name}), '.', user_id, '@example.org')",
        "user_level": below(seed, "user_level", 10, "user_id"),
        "user_since": _days_from(f"-1 - {below(seed, 'user_since', 3_650, 'user_id')}"),
        "is_subscriber": happens(seed, "is_subscriber", 0.4, "user_id"),
    }


def _product_values(seed: int) -> dict[str, str]:
    words, key = detail_vocabularies(seed), "product_number"
    return {
        "product_name": _text(seed, "product_name", (2, 4), key),
        "product_category": word(seed, "product_category", words.categories, key),
        "product_brand": word(seed, "product_brand", words.brands, key),
        "product_weight": f"(1 + {below(seed, 'product_weight', 20_000, key)}) / 1000D",
        "product_description": _text(seed, "product_description", (20, 40), key),
    }


def _order_values(seed: int) -> dict[str, str]:
    words = detail_vocabularies(seed)
    coupon = f"lpad(hex({below(seed, 'coupon_code', 16**8)}), 8, '0')"
    note = _text(seed, "customer_note", (8, 24), "id")
    return {
        "quantity": f"1 + {below(seed, 'quantity', 9)}",
        "currency": word(seed, "currency", words.currencies, "id"),
        "tax_rate": f"element_at({_TAX_RATES}, CAST(1 + {below(seed, 'tax_rate', 4)} AS INT))",
        "shipping_fee": f"{below(seed, 'shipping_fee', 3_000)} / 100D",
        "carrier": word(seed, "carrier", words.carriers, "id"),
        "device": word(seed, "device", _DEVICES, "id"),
        "coupon_code": f"IF({happens(seed, 'has_coupon', 0.2)}, {coupon}, NULL)",
        "is_gift": happens(seed, "is_gift", 0.1),
        "customer_note": f"IF({happens(seed, 'has_note', 0.3)}, {note}, NULL)",
    }


def status_values(seed: int, stream: str, key: str) -> dict[str, str]:
    return {
        "promised_date": _days_from(below(seed, f"{stream}promised_date", 60, key)),
        "delivery_attempts": below(seed, f"{stream}delivery_attempts", 4, key),
        "is_paid": happens(seed, f"{stream}is_paid", 0.7, key),
        "status_note": _text(seed, f"{stream}status_note", (6, 14), key),
    }


def _days_from(days: str) -> str:
    return f"date_add({_FIRST_DAY}, CAST({days} AS INT))"


def _text(seed: int, stream: str, length: tuple[int, int], key: str) -> str:
    """SQL of a text whose number of words lies in the range `length`, each word drawn independently."""
    fewest, most = length
    count = f"{fewest} + {below(seed, f'{stream}_length', most - fewest + 1, key)}"
    drawn_word = word(seed, stream, detail_vocabularies(seed).text, f"{key}, position")
    return f"array_join(transform(sequence(1L, {count}), position -> {drawn_word}), ' ')"
