"""The table properties that a simulated Delta table heeds."""

from collections.abc import Mapping
from dataclasses import dataclass

from bench.engines.delta.table_keys import (
    AUTO_COMPACT,
    AUTO_OPTIMIZE,
    CHECKPOINT_INTERVAL,
    DEFAULT_CHECKPOINT_INTERVAL,
    OPTIMIZE_WRITE,
)
from bench.errors import ScenarioError
from strategies.java_values import parse_int


@dataclass(frozen=True, slots=True)
class ModelledProperties:
    """How often a checkpoint is written, and what commits do beyond writing their rows."""

    checkpoint_interval: int = DEFAULT_CHECKPOINT_INTERVAL
    compacts_by_itself: bool = False
    optimizes_writes: bool = False


def modelled_properties(given: Mapping[str, str]) -> ModelledProperties:
    """Read the properties of a table. Raises ScenarioError for a value that Delta rejects."""
    return ModelledProperties(
        _checkpoint_interval(given.get(CHECKPOINT_INTERVAL, str(DEFAULT_CHECKPOINT_INTERVAL))),
        _boolean(given, AUTO_OPTIMIZE) or _boolean(given, AUTO_COMPACT),
        _boolean(given, OPTIMIZE_WRITE),
    )


def _checkpoint_interval(text: str) -> int:
    try:
        interval = parse_int(text)
    except ValueError as error:
        raise ScenarioError(f"{CHECKPOINT_INTERVAL}={text!r} {error}") from error
    if interval < 1:
        raise ScenarioError(f"{CHECKPOINT_INTERVAL}={text!r} must be > 0")
    return interval


def _boolean(given: Mapping[str, str], name: str) -> bool:
    text = given.get(name, "false")
    if text.lower() not in ("true", "false"):
        raise ScenarioError(f"{name}={text!r} must be true or false")
    return text.lower() == "true"
