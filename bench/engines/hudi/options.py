"""The names of Hudi's options. Hudi does not check them: it passes over one that it does not know.

`options.txt` has every name, and every beginning of names (it ends in a dot), that is a constant of a class
in hudi-spark3.5-bundle_2.12 1.2.0.
"""

from functools import cache
from pathlib import Path

from strategies.names import near_name

_PREFIX = "hoodie."
_OTHER_JARS = ("hoodie.aws.", "hoodie.gcp.", "hoodie.datahub.")  # of modules that are not in this jar


@cache
def known_options() -> frozenset[str]:
    """All names, and beginnings of names."""
    text = Path(__file__).with_name("options.txt").read_text(encoding="utf-8")
    return frozenset(text.split())


def unknown_option(name: str) -> str | None:
    """What is wrong with the name of an option; None for one of Hudi's, or of something else than Hudi."""
    known = known_options()
    if not name.startswith(_PREFIX) or name in known:
        return None
    if name.startswith((*_OTHER_JARS, *(each for each in known if each.endswith(".")))):
        return None
    near = near_name(name, (each for each in known if not each.endswith(".")))
    hint = f'did you mean "{near}"?' if near else "leave it out"
    return f"is not an option of Hudi 1.2, which would pass over it: {hint}"
