"""The registered table formats, one line each. What the bench knows about a format is its `Format`."""

from collections.abc import Mapping
from typing import Literal

from bench.engines.delta.format import FORMAT as DELTA
from bench.engines.existing import ExistingTables
from bench.engines.format import EngineKind, Format
from bench.engines.hudi.format import FORMAT as HUDI
from bench.engines.iceberg.format import FORMAT as ICEBERG
from bench.errors import ScenarioError

FORMATS: dict[str, Format] = {
    "delta": DELTA,
    "hudi": HUDI,
    "iceberg": ICEBERG,
}


def engine_kind(table_format: str, mode: Literal["real", "simulated"]) -> EngineKind:
    """How a format's tables are run in a mode. Raises ScenarioError if the format has no such engine."""
    engines = FORMATS[table_format].engines
    kind = engines.real if mode == "real" else engines.simulated
    if kind is None:
        other = "run --simulate" if mode == "real" else "run without --simulate"
        raise ScenarioError(f"format {table_format!r} has no {mode} engine: {other}")
    return kind


def existing_tables(table_format: str | None, name: str, strategy: str = "") -> tuple[Format, ExistingTables]:
    """A format and its existing tables; None is the format that `name` points to.

    That is the one whose table is in the folder of that name, or else the one whose planner `strategy` names,
    or else the only one with catalogs. Raises ScenarioError if the format has no existing tables, and if it
    cannot be told or is one of several.
    """
    readable = {format_name: each.existing for format_name, each in FORMATS.items() if each.existing}
    chosen = _format_of(name, strategy, readable) if table_format is None else table_format
    if chosen is None:
        known = ", ".join(readable)
        raise ScenarioError(f"the format of the table is not known; name it by --table-format: {known}")
    if chosen not in readable:
        known = ", ".join(readable)
        raise ScenarioError(f"existing tables of format {chosen!r} cannot be read; formats that can: {known}")
    return FORMATS[chosen], readable[chosen]


def _format_of(name: str, strategy: str, readable: Mapping[str, ExistingTables]) -> str | None:
    found = [table_format for table_format, tables in readable.items() if tables.is_at(name)]
    if len(found) > 1:
        raise ScenarioError(
            f"{name}: is a table of several formats; name the one to plan for by --table-format: "
            f"{', '.join(found)}"
        )
    found += [table_format for table_format in readable if strategy.startswith(f"{table_format}.")]
    with_catalogs = [table_format for table_format in readable if FORMATS[table_format].catalog.types]
    return next(iter(found), with_catalogs[0] if len(with_catalogs) == 1 else None)
