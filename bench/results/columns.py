"""Records as flat rows: the fields of nested values become columns."""

import types
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel

# Fields whose name prefixes the columns of their value, because a record has several values of that type.
_PREFIXED = frozenset({"before", "after", "staged"})


@dataclass(frozen=True, slots=True)
class FlatColumn:
    """A column: its name, plain type (`dict` for anything structured) and the attributes that lead to it."""

    name: str
    type: type
    path: tuple[str, ...]

    def value_in(self, record: Any) -> Any:
        """The value in a record; None if an attribute on the path is None."""
        for name in self.path:
            record = None if record is None else getattr(record, name)
        return record


def columns_of(kind: type[Any]) -> tuple[FlatColumn, ...]:
    """The columns of a kind of record, of the manifest, or of a dataclass that has a record."""
    return tuple(_columns(kind, (), ""))


def _columns(kind: type[Any], path: tuple[str, ...], prefix: str) -> Iterator[FlatColumn]:
    for name, annotation in _annotations(kind).items():
        plain = _plain(annotation)
        if isinstance(plain, type) and (is_dataclass(plain) or issubclass(plain, BaseModel)):
            yield from _columns(plain, (*path, name), f"{name}_" if name in _PREFIXED else prefix)
        elif name != "kind":
            yield FlatColumn(f"{prefix}{name}", _column_type(plain), (*path, name))


def _annotations(kind: type[Any]) -> dict[str, Any]:
    if issubclass(kind, BaseModel):
        return {name: field.annotation for name, field in kind.model_fields.items()}
    hints = get_type_hints(kind, include_extras=True)
    return {field.name: hints[field.name] for field in fields(kind)}


def _plain(annotation: Any) -> Any:
    """The type without None and without constraints."""
    if get_origin(annotation) is Annotated:
        return _plain(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        return _plain(next(part for part in get_args(annotation) if part is not type(None)))
    return annotation


def _column_type(plain: Any) -> type:
    if plain in (bool, int, float, str):
        return plain  # type: ignore[no-any-return]
    return str if get_origin(plain) is Literal else dict
