"""How many cases the Hypothesis profile in use has tests draw that draw far more than other tests."""

from hypothesis import settings


def of_thorough(count: int, at_least: float = 0.4) -> float:
    """The share of a number that the profile has of the examples of the thorough one.

    `at_least` is the share with which cases of every sort are still drawn.
    """
    share = settings().max_examples / settings.get_profile("thorough").max_examples
    return count * max(at_least, share)
