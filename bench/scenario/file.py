"""Scenario files: found by path or by the name of a shipped one, read as TOML, overridden by `--set`."""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from bench.engines.keys import known_text, value_text
from bench.errors import ScenarioError
from bench.scenario.values import KeyPath, path_text
from bench.secrets import key_of

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
NAME_LENGTH_MAX = 60

# A bare or quoted key, then any number of entries in brackets, then a dot or the equals sign.
_KEY = re.compile(r'([A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*")((?:\[[^\[\]]+\])*)([.=])')
_ENTRY = re.compile(r"\[([^\[\]]+)\]")


def shipped() -> dict[str, Path]:
    """The scenarios that ship with compactbench, by name."""
    folder = Path(str(files("workloads"))) / "scenarios"
    return {file.stem: file for file in sorted(folder.glob("*.toml"))}


def find(name_or_path: str) -> Path:
    """The file of a shipped scenario, or at a path, which has to end in .toml.

    Raises ScenarioError naming the shipped scenarios if there is no such file, and on a file name that cannot
    be the name of a result folder.
    """
    known = shipped()
    if name_or_path in known:
        return known[name_or_path]
    file = Path(name_or_path)
    if file.suffix != ".toml":
        raise ScenarioError(
            f"{value_text(name_or_path)} is neither a shipped scenario ({known_text(name_or_path, known)}) "
            "nor a path to a .toml file"
        )
    if not NAME.fullmatch(file.stem) or len(file.stem) > NAME_LENGTH_MAX:
        raise ScenarioError(
            f"{file}: the file name names the result folder: use a-z, 0-9 and single hyphens, "
            f"at most {NAME_LENGTH_MAX} characters before .toml"
        )
    if not file.is_file():
        problem = "is a folder" if file.is_dir() else "no such file"
        raise ScenarioError(f"{file}: {problem}; shipped scenarios: {', '.join(known)}")
    return file


def read(file: Path) -> dict[str, Any]:
    """The file's document. Raises ScenarioError, with line and column, if it cannot be read."""
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ScenarioError(f"{file}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{file}: byte {error.start} is not UTF-8: save it as UTF-8") from error
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ScenarioError(f"{file}: is not TOML: {error}") from error
    if not document:
        raise ScenarioError(f"{file}: is empty; `compactbench list scenarios` lists some to start from")
    return document


def override(document: dict[str, Any], setting: str) -> KeyPath:
    """Set the key that a `--set` names to its value, in place; the path of the key.

    An entry of a list is selected by its label or name, or by its position from 0:
    strategies[every-10min].writer.files_per_commit=4. A value that is not TOML is a string.
    Raises ScenarioError on a key that does not exist.
    """
    steps, text = _steps(setting)
    try:
        place, path = _place(document, steps)
    except ScenarioError as error:
        raise ScenarioError(f"--set {setting}: {error}") from None
    place[path[-1]] = _value(text)
    return path


def merge(document: dict[str, Any], key: str, value: object) -> list[tuple[KeyPath, object]]:
    """Set `key`, in the notation of `--set`, to `value`, in place; each key that was set, with its value.

    A table is merged into the one that is there, key by key; anything else replaces what is there.
    Raises ScenarioError on a key that does not exist, and on a table without keys.
    """
    try:
        steps, _ = _steps(f"{key}=")
    except ScenarioError:
        raise ScenarioError(
            f"{value_text(key)} is not a key: write it as in the file, or as --set takes it, such as "
            '"strategies[every-10min].writer.files_per_commit"'
        ) from None
    place, path = _place(document, steps)
    return _merged(place, path, value)


def _merged(place: Any, path: KeyPath, value: object) -> list[tuple[KeyPath, object]]:
    last: Any = path[-1]
    there = place[last] if isinstance(place, list) else place.get(last, {})
    if value == {} and isinstance(there, dict):
        raise ScenarioError(
            f"{path_text(path)} = {{}} changes nothing, as tables are merged key by key: name keys of it"
        )
    if not (isinstance(value, Mapping) and isinstance(there, dict)):
        place[last] = value
        return [(path, value)]
    place[last] = there
    return [one for name, item in value.items() for one in _merged(there, (*path, name), item)]


def _place(document: dict[str, Any], steps: Sequence[tuple[str, bool]]) -> tuple[Any, KeyPath]:
    """The table or list that holds the last of `steps`, making tables on the way, and the path to it."""
    place: Any = document
    path: KeyPath = ()
    for step, is_entry in steps:
        try:
            chosen = _position(place, step) if is_entry else _table_key(place, step)
        except ScenarioError as error:
            raise ScenarioError(f"{path_text(path)} {error}") from None
        path = (*path, chosen)
        if len(path) < len(steps):
            place = place[chosen] if is_entry else place.setdefault(chosen, {})
    return place, path


def _steps(setting: str) -> tuple[list[tuple[str, bool]], str]:
    """The keys (False) and list entries (True) of `setting` in order, and the text after the equals sign."""
    steps: list[tuple[str, bool]] = []
    at, ended = 0, False
    while not ended:
        match = _KEY.match(setting, at)
        if match is None:
            raise ScenarioError(
                f"--set {key_of(setting)} is not a setting: write key=value, e.g. --set "
                "table.target_file_size=8MiB or --set 'strategies[every-10min].writer.files_per_commit=4'"
            )
        key = match[1]
        steps.append((_unquoted(key) if key.startswith('"') else key, False))
        steps += [(entry, True) for entry in _ENTRY.findall(match[2])]
        at, ended = match.end(), match[3] == "="
    return steps, setting[at:]


def _unquoted(key: str) -> str:
    try:
        return str(json.loads(key))
    except ValueError:
        raise ScenarioError(f"--set: {key} is not a quoted key") from None


def _table_key(place: object, key: str) -> str:
    if not isinstance(place, dict):
        # The value is not shown: it may be a secret, and what else is one is not known yet.
        raise ScenarioError(f"is not a table: it has no key {value_text(key)}")
    return key


def _position(place: object, entry: str) -> int:
    if not isinstance(place, list):
        raise ScenarioError(f"is not a list: it has no entry {value_text(entry)}")
    names = [str(item.get("label", item.get("name", ""))) if isinstance(item, dict) else "" for item in place]
    if entry in names:
        return names.index(entry)
    if entry.isdecimal() and int(entry) < len(place):
        return int(entry)
    labels = [name for name in names if name]
    known = f"{known_text(entry, labels)}, or" if labels else "use"
    raise ScenarioError(f"has no entry {value_text(entry)}; {known} a position from 0 to {len(place) - 1}")


def _value(text: str) -> object:
    try:
        document = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    return document["value"] if len(document) == 1 else text
