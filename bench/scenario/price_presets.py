"""Prices to start from: files with keys of [prices], which ship with compactbench or are the user's own."""

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from bench.errors import ScenarioError
from bench.names import known_text
from bench.scenario.file import read_toml


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
    if not file.is_file():
        problem = f"no such file: {file}; shipped presets: {', '.join(known)}"
        raise ScenarioError(problem, code="file-missing")
    return file


def preset_prices(file: Path) -> Mapping[str, Any]:
    """The keys of a preset, as they are written. Raises ScenarioError."""
    prices = read_toml(file)
    if "preset" in prices:
        problem = "a preset cannot have a preset: write its prices into the file"
        raise ScenarioError(problem, code="unsupported", path=file)
    return prices


def preset_words(file: Path) -> tuple[str, str]:
    """The first paragraph of the comment that a preset begins with, and the others."""
    lines = file.read_text(encoding="utf-8").partition("\n\n")[0].splitlines()
    comment = "\n".join(line.removeprefix("#").strip() for line in lines if line.startswith("#"))
    first, _, rest = comment.partition("\n\n")
    return " ".join(first.split()), rest
