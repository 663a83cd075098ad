"""The engines there are: one line per format and mode."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial

from bench.engines import capabilities
from bench.engines.base import Engine, EngineSettings
from bench.engines.simulated import open_simulated
from strategies.plan import Capability


@dataclass(frozen=True, slots=True)
class EngineKind:
    """How to open an engine, and what it can do: a scenario that asks for more is refused at once."""

    open: Callable[[EngineSettings], AbstractContextManager[Engine]]
    capabilities: frozenset[Capability]


def _iceberg(settings: EngineSettings) -> AbstractContextManager[Engine]:
    from bench.engines.iceberg import open_iceberg  # and with it Spark, which simulation does without

    return open_iceberg(settings)


ENGINES: dict[tuple[str, str], EngineKind] = {
    ("iceberg", "real"): EngineKind(_iceberg, capabilities.ICEBERG),
    ("iceberg", "simulated"): EngineKind(partial(open_simulated, "iceberg"), capabilities.ICEBERG_SIMULATED),
}
