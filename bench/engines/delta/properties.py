"""The properties that a Delta table is created with, and what else changes what commits and commands do."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from bench.engines.contract import TableSpec
from bench.engines.delta.property_values import boolean, checkpoint_interval
from bench.engines.delta.table_keys import (
    AUTO_COMPACT,
    AUTO_OPTIMIZE,
    CHECKPOINT_INTERVAL,
    DEFAULT_CHECKPOINT_INTERVAL,
    DEFAULT_UPSERT_MODE,
    MERGE_ON_READ,
    OPTIMIZE_WRITE,
    VECTORS,
    property_name,
)
from bench.errors import ScenarioError
from strategies.delta.optimize_options import CONF_PREFIX, OPTIMIZE_OPTIONS

Value = TypeVar("Value")

_CONF_PREFIX = "spark.databricks.delta."
_DEFAULTS_PREFIX = f"{_CONF_PREFIX}properties.defaults."  # of table properties, without their "delta."
AUTO_COMPACT_CONFS = (
    f"{_CONF_PREFIX}autoCompact.enabled",
    *(name.replace("delta.", _DEFAULTS_PREFIX, 1) for name in (AUTO_COMPACT, AUTO_OPTIMIZE)),
)
_NOT_MODELLED_CONFS = (
    *(f"{_CONF_PREFIX}{group}." for group in ("autoCompact", "optimizeWrite")),
    _DEFAULTS_PREFIX,
)


def table_properties(spec: TableSpec) -> dict[str, str]:
    """All properties that a table is created with, under Delta's own names; the scenario's override ours."""
    has_vectors = (spec.upsert_mode or DEFAULT_UPSERT_MODE) == MERGE_ON_READ
    given = {property_name(name): value for name, value in spec.properties.items()}
    return {VECTORS: str(has_vectors).lower(), **given}


@dataclass(frozen=True, slots=True)
class WriterProperties:
    """How often a checkpoint is written, and what commits do beyond writing their rows."""

    checkpoint_interval: int = DEFAULT_CHECKPOINT_INTERVAL
    compacts_by_itself: bool = False
    optimizes_writes: bool = False


def writer_properties(given: Mapping[str, str]) -> WriterProperties:
    """Read the `table_properties` of a table. Raises ScenarioError for a value that Delta rejects."""
    return WriterProperties(
        _read(given, CHECKPOINT_INTERVAL, checkpoint_interval, DEFAULT_CHECKPOINT_INTERVAL),
        _read(given, AUTO_OPTIMIZE, boolean, False) or _read(given, AUTO_COMPACT, boolean, False),
        _read(given, OPTIMIZE_WRITE, boolean, False),
    )


def may_compact_by_itself(properties: Mapping[str, str], settings: Mapping[str, str | None]) -> bool:
    """Whether commits to a table may compact it; `settings` are the session's `AUTO_COMPACT_CONFS`."""
    is_set = any((settings.get(name) or "").lower() == "true" for name in AUTO_COMPACT_CONFS)
    return is_set or writer_properties(properties).compacts_by_itself


def setting_problem(name: str) -> str | None:
    """Why a session cannot have a setting: each command gets its own, by which it was previewed."""
    option = name.removeprefix(CONF_PREFIX)
    if option == name or option not in OPTIMIZE_OPTIONS:
        return None
    return f"is set for each command: set it as an option of the planner, such as options.{option}"


def simulated_setting_problem(name: str) -> str | None:
    """The same in a simulation, which does not know all that decides on commits and their compactions."""
    if name.startswith(_NOT_MODELLED_CONFS):
        return "is not modelled by the simulation: leave it out, or run without --simulate"
    return setting_problem(name)


def _read(given: Mapping[str, str], name: str, parse: Callable[[str], Value], default: Value) -> Value:
    if name not in given:
        return default
    try:
        return parse(given[name])
    except ValueError as error:
        raise ScenarioError(f"{name}={given[name]!r} {error}") from error
