"""Which known name somebody meant."""

import re
from collections.abc import Iterable
from difflib import get_close_matches

_CUTOFF = 0.6  # difflib's own


def near_name(word: str, names: Iterable[str]) -> str | None:
    """The name nearest to a word, whatever the case and the marks between words; None if none is near.

    Of a name with dots its last part will do: FILE_COUNT is near FileCount, EVERY_DAY near some.every_day.
    """
    known = sorted(names)
    folded = {_folded(name.rpartition(".")[2]): name for name in known} | {_folded(n): n for n in known}
    near = get_close_matches(_folded(word), folded, n=1, cutoff=_CUTOFF)
    return folded[near[0]] if near else None


def _folded(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()
