"""Errors in the keys of a scenario, and the notation of their paths."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from textwrap import indent
from typing import Any, Self, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from bench.engines.keys import value_text
from bench.errors import ScenarioError
from bench.secrets import hidden

KeyPath = tuple[str | int, ...]

_M = TypeVar("_M", bound=BaseModel)
_NO_VALUE = object()
_MAY_FOLLOW = "more may follow once these are corrected"  # a check ends at its first problem
_WORDS = {  # pydantic words these in terms of Python
    **dict.fromkeys(("tuple_type", "list_type", "frozen_set_type", "set_type"), "must be a list"),
    **dict.fromkeys(("model_type", "dict_type", "mapping_type"), "must be a table"),
    "too_short": "must not be empty",
}


class OptionError(ScenarioError):
    """An error in one key of a scenario; `keys` is the path from the top of the file to it."""

    def __init__(self, keys: KeyPath, problem: str, value: object = _NO_VALUE, *, code: str) -> None:
        # Hidden before `value_text` cuts long values: a cut secret would not be recognised.
        shown = hidden({path_text(keys): value}).popitem()[1]
        value_shown = "" if value is _NO_VALUE else f" = {value_text(shown)}"
        super().__init__(problem, code=code, path=path_text(keys) + value_shown)
        self.path = path_text(keys)
        self.keys = keys

    @property
    def each(self) -> tuple["OptionError", ...]:
        """The errors that it consists of, each in one key."""
        return (self,)


class OptionsError(OptionError):
    """Several errors in the keys of a scenario, each on a line of its own with its code."""

    def __init__(self, errors: Sequence[OptionError]) -> None:
        self._each = tuple(errors)
        super().__init__((), f"{len(self._each)} problems{self._lines(str)}", code="several")

    @property
    def each(self) -> tuple[OptionError, ...]:
        return self._each

    def within(self, place: object, hide: Callable[[str], str] = str) -> Self:
        placed = super().within(place, hide)
        placed._each = tuple(error.worded(error.hidden(hide)) for error in self._each)
        return placed

    def hidden(self, hide: Callable[[str], str]) -> str:
        first, _, _ = str(self).partition("\n")
        return f"{hide(first)}{self._lines(hide)}"

    def _lines(self, hide: Callable[[str], str]) -> str:
        lines = [error.coded(hide) for error in self._each]
        return "".join("\n" + indent(line, "  ") for line in (*lines, _MAY_FOLLOW))


def together(errors: Iterable[OptionError]) -> OptionError:
    """All of these errors, of which there must be one at least, as one; equal ones once."""
    distinct = {str(one): one for error in errors for one in error.each}
    first, *others = distinct.values()
    return OptionsError([first, *others]) if others else first


def refusals(checks: Iterable[Callable[[], object]]) -> list[OptionError]:
    """The errors that these checks raise, all of which are made."""
    errors = []
    for check in checks:
        try:
            check()
        except OptionError as error:
            errors.append(error)
    return errors


def check_all(checks: Iterable[Callable[[], object]]) -> None:
    """Raises OptionError for the errors of all of these checks."""
    if errors := refusals(checks):
        raise together(errors)


def validated(model: type[_M], table: Mapping[str, Any], context: Mapping[str, Any]) -> _M:
    """Raises OptionError for all errors."""
    try:
        return model.model_validate(table, context=dict(context))
    except ValidationError as error:
        refused = option_error(error, table)
    raise refused  # not from pydantic's, which keeps frames alive for good: DuckDB reports them as leaks


def option_error(error: ValidationError, table: object) -> OptionError:
    """The errors of a table."""
    details = error.errors(include_url=False)
    places = [detail["loc"] for detail in details]
    return together(_in_one_key(detail, table) for detail in details if not _is_by_others(detail, places))


def _is_by_others(detail: ErrorDetails, places: Iterable[KeyPath]) -> bool:
    """Whether a list seems too short because of errors in its entries, which pydantic does not count."""
    place = detail["loc"]
    inside = any(other[: len(place)] == place and other != place for other in places)
    return detail["type"] == "too_short" and inside


def _in_one_key(detail: ErrorDetails, table: object) -> OptionError:
    place, kind = detail["loc"], detail["type"]
    message = detail["msg"].removeprefix("Value error, ").replace("Input should", "must")
    has_value = detail.get("ctx", {}).get("has_value", True)
    value = _value_at(table, place, detail["input"]) if has_value else _NO_VALUE
    return OptionError(place, _WORDS.get(kind, message), value, code=_code(kind))


def _code(kind: str) -> str:
    """pydantic has a kind of error for each type and comparison; the kinds of `error_at` are codes."""
    if kind.endswith("_type"):
        return "wrong-type"
    if kind.startswith(("greater_than", "less_than")):
        return "out-of-range"
    return "invalid" if kind in ("value_error", "literal_error") else kind.replace("_", "-")


def _value_at(table: Any, place: KeyPath, parsed: object) -> object:
    """The file's own value at a place, or `parsed` if validation has moved it there."""
    try:
        for part in place:
            table = table[part]
    except (KeyError, IndexError, TypeError):
        return parsed
    return table


def is_utf8(text: str) -> bool:
    """Whether it can be encoded; arguments and variables of a shell may hold bytes of another encoding."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def path_text(path: KeyPath) -> str:
    """A path in the notation of `--set`: ("rules", 0, "min-files") is rules[0].min-files."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            bare = part.replace("-", "").replace("_", "").isalnum() and part.isascii()
            text += ("." if text else "") + (part if bare else json.dumps(part, ensure_ascii=False))
    return text
