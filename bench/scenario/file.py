"""Scenario files: found by path or shipped name, read as TOML, overridden by `--set`, secrets filled in."""

import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from bench.engines.keys import value_text
from bench.errors import ScenarioError
from bench.names import known_text
from bench.scenario.values import KeyPath, OptionError, is_utf8, path_text
from bench.secrets import VARIABLE, is_secret_key, key_of

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
NAME_LENGTH_MAX = 60

# A bare or quoted key, then any number of entries in brackets, then a dot or the equals sign.
_KEY = re.compile(r'([A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*")((?:\[[^\[\]]+\])*)([.=])')
_ENTRY = re.compile(r"\[([^\[\]]+)\]")

_EXAMPLES = {  # by the option that takes settings
    "--set": "table.target_file_size=8MiB or 'strategies[every-10min].rules[0].trigger.interval=5min'",
    "--option": "options.min-input-files=2",
    "--over": "strategies.LABEL.every=1min..4h*12",
}
_TABLES_WITH_SECRETS = ("catalog", "spark")


def shipped() -> dict[str, Path]:
    """The scenarios that ship with compactbench, by name."""
    folder = Path(str(files("workloads"))) / "scenarios"
    return {file.stem: file for file in sorted(folder.glob("*.toml"))}


def find(name_or_path: str) -> Path:
    """The file of a shipped scenario, or at a path that ends in .toml. Raises ScenarioError.

    The file name becomes the name of a result folder, so not every name is allowed.
    """
    known = shipped()
    if name_or_path in known:
        return known[name_or_path]
    file = Path(name_or_path)
    if file.suffix != ".toml":
        if len(file.name) <= NAME_LENGTH_MAX and file.is_file():
            problem = "does not end in .toml, so it is not read as a scenario: rename the file"
            raise ScenarioError(problem, code="bad-name", path=file)
        raise ScenarioError(
            f"is neither a shipped scenario ({known_text(name_or_path, known)}) nor a path to a .toml file",
            code="unknown-name",
            path=value_text(name_or_path),
        )
    check_name(file)
    check_is_file(file, f"shipped scenarios: {', '.join(known)}")
    return file


def check_is_file(file: Path, remedy: str) -> None:
    """Raises ScenarioError if there is no file, or a folder in its place."""
    if not file.is_file():
        problem = "is a folder" if file.is_dir() else "no such file"
        raise ScenarioError(f"{problem}; {remedy}", code="file-missing", path=file)


def check_name(file: Path) -> None:
    """Raises ScenarioError for a file name that cannot name a result folder."""
    is_short = len(file.stem) <= NAME_LENGTH_MAX
    if file.suffix != ".toml" or not NAME.fullmatch(file.stem) or not is_short:
        problem = (
            "the file name names the result folder: use a-z, 0-9 and single hyphens, at most "
            f"{NAME_LENGTH_MAX} characters before .toml"
        )
        raise ScenarioError(problem, code="bad-name", path=file)


def read(file: Path) -> dict[str, Any]:
    """A scenario's document. Raises ScenarioError if it cannot be read or is empty."""
    document = read_toml(file)
    if not document:
        problem = "is empty; `compactbench list scenarios` lists some to start from"
        raise ScenarioError(problem, code="empty", path=file)
    return document


def read_toml(file: Path) -> dict[str, Any]:
    """A file's document. Raises ScenarioError, with line and column, if it cannot be read."""
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ScenarioError(f"cannot be read: {error.strerror}", code="unreadable", path=file) from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        problem = f"line {line} is not UTF-8: save it as UTF-8"
        raise ScenarioError(problem, code="not-utf-8", path=file) from error
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ScenarioError(f"is not TOML: {error}", code="not-toml", path=file) from error


def override(document: dict[str, Any], setting: str, option: str = "--set") -> KeyPath:
    """Set the key that a `--set` names to its value, in place; the path of the key. `option` is for errors.

    An entry of a list is selected by its label or name, or by its position from 0:
    strategies[every-10min].writer.files_per_commit=4. A value that is not TOML is a string.
    Raises ScenarioError on a key that does not exist.
    """
    steps, text = _steps(setting, option)
    try:
        place, path = _place(document, steps)
    except ScenarioError as error:
        raise error.within(f"{option} {setting}") from None
    place[path[-1]] = _value(text)
    return path


def merge(document: dict[str, Any], key: str, value: object) -> list[tuple[KeyPath, object]]:
    """Set `key`, in the notation of `--set`, to `value`, in place; each key that was set, with its value.

    A table is merged into the existing one, key by key; anything else replaces the existing value.
    Raises ScenarioError on a key that does not exist, and on a table without keys.
    """
    try:
        steps, _ = _steps(f"{key}=", "--set")
    except ScenarioError:
        problem = (
            "is not a key: write it as in the file, or as --set takes it, such as "
            '"strategies[every-10min].writer.files_per_commit"'
        )
        raise ScenarioError(problem, code="not-a-key", path=value_text(key)) from None
    place, path = _place(document, steps)
    return _merged(place, path, value)


