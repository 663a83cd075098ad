"""Secrets that a scenario takes from environment variables, which no other user of the machine can read."""

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from bench.scenario.values import KeyPath, OptionError, is_utf8
from bench.secrets import VARIABLE, is_secret_key

# Meant for a variable, and would be the secret itself: $NAME, ${NAME}, %NAME%, and "env:" in another way.
_NOT_REPLACED = re.compile(
    r"\$([A-Za-z_]\w*) | .*\$\{([A-Za-z_]\w*)\}.* | %([A-Za-z_]\w*)% | (?:.*[:\s])?env:.*",
    re.VERBOSE | re.ASCII | re.DOTALL | re.IGNORECASE,
)
_TABLES = ("catalog", "spark")


def fill_in(document: dict[str, Any]) -> list[str]:
    """Replace each secret "env:NAME" in [catalog] and [spark] by its variable, in place; the values put in.

    Raises OptionError as `filled_in` does.
    """
    return [value for name in _TABLES for value in filled_in(document.get(name), (name,))]


def filled_in(table: object, path: KeyPath) -> Iterator[str]:
    """Replace each secret "env:NAME" of a table, which is at `path`, by its variable; the values put in.

    Only secrets: what is not hidden would show what the environment keeps to itself. Raises OptionError for a
    variable that is not set, and for one that nothing would replace.
    """
    if not isinstance(table, dict):
        return
    for key, value in table.items():
        here = (*path, key)
        if isinstance(value, Mapping):
            yield from filled_in(value, here)
        elif isinstance(value, str) and (named := _variable_in(value, here)):
            before, name = named
            secret = _value_of(name, here)
            table[key] = before + secret
            yield secret


def _variable_in(value: str, path: KeyPath) -> tuple[str, str] | None:
    """The variable that a value names, after the id that stands before it."""
    key, meant = ".".join(map(str, path)), VARIABLE.fullmatch(value)
    if not is_secret_key(key):
        if meant and not meant[1]:
            raise OptionError(
                path,
                "only a secret, such as a token or a password, may be a variable: write the value itself",
                value,
            )
        return None
    if meant:
        return meant[1], meant[2]
    if near := _NOT_REPLACED.fullmatch(value):
        name = near[near.lastindex] if near.lastindex else "NAME"
        raise OptionError(
            path,
            f'is not replaced by a variable: write "env:{name}", with a name of letters, digits and _',
            value,
        )
    return None


def _value_of(name: str, path: KeyPath) -> str:
    value = os.environ.get(name)
    problem = "is not set" if value is None else "is empty" if not value else "is not UTF-8"
    if not value or not is_utf8(value):
        raise OptionError(
            path,
            f"the environment variable {name} {problem}: set it; to validate or simulate, to any text",
            f"env:{name}",
        )
    return value
