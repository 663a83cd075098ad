"""Options a planner takes by the names another system gives them."""

from collections.abc import Collection, Iterable
from difflib import get_close_matches

OptionValue = str | int | float | bool


def check_known(given: Iterable[str], known: Collection[str]) -> None:
    """Raise ValueError on a name that is not known, naming all and the one probably meant."""
    for name in given:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise ValueError(f"option {name!r} is not one of {', '.join(sorted(known))}{hint}")
