"""The words of the text columns, drawn by Faker."""

from collections.abc import Callable, Mapping
from functools import cache

from faker import Faker


def _letters(text: str) -> str:
    return "".join(filter(str.isalpha, text))


# How a word is drawn, and the maximum number of words. Cities have letters only, so that each is safe as a
# partition folder.
VOCABULARIES: Mapping[str, tuple[Callable[[Faker], str], int]] = {
    "cities": (lambda fake: _letters(fake.city()), 50),
    "payment_ways": (lambda fake: fake.credit_card_provider(), 10),
    "products": (lambda fake: fake.bothify("???-####").upper(), 200),
    "colors": (lambda fake: fake.color_name(), 24),
    "tags": (lambda fake: fake.word(), 60),
    # Only in tables of 40 columns.
    "first_names": (lambda fake: _letters(fake.first_name()), 150),
    "last_names": (lambda fake: _letters(fake.last_name()), 300),
    "categories": (lambda fake: f"{fake.color_name()} {fake.word()}", 30),
    "brands": (lambda fake: f"{_letters(fake.last_name())} {fake.company_suffix()}", 60),
    "currencies": (lambda fake: fake.currency_code(), 12),
    "carriers": (lambda fake: f"{_letters(fake.last_name())} Logistics", 8),
    "text": (lambda fake: fake.word(), 400),
}


@cache
def vocabulary(seed: int, name: str) -> tuple[str, ...]:
    """Distinct ASCII words without quotes, in the order drawn; fewer than the maximum if Faker has no more.

    The same seed and Faker release give the same words.
    """
    draw, count = VOCABULARIES[name]
    fake = Faker("en_US")
    fake.seed_instance(f"{seed}/{name}")
    words: dict[str, None] = {}
    for _ in range(20 * count):
        words.setdefault(draw(fake))
        if len(words) == count:
            break
    return tuple(words)
