"""The registered table formats, one line each. What the bench knows about a format is its `Format`."""

from collections.abc import Callable, Mapping
from typing import Literal

from bench.engines.delta.format import FORMAT as DELTA
from bench.engines.format import EngineKind, ExistingTable, Format, TableAddress
from bench.engines.iceberg.format import FORMAT as ICEBERG
from bench.errors import ScenarioError

FORMATS: dict[str, Format] = {
    "delta": DELTA,
    "iceberg": ICEBERG,
}

# Formats that are announced but have no engine yet, as `compactbench list formats` describes them.
PLANNED: Mapping[str, str] = {
    "hudi": "Apache Hudi; has no engine yet",
}


def engine_kind(table_format: str, mode: Literal["real", "simulated"]) -> EngineKind:
    """How a format's tables are run in a mode. Raises ScenarioError if the format has no such engine."""
    chosen = FORMATS[table_format]
    kind = chosen.real if mode == "real" else chosen.simulated
    if kind is None:
        other = "run --simulate" if mode == "real" else "run without --simulate"
        raise ScenarioError(f"format {table_format!r} has no {mode} engine: {other}")
    return kind


def existing_tables(table_format: str | None) -> tuple[Format, Callable[[TableAddress], ExistingTable]]:
    """A format and the function that opens its existing tables; None means the only format that has one.

    Raises ScenarioError if the named format has none, and if there is more than one to choose from.
    """
    readable = {name: each.open_existing for name, each in FORMATS.items() if each.open_existing}
    known = ", ".join(readable)
    if table_format is None and len(readable) > 1:
        raise ScenarioError(f"the format of the table is not known; name it by --table-format: {known}")
    name = next(iter(readable), None) if table_format is None else table_format
    if name is None or name not in readable:
        raise ScenarioError(f"existing tables of format {name!r} cannot be read; formats that can: {known}")
    return FORMATS[name], readable[name]
