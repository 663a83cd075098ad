"""The engines there are: one line per format and mode."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass

from bench.engines import capabilities
from bench.engines.contract import CommitLayout, Engine, EngineSettings
from bench.engines.iceberg.model.flink_writer import commit_layout
from bench.engines.iceberg.simulation import open_simulated_iceberg
from strategies.plan import Capability
from workloads.commit import CommitSpec


@dataclass(frozen=True, slots=True)
class EngineKind:
    """How to open an engine, and what it can do: a scenario that asks for more is refused at once.

    `layout` gives the files the format's writers make of a commit, where no strategy overrides how many
    writers there are. `session_conf` is the format's own Spark configuration as far as results show it.
    """

    open: Callable[[EngineSettings], AbstractContextManager[Engine]]
    capabilities: frozenset[Capability]
    layout: Callable[[CommitSpec], CommitLayout]
    session_conf: Callable[[EngineSettings], Mapping[str, str]] = lambda settings: {}


def _iceberg(settings: EngineSettings) -> AbstractContextManager[Engine]:
    from bench.engines.iceberg.engine import open_iceberg  # and with it Spark, which simulation does without

    return open_iceberg(settings)


def _iceberg_conf(settings: EngineSettings) -> Mapping[str, str]:
    from bench.engines.iceberg.catalog import session_conf

    return session_conf(settings.catalog.name, settings.catalog.properties)


ENGINES: dict[tuple[str, str], EngineKind] = {
    ("iceberg", "real"): EngineKind(_iceberg, capabilities.ICEBERG, commit_layout, _iceberg_conf),
    ("iceberg", "simulated"): EngineKind(
        open_simulated_iceberg, capabilities.ICEBERG_SIMULATED, commit_layout
    ),
}