def fill_in(document: dict[str, Any]) -> list[str]:
    """Replace each secret "env:NAME" in [catalog] and [spark] by its variable, in place; the values put in.

    Raises OptionError as `filled_in` does.
    """
    return [value for name in _TABLES_WITH_SECRETS for value in filled_in(document.get(name), (name,))]


def filled_in(table: object, path: KeyPath) -> Iterator[str]:
    """Replace each secret "env:NAME" of a table, which is at `path`, by its variable; the values put in.

    Other values are not hidden, so they must not be variables. Raises OptionError for these, and for a
    variable that is not set.
    """
    if not isinstance(table, dict):
        return
    for key, value in table.items():
        here = (*path, key)
        if isinstance(value, Mapping):
            yield from filled_in(value, here)
        elif isinstance(value, str) and (variable := VARIABLE.fullmatch(value)):
            if is_secret_key(".".join(map(str, here))):
                secret = _value_of(variable[2], here)
                table[key] = variable[1] + secret
                yield secret
            elif not variable[1]:
                problem = "only a secret, such as a token or a password, may be a variable: write the value"
                raise OptionError(here, problem, value, code="not-a-secret")


def _merged(place: Any, path: KeyPath, value: object) -> list[tuple[KeyPath, object]]:
    last: Any = path[-1]
    existing = place[last] if isinstance(place, list) else place.get(last, {})
    if value == {} and isinstance(existing, dict):
        problem = "{} changes nothing, as tables are merged key by key: name keys of it"
        raise ScenarioError(problem, code="no-change", path=path_text(path))
    if not (isinstance(value, Mapping) and isinstance(existing, dict)):
        place[last] = value
        return [(path, value)]
    place[last] = existing
    return [setting for name, item in value.items() for setting in _merged(existing, (*path, name), item)]


def _place(document: dict[str, Any], steps: Sequence[tuple[str, bool]]) -> tuple[Any, KeyPath]:
    """The table or list that holds the last of `steps`, and the path to it; missing tables are created."""
    place: Any = document
    path: KeyPath = ()
    for step, is_entry in steps:
        chosen = _position(place, step, path) if is_entry else _table_key(place, step, path)
        path = (*path, chosen)
        if len(path) < len(steps):
            place = place[chosen] if is_entry else place.setdefault(chosen, {})
    return place, path


def _steps(setting: str, option: str) -> tuple[list[tuple[str, bool]], str]:
    """The keys (False) and list entries (True) of `setting` in order, and the text after the equals sign."""
    steps: list[tuple[str, bool]] = []
    at, ended = 0, False
    while not ended:
        match = _KEY.match(setting, at)
        if match is None:
            problem = f"{key_of(setting)} is not a setting: write key=value, e.g. {_EXAMPLES[option]}"
            raise ScenarioError(problem, code="not-a-setting", path=option)
        key = match[1]
        steps.append((_unquoted(key, option) if key.startswith('"') else key, False))
        steps += [(entry, True) for entry in _ENTRY.findall(match[2])]
        at, ended = match.end(), match[3] == "="
    return steps, setting[at:]


def _unquoted(key: str, option: str) -> str:
    try:
        return str(json.loads(key))
    except ValueError:
        raise ScenarioError(f"{key} is not a quoted key", code="not-a-key", path=option) from None


def _table_key(place: object, key: str, path: KeyPath) -> str:
    if isinstance(place, list):
        problem = f"is a list: choose an entry, as in {path_text(path)}[{key}]"
        raise ScenarioError(problem, code="not-a-table", path=path_text(path))
    if not isinstance(place, dict):
        # The value is not shown: it may be a secret, and the secrets are not known yet.
        problem = f"is not a table: it has no key {value_text(key)}"
        raise ScenarioError(problem, code="not-a-table", path=path_text(path))
    return key


def _position(place: object, entry: str, path: KeyPath) -> int:
    if not isinstance(place, list):
        problem = f"is not a list: it has no entry {value_text(entry)}"
        raise ScenarioError(problem, code="not-a-list", path=path_text(path))
    names = [str(item.get("label", item.get("name", ""))) if isinstance(item, dict) else "" for item in place]
    if entry in names:
        return names.index(entry)
    if entry.isdecimal() and int(entry) < len(place):
        return int(entry)
    labels = [name for name in names if name]
    known = f"{known_text(entry, labels)}, or" if labels else "use"
    positions = f"a position from 0 to {len(place) - 1}" if len(place) > 1 else "0, the only position"
    problem = f"has no entry {value_text(entry)}; {known} {positions}"
    raise ScenarioError(problem, code="unknown-name", path=path_text(path))


def _value(text: str) -> object:
    try:
        document = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    return document["value"] if len(document) == 1 else text


def _value_of(name: str, path: KeyPath) -> str:
    value = os.environ.get(name)
    problem = "is not set" if value is None else "is empty" if not value else "is not UTF-8"
    if not value or not is_utf8(value):
        raise OptionError(
            path,
            f"the environment variable {name} {problem}: set it; to validate or simulate, any text will do",
            f"env:{name}",
            code="variable-unset",
        )
    return value
