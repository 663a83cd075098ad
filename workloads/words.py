"""Vocabularies: the words of text columns."""

from collections.abc import Callable

from faker import Faker


def vocabulary(seed: int, name: str, draw: Callable[[Faker], str], count: int) -> tuple[str, ...]:
    """At most `count` distinct words in the order drawn; fewer if Faker has no more.

    The same seed, name and Faker release give the same words.
    """
    fake = Faker("en_US")
    fake.seed_instance(f"{seed}/{name}")
    words: dict[str, None] = {}
    for _ in range(20 * count):
        words.setdefault(draw(fake))
        if len(words) == count:
            break
    return tuple(words)
