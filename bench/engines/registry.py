"""The engines there are: one line per format and mode."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from bench.engines.base import Engine, EngineSettings
from bench.engines.iceberg import CAPABILITIES as ICEBERG_CAPABILITIES
from bench.engines.iceberg import open_iceberg
from strategies.plan import Capability


@dataclass(frozen=True, slots=True)
class EngineKind:
    """How to open an engine, and what it can do: a scenario that asks for more is refused at once."""

    open: Callable[[EngineSettings], AbstractContextManager[Engine]]
    capabilities: frozenset[Capability]


ENGINES: dict[tuple[str, str], EngineKind] = {
    ("iceberg", "real"): EngineKind(open_iceberg, ICEBERG_CAPABILITIES),
}
