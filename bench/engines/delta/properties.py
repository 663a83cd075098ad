"""The properties of Delta tables, the values that Delta accepts for them, and the settings of a session.

Source: DeltaConfigs of delta-spark 3.3.2.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from bench.engines.contract import TableSpec
from bench.engines.delta.table_keys import (
    AUTO_COMPACT,
    AUTO_OPTIMIZE,
    CHECKPOINT_INTERVAL,
    DEFAULT_CHECKPOINT_INTERVAL,
    DEFAULT_UPSERT_MODE,
    INDEXED_COUNT,
    MERGE_ON_READ,
    OPTIMIZE_WRITE,
    VECTORS,
    property_name,
)
from bench.errors import ScenarioError
from strategies.delta.optimize_options import CONF_PREFIX, OPTIMIZE_OPTIONS
from strategies.java_values import parse_int

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


def _boolean(text: str) -> bool:
    """Raises ValueError, whose message starts with "must be"."""
    if text.lower() not in ("true", "false"):
        raise ValueError("must be true or false")
    return text.lower() == "true"


def _at_least(least: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        number = parse_int(text)
        if number < least:
            raise ValueError(f"must be >= {least}")
        return number

    return parse


_checkpoint_interval = _at_least(1)

_PARSERS: Mapping[str, Callable[[str], object]] = {
    CHECKPOINT_INTERVAL: _checkpoint_interval,
    INDEXED_COUNT: _at_least(-1),
    **dict.fromkeys((AUTO_COMPACT, AUTO_OPTIMIZE, OPTIMIZE_WRITE), _boolean),
}


def table_properties(spec: TableSpec) -> dict[str, str]:
    """All properties that a table is created with, under Delta's own names; the scenario's override ours."""
    has_vectors = (spec.upsert_mode or DEFAULT_UPSERT_MODE) == MERGE_ON_READ
    given = {property_name(name): value for name, value in spec.properties.items()}
    return {VECTORS: str(has_vectors).lower(), **given}


def property_problem(spec: TableSpec) -> tuple[str, str] | None:
    """The first property of a table with a value that Delta refuses, and why; None if there is none."""
    problems = ((name, value_problem(name, value)) for name, value in spec.properties.items())
    return next(((name, problem) for name, problem in problems if problem is not None), None)


def value_problem(name: str, value: str) -> str | None:
    """Why Delta refuses a value of a property, whose name it reads in any case; None if it does not.

    Properties that nothing here depends on are left to Delta.
    """
    parse = _PARSERS.get(property_name(name))
    try:
        if parse is not None:
            parse(value)
    except ValueError as error:
        return str(error)
    return None


@dataclass(frozen=True, slots=True)
class WriterProperties:
    """How often a checkpoint is written, and what commits do beyond writing their rows."""

    checkpoint_interval: int = DEFAULT_CHECKPOINT_INTERVAL
    compacts_by_itself: bool = False
    optimizes_writes: bool = False


def writer_properties(given: Mapping[str, str]) -> WriterProperties:
    """Read the `table_properties` of a table. Raises ScenarioError for a value that Delta rejects."""
    return WriterProperties(
        _read(given, CHECKPOINT_INTERVAL, _checkpoint_interval, DEFAULT_CHECKPOINT_INTERVAL),
        _read(given, AUTO_OPTIMIZE, _boolean, False) or _read(given, AUTO_COMPACT, _boolean, False),
        _read(given, OPTIMIZE_WRITE, _boolean, False),
    )


def may_compact_by_itself(properties: Mapping[str, str], settings: Mapping[str, str | None]) -> bool:
    """Whether commits to a table may compact it; `settings` are the session's `AUTO_COMPACT_CONFS`."""
    is_set = any((settings.get(name) or "").lower() == "true" for name in AUTO_COMPACT_CONFS)
    return is_set or writer_properties(properties).compacts_by_itself


def session_conf() -> dict[str, str]:
    """What a session needs for Delta tables, and what suits tables on one machine."""
    return {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        # By default Delta spreads the state of a table over 50 tasks, however small the table is.
        "spark.databricks.delta.snapshotPartitions": "1",
        # VACUUM lists the table in so many tasks: 10,000 by default, which take 20 seconds for a few files.
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": "8",
        # Retention is scenario time, which is shorter than the week that Delta insists on.
        "spark.databricks.delta.retentionDurationCheck.enabled": "false",
    }


def setting_problem(name: str) -> str | None:
    """Why a session cannot have a setting: each command gets its own, by which it was previewed."""
    option = name.removeprefix(CONF_PREFIX)
    if option == name or option not in OPTIMIZE_OPTIONS:
        return None
    return f"is set for each command: set it as an option of the planner, such as options.{option}"


def simulated_setting_problem(name: str) -> str | None:
    """Why a simulation cannot have a setting: it does not model all that decides on commits."""
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
