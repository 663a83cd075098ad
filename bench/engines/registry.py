"""The registered table formats, one line each."""

from pathlib import Path
from typing import Literal

from bench.engines.delta.format import FORMAT as DELTA
from bench.engines.existing import ExistingTables
from bench.engines.format import EngineKind, Format
from bench.engines.hudi.format import FORMAT as HUDI
from bench.engines.iceberg.format import FORMAT as ICEBERG
from bench.errors import ScenarioError
from bench.names import known_text

FORMATS: dict[str, Format] = {
    "delta": DELTA,
    "hudi": HUDI,
    "iceberg": ICEBERG,
}


def check_format(name: str, path: str) -> None:
    """Raises ScenarioError for a name that no format has; `path` is where it was given."""
    if name not in FORMATS:
        raise ScenarioError(known_text(name, FORMATS), code="unknown-name", path=path)


def engine_kind(table_format: str, mode: Literal["real", "simulated"]) -> EngineKind:
    """How a format's tables are run in a mode."""
    engines = FORMATS[table_format].engines
    return engines.real if mode == "real" else engines.simulated


def existing_tables(table_format: str | None, name: str, strategy: str = "") -> tuple[Format, ExistingTables]:
    """A format and its existing tables. Without a `table_format` it is deduced from the other arguments.

    A table in the folder `name` decides first, then the format in the name of the planner `strategy`, then
    whether only one format has catalogs. Raises ScenarioError if the format is unknown or ambiguous, or if
    `name` is a path on this machine at which there is nothing.
    """
    if "/" in name and "://" not in name and not Path(name).expanduser().exists():
        raise ScenarioError("does not exist: check the path", code="not-a-table", path=name)
    chosen = _format_of(name, strategy) if table_format is None else table_format
    if chosen not in FORMATS:
        raise ScenarioError(
            f"{chosen!r} is not a format whose tables can be read: {', '.join(FORMATS)}"
            if chosen is not None
            else f"the format of the table is unknown: choose one of {', '.join(FORMATS)}",
            code="unknown-name",
            path="--table-format",
        )
    return FORMATS[chosen], FORMATS[chosen].existing


def _format_of(name: str, strategy: str) -> str | None:
    in_folder = [table_format for table_format, known in FORMATS.items() if known.existing.is_at(name)]
    if len(in_folder) > 1:
        raise ScenarioError(
            f"is a table of several formats; choose one by --table-format: {', '.join(in_folder)}",
            code="ambiguous",
            path=name,
        )
    named = [table_format for table_format in FORMATS if strategy.startswith(f"{table_format}.")]
    with_catalogs = [table_format for table_format, known in FORMATS.items() if known.catalog.types]
    return next(iter(in_folder + named), with_catalogs[0] if len(with_catalogs) == 1 else None)
