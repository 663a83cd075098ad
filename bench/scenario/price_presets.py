"""Prices to start from: files with keys of [prices], which ship with compactbench or are the user's own."""

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from bench.errors import ScenarioError
from bench.names import known_text
from bench.scenario.file import check_is_file, read_toml
from bench.scenario.schema import PresetPrices
from bench.scenario.values import OptionError, validated


def shipped_presets() -> dict[str, Path]:
    """The files of the presets that ship with compactbench, by name."""
    folder = Path(str(files("workloads"))) / "prices"
    return {file.stem: file for file in sorted(folder.glob("*.toml"))}


def preset_file(name: str, folder: Path) -> Path:
    """The file of a shipped preset, or at a path relative to `folder`. Raises ScenarioError."""
    known = shipped_presets()
    if name in known:
        return known[name]
    file = folder / name
    if file.suffix != ".toml":
        problem = f"is neither a shipped preset ({known_text(name, known)}) nor a path to a .toml file"
        raise ScenarioError(problem, code="unknown-name")
    check_is_file(file, f"shipped presets: {', '.join(known)}")
    return file


def preset_prices(file: Path) -> Mapping[str, Any]:
    """The keys of a preset, as they are written. Raises ScenarioError."""
    prices = read_toml(file)
    if not prices:
        problem = "is empty: write keys of [prices] into it, such as core_hour = 0.05"
        raise ScenarioError(problem, code="empty", path=file)
    if "prices" in prices:
        problem = "a preset has the keys of [prices] at its top level: remove the heading"
        raise ScenarioError(problem, code="unknown-name", path=file)
    if "preset" in prices:
        problem = "a preset cannot have a preset: write its prices into the file"
        raise ScenarioError(problem, code="unsupported", path=file)
    validated(PresetPrices, prices, {})
    return prices


def with_preset(document: Mapping[str, Any], folder: Path) -> tuple[Mapping[str, Any], list[OptionError]]:
    """A scenario's document with the prices of its preset, and the errors of a preset that cannot be used.

    The path of a preset is relative to `folder`.
    """
    prices = document.get("prices")
    name = prices.get("preset") if isinstance(prices, Mapping) else None
    if not isinstance(prices, Mapping) or not isinstance(name, str):  # if at all, the schema refuses it
        return document, []
    own, path = {key: value for key, value in prices.items() if key != "preset"}, ("prices", "preset")
    try:
        file = preset_file(name, folder)
        listed = preset_prices(file)
    except OptionError as error:
        wrong = [OptionError(path, f"{file}: {one}", name, code=one.code) for one in error.each]
        return {**document, "prices": own}, wrong
    except ScenarioError as error:
        return {**document, "prices": own}, [OptionError(path, str(error), name, code=error.code)]
    return {**document, "prices": {**listed, **own}}, []


def preset_words(file: Path) -> tuple[str, str]:
    """The first paragraph of the comment that a preset begins with, and the others."""
    lines = file.read_text(encoding="utf-8").partition("\n\n")[0].splitlines()
    comment = "\n".join(line.removeprefix("#").strip() for line in lines if line.startswith("#"))
    first, _, rest = comment.partition("\n\n")
    return " ".join(first.split()), rest
