"""Options as TOML writes them: names, values in both directions, and errors that name the key."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from decimal import Decimal
from difflib import get_close_matches
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError

from bench.errors import ScenarioError
from bench.secrets import hidden
from strategies.quantities import (
    BYTES_BY_UNIT,
    MILLISECONDS_BY_UNIT,
    parse_bytes,
    parse_duration_ms,
    parse_duration_s,
)

KeyPath = tuple[str | int, ...]

Quantity = Literal["duration", "duration_ms", "size"]  # in seconds, in milliseconds, in bytes

_NO_VALUE = object()
_PARSERS = {"duration": parse_duration_s, "duration_ms": parse_duration_ms, "size": parse_bytes}
_WORDS: Mapping[Any, str] = {
    bool: "true or false", int: "a whole number", float: "a number", str: "text",
    dict: "a table", Mapping: "a table", list: "a list", tuple: "a list", frozenset: "a list",
}  # fmt: skip


class OptionError(ScenarioError):
    """One key of a scenario is wrong; `path` leads to it from the top of the file."""

    def __init__(self, path: KeyPath, problem: str, value: object = _NO_VALUE) -> None:
        shown = hidden({path_text(path): value}).popitem()[
            1
        ]  # before it is cut, which would hide a secret's end
        given = "" if value is _NO_VALUE else f" = {value_text(shown)}"
        super().__init__(f"{path_text(path)}{given}: {problem}")
        self.path = path


def path_text(path: KeyPath) -> str:
    """A path as `--set` takes it: ("rules", 0, "min-files") is rules[0].min-files."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            bare = part.replace("-", "").replace("_", "").isalnum() and part.isascii()
            text += ("." if text else "") + (part if bare else json.dumps(part, ensure_ascii=False))
    return text


def value_text(value: object) -> str:
    """A value on one line, at most 80 characters of it."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 80 else f"{text[:77]}..."


def known_text(word: str, known: Iterable[str]) -> str:
    """Which names there are, the one `word` probably meant first."""
    names = sorted(known)
    near = get_close_matches(word, names, n=1, cutoff=0.5)
    listed = f"known: {', '.join(near + [name for name in names if name not in near])}"
    return f'did you mean "{near[0]}"? {listed}' if near else listed


def duration_text(seconds: float) -> str:
    """The shortest whole text that `parse_duration_s` reads as exactly `seconds`: 600 is "10min"."""
    if not math.isfinite(seconds):
        return str(seconds)
    for unit in ("d", "h", "min", "s", "ms"):
        text = f"{round(seconds / MILLISECONDS_BY_UNIT[unit] * 1000)}{unit}"
        if seconds > 0 and parse_duration_s(text) == seconds:
            return text
    return f"{Decimal(repr(seconds)).normalize():f}s"


def duration_ms_text(milliseconds: int) -> str:
    """The shortest whole text that `parse_duration_ms` reads as `milliseconds`: 600_000 is "10min"."""
    for unit in ("d", "h", "min", "s"):
        if milliseconds and milliseconds % MILLISECONDS_BY_UNIT[unit] == 0:
            return f"{milliseconds // MILLISECONDS_BY_UNIT[unit]}{unit}"
    return f"{milliseconds}ms" if milliseconds else "0s"


def bytes_text(size_bytes: int) -> str:
    """The shortest whole text that `parse_bytes` reads as `size_bytes`: 134217728 is "128MiB"."""
    for unit in ("TiB", "GiB", "MiB", "KiB"):
        if size_bytes and size_bytes % BYTES_BY_UNIT[unit] == 0:
            return f"{size_bytes // BYTES_BY_UNIT[unit]}{unit}"
    return f"{size_bytes}B"


def flat(table: Mapping[str, object], prefix: str = "") -> dict[str, object]:
    """Dotted keys of nested tables: TOML reads the unquoted key a.b as a table a that holds b."""
    found: dict[str, object] = {}
    for key, value in table.items():
        if isinstance(value, Mapping):
            found.update(flat(value, f"{prefix}{key}."))
        else:
            found[f"{prefix}{key}"] = value
    return found


@dataclass(frozen=True, slots=True)
class Option:
    """A dataclass field a scenario can set. `quantity` says how TOML writes it, None as it is."""

    name: str
    key: str
    annotation: Any
    required: bool
    default: object
    quantity: Quantity | None

    def read(self, value: object, path: KeyPath) -> object:
        """The field's value of a TOML value. Raises OptionError when it is of another type."""
        if self.quantity is not None:
            return _each(value, lambda text: self._parse(text, path))
        given = flat(value) if isinstance(value, Mapping) and self._is_mapping() else value
        try:
            # By way of JSON a strict adapter still takes lists as tuples and text as an enum.
            return TypeAdapter(self.annotation).validate_json(json.dumps(given, default=str), strict=True)
        except ValidationError:
            raise OptionError(path, f"must be {self.type_text}", value) from None

    def write(self, value: object) -> object:
        """The TOML value of a field's value; the repr of one that TOML cannot say."""
        if self.quantity == "duration":
            return _each(value, lambda seconds: duration_text(float(seconds)))
        if self.quantity == "duration_ms":
            return _each(value, duration_ms_text)
        if self.quantity == "size":
            return _each(value, bytes_text)
        try:
            return TypeAdapter(self.annotation).dump_python(value, mode="json")
        except PydanticUserError:
            return repr(value)

    @property
    def type_text(self) -> str:
        """The type in words."""
        if self.quantity is not None:
            return "a size such as 128MiB" if self.quantity == "size" else "a duration such as 10min"
        return _type_words(self.annotation)

    def _parse(self, text: Any, path: KeyPath) -> float:
        try:
            return _PARSERS[str(self.quantity)](text)
        except ValueError as error:
            raise OptionError(path, str(error), text) from None

    def _is_mapping(self) -> bool:
        return get_origin(self.annotation) in (dict, Mapping) or self.annotation is dict


