"""Planner options that keep the names of another system, such as a table format's own."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from strategies.java_values import text_of
from strategies.names import near_name
from strategies.quantities import parse_bytes

_HAS_UNIT = re.compile(r".*[A-Za-z]\s*")

OptionValue = str | int | float | bool
Number = TypeVar("Number", int, float)


def check_known(names: Iterable[str], known: Collection[str], word: str = "option") -> None:
    """Raise ValueError on an unknown name; the message lists all names and suggests the closest one."""
    for name in names:
        if name not in known:
            near = near_name(name, known)
            hint = f"; did you mean {near!r}?" if near else ""
            raise ValueError(f"{word} {name!r} is not one of {', '.join(sorted(known))}{hint}")


def option_texts(options: Mapping[str, OptionValue], sizes: Collection[str] = frozenset()) -> dict[str, str]:
    """Options as text that table formats parse: true/false in lower case, sizes with a unit in whole bytes.

    Names that end in "-bytes" are sizes too. Raises ValueError on an unknown unit.
    """

    def text(name: str, value: OptionValue) -> str:
        is_size = name in sizes or name.endswith("-bytes")
        if is_size and isinstance(value, str) and _HAS_UNIT.fullmatch(value):
            return str(parse_bytes(value))
        return text_of(value)

    return {name: text(name, value) for name, value in options.items()}


@dataclass(frozen=True, slots=True)
class NumberOption(Generic[Number]):
    """A numeric option: how Java parses its text, which values are accepted, and its unit for messages."""

    name: str
    parse: Callable[[str], Number]
    rule: str = ""
    is_allowed: Callable[[Number], bool] = lambda value: True
    unit: str = ""

    def read(self, texts: Mapping[str, str], default: Number) -> Number:
        """The parsed value, or the default, which may come from a property of the table.

        Raises ValueError on a bad text, and if either is out of range.
        """
        value = self.read_if_given(texts)
        return self._checked(default) if value is None else value

    def read_if_given(self, texts: Mapping[str, str]) -> Number | None:
        text = texts.get(self.name)
        if text is None:
            return None
        try:
            value = self.parse(text)
        except ValueError as error:
            unit = f"is in {self.unit} and " if self.unit else ""
            raise ValueError(f"{self.name}={text!r} {unit}{error}") from error
        return self._checked(value)

    def _checked(self, value: Number) -> Number:
        if not self.is_allowed(value):
            raise ValueError(f"{self.name}={value} must be {self.rule}")
        return value


def read_fields(options: Mapping[str, NumberOption[Any]], texts: Mapping[str, str]) -> dict[str, Any]:
    """The values of the options that are set, by the field that each is for."""
    values = {field: option.read_if_given(texts) for field, option in options.items()}
    return {field: value for field, value in values.items() if value is not None}


def at_least(name: str, parse: Callable[[str], int], least: int) -> NumberOption[int]:
    return NumberOption(name, parse, f">= {least}", lambda value: value >= least)


def check_range(name: str, value: float | None, least: float, most: float) -> None:
    """Raise ValueError unless the value of a planner's field is within a range; None is not set."""
    if value is not None and not least <= value <= most:
        raise ValueError(f"{name}={value} must be a number from {least:,g} to {most:,g}")
