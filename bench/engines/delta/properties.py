"""The properties that a Delta table is created with, and those of them that change what commits do."""

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
)
from bench.errors import ScenarioError

Value = TypeVar("Value")

_CONF_PREFIX = "spark.databricks.delta."
_DEFAULTS_PREFIX = f"{_CONF_PREFIX}properties.defaults."  # of table properties, without their "delta."
AUTO_COMPACT_CONFS = (
    f"{_CONF_PREFIX}autoCompact.enabled",
    *(name.replace("delta.", _DEFAULTS_PREFIX, 1) for name in (AUTO_COMPACT, AUTO_OPTIMIZE)),
)
_NOT_MODELLED_CONFS = (
    *(f"{_CONF_PREFIX}{group}." for group in ("autoCompact", "optimizeWrite", "optimize")), _DEFAULTS_PREFIX,
)  # fmt: skip


def table_properties(spec: TableSpec) -> dict[str, str]:
    """All properties that a table is created with; the scenario's override ours."""
    has_vectors = (spec.upsert_mode or DEFAULT_UPSERT_MODE) == MERGE_ON_READ
    return {VECTORS: str(has_vectors).lower(), **spec.properties}


@dataclass(frozen=True, slots=True)
class WriterProperties:
    """How often a checkpoint is written, and what commits do beyond writing their rows."""

    checkpoint_interval: int = DEFAULT_CHECKPOINT_INTERVAL
    compacts_by_itself: bool = False
    optimizes_writes: bool = False


def writer_properties(given: Mapping[str, str]) -> WriterProperties:
    """Read the properties of a table. Raises ScenarioError for a value that Delta rejects."""
    return WriterProperties(
        _read(given, CHECKPOINT_INTERVAL, checkpoint_interval, DEFAULT_CHECKPOINT_INTERVAL),
        _read(given, AUTO_OPTIMIZE, boolean, False) or _read(given, AUTO_COMPACT, boolean, False),
        _read(given, OPTIMIZE_WRITE, boolean, False),
    )


def may_compact_by_itself(properties: Mapping[str, str], settings: Mapping[str, str | None]) -> bool:
    """Whether commits to a table may compact it; `settings` are the session's `AUTO_COMPACT_CONFS`."""
    is_set = any((settings.get(name) or "").lower() == "true" for name in AUTO_COMPACT_CONFS)
    return is_set or writer_properties(properties).compacts_by_itself


def not_modelled(properties: Mapping[str, str], settings: Mapping[str, str]) -> tuple[str, ...]:
    """What decides when commits compact, or how they and OPTIMIZE write, and is unknown to a simulation.

    Delta reads the names of properties in any case, a simulation does not.
    """
    modelled = (AUTO_COMPACT, AUTO_OPTIMIZE, OPTIMIZE_WRITE)
    unknown = [
        name for name in properties if name.lower().startswith(AUTO_OPTIMIZE.lower()) and name not in modelled
    ]
    return (*unknown, *(name for name in settings if name.startswith(_NOT_MODELLED_CONFS)))


def _read(given: Mapping[str, str], name: str, parse: Callable[[str], Value], default: Value) -> Value:
    if name not in given:
        return default
    try:
        return parse(given[name])
    except ValueError as error:
        raise ScenarioError(f"{name}={given[name]!r} {error}") from error
