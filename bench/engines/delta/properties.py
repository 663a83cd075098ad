"""Table properties of Delta, the values that Delta accepts for them, and the settings of a session.

Source: DeltaConfigs of delta-spark 3.3.2.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

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
from strategies.delta.optimize_options import CONF_PREFIX, OPTIMIZE_OPTIONS
from strategies.java_values import parse_int

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
    has_vectors = (spec.upsert_mode or DEFAULT_UPSERT_MODE) == MERGE_ON_READ
    own = {property_name(name): value for name, value in spec.properties.items()}
    return {VECTORS: str(has_vectors).lower(), **own}


def property_problem(spec: TableSpec) -> tuple[str, str] | None:
    """The first property with a value that Delta refuses, and why."""
    problems = ((name, value_problem(name, value)) for name, value in spec.properties.items())
    return next(((name, problem) for name, problem in problems if problem is not None), None)


def value_problem(name: str, value: str) -> str | None:
    """Why Delta refuses a value. Only properties that something here depends on are checked."""
    parse = _PARSERS.get(property_name(name))
    try:
        if parse is not None:
            parse(value)
    except ValueError as error:
        return str(error)
    return None


@dataclass(frozen=True, slots=True)
class WriterProperties:
    checkpoint_interval: int
    compacts_by_itself: bool
    optimizes_writes: bool


def writer_properties(properties: Mapping[str, str]) -> WriterProperties:
    """What `table_properties` say, whose values Delta accepts (`property_problem`)."""

    def is_on(name: str) -> bool:
        return _boolean(properties.get(name, "false"))

    return WriterProperties(
        _checkpoint_interval(properties.get(CHECKPOINT_INTERVAL, str(DEFAULT_CHECKPOINT_INTERVAL))),
        is_on(AUTO_OPTIMIZE) or is_on(AUTO_COMPACT),
        is_on(OPTIMIZE_WRITE),
    )


def may_compact_by_itself(properties: Mapping[str, str], settings: Mapping[str, str | None]) -> bool:
    """Whether commits may run automatic compaction; `settings` are the session's `AUTO_COMPACT_CONFS`."""
    is_set = any((settings.get(name) or "").lower() == "true" for name in AUTO_COMPACT_CONFS)
    return is_set or writer_properties(properties).compacts_by_itself


def at_once_problem(spec: TableSpec, settings: Mapping[str, str]) -> str | None:
    """Why a table cannot have roles that work at the same time; `settings` are the scenario's."""
    if not may_compact_by_itself(table_properties(spec), settings):
        return None
    return (
        "commits that compact by themselves cannot be told from commits of others at the same time: leave "
        f"{AUTO_COMPACT} out, and use the planner delta.optimize"
    )


def session_conf() -> dict[str, str]:
    return {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        # By default Delta computes the state of a table in 50 tasks, even of a small table.
        "spark.databricks.delta.snapshotPartitions": "1",
        # The tasks in which VACUUM lists the table. The default of 10,000 takes 20 seconds for a few files.
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": "8",
        # Retention is in scenario time and shorter than the week that Delta requires.
        "spark.databricks.delta.retentionDurationCheck.enabled": "false",
    }


def setting_problem(name: str) -> str | None:
    """Refuses the settings that each command gets from its plan."""
    option = name.removeprefix(CONF_PREFIX)
    if option == name or option not in OPTIMIZE_OPTIONS:
        return None
    return f"is set by each command: use the planner's option options.{option}"


def simulated_setting_problem(name: str) -> str | None:
    """Also refuses settings that affect commits and are not simulated."""
    if name.startswith(_NOT_MODELLED_CONFS):
        return "is not simulated: leave it out, or run without --simulate"
    return setting_problem(name)
