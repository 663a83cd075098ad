"""Records as flat rows: the fields of nested values become columns."""

import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from operator import attrgetter
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
from pydantic import BaseModel
from pydantic.fields import FieldInfo

# Fields whose name prefixes the columns of their value: a record has several values of that type, or with
# fields of that name.
_PREFIXED = frozenset({"before", "after", "staged", "spark"})

Bounds = tuple[float | None, float | None]


@dataclass(frozen=True, slots=True)
class FlatColumn:
    """A column: its name, plain type (`dict` for anything structured) and the attributes that lead to it.

    `annotation` is that of the last attribute. A column `is_optional` if a value or one on its path may be
    None.
    """

    name: str
    type: type
    path: tuple[str, ...]
    annotation: Any
    is_optional: bool

    def value_in(self, record: Any) -> Any:
        """The value in a record; None if an attribute on the path is None."""
        for name in self.path:
            record = None if record is None else getattr(record, name)
        return record

    @property
    def bounds(self) -> Bounds:
        """The least and the greatest number allowed; None without a limit."""
        limits = [*_constraints(self.annotation)]
        low, high = ([getattr(x, name) for x in limits if hasattr(x, name)] for name in ("ge", "le"))
        return next(iter(low), None), next(iter(high), None)

    def array(self, values: Sequence[Any]) -> np.ndarray:
        """The values as an array: numbers, with NaN for None if the column is optional, or objects."""
        if self.type is float or (self.type is int and self.is_optional):
            return np.array(values, dtype=float)
        if self.type in (bool, int) and not self.is_optional:
            return np.array(values, dtype=np.int64 if self.type is int else bool)
        objects = np.empty(len(values), dtype=object)
        objects[:] = values
        return objects


def values_at(path: tuple[str, ...], values: list[Any]) -> list[Any]:
    """The values that a path of attributes leads to; None where one on the way is None."""
    for name in path:
        get = attrgetter(name)
        try:
            values = list(map(get, values))
        except AttributeError:
            values = [None if value is None else get(value) for value in values]
    return values


def columns_of(kind: type) -> tuple[FlatColumn, ...]:
    """The columns of a kind of record, of the manifest, or of a dataclass that has a record."""
    return tuple(column_by_name(kind).values())


@cache
def column_by_name(kind: type) -> Mapping[str, FlatColumn]:
    return {column.name: column for column in _columns(kind, (), "", False)}


def _columns(kind: type[Any], path: tuple[str, ...], prefix: str, is_optional: bool) -> Iterator[FlatColumn]:
    for name, annotation in _annotations(kind).items():
        plain, may_be_none = _plain(annotation), is_optional or _is_optional(annotation)
        if isinstance(plain, type) and (is_dataclass(plain) or issubclass(plain, BaseModel)):
            inner = f"{name}_" if name in _PREFIXED else prefix
            yield from _columns(plain, (*path, name), inner, may_be_none)
        elif name != "kind":
            yield FlatColumn(f"{prefix}{name}", _column_type(plain), (*path, name), annotation, may_be_none)


def _annotations(kind: type[Any]) -> dict[str, Any]:
    hints = get_type_hints(kind, include_extras=True)
    names = kind.model_fields if issubclass(kind, BaseModel) else [field.name for field in fields(kind)]
    return {name: hints[name] for name in names}


def _plain(annotation: Any) -> Any:
    """The type without None and without constraints."""
    if get_origin(annotation) is Annotated:
        return _plain(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        return _plain(next(part for part in get_args(annotation) if part is not type(None)))
    return annotation


def _is_optional(annotation: Any) -> bool:
    return get_origin(annotation) in (Union, types.UnionType) and type(None) in get_args(annotation)


def _constraints(annotation: Any) -> Iterator[Any]:
    """The limits that pydantic checks."""
    if get_origin(annotation) is Annotated:
        for extra in annotation.__metadata__:
            yield from extra.metadata if isinstance(extra, FieldInfo) else ()
    elif get_origin(annotation) in (Union, types.UnionType):
        for part in get_args(annotation):
            yield from _constraints(part)


def _column_type(plain: Any) -> type:
    if plain in (bool, int, float, str):
        return plain  # type: ignore[no-any-return]
    return str if get_origin(plain) is Literal else dict
