"""How many cases the Hypothesis profile in use has tests draw that draw far more than other tests."""

from hypothesis import settings


def of_thorough(count: int) -> float:
    """The share of a number that the profile has of the examples of the thorough one."""
    return count * settings().max_examples / settings.get_profile("thorough").max_examples