def options_of(cls: type) -> tuple[Option, ...]:
    """The options of a dataclass in order. Raises NameError where an annotation cannot be resolved."""
    hints = get_type_hints(cls)
    return tuple(_option(field, hints[field.name]) for field in fields(cls) if field.init)


def _option(field: "Field[Any]", annotation: Any) -> Option:
    quantity, key = _quantity_and_key(field.name, annotation)
    default = field.default_factory() if field.default_factory is not MISSING else field.default
    return Option(field.name, key, annotation, default is MISSING, default, quantity)


def _quantity_and_key(name: str, annotation: Any) -> tuple[Quantity | None, str]:
    """`retain_ms` is a duration written `retain`; `rows_per_s` is a rate and stays as it is."""
    if not _scalars(annotation) <= {int, float, NoneType}:
        return None, name
    if name.endswith("_s") and not name.endswith("_per_s"):
        return "duration", name.removesuffix("_s")
    if name.endswith("_ms"):
        return "duration_ms", name.removesuffix("_ms")
    if name.endswith("_bytes"):
        return "size", name.removesuffix("_bytes")
    return None, name


def _scalars(annotation: Any) -> set[Any]:
    inner = [part for part in get_args(annotation) if part is not Ellipsis]
    if not inner or get_origin(annotation) is Literal:
        return {annotation}
    return set().union(*(_scalars(part) for part in inner))


def _each(value: object, convert: Any) -> object:
    if isinstance(value, list | tuple):
        return tuple(_each(item, convert) for item in value)
    return convert(value)


def _type_words(annotation: Any) -> str:
    origin = get_origin(annotation)
    if origin in (Union, UnionType):
        words = [_type_words(part) for part in get_args(annotation) if part is not NoneType]
        return " or ".join(dict.fromkeys(words))
    if origin is Literal:
        return "one of " + ", ".join(value_text(choice) for choice in get_args(annotation))
    return _WORDS.get(origin or annotation, getattr(annotation, "__name__", str(annotation)))
