"""Planners, triggers, workloads and arrivals: found by name, built from a TOML table, described.

A name is first looked up in the registry, then as `module:Class` (the working folder is last on the import
path), then among the entry points of the group `compactbench.strategies`.
"""

import inspect
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, is_dataclass
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Generic, TypeVar, get_args

from pydantic.errors import PydanticUserError

from bench.errors import ScenarioError
from bench.keys import known_text, value_text
from bench.scenario.values import KeyPath, Option, OptionError, options_of
from bench.secrets import hidden
from strategies.planner import Planner, known_options_of
from strategies.registry import ENTRY_POINT_GROUP, PLANNERS, TRIGGERS
from strategies.triggers import Trigger
from workloads.arrival import Arrival
from workloads.commit import Workload
from workloads.registry import ARRIVALS, WORKLOADS

_P = TypeVar("_P")


@dataclass(frozen=True, slots=True)
class PluginKind(Generic[_P]):
    """A kind of plug-in: the word for it, its registered names, and the method that its classes must have."""

    word: str
    registry: Mapping[str, Callable[..., _P]]
    method: str
    has_entry_points: bool = False


PLANNER: PluginKind[Planner] = PluginKind("planner", PLANNERS, "decide", has_entry_points=True)
TRIGGER: PluginKind[Trigger] = PluginKind("trigger", TRIGGERS, "due", has_entry_points=True)
WORKLOAD: PluginKind[Workload] = PluginKind("workload", WORKLOADS, "shape")
ARRIVAL: PluginKind[Arrival] = PluginKind("arrival", ARRIVALS, "rows")

