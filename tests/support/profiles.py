"""How many cases the Hypothesis profile in use has tests draw that draw far more or less than other tests."""

from hypothesis import settings


def of_thorough(count: int, at_least: float = 0.4) -> float:
    """The share of a number that the profile has of the examples of the thorough one.

    `at_least` is the share with which cases of every sort are still drawn.
    """
    share = settings().max_examples / settings.get_profile("thorough").max_examples
    return count * max(at_least, share)


def by_profile(*, ordinary: int, thorough: int, exhaustive: int) -> int:
    """The number for the profile in use, of cases that take a second or more each."""
    counts = {"ordinary": ordinary, "thorough": thorough, "exhaustive": exhaustive}
    return counts[settings.get_current_profile_name()]
