"""Options in the notation of TOML: names, conversion of values, and errors that name the key."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError

from bench.errors import ScenarioError
from bench.keys import bytes_text, duration_ms_text, duration_text, flat, value_text
from bench.secrets import hidden
from strategies.quantities import parse_bytes, parse_duration_ms, parse_duration_s

KeyPath = tuple[str | int, ...]

Quantity = Literal["duration", "duration_ms", "size"]  # in seconds, in milliseconds, in bytes

_NO_VALUE = object()
_DEPTH_MAX, _BITS_MAX = 30, 4096
_PARSERS = {"duration": parse_duration_s, "duration_ms": parse_duration_ms, "size": parse_bytes}
_DURATION_WORDS = ("a duration such as 10min", 'a list of durations such as ["1min", "10min"]')
_QUANTITY_WORDS: Mapping[Quantity, tuple[str, str]] = {  # for a field of one, and of a list of them
    "duration": _DURATION_WORDS, "duration_ms": _DURATION_WORDS,
    "size": ("a size such as 128MiB", 'a list of sizes such as ["8MiB", "128MiB"]'),
}  # fmt: skip
_WORDS: Mapping[Any, str] = {
    bool: "true or false", int: "a whole number", float: "a number", str: "text",
    dict: "a table", Mapping: "a table", list: "a list", tuple: "a list", frozenset: "a list",
}  # fmt: skip


class OptionError(ScenarioError):
    """An error in one key of a scenario; `path` leads to it from the top of the file."""

    def __init__(self, path: KeyPath, problem: str, value: object = _NO_VALUE) -> None:
        # Hidden first: `value_text` cuts long values, and a cut secret would no longer be recognised.
        shown = hidden({path_text(path): value}).popitem()[1]
        given = "" if value is _NO_VALUE else f" = {value_text(shown)}"
        super().__init__(f"{path_text(path)}{given}: {problem}")
        self.path = path


def check_values(document: Mapping[str, object]) -> None:
    """Raises OptionError for what is nested too deeply, integers that are too long to print, and no UTF-8."""
    places: list[tuple[KeyPath, object]] = [((), document)]
    while places:
        path, value = places.pop()
        if len(path) > _DEPTH_MAX:
            raise OptionError(path[:1], "is nested too deeply")
        if isinstance(value, int) and value.bit_length() > _BITS_MAX:
            raise OptionError(path, f"is an integer of more than {_BITS_MAX} bits")
        if any(isinstance(text, str) and not is_utf8(text) for text in (value, *path[-1:])):
            raise OptionError(path, "is not UTF-8: write it in UTF-8")
        if isinstance(value, Mapping):
            places += [((*path, key), item) for key, item in value.items()]
        elif isinstance(value, list):
            places += [((*path, index), item) for index, item in enumerate(value)]


def is_utf8(text: str) -> bool:
    """Whether it can be written; what a shell gives us may have bytes of another encoding."""
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


@dataclass(frozen=True, slots=True)
class Option:
    """A dataclass field that a scenario can set. `quantity` says how TOML writes it; None means as it is."""

    name: str
    key: str
    annotation: Any
    required: bool
    default: object
    quantity: Quantity | None

    def read(self, value: object, path: KeyPath) -> object:
        """The value of the field for a TOML value. Raises OptionError if that has another type."""
        if self.quantity is not None:
            if self._is_list():
                texts = enumerate(self._listed(value, path))
                return tuple(self._parse(text, (*path, index)) for index, text in texts)
            return self._parse(value, path)
        given = flat(value) if isinstance(value, Mapping) and self._is_mapping() else value
        try:
            # Given JSON, a strict adapter still accepts lists as tuples and strings as enum members.
            return TypeAdapter(self.annotation).validate_json(json.dumps(given, default=str), strict=True)
        except ValidationError as error:
            place, annotation, wrong = _wrong_part(self.annotation, given, error.errors()[0]["loc"])
            problem = f"must be {_type_words(annotation)}"
            raise OptionError((*path, *place), problem, wrong if place else value) from None

    def write(self, value: object) -> object:
        """The TOML value for a value of the field; its repr if TOML cannot express it."""
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
        """The type of the TOML value in words."""
        if self.quantity is not None:
            one, some = _QUANTITY_WORDS[self.quantity]
            return some if self._is_list() else one
        return _type_words(self.annotation)

    def _parse(self, text: Any, path: KeyPath) -> float:
        try:
            return _PARSERS[str(self.quantity)](text)
        except ValueError as error:
            raise OptionError(path, str(error), text) from None

    def _listed(self, value: object, path: KeyPath) -> Sequence[Any]:
        if not isinstance(value, list | tuple):
            raise OptionError(path, f"must be {self.type_text}", value)
        return value

    def _is_list(self) -> bool:
        """Whether the field of a quantity holds several, as `tuple[int, ...] | None` does."""
        parts = (self.annotation, *get_args(self.annotation))
        return any(get_origin(part) not in (None, Union, UnionType, Literal) for part in parts)

    def _is_mapping(self) -> bool:
        return get_origin(self.annotation) in (dict, Mapping) or self.annotation is dict


def options_of(cls: type) -> tuple[Option, ...]:
    """The options of a dataclass in order. Raises NameError if an annotation cannot be resolved."""
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


def _wrong_part(annotation: Any, given: Any, place: KeyPath) -> tuple[KeyPath, Any, Any]:
    """The element of a list or table that the place of an error leads to: its path, type and value."""
    element = _element_type(annotation)
    if not place or element is None:
        return (), annotation, given
    rest, element_type, wrong = _wrong_part(element, given[place[0]], place[1:])
    return (place[0], *rest), element_type, wrong


def _element_type(annotation: Any) -> Any:
    """The type of the elements of a list or table, or of one that may be missing; None for other types."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType) and len(parts) == 2 and NoneType in parts:
        return _element_type(next(part for part in parts if part is not NoneType))
    if origin in (list, tuple, frozenset):
        return parts[0]
    return parts[1] if origin in (dict, Mapping) else None


def _type_words(annotation: Any) -> str:
    origin = get_origin(annotation)
    if origin in (Union, UnionType):
        words = [_type_words(part) for part in get_args(annotation) if part is not NoneType]
        return " or ".join(dict.fromkeys(words))
    if origin is Literal:
        return "one of " + ", ".join(value_text(choice) for choice in get_args(annotation))
    return _WORDS.get(origin or annotation, getattr(annotation, "__name__", str(annotation)))