_KIND_OF_FIELD: Mapping[Any, PluginKind[Any]] = {
    Planner: PLANNER, Trigger: TRIGGER, Workload: WORKLOAD, Arrival: ARRIVAL,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class OptionHelp:
    """An option as `compactbench list` prints it; `default` is None if it is required."""

    key: str
    type: str
    default: str | None


@dataclass(frozen=True, slots=True)
class Description:
    """A plug-in as `compactbench list` prints it: what it does in a sentence, and in detail."""

    name: str
    doc: str
    details: str
    options: tuple[OptionHelp, ...]


def _known_options(cls: Any, key: str) -> tuple[str, ...]:
    """`key`, if it is one of the format's own options, which belong below `options`."""
    return (key,) if key in known_options_of(cls) else ()


def build(kind: PluginKind[_P], table: object, path: KeyPath, folder: Path) -> _P:
    """The object that a table such as { type = "every", interval = "10min" } describes.

    `path` is the table's place in the scenario. An option named `path` is relative to `folder`.
    Raises OptionError.
    """
    name, given = _name_and_options(kind, table, path)
    cls = _class(kind, name, path)
    options = _options(cls, name, (*path, "type"))
    by_key = {option.key: option for option in options}
    for key in given:
        if key not in by_key:
            known = ["type", *by_key, *(f"options.{option}" for option in _known_options(cls, key))]
            raise OptionError((*path, key), f"unknown key; {known_text(key, known)}", given[key])
    for option in options:
        if option.required and option.key not in given:
            raise OptionError((*path, option.key), f"is missing: it must be {option.type_text}")
    values = {by_key[key].name: _value(by_key[key], given[key], (*path, key), folder) for key in given}
    try:
        made: _P = cls(**values)  # `_class` has checked its method
    except (ValueError, OSError) as error:
        raise _as_option_error(error, options, given, path) from error
    except Exception as error:
        if name in kind.registry:
            raise
        raise OptionError((*path, "type"), with_traceback("cannot be made"), name) from error
    return made


def to_table(plugin: object) -> dict[str, Any]:
    """The table that describes `plugin`, including defaults."""
    table: dict[str, Any] = {"type": name_of(type(plugin))}
    for option in options_of(type(plugin)):
        value = getattr(plugin, option.name)
        if value is not None:
            table[option.key] = _written(option, value)
    return table


def in_words(plugin: object) -> str:
    """A short text for `plugin`, without secrets and options at their default: every(interval=10min)."""
    given = []
    for option in options_of(type(plugin)):
        value = getattr(plugin, option.name)
        if value is None or (not option.required and value == option.default):
            continue
        written = _written(option, value)
        parts = written if isinstance(written, dict) else {option.key: written}
        given += [
            f"{key}={part if isinstance(part, str) else value_text(part)}"
            for key, part in hidden(parts).items()
        ]
    return f"{name_of(type(plugin))}({', '.join(given)})"


def with_traceback(problem: str) -> str:
    """A problem with the user's own code, followed by the traceback of the exception being handled."""
    return f"{problem}\n{traceback.format_exc()}".rstrip()


def name_of(cls: type) -> str:
    """The name by which scenarios refer to `cls`: its registered name, or module:Class."""
    for kind in _KIND_OF_FIELD.values():
        for name, registered in kind.registry.items():
            if registered is cls:
                return name
    return f"{cls.__module__}:{cls.__qualname__}"


def describe(cls: type, name: str | None = None) -> Description:
    """The docstring of `cls`, with the names of fields as scenarios write them, and its options.

    `details` are the paragraphs after the first sentence, each on one line, except what a constructor raises.
    """
    options = options_of(cls)
    text = inspect.getdoc(cls) or ""
    for option in options:
        text = text.replace(f"`{option.name}`", f"`{option.key}`")
    first, *rest = re.split(r"(?<=[.!?])\s|\n\n", text, maxsplit=1)
    paragraphs = [" ".join(part.split()) for part in "".join(rest).split("\n\n")]
    details = "\n\n".join(part for part in paragraphs if part and not part.startswith("Raises "))
    return Description(
        name or name_of(cls), first.replace("\n", " "), details, tuple(_option_helps(cls, options))
    )


def describe_all(kind: PluginKind[Any]) -> tuple[Description, ...]:
    """Every plug-in of a kind by name, installed ones included. Raises ScenarioError if one is broken."""
    named: dict[str, Any] = dict(kind.registry)
    for name, point in _entry_points(kind).items():
        cls = _loaded(name, point.load)
        if hasattr(cls, kind.method) and name not in named:
            _check_class(cls, name, ("type",))
            named[name] = cls
    return tuple(describe(cls, name) for name, cls in sorted(named.items()))


def describe_named(kind: PluginKind[Any], name: str) -> Description:
    """One plug-in by its registered name or as module:Class. Raises OptionError as `build` does."""
    return describe(_class(kind, name, ()), name)


def _name_and_options(kind: PluginKind[Any], table: object, path: KeyPath) -> tuple[str, dict[str, Any]]:
    first = next(iter(kind.registry))
    if not isinstance(table, Mapping):
        raise OptionError(path, f'must be a table such as {{ type = "{first}" }}', table)
    name = table.get("type")
    if not isinstance(name, str):
        problem = f"must name a {kind.word}; {known_text('', kind.registry)}"
        raise (
            OptionError((*path, "type"), problem, name)
            if "type" in table
            else OptionError((*path, "type"), f"is missing: it {problem}")
        )
    return name, {key: value for key, value in table.items() if key != "type"}


def _class(kind: PluginKind[_P], name: str, path: KeyPath) -> Any:
    """The class called `name`, after checking that it can be built from a table."""
    try:
        cls = _find(kind, name)
    except ScenarioError as error:
        raise OptionError((*path, "type"), str(error), name) from error
    if not callable(getattr(cls, kind.method, None)):
        raise OptionError((*path, "type"), f"is not a {kind.word}: it has no method {kind.method}", name)
    _check_class(cls, name, (*path, "type"))
    return cls


def _check_class(cls: Any, name: str, path: KeyPath) -> None:
    """Raises OptionError unless `cls` can be built from a table and described."""
    if not (isinstance(cls, type) and is_dataclass(cls) and _is_frozen(cls)):
        raise OptionError(path, "must be a class under @dataclass(frozen=True)", name)
    _options(cls, name, path)


def _find(kind: PluginKind[Any], name: str) -> Any:
    if name in kind.registry:
        return kind.registry[name]
    if ":" in name:
        return _loaded(name, lambda: _import(name))
    points = _entry_points(kind)
    if name in points:
        return _loaded(name, points[name].load)
    raise ScenarioError(
        f"unknown {kind.word}; {known_text(name, [*kind.registry, *points])}; name your own as module:Class"
    )


def _entry_points(kind: PluginKind[Any]) -> dict[str, EntryPoint]:
    if not kind.has_entry_points:
        return {}
    return {point.name: point for point in entry_points(group=ENTRY_POINT_GROUP)}


def _loaded(name: str, load: Callable[[], Any]) -> Any:
    try:
        return load()
    except (ModuleNotFoundError, AttributeError) as error:
        raise ScenarioError(f"{name} cannot be imported: {type(error).__name__}: {error}") from error
    except Exception as error:
        raise ScenarioError(with_traceback(f"{name} cannot be imported")) from error


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


def _options(cls: type, name: str, path: KeyPath) -> tuple[Option, ...]:
    try:
        return options_of(cls)
    except NameError as error:
        problem = f"an annotation of {cls.__qualname__} cannot be read: {error}"
        raise OptionError(path, problem, name) from error


def _value(option: Option, value: object, path: KeyPath, folder: Path) -> object:
    """The field's value; where the field holds plug-ins, they are built from a table or a list of tables."""
    kind = _kind_of(option)
    if kind is not None and isinstance(value, list):
        return tuple(build(kind, item, (*path, index), folder) for index, item in enumerate(value))
    if kind is not None:
        return build(kind, value, path, folder)
    try:
        read = option.read(value, path)
    except PydanticUserError as error:
        raise OptionError(path, f"its type {option.type_text} cannot be set from TOML", value) from error
    return str(folder / read) if option.name == "path" and isinstance(read, str) else read


def _kind_of(option: Option) -> PluginKind[Any] | None:
    parts = (option.annotation, *get_args(option.annotation))
    return next((_KIND_OF_FIELD[part] for part in parts if part in _KIND_OF_FIELD), None)


def _as_option_error(
    error: Exception, options: tuple[Option, ...], given: dict[str, Any], path: KeyPath
) -> OptionError:
    """A class's error, assigned to the key its text begins with, as in "interval_ms=0 must be > 0".

    An error that names the file of the option `path` is assigned to that.
    """
    name = str(error).partition("=")[0]
    for option in options:
        if option.name == name and option.key in given:
            return OptionError((*path, option.key), str(error), given[option.key])
    file = given.get("path")
    if isinstance(file, str) and str(Path(file)) in str(error):
        return OptionError((*path, "path"), str(error), file)
    return OptionError(path, str(error))


def _written(option: Option, value: Any) -> Any:
    kind = _kind_of(option)
    if kind is None:
        return option.write(value)
    return [to_table(item) for item in value] if isinstance(value, tuple) else to_table(value)


def _option_helps(cls: type, options: Iterable[Option]) -> Iterator[OptionHelp]:
    """The fields, and the keys of a field `options` that the class lists in `known_options`."""
    known = known_options_of(cls)
    for option in options:
        yield _option_help(option)
        if option.key == "options":
            yield from (OptionHelp(f"options.{name}", "", known[name]) for name in known)


def _option_help(option: Option) -> OptionHelp:
    default = None if option.required else _default_text(option)
    kind = _kind_of(option)
    return OptionHelp(option.key, f"a table: one {kind.word}" if kind else option.type_text, default)


def _default_text(option: Option) -> str:
    if option.default is None:
        return "none"
    return value_text(_written(option, option.default))
