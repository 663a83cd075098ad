"""Values that a scenario takes from environment variables, which no other user of the machine can read."""

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from bench.scenario.values import KeyPath, OptionError

_REFERENCE = re.compile(r"env:([A-Za-z_][A-Za-z0-9_]*)")
_TABLES = ("catalog", "spark")


def fill_in(document: dict[str, Any]) -> list[str]:
    """Replace each "env:NAME" in [catalog] and [spark] by the variable's value, in place; these values.

    Raises OptionError for a variable that is not set.
    """
    return [value for name in _TABLES for value in _filled_in(document.get(name), (name,))]


def _filled_in(table: object, path: KeyPath) -> Iterator[str]:
    if not isinstance(table, dict):
        return
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _filled_in(value, (*path, key))
        elif isinstance(value, str) and (reference := _REFERENCE.fullmatch(value)):
            table[key] = _variable(reference[1], (*path, key), value)
            yield table[key]


def _variable(name: str, path: KeyPath, given: str) -> str:
    if name not in os.environ:
        raise OptionError(path, f"the environment variable {name} is not set", given)
    return os.environ[name]
