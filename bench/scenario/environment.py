"""Secrets that a scenario takes from environment variables, which no other user of the machine can read."""

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from bench.scenario.values import KeyPath, OptionError
from bench.secrets import VARIABLE, is_secret_key

_AS_IN_SHELLS = re.compile(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})")
_TABLES = ("catalog", "spark")


def fill_in(document: dict[str, Any]) -> list[str]:
    """Replace each secret "env:NAME" in [catalog] and [spark] by its variable, in place; the values put in.

    Only secrets: what is not hidden would show what the environment keeps to itself. Raises OptionError for a
    variable that is not set, and for one that nothing would replace.
    """
    return [value for name in _TABLES for value in _filled_in(document.get(name), (name,))]


def _filled_in(table: object, path: KeyPath) -> Iterator[str]:
    if not isinstance(table, dict):
        return
    for key, value in table.items():
        here = (*path, key)
        if isinstance(value, Mapping):
            yield from _filled_in(value, here)
        elif isinstance(value, str):
            name = _variable_in(value, here)
            if name is not None:
                table[key] = _value_of(name, here)
                yield table[key]


def _variable_in(value: str, path: KeyPath) -> str | None:
    """The variable that a value names."""
    key = ".".join(map(str, path))
    if meant := VARIABLE.fullmatch(value):
        if not is_secret_key(key):
            raise OptionError(path, "only a secret, such as a token or a password, may be a variable", value)
        return meant[1]
    if is_secret_key(key) and (meant := _AS_IN_SHELLS.fullmatch(value)):
        raise OptionError(path, f'is not replaced by a variable: write "env:{meant[1] or meant[2]}"', value)
    return None


def _value_of(name: str, path: KeyPath) -> str:
    value = os.environ.get(name)
    problem = "is not set" if value is None else "is empty" if not value else "is not UTF-8"
    if not value or not _is_text(value):
        raise OptionError(path, f"the environment variable {name} {problem}", f"env:{name}")
    return value


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
