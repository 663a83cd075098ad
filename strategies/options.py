"""Planner options that keep the names of another system, such as a table format's own."""

import re
from collections.abc import Collection, Iterable, Mapping

from strategies.java_values import text_of
from strategies.names import near_name
from strategies.quantities import parse_bytes

_HAS_UNIT = re.compile(r".*[A-Za-z]\s*")

OptionValue = str | int | float | bool


def check_known(given: Iterable[str], known: Collection[str]) -> None:
    """Raise ValueError on an unknown name; the message lists all names and suggests the closest one."""
    for name in given:
        if name not in known:
            near = near_name(name, known)
            hint = f"; did you mean {near!r}?" if near else ""
            raise ValueError(f"option {name!r} is not one of {', '.join(sorted(known))}{hint}")


def option_texts(options: Mapping[str, OptionValue]) -> dict[str, str]:
    """Options as text that table formats parse: true/false in lower case, "-bytes" sizes in whole bytes.

    Raises ValueError if such a size has an unknown unit. Other texts stay as they are.
    """
    return {key: _option_text(key, value) for key, value in options.items()}


def _option_text(key: str, value: OptionValue) -> str:
    if key.endswith("-bytes") and isinstance(value, str) and _HAS_UNIT.fullmatch(value):
        return str(parse_bytes(value))
    return text_of(value)
