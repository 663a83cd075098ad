"""Errors in the keys of a scenario, and the notation of their paths."""

import json
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from bench.engines.keys import value_text
from bench.errors import ScenarioError
from bench.secrets import hidden

KeyPath = tuple[str | int, ...]

_M = TypeVar("_M", bound=BaseModel)
_NO_VALUE = object()
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


def validated(model: type[_M], table: Mapping[str, Any], context: Mapping[str, Any]) -> _M:
    """Raises OptionError for the first error."""
    try:
        return model.model_validate(table, context=dict(context))
    except ValidationError as error:
        raise option_error(error, table) from error.__cause__


def option_error(error: ValidationError, table: object) -> OptionError:
    """The first error of a table."""
    detail = error.errors(include_url=False)[0]
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
