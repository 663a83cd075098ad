"""Values that a scenario takes from environment variables, which no other user of the machine can read."""

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from bench.scenario.values import KeyPath, OptionError
from bench.secrets import VARIABLE, is_secret_key

_AS_IN_SHELLS = re.compile(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})")
_TABLES = ("catalog", "spark")


def fill_in(document: dict[str, Any]) -> list[str]:
    """Replace each "env:NAME" in [catalog] and [spark] by the variable's value, in place; these values.

    Raises OptionError for a variable that is not set, and for a secret that is one of a shell, which nothing
    would replace.
    """
    return [value for name in _TABLES for value in _filled_in(document.get(name), (name,))]


def _filled_in(table: object, path: KeyPath) -> Iterator[str]:
    if not isinstance(table, dict):
        return
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _filled_in(value, (*path, key))
        elif isinstance(value, str) and (reference := VARIABLE.fullmatch(value)):
            table[key] = _variable(reference[1], (*path, key), value)
            yield table[key]
        elif isinstance(value, str) and is_secret_key(key) and (meant := _AS_IN_SHELLS.fullmatch(value)):
            name = meant[1] or meant[2]
            raise OptionError((*path, key), f'is not replaced by a variable: write "env:{name}"', value)


def _variable(name: str, path: KeyPath, given: str) -> str:
    if name not in os.environ:
        raise OptionError(path, f"the environment variable {name} is not set", given)
    return os.environ[name]
