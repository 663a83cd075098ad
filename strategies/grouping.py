"""Values by a key."""

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


def by_key(values: Iterable[Value], key: Callable[[Value], Key]) -> dict[Key, list[Value]]:
    """Keys and values are in the order in which they first come."""
    groups: dict[Key, list[Value]] = {}
    for value in values:
        groups.setdefault(key(value), []).append(value)
    return groups
