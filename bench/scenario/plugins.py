"""Planners, triggers, workloads and arrivals: found by name, built from a TOML table, described.

A name is looked up in the registry, then as `module:Class` (the working folder is last on the import path),
then among the entry points of the group `compactbench.strategies`.

A plug-in's dataclass is its schema: `model_of` derives the pydantic model that reads and writes its table. A
field `x_ms` or `x_s` is written `x = "10min"`, a field `x_bytes` is written `x = "128MiB"`.
"""

import inspect
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from enum import Enum
from functools import cache, partial
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Generic,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Strict,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    WrapValidator,
    create_model,
)
from pydantic import Field as ModelField
from pydantic_core import CoreSchema, core_schema

from bench.engines.keys import Duration, Keys, Seconds, Size, error_at, flat, value_text
from bench.errors import ScenarioError
from bench.names import known_text
from bench.scenario.values import OptionError, option_error
from bench.secrets import hidden
from strategies.planner import Planner, known_options_of
from strategies.registry import ENTRY_POINT_GROUP, PLANNERS, TRIGGERS
from strategies.triggers import Trigger
from workloads.arrival import Arrival
from workloads.commit import Workload
from workloads.registry import ARRIVALS, WORKLOADS

_P = TypeVar("_P")

_UNITS: Mapping[str, tuple[Any, str]] = {  # by the suffix of a field's name
    "_ms": (Duration, "a duration such as 10min"),
    "_s": (Seconds, "a duration such as 10min"),
    "_bytes": (Size, "a size such as 128MiB"),
}
_LISTS = (list, tuple, frozenset)
_TABLES = (dict, Mapping)
_WORDS: Mapping[Any, str] = {
    bool: "true or false", int: "a whole number", float: "a number", str: "text",
    **dict.fromkeys(_TABLES, "a table"), **dict.fromkeys(_LISTS, "a list"),
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class PluginKind(Generic[_P]):
    """A kind of plug-in; its classes must have `method`.

    As an annotation of a pydantic field, it reads a plug-in from a table and writes it as one.
    """

    word: str
    registry: Mapping[str, Callable[..., _P]]
    method: str
    has_entry_points: bool = False

    def __get_pydantic_core_schema__(self, source: Any, handler: object) -> CoreSchema:
        return core_schema.with_info_plain_validator_function(
            partial(_built, self),
            serialization=core_schema.plain_serializer_function_ser_schema(to_table),
            metadata={"plugin": self.word},  # for the JSON schema
        )


PLANNER: PluginKind[Planner] = PluginKind("planner", PLANNERS, "decide", has_entry_points=True)
TRIGGER: PluginKind[Trigger] = PluginKind("trigger", TRIGGERS, "due", has_entry_points=True)
WORKLOAD: PluginKind[Workload] = PluginKind("workload", WORKLOADS, "shape")
ARRIVAL: PluginKind[Arrival] = PluginKind("arrival", ARRIVALS, "rows")

_KIND_OF_FIELD: Mapping[Any, PluginKind[Any]] = {
    Planner: PLANNER, Trigger: TRIGGER, Workload: WORKLOAD, Arrival: ARRIVAL,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class OptionHelp:
    """An option of a plug-in; `default` is None if it is required."""

    key: str
    type: str
    default: str | None


@dataclass(frozen=True, slots=True)
class Description:
    """A plug-in in words: `doc` is one sentence, `details` are paragraphs."""

    name: str
    doc: str
    details: str
    options: tuple[OptionHelp, ...]


class Options(Keys):
    """The keys of a plug-in's table in a scenario, except for `type`."""

    model_config = ConfigDict(arbitrary_types_allowed=True, protected_namespaces=(), allow_inf_nan=False)
    plugin: ClassVar[type]

    @classmethod
    def keys_like(cls, key: str) -> list[str]:
        own = [f"options.{key}"] if key in known_options_of(cls.plugin) else []
        return ["type", *super().keys_like(key), *own]


@cache
def model_of(cls: type) -> type[Options]:
    """The model of a plug-in's options. Raises NameError if an annotation cannot be resolved."""
    hints = get_type_hints(cls)
    options: dict[str, Any] = {
        field.name: _option(field, hints[field.name]) for field in fields(cls) if field.init
    }
    model: type[Options] = create_model(cls.__name__, __base__=Options, **options)
    model.plugin = cls
    return model


def _option(field: "Field[Any]", annotation: Any) -> tuple[Any, Any]:
    """A field of the model: `retain_ms` becomes `retain`; `rows_per_s` is a rate and keeps its name."""
    suffix = next((end for end in _UNITS if field.name.endswith(end)), "")
    if not suffix or field.name.endswith("_per_s") or not _scalars(annotation) <= {int, float, NoneType}:
        suffix = ""
    unit = _UNITS.get(suffix)
    default: dict[str, Any] = {}
    if field.default_factory is not MISSING:
        default["default_factory"] = field.default_factory
    elif field.default is not MISSING:
        default["default"] = field.default
    key, words = field.name.removesuffix(suffix), _type_words(annotation, unit)
    return _toml_type(annotation, unit), ModelField(alias=key, description=words, **default)


def _toml_type(annotation: Any, unit: tuple[Any, str] | None) -> Any:
    """The annotation with units, nested plug-ins and errors in words; lists are taken as tuples and sets."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if annotation in _KIND_OF_FIELD:
        return Annotated[annotation, _KIND_OF_FIELD[annotation]]
    if origin in (Union, UnionType) and NoneType in parts:
        return _toml_type(Union[tuple(part for part in parts if part is not NoneType)], unit) | None  # noqa: UP007
    if origin in _LISTS:
        items = (part if part is Ellipsis else _toml_type(part, unit) for part in parts)
        return Annotated[origin[tuple(items)], Strict(False)]
    if origin in _TABLES:
        table: Any = dict.__class_getitem__((parts[0], _toml_type(parts[1], unit)))
        return Annotated[table, BeforeValidator(_flat, json_schema_input_type=dict[str, Any])]
    if unit is not None:
        return unit[0]
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        annotation = Annotated[annotation, Strict(False)]
    return Annotated[annotation, WrapValidator(partial(_checked, _type_words(annotation, None)))]


def _flat(value: object) -> object:
    return flat(value) if isinstance(value, Mapping) else value


def _checked(words: str, value: object, validate: Callable[[object], object]) -> object:
    try:
        return validate(value)
    except ValidationError:
        raise ValueError(f"must be {words}") from None


def _scalars(annotation: Any) -> set[Any]:
    inner = [part for part in get_args(annotation) if part is not Ellipsis]
    if not inner or get_origin(annotation) is Literal:
        return {annotation}
    return set().union(*(_scalars(part) for part in inner))


def _type_words(annotation: Any, unit: tuple[Any, str] | None) -> str:
    origin, parts = get_origin(annotation), get_args(annotation)
    if kind := next((_KIND_OF_FIELD[part] for part in (annotation, *parts) if part in _KIND_OF_FIELD), None):
        return f"a table: one {kind.word}"
    if origin in (Union, UnionType):
        words = [_type_words(part, unit) for part in parts if part is not NoneType]
        return " or ".join(dict.fromkeys(words))
    if origin is Annotated:
        return _type_words(parts[0], unit)
    if origin is Literal:
        return "one of " + ", ".join(value_text(choice) for choice in parts)
    if unit is not None:
        return unit[1] if origin is None else f"a list, each {unit[1]}"
    return _WORDS.get(origin or annotation, getattr(annotation, "__name__", str(annotation)))


def build(kind: PluginKind[_P], table: object, folder: Path) -> _P:
    """The object that a table such as { type = "every", interval = "10min" } describes.

    An option named `path` is relative to `folder`. Raises OptionError with the path of a key in the table.
    """
    try:
        plugin: _P = TypeAdapter(Annotated[Any, kind]).validate_python(table, context={"folder": folder})
    except ValidationError as error:
        refused = option_error(error, table)
    else:
        return plugin
    raise refused  # as in `validated`


def _built(kind: PluginKind[Any], table: object, info: ValidationInfo) -> object:
    """The plug-in that a table describes. Raises ValueError or ValidationError."""
    if not isinstance(table, Mapping):
        raise ValueError(f'must be a table such as {{ type = "{next(iter(kind.registry))}" }}')
    if "type" not in table:
        problem = f"is missing: it must name a {kind.word}; {known_text('', kind.registry)}"
        raise error_at("type", problem, code="missing")
    name = table["type"]
    try:
        model = model_of(_class(kind, name))
    except ScenarioError as error:
        raise error_at("type", str(error), name, code=error.code) from error
    values = {key: value for key, value in table.items() if key != "type"}
    options = model.model_validate(values, context=info.context)
    arguments = {field: getattr(options, field) for field in options.model_fields_set}
    if isinstance(path := arguments.get("path"), str):
        arguments["path"] = str((info.context or {}).get("folder", Path()) / path)
    try:
        return model.plugin(**arguments)
    except (ValueError, OSError) as error:
        raise _at_its_key(error, model, values) from error
    except Exception as error:
        if name in kind.registry:
            raise
        raise error_at("type", with_traceback("failed"), name, code="plugin-failed") from error


def _at_its_key(error: Exception, model: type[Options], values: Mapping[str, Any]) -> ValidationError:
    """A class's error, placed at the key that its text begins with, as in "interval_ms=0 must be > 0".

    An error that names the file of the option `path` is placed there.
    """
    field = model.model_fields.get(str(error).partition("=")[0])
    key, file = str(field.alias) if field is not None else "", values.get("path")
    if key not in values and isinstance(file, str) and str(Path(file)) in str(error):
        key = "path"
    return error_at(key, str(error), values[key]) if key in values else error_at(None, str(error))


def with_traceback(problem: str) -> str:
    """A problem with the user's own code, followed by the traceback of the exception being handled."""
    return f"{problem}\n{traceback.format_exc()}".rstrip()


def to_table(plugin: Any) -> dict[str, Any]:
    """The table that describes `plugin`, including defaults."""
    cls: Any = type(plugin)
    model = model_of(cls)
    values = {name: getattr(plugin, name) for name in model.model_fields}
    return {"type": name_of(cls), **_written(model.model_construct(**values))}


def _written(options: Options) -> dict[str, Any]:
    """The options as in a file; values that TOML cannot express are replaced by their repr."""
    return options.model_dump(mode="json", by_alias=True, exclude_none=True, warnings=False, fallback=repr)


def in_words(plugin: Any) -> str:
    """For example every(interval=10min): without secrets, and without options at their default."""
    cls: Any = type(plugin)
    table, words = to_table(plugin), []
    for name, field in model_of(cls).model_fields.items():
        key, value = str(field.alias), getattr(plugin, name)
        is_default = not field.is_required() and value == field.get_default(call_default_factory=True)
        if key not in table or is_default:
            continue
        parts = table[key] if isinstance(table[key], dict) else {key: table[key]}
        words += [
            f"{option}={part if isinstance(part, str) else value_text(part)}"
            for option, part in hidden(parts).items()
        ]
    return f"{table['type']}({', '.join(words)})"


def name_of(cls: type) -> str:
    """The name by which scenarios refer to `cls`: its registered name, or module:Class."""
    for kind in _KIND_OF_FIELD.values():
        for name, registered in kind.registry.items():
            if registered is cls:
                return name
    return f"{cls.__module__}:{cls.__qualname__}"


def describe(cls: type, name: str | None = None) -> Description:
    """The docstring of `cls`, with fields named as in scenarios and without "Raises", and its options."""
    text = inspect.getdoc(cls) or ""
    for field, option in model_of(cls).model_fields.items():
        text = text.replace(f"`{field}`", f"`{option.alias}`")
    first, *rest = re.split(r"(?<=[.!?])\s|\n\n", text, maxsplit=1)
    paragraphs = [" ".join(part.split()) for part in "".join(rest).split("\n\n")]
    details = "\n\n".join(part for part in paragraphs if part and not part.startswith("Raises "))
    return Description(name or name_of(cls), first.replace("\n", " "), details, tuple(_option_helps(cls)))


def _option_helps(cls: type) -> Iterator[OptionHelp]:
    """The fields, followed by the keys of a field `options` that the class lists in `known_options`."""
    model, known = model_of(cls), known_options_of(cls)
    defaults = _written(model.model_construct())
    for key, field in model.fields_by_key().items():
        default = value_text(defaults[key]) if key in defaults else "none"
        yield OptionHelp(key, str(field.description), None if field.is_required() else default)
        if key == "options":
            yield from (OptionHelp(f"options.{name}", "", known[name]) for name in known)


def classes_of(kind: PluginKind[_P]) -> dict[str, Any]:
    """The plug-ins of a kind by name, installed ones included. Raises ScenarioError if one is broken."""
    named: dict[str, Any] = dict(kind.registry)
    for name, point in _entry_points(kind).items():
        if name not in named and hasattr(_loaded(name, point.load), kind.method):
            describe_named(kind, name)
            named[name] = point.load()
    return dict(sorted(named.items()))


def describe_all(kind: PluginKind[Any]) -> tuple[Description, ...]:
    """All plug-ins of a kind. Raises ScenarioError if one is broken."""
    return tuple(describe(cls, name) for name, cls in classes_of(kind).items())


def describe_named(kind: PluginKind[Any], name: str) -> Description:
    """One plug-in by its registered name or as module:Class. Raises OptionError."""
    try:
        return describe(_class(kind, name), name)
    except ScenarioError as error:
        raise OptionError(("type",), str(error), name, code=error.code) from error


def _class(kind: PluginKind[Any], name: object) -> Any:
    """The class called `name`. Raises ScenarioError unless it can be built from a table and described."""
    if not isinstance(name, str):
        problem = f"must name a {kind.word}; {known_text('', kind.registry)}"
        raise ScenarioError(problem, code="unknown-name")
    cls = _find(kind, name)
    if not callable(getattr(cls, kind.method, None)):
        raise ScenarioError(f"is not a {kind.word}: it has no method {kind.method}", code="not-a-plugin")
    if not (isinstance(cls, type) and is_dataclass(cls) and _is_frozen(cls)):
        raise ScenarioError("must be a class under @dataclass(frozen=True)", code="not-a-plugin")
    try:
        model_of(cls)
    except NameError as error:
        problem = f"an annotation of {cls.__qualname__} cannot be read: {error}"
        raise ScenarioError(problem, code="not-a-plugin") from error
    return cls


def _find(kind: PluginKind[Any], name: str) -> Any:
    if name in kind.registry:
        return kind.registry[name]
    if ":" in name:
        return _loaded(name, partial(_import, name))
    points = _entry_points(kind)
    if name in points:
        return _loaded(name, points[name].load)
    known = known_text(name, [*kind.registry, *points])
    problem = f"unknown {kind.word}; {known}; name your own as module:Class"
    raise ScenarioError(problem, code="unknown-name")


def _entry_points(kind: PluginKind[Any]) -> dict[str, EntryPoint]:
    if not kind.has_entry_points:
        return {}
    return {point.name: point for point in entry_points(group=ENTRY_POINT_GROUP)}


def _loaded(name: str, load: Callable[[], Any]) -> Any:
    try:
        return load()
    except (ModuleNotFoundError, AttributeError) as error:
        problem = f"{name} cannot be imported: {type(error).__name__}: {error}"
        raise ScenarioError(problem, code="not-importable") from error
    except Exception as error:
        problem = with_traceback(f"{name} cannot be imported")
        raise ScenarioError(problem, code="not-importable") from error


def _import(name: str) -> Any:
    module, _, qualified = name.partition(":")
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.append(folder)
    member: Any = import_module(module)
    for part in qualified.split("."):
        member = getattr(member, part)
    return member


def _is_frozen(cls: type) -> bool:
    return bool(cls.__dataclass_params__.frozen)  # type: ignore[attr-defined]  # typeshed leaves it out
