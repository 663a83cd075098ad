"""The table formats there are, one line each; what else the bench knows of one is its `Format`."""

from collections.abc import Callable, Mapping
from typing import Literal

from bench.engines.format import EngineKind, ExistingTable, Format, TableAddress
from bench.engines.iceberg.format import FORMAT as ICEBERG
from bench.errors import ScenarioError

FORMATS: dict[str, Format] = {
    "iceberg": ICEBERG,
}

# Formats that are announced and have no engine, with what `compactbench list formats` says of them.
PLANNED: Mapping[str, str] = {
    "delta": "Delta Lake; has no engine yet",
    "hudi": "Apache Hudi; has no engine yet",
}


def engine_kind(table_format: str, mode: Literal["real", "simulated"]) -> EngineKind:
    """How tables of a format are run in a mode. Raises ScenarioError where they cannot be."""
    found = FORMATS[table_format]
    kind = found.real if mode == "real" else found.simulated
    if kind is None:
        other = "run --simulate" if mode == "real" else "run without --simulate"
        raise ScenarioError(f"format {table_format!r} has no {mode} engine: {other}")
    return kind


def existing_tables(table_format: str | None) -> tuple[Format, Callable[[TableAddress], ExistingTable]]:
    """A format and how its existing tables are opened; None is the first format that can.

    Raises ScenarioError where that format cannot.
    """
    asked = FORMATS.values() if table_format is None else (FORMATS[table_format],)
    for found in asked:
        if found.open_existing is not None:
            return found, found.open_existing
    able = ", ".join(name for name, found in FORMATS.items() if found.open_existing)
    raise ScenarioError(
        f"existing tables of format {table_format!r} cannot be read; formats that can: {able}"
    )
